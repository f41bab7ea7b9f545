"""Issuers by other people's libraries and their defaults, end to end: enroll, approve, deny.

In Go by golang-jwt and the standard library (Debian's golang-go and golang-github-golang-jwt-jwt-dev), in Python by
python-fido2 and PyJWT. Each is a program of its own in the folder `issuers`, without any of our code.

Run with `.venv/bin/python -B Tests/Counterparts/test_library_issuers.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import shutil
import subprocess
import sys
import unittest
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec

from programs import Agent, started, temporary_folder
from software_authenticator import FLAG, Enrolled, call
from test_example import ExampleIssuer
from verify import decode

ISSUERS = Path(__file__).resolve().parent / "issuers"
# Where Debian's packages of Go have their source.
GOPATH = Path("/usr/share/gocode")
BUILT_WITHIN = 300
# A name that Go's encoder would escape in three places, and RFC 8785 does not.
TRANSACTION = {
    "merchantName": "Bäcker & Söhne <Köln>", "purchaseAmount": "1999", "purchaseCurrency": "978",
    "purchaseExponent": "2", "purchaseDate": "20261127055638"}


class Proof:
    """The tests of an issuer. `command` starts it if a port is added; `made` is where it is built."""

    @classmethod
    def command(cls, made: Path) -> list:
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        made = temporary_folder(cls)
        cls.line = cls.command(made)
        cls.acs = cls.enterClassContext(ThreadPoolExecutor(max_workers=4))

    def new_issuer(self) -> ExampleIssuer:
        return started(self, ExampleIssuer(temporary_folder(self), self.line))

    def challenge(self, issuer: ExampleIssuer) -> tuple[str, Future]:
        """An acsTransId, and the answer that the ACS gets when the payer has decided."""
        body = {**TRANSACTION, "acsTransId": str(uuid.uuid4())}
        return body["acsTransId"], self.acs.submit(call, "POST", f"{issuer.origin}/acs/challenges", body)

    def test_an_agent_enrolls_and_the_payer_approves_and_denies(self):
        issuer, agent = self.new_issuer(), started(self, Agent(temporary_folder(self)))
        enrollment = agent.json(*issuer.command[1:])
        self.assertEqual((enrollment["state"], enrollment["issuer"]), ("active", issuer.origin))
        shown = ["--expect-amount", "EUR 19.99", "--expect-merchant", TRANSACTION["merchantName"]]
        # The second approval has to have a greater signCount.
        for command, state, trans_status in [
            (["approve", *shown], "approved", "Y"), (["approve", *shown], "approved", "Y"), (["deny"], "denied", "N"),
        ]:
            acs_trans_id, answer = self.challenge(issuer)
            request = agent.json(command[0], acs_trans_id, "--wait", "60", *command[1:])
            self.assertEqual((request["state"], request["delivery"], request["transStatus"]),
                             (state, "delivered", trans_status))
            self.assertEqual(answer.result(30), (200, {"transStatus": trans_status}))
        self.assertEqual(agent.json("status")["state"], "ready")

    def test_its_libraries_refuse_an_assertion_that_does_not_hold(self):
        issuer = self.new_issuer()
        enrolled = Enrolled(issuer.origin, issuer.command[-1])
        _, answer = self.challenge(issuer)
        _, listed = enrolled.fetch("?wait=30&after=0")
        claims = json.loads(decode(listed["requests"][0].split(".")[1]))
        jti, challenge = claims["jti"], decode(claims["publicKey"]["challenge"])
        # Each takes a signCount; with the last it is what it was at the enrollment.
        for wrong in [
            {"key": ec.generate_private_key(ec.SECP256R1())}, {"origin": "https://merchant.example"},
            {"rp_id_hash": bytes(32)}, {"flags": FLAG(0)}, {"challenge": bytes(32)}, {"step": -5},
        ]:
            with self.subTest(wrong):
                status, problem = enrolled.approve(jti, **{"challenge": challenge, **wrong})
                self.assertEqual((status, problem["code"]), (422, "invalid_assertion"))
        self.assertEqual(enrolled.approve(jti, challenge), (200, {"transStatus": "Y"}))
        self.assertEqual(answer.result(30), (200, {"transStatus": "Y"}))

    def written(self) -> tuple[dict, dict, dict, dict]:
        """A JWK, creation options, and a request's header and claims; and that aud is this authenticator."""
        issuer = self.new_issuer()
        (jwk,) = call("GET", f"{issuer.origin}/jwks.json")[1]["keys"]
        enrolled = Enrolled(issuer.origin, issuer.command[-1])
        acs_trans_id, answer = self.challenge(issuer)
        _, listed = enrolled.fetch("?wait=30&after=0")
        header, claims = (json.loads(decode(part)) for part in listed["requests"][0].split(".")[:2])
        self.assertEqual(enrolled.decide(claims["jti"], {"decision": "deny", "reason": "userDenied"})[0], 200)
        self.assertEqual(answer.result(30), (200, {"transStatus": "N"}))
        self.assertEqual(claims["transaction"], {**TRANSACTION, "acsTransId": acs_trans_id})
        self.assertEqual(header, {"alg": "ES256", "kid": jwk["kid"], "typ": "oob-authn-request+jwt"})
        self.assertEqual(set(jwk), {"kty", "crv", "kid", "x", "y"}, "no alg, no use, no key_ops")
        is_array = isinstance(claims["aud"], list)
        self.assertEqual(claims["aud"], [enrolled.id] if is_array else enrolled.id)
        return claims


@unittest.skipIf(shutil.which("go") is None, "there is no Go here: Scripts/bootstrap --tests installs it")
class InGo(Proof, unittest.TestCase):
    @classmethod
    def command(cls, made: Path) -> list:
        # Debian's own source alone: nothing is asked of a network, and nothing is kept.
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(made), "GOCACHE": str(made / "cache"), "GOFLAGS": "-trimpath",
            "GOPATH": GOPATH, "GO111MODULE": "off", "CGO_ENABLED": "0"}
        subprocess.run(["go", "build", "-o", made / "issuer", "."], cwd=ISSUERS / "golang_jwt", env=environment,
                       check=True, timeout=BUILT_WITHIN, stdin=subprocess.DEVNULL)
        return [made / "issuer"]

    def test_aud_is_an_array_and_the_relying_party_is_left_out(self):
        claims = self.written()
        self.assertIsInstance(claims["aud"], list)
        self.assertEqual(set(claims["publicKey"]), {"challenge"}, "no rpId")


class InPython(Proof, unittest.TestCase):
    @classmethod
    def command(cls, made: Path) -> list:
        return [sys.executable, "-B", ISSUERS / "fido2_pyjwt.py"]

    def test_members_that_its_libraries_leave_out_are_left_out(self):
        self.assertEqual(set(self.written()["publicKey"]), {"challenge", "rpId"}, "neither credentials nor more")


if __name__ == "__main__":
    unittest.main()
