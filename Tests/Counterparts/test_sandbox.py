"""What the real programs said to each other, verified by parties that had no hand in it.

oob-issuer, oob-agent and oobctl run as they were built; then py_webauthn and python-fido2 verify the registration and
the assertion that the sandbox kept, jwcrypto its request's signature, and rfc8785 what the challenge commits to.

Run with `.venv/bin/python Tests/Counterparts/test_sandbox.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import re
import subprocess
import unittest
import uuid
from itertools import product

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
from jwcrypto.jwk import JWKSet
from jwcrypto.jws import JWS

import verify
from issuer import EXAMPLE_TRANSACTION, commitment
from programs import BIN_DIR, Agent, Sandbox, started, temporary_folder
from software_authenticator import FLAG, MODEL, Enrolled, call


class AgainstTheSandbox(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(cls.folder))
        cls.relying_party = verify.RelyingParty(cls.sandbox.origin, "localhost")

    @classmethod
    def call(cls, path: str, body: dict | None = None) -> dict:
        status, answer = call("GET" if body is None else "POST", cls.sandbox.origin + path, body)
        assert status in (200, 201), answer
        return answer

    def purchase(self, authenticator: dict, **how) -> dict:
        order = {**EXAMPLE_TRANSACTION, "acsTransId": str(uuid.uuid4()), **how}
        return self.call("/sandbox/purchases", {**order, "authenticatorId": authenticator["id"]})

    def story(self, purchase: dict) -> dict:
        return self.call(f"/sandbox/purchases/{purchase['acsTransId']}?wait=30")

    def challenge(self, compact: str, story: dict) -> bytes:
        """What a request of a purchase commits to, from the request as the sandbox signed it."""
        keys = JWKSet.from_json(json.dumps(self.call("/jwks.json")))
        token = JWS()
        token.deserialize(compact)
        header = token.jose_header
        self.assertEqual((header["alg"], header["typ"]), ("ES256", "oob-authn-request+jwt"))
        token.verify(keys.get_key(header["kid"]), alg="ES256")
        claims = json.loads(token.payload)
        self.assertEqual((claims["iss"], claims["aud"]), (self.sandbox.origin, story["authenticatorId"]))
        self.assertEqual(claims["transaction"], story["transaction"])
        challenge = commitment(verify.decode(claims["nonce"]), claims["transaction"])
        self.assertEqual(verify.decode(claims["publicKey"]["challenge"]), challenge)
        return challenge


class WhatTheAgentSigned(AgainstTheSandbox):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.agent = started(cls, Agent(cls.folder))

    def enrolled(self, attestation: str, **code) -> tuple[dict, dict]:
        """The enrollment as the agent shows it, and the authenticator as the sandbox kept it."""
        link = self.call("/sandbox/enrollment-codes", {"attestation": attestation, **code})["link"]
        enrollment = self.agent.json("enroll", link, "--authn-type", "presence")
        return enrollment, self.call(f"/sandbox/authenticators/{enrollment['authenticatorId']}")

    def credential(self, authenticator: dict, attestation_format: str) -> verify.Credential:
        response = authenticator["registration"]
        return verify.registration(
            response, challenge=verify.decode(authenticator["expected"]["challenge"]), relying_party=self.relying_party,
            attestation_format=attestation_format)

    def test_registrations_and_assertions_verify_with_both_libraries(self):
        for attestation, attestation_format in [("none", "none"), ("direct", "packed")]:
            with self.subTest(attestation):
                enrollment, authenticator = self.enrolled(attestation)
                credential = self.credential(authenticator, attestation_format)
                self.assertEqual(verify.decode(enrollment["credentialId"]), credential.data.credential_id)
                self.assertEqual(bytes(credential.data.aaguid), MODEL)
                self.check_public_key(authenticator["publicKey"], authenticator["registration"])
                for _ in range(2):
                    credential = self.approve(authenticator, credential)
                kept = self.call(f"/sandbox/authenticators/{enrollment['authenticatorId']}")
                self.assertEqual(kept["signCount"], credential.sign_count)

    def test_so_they_do_with_the_first_algorithm_of_the_code(self):
        for algorithms in [[-8, -7], [-35, -8], [-257, -7, -35]]:
            with self.subTest(algorithms):
                enrollment, authenticator = self.enrolled("direct", algorithms=algorithms)
                credential = self.credential(authenticator, "packed")
                first = next(one for one in algorithms if one in verify.ALGORITHMS)
                self.assertEqual((enrollment["algorithm"], credential.algorithm), (first, first))
                self.check_public_key(authenticator["publicKey"], authenticator["registration"])
                self.approve(authenticator, credential)

    def approve(self, authenticator: dict, credential: verify.Credential) -> verify.Credential:
        """One purchase, approved; the credential with the signCount that its assertion had."""
        purchase = self.purchase(authenticator)
        request = self.agent.json("approve", purchase["acsTransId"], "--wait", "60")
        self.assertEqual((request["state"], request["transStatus"]), ("approved", "Y"))
        story = self.story(purchase)
        self.assertEqual((story["status"], story["transStatus"]), ("authenticated", "Y"))
        self.check_public_key(story["publicKey"], authenticator["registration"])
        return verify.assertion(
            story["credential"], credential=credential, challenge=self.answered_challenge(story),
            relying_party=self.relying_party)

    def answered_challenge(self, story: dict) -> bytes:
        (request,) = (row for row in story["requests"] if row["jti"] == story["decision"]["jti"])
        return self.challenge(request["jws"], story)

    def check_public_key(self, pem: str, registration: dict):
        key = load_pem_public_key(pem.encode()).public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.assertEqual(key, verify.decode(registration["response"]["publicKey"]))

    def test_a_denial_signs_nothing(self):
        _, authenticator = self.enrolled("none")
        purchase = self.purchase(authenticator)
        self.agent.json("deny", purchase["acsTransId"], "--wait", "60")
        story = self.story(purchase)
        self.assertEqual((story["status"], story["transStatus"]), ("notAuthenticated", "N"))
        self.assertEqual(story["decision"]["reason"], "userDenied")
        self.assertNotIn("credential", story)

    def test_a_changed_assertion_verifies_with_neither_library(self):
        """So that the tests above prove something."""
        _, authenticator = self.enrolled("none")
        credential = self.credential(authenticator, "none")
        purchase = self.purchase(authenticator)
        self.agent.json("approve", purchase["acsTransId"], "--wait", "60")
        story = self.story(purchase)
        response = story["credential"]["response"]
        data = bytearray(verify.decode(response["authenticatorData"]))
        data[-4] ^= 1  # A much greater signCount: only the signature can tell.
        changed = {**story["credential"], "response": {**response, "authenticatorData": verify.encode(bytes(data))}}
        known = (credential, self.answered_challenge(story), self.relying_party, False)
        for check in [verify.assertion_by_py_webauthn, verify.assertion_by_python_fido2]:
            check(story["credential"], *known)
            with self.assertRaisesRegex(Exception, "ignature"):
                check(changed, *known)


class WhatTheSandboxTakes(AgainstTheSandbox):
    """The other way round: the sandbox verifies what python-fido2's types and cryptography's keys made."""

    def enroll(self, attestation: str = "none", algorithm: int = -7) -> Enrolled:
        code = self.call("/sandbox/enrollment-codes", {"attestation": attestation})["code"]
        return Enrolled(
            self.sandbox.origin, code, packed=attestation != "none", aaguid=MODEL, algorithm=algorithm)

    def request(self, enrolled: Enrolled, **how) -> tuple[dict, str, bytes]:
        """A purchase, and the jti and challenge of the request that is listed for it."""
        purchase = self.purchase({"id": enrolled.id}, **how)
        status, listed = enrolled.fetch()
        self.assertEqual(status, 200)
        (request,) = purchase["requests"]
        self.assertIn(request["jws"], listed["requests"])
        return purchase, request["jti"], self.challenge(request["jws"], purchase)

    def test_what_holds_is_taken_and_answered_the_same_again(self):
        for attestation, algorithm in product(["none", "direct"], verify.ALGORITHMS):
            with self.subTest((attestation, algorithm)):
                enrolled = self.enroll(attestation, algorithm)
                purchase, jti, challenge = self.request(enrolled)
                decision = {"decision": "approve", "credential": enrolled.authenticator.sign(challenge)}
                for _ in range(2):
                    self.assertEqual(enrolled.decide(jti, decision), (200, {"transStatus": "Y"}))
                self.assertEqual(self.story(purchase)["messages"][-1]["transStatus"], "Y")

    def test_what_does_not_hold_is_refused_and_completes_nothing(self):
        enrolled = self.enroll()
        _, jti, challenge = self.request(enrolled)
        self.assertEqual(enrolled.approve(jti, challenge, step=7)[0], 200)
        purchase, jti, challenge = self.request(enrolled)
        for wrong in [
            {"key": ec.generate_private_key(ec.SECP256R1())}, {"origin": "http://localhost:1"},
            {"rp_id_hash": bytes(32)}, {"flags": FLAG(0)}, {"step": 0}, {"step": -1}, {"challenge": bytes(32)},
        ]:
            with self.subTest(wrong):
                enrolled.authenticator.sign_count = 7
                status, problem = enrolled.approve(jti, **{"challenge": challenge, **wrong})
                self.assertEqual((status, problem.get("code")), (422, "invalid_assertion"))
        self.assertEqual(self.call(f"/sandbox/purchases/{purchase['acsTransId']}")["status"], "pending")
        enrolled.authenticator.sign_count = 7
        self.assertEqual(enrolled.approve(jti, challenge), (200, {"transStatus": "Y"}))

    def test_user_verification_is_required_where_the_purchase_says_so(self):
        enrolled = self.enroll()
        _, jti, challenge = self.request(enrolled, userVerification="required")
        self.assertEqual(enrolled.approve(jti, challenge)[0], 422)
        self.assertEqual(enrolled.approve(jti, challenge, flags=FLAG.UP | FLAG.UV)[0], 200)

    def test_what_cannot_be_written_is_no_success(self):
        self.enroll()
        purchase = ["purchase", "--amount", "100", "--currency", "840", "--exponent", "2", "--merchant", "CoffeeHouse2"]
        for command, redirection in product([["code"], ["code", "--json"], purchase], [">/dev/full", ">&-"]):
            with self.subTest(f"{command[0]} {redirection}"):
                run = subprocess.run(
                    ["sh", "-c", f'exec "$@" {redirection}', "sh", BIN_DIR / "oob-issuer", *command, "--issuer",
                     self.sandbox.origin],
                    stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertEqual(
                    run.stderr, "Error: standard output cannot be written\n")


class TheProgram(unittest.TestCase):
    """What `oob-issuer` says to whoever types something wrong."""

    PURCHASE = {"--amount": "100", "--currency": "840", "--exponent": "2", "--merchant": "CoffeeHouse2"}

    def run_with(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([BIN_DIR / "oob-issuer", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60)

    def test_an_address_that_another_program_has_is_named(self):
        sandbox = started(type(self), Sandbox(temporary_folder(type(self))))
        address = sandbox.origin.removeprefix("http://")
        run = self.run_with("serve", "--listen", address)
        self.assertEqual((run.returncode, run.stdout), (69, ""))
        self.assertEqual(
            run.stderr,
            f"oob-issuer: the address {address} is in use by another program; choose another with --listen\n")

    def test_an_address_that_is_not_of_this_host_is_named(self):
        for address, said in [("192.0.2.7:0", "this host does not have the address 192.0.2.7:0"),
                              ("nowhere.invalid:0", "the host nowhere.invalid has no address here")]:
            run = self.run_with("serve", "--listen", address, "--public-url", "https://issuer.example")
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertEqual(run.stderr, f"oob-issuer: {said}; choose another with --listen\n")

    def test_a_wrong_value_is_wrong_usage_and_the_complaint_names_its_flag(self):
        wrong = [
            ("--amount", "1.00", "is not 1 to 48 ASCII digits"), ("--currency", "USD", "is not 3 ASCII digits"),
            ("--exponent", "10", "is not 1 ASCII digit"), ("--merchant", "", "has 0 characters; 1 to 40 are allowed"),
            ("--acs-trans-id", "7", "is not a UUID of 36 characters"), ("--date", "2023", "is not a real date in 14"),
            ("--app-url", "", "is not 1 to 256 bytes long"), ("--authenticator-id", "", "must have 1 to 64 bytes"),
            ("--user-verification", "maybe", "must be one of required, preferred, discouraged"),
            ("--assertion", "get", "must be one of webauthn.get, payment.get"),
            ("--payee-origin", "https://a.example", "only an assertion of type payment.get has it"),
            ("--push", "always", "must be one of both, hint, only, none"),
            *(("--expires-in", value, "must be 1 to 86400 (seconds)") for value in ["0", "86401", "-5", "1h", ""]),
            ("--issuer", "localhost:8080", "must start with https:// (or http:// on loopback)"),
        ]
        for flag, value, said in wrong:
            self.expect_wrong_usage("purchase", {**self.PURCHASE, flag: value}, flag, said)
        payment = {**self.PURCHASE, "--assertion": "payment.get"}
        for flag, value, said in [
            ("--payee-origin", "http://a.example", "must be an https origin"),
            ("--instrument-name", "", "must have 1 to 64 characters"), ("--instrument-icon", "icon", "must be an https"),
        ]:
            self.expect_wrong_usage("purchase", {**payment, flag: value}, flag, said)
        for flag, value, said in [
            ("--expires-in", "-1", "must be 0 to 86400 (seconds)"), ("--expires-in", "soon", "must be 0 to 86400"),
            ("--attestation", "all", "must be one of none, indirect, direct, enterprise"),
            ("--user-verification", "maybe", "must be one of required, preferred, discouraged"),
        ]:
            self.expect_wrong_usage("code", {flag: value}, flag, said)
        for flag, value, said in [
            ("--listen", "8080", "must be HOST:PORT"), ("--listen", "localhost:65536", "must be HOST:PORT with a port of 0 to"),
            ("--listen", "0.0.0.0:0", "0.0.0.0:0 is beyond loopback: give --tls-cert and --tls-key"),
            ("--listen", "[2001:db8::1]:0", "[2001:db8::1]:0 is an IPv6 address beyond loopback: give the name that"),
            ("--tls-cert", "chain.pem", "and --tls-key go together"),
            ("--public-url", "http://a.example", "http is for loopback only"),
            ("--faults", "typo=0.1", "typo: no such name; allowed are slow, drop-before"),
            ("--faults", "drop-aftr=0.1", "drop-aftr: no such name; did you mean drop-after? Allowed are slow"),
        ]:
            self.expect_wrong_usage("serve", {flag: value}, flag, said)

    def test_a_file_that_cannot_be_used_is_named_with_its_flag(self):
        folder = temporary_folder(type(self))
        (folder / "text").write_text("no PEM\n")
        for flags, said in [
            ([("--tls-cert", "none"), ("--tls-key", "text")], "--tls-cert {0}/none cannot be read: No such file or directory"),
            ([("--tls-cert", "text"), ("--tls-key", "text")], "--tls-cert {0}/text must be a PEM file with certificates"),
            ([("--push-ca-file", "text")], "--push-ca-file {0}/text must be a PEM file with certificates"),
        ]:
            run = self.run_with("serve", "--listen", "localhost:0",
                                *(word for flag, name in flags for word in (flag, str(folder / name))))
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertEqual(run.stderr, f"oob-issuer: cannot serve on localhost:0: {said.format(folder)}\n")

    def expect_wrong_usage(self, command: str, flags: dict[str, str], flag: str, said: str):
        with self.subTest(f"{command} {flag} {flags[flag]!r}"):
            run = self.run_with(command, *(word for each in flags.items() for word in each))
            self.assertEqual((run.returncode, run.stdout), (64, ""), run.stderr)
            complaint, usage = run.stderr.splitlines()[:2]
            self.assertRegex(complaint, rf"^Error: {flag}:? {re.escape(said)}")
            self.assertTrue(usage.startswith(f"Usage: oob-issuer {command} "), usage)

    def test_what_a_running_sandbox_refuses_is_told_by_the_flag_too(self):
        sandbox = started(type(self), Sandbox(temporary_folder(type(self))))
        flags = {**self.PURCHASE, "--issuer": sandbox.origin, "--authenticator-id": "nobody"}
        run = self.run_with("purchase", *(word for each in flags.items() for word in each))
        self.assertEqual((run.returncode, run.stderr), (1, "oob-issuer: --authenticator-id: no such authenticator\n"))

    def test_an_expired_purchase_ends_with_the_results_and_no_final_cres(self):
        folder = temporary_folder(type(self))
        sandbox = started(type(self), Sandbox(folder))
        status, code = call("POST", f"{sandbox.origin}/sandbox/enrollment-codes", {})
        self.assertEqual(status, 201)
        Enrolled(sandbox.origin, code["code"], packed=False, aaguid=MODEL, algorithm=-7)
        flags = {**self.PURCHASE, "--issuer": sandbox.origin, "--expires-in": "1"}
        run = self.run_with("purchase", "--wait", *(word for each in flags.items() for word in each))
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        messages = re.findall(r"^  ([A-Z]{1,2}R\w+) (.*)$", run.stdout.partition("messages:\n")[2], re.MULTILINE)
        self.assertEqual([kind for kind, _ in messages], ["AReq", "ARes", "CReq", "CRes", "RReq", "RRes"])
        self.assertIn("challengeCompletionInd=N", dict(messages)["CRes"])
        for pair in ['acsRenderingType={"acsInterface":"01","acsUiTemplate":"04"}', "transStatus=N",
                     "transStatusReason=14", "challengeCancel=04"]:
            self.assertIn(pair, dict(messages)["RReq"])


if __name__ == "__main__":
    unittest.main()
