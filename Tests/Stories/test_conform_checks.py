"""oob-conform check-request and check-assertion: the conformance vectors, what was not given, and files that are no messages.

Run with `.venv/bin/python Tests/Stories/test_conform_checks.py`. OOB_BIN_DIR names the programs' directory.
"""

import base64
import hashlib
import json
import subprocess
import unittest
from pathlib import Path

from programs import BIN_DIR, temporary_folder

VECTORS = Path(__file__).resolve().parents[2] / "conformance" / "vectors"


def vectors(name: str):
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


PARTIES = vectors("parties")


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unsigned(claims: dict) -> str:
    """A request whose signature is of its length and nobody's."""
    header = {"alg": "ES256", "kid": "2026-1", "typ": "oob-authn-request+jwt"}
    return ".".join([b64(json.dumps(header).encode()), b64(json.dumps(claims).encode()), b64(bytes(64))])


def request(vector: dict, **changes) -> dict:
    """The claims of the request that an assertion vector or a commitment is about."""
    canonical = json.dumps(dict(sorted(vector["transaction"].items())), separators=(",", ":"), ensure_ascii=False)
    nonce = base64.urlsafe_b64decode(vector["nonce"] + "==")
    options = {
        "challenge": b64(hashlib.sha256(b"oob-authn-v1\x00" + nonce + canonical.encode()).digest()),
        "rpId": PARTIES["rpId"], "userVerification": vector.get("userVerification", "preferred"),
        "allowCredentials": [{"type": "public-key", "id": PARTIES["credentialId"]}],
    }
    if "payment" in vector:
        options["extensions"] = {"payment": vector["payment"]}
    return {"iss": PARTIES["issuer"], "aud": PARTIES["authenticatorId"], "jti": "b1c6f0a2", "iat": 1697522198,
            "exp": 1697522798, "nonce": vector["nonce"], "transaction": vector["transaction"], "publicKey": options, **changes}


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)
        self.jwks = self.file(json.dumps(PARTIES["jwks"]))

    def file(self, content: str | bytes) -> str:
        path = self.folder / f"file-{len(list(self.folder.iterdir()))}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def conform(self, *words: str, **more) -> subprocess.CompletedProcess:
        return subprocess.run([BIN_DIR / "oob-conform", *words], capture_output=True, text=True, timeout=60,
                              **{"stdin": subprocess.DEVNULL, **more})

    def judged(self, *words: str) -> dict:
        run = self.conform(*words, "--json")
        self.assertIn(run.returncode, (0, 1), run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual(run.returncode, 1 if "broken" in report else 0)
        return report

    def results(self, report: dict) -> dict[str, str]:
        return {rule["rule"]: rule["result"] for rule in report["rules"]}

    def test_each_request_is_judged_as_its_vector_says(self):
        for vector in vectors("requests"):
            with self.subTest(vector["name"]):
                report = self.judged(
                    "check-request", self.file(vector["jws"]), "--jwks", self.jwks, "--issuer", PARTIES["issuer"],
                    "--authenticator-id", PARTIES["authenticatorId"], "--rp-id", PARTIES["rpId"],
                    "--credential-id", PARTIES["credentialId"], "--at", str(vector["at"]), "--authn-type", "pin")
                self.assertEqual(report["verdict"], vector["verdict"])
                self.assertEqual(report.get("broken"), vector.get("token"))
                self.assertEqual("failed" in self.results(report).values(), vector["verdict"] != "inOrder")
                if vector["verdict"] == "inOrder":
                    self.assertEqual(set(self.results(report).values()), {"passed"})

    def test_each_assertion_is_judged_as_its_vector_says(self):
        key = self.file(PARTIES["publicKey"])
        for vector in vectors("assertions"):
            with self.subTest(vector["name"]):
                report = self.judged(
                    "check-assertion", self.file(json.dumps(vector["credential"])), "--public-key", key,
                    "--request", self.file(unsigned(request(vector))), "--user-handle", PARTIES["userHandle"],
                    "--sign-count-above", str(vector["signCountAbove"]))
                self.assertEqual(report["verdict"], vector["verdict"])
                self.assertEqual(report.get("broken"), vector.get("check"))
                self.assertEqual(report["message"]["credentialId"], vector["credential"]["id"])

    def test_each_commitment_is_the_challenge_of_a_request_in_order_and_no_other_is(self):
        for vector in vectors("commitments"):
            with self.subTest(vector["name"]):
                claims = request(vector)
                claims["publicKey"]["challenge"] = vector["challenge"]
                self.assertEqual(self.judged("check-request", self.file(unsigned(claims)))["verdict"], "inOrder")
                claims["publicKey"]["challenge"] = b64(bytes(32))
                self.assertEqual(self.judged("check-request", self.file(unsigned(claims)))["broken"], "commitment")

    def test_every_vector_is_judged_here(self):
        self.assertEqual(sum(len(vectors(name)) for name in ["requests", "assertions", "commitments"]), 79)

    def test_what_was_not_given_is_taken_from_the_message_and_not_checked(self):
        good = self.file(vectors("requests")[0]["jws"] + "\n")
        results = self.results(self.judged("check-request", good))
        self.assertEqual({rule for rule, result in results.items() if result == "notChecked"},
                         {"unknownKey", "signature", "iss", "aud", "expired", "ahead", "rpId", "allowCredentials"})
        self.assertEqual({rule for rule, result in results.items() if result == "failed"}, set())
        assertion = self.file(json.dumps(vectors("assertions")[0]["credential"]))
        results = self.results(self.judged("check-assertion", assertion))
        self.assertEqual({rule for rule, result in results.items() if result == "notChecked"},
                         {"credentialId", "userHandle", "type", "challenge", "origin", "rpId", "userVerification",
                          "signature", "signCount"})

    def test_what_is_behind_a_broken_rule_is_judged_too(self):
        good = next(vector for vector in vectors("requests") if vector["name"] == "good")
        report = self.judged(
            "check-request", self.file(good["jws"]), "--issuer", "https://other.example", "--authenticator-id", "other",
            "--rp-id", "other.example", "--credential-id", b64(b"other"), "--now")
        self.assertEqual((report["verdict"], report["broken"]), ("notAuthentic", "iss"))
        self.assertEqual({rule for rule, result in self.results(report).items() if result == "failed"},
                         {"iss", "aud", "expired", "rpId", "allowCredentials"})
        self.assertEqual(self.results(report)["commitment"], "passed")

        vector = next(vector for vector in vectors("assertions") if vector["name"] == "good")
        other = subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519"], capture_output=True, check=True).stdout
        other = subprocess.run(["openssl", "pkey", "-pubout"], input=other, capture_output=True, check=True).stdout
        report = self.judged(
            "check-assertion", self.file(json.dumps(vector["credential"])), "--public-key", self.file(other),
            "--origin", "https://other.example", "--user-verification", "required", "--sign-count-above", "42")
        self.assertEqual({rule for rule, result in self.results(report).items() if result == "failed"},
                         {"origin", "userVerification", "signature", "signCount"})

    def test_a_return_url_that_is_refused_is_named_with_what_to_write(self):
        vector = vectors("commitments")[0]
        for url, advice in [("https://m.example/köln", "%C3%B6"), ("https://m.example/{orderId}", "template")]:
            transaction = {**vector["transaction"], "threeDSRequestorAppURL": url}
            run = self.conform("check-request", self.file(unsigned(request({**vector, "transaction": transaction}))))
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn(advice, run.stdout)

    def test_an_assertion_whose_rp_id_is_not_known_is_still_held_against_the_key(self):
        vector = next(vector for vector in vectors("assertions") if vector["name"] == "signed-by-another-key")
        words = ["check-assertion", self.file(json.dumps(vector["credential"])), "--public-key"]
        self.assertEqual(self.judged(*words, self.file(PARTIES["publicKey"]))["broken"], "signature")

    def test_a_key_may_be_pem_a_json_web_key_or_base64url(self):
        der = base64.urlsafe_b64decode(PARTIES["publicKey"] + "==")
        body = base64.encodebytes(der).decode()
        pem = f"-----BEGIN PUBLIC KEY-----\n{body}-----END PUBLIC KEY-----\n"
        jwk = json.dumps({"kty": "EC", "crv": "P-256", "x": b64(der[27:59]), "y": b64(der[59:])})
        assertion = self.file(json.dumps({"decision": "approve", "credential": vectors("assertions")[0]["credential"]}))
        for key in [pem, jwk, PARTIES["publicKey"]]:
            report = self.judged("check-assertion", assertion, "--public-key", self.file(key))
            self.assertEqual(self.results(report)["signature"], "passed", key)

    def test_a_cancellation_is_judged_by_its_own_rules(self):
        header = {"alg": "ES256", "kid": "2026-1", "typ": "oob-authn-cancel+jwt"}
        claims = {"iss": PARTIES["issuer"], "aud": "a", "jti": "c", "iat": 1000, "exp": 1600, "cancels": "j"}

        def judged(*words: str, **changes) -> dict:
            parts = [b64(json.dumps(each).encode()) for each in [header, claims | changes]]
            return self.judged("check-request", self.file(".".join([*parts, b64(bytes(64))])), *words)

        self.assertEqual((judged()["verdict"], judged("--at", "1599").get("broken")), ("cancellation", None))
        self.assertEqual(judged("--at", "1600")["broken"], "exp")
        self.assertEqual(judged("--at", "900")["broken"], "iat")
        self.assertEqual(judged(cancels="/")["broken"], "malformedCancellation")

    def test_a_file_that_is_no_message_is_one_clear_line(self):
        jws, decision = "check-request", "check-assertion"
        deny = json.dumps({"decision": "deny", "reason": "policy"})
        for command, content, said in [
            (jws, b"", "is empty; a compact JWS is expected"),
            (jws, b"a" * 1_000_000, "has more than 65536 bytes"),
            (jws, bytes(range(256)), "holds no compact JWS: byte 0 is no printable ASCII"),
            (jws, b"eyJ\x1b[31mred", "holds no compact JWS: byte 3 is no printable ASCII"),
            (decision, b"[" * 1_000_000, "has more than 262144 bytes"),
            (decision, b"[" * 200_000, "holds no assertion: JSON at byte 16: deeper than 16"),
            (decision, b"\x1b]0;x\x07", "holds no assertion: JSON at byte 0: expected a value"),
            (decision, deny.encode(), "denies (policy), so it has no assertion"),
            (decision, b'{"id": "\\u001b[31m"}', "holds no assertion: /type is missing"),
        ]:
            with self.subTest(said):
                path = self.file(content)
                run = self.conform(command, path)
                self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (65, "", 1), run.stderr)
                self.assertIn(f"oob-conform: {path} {said}", run.stderr)
        for path in [str(self.folder / "nothing"), str(self.folder)]:
            run = self.conform(jws, path)
            self.assertEqual((run.returncode, run.stderr.count("\n")), (66, 1), run.stderr)

    def test_a_byte_order_mark_at_the_beginning_of_a_file_is_ignored(self):
        mark = b"\xef\xbb\xbf"
        message, keys = unsigned(request(vectors("commitments")[0])).encode(), Path(self.jwks).read_bytes()
        plain = self.judged("check-request", self.file(message), "--jwks", self.jwks)
        self.assertEqual(self.judged("check-request", self.file(mark + message), "--jwks", self.file(mark + keys)), plain)
        run = self.conform("check-request", self.file(mark + mark + message))
        self.assertEqual(run.returncode, 65, run.stderr)

    def test_a_hostile_message_is_shown_and_not_obeyed(self):
        claims = request(vectors("commitments")[0], **{"\x1b[31m": "\u202e\x1b]0;x\x07"})
        run = self.conform("check-request", "-", stdin=None, input=unsigned(claims))
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertNotRegex(run.stdout, "[\x00-\x09\x0b-\x1f\x7f\u202e]")
        self.assertIn("claims.\\u{1B}[31m", run.stdout)

    def test_an_option_with_a_wrong_value_is_wrong_usage(self):
        for words in [["--at", "soon"], ["--at", "1", "--now"], ["--issuer", "example.com"], ["--authn-type", "pni"],
                      ["--credential-id", "a+b"], ["--exponent-policy", "ignore"]]:
            run = self.conform("check-request", "-", *words)
            self.assertEqual((run.returncode, run.stdout), (64, ""), words)
            self.assertIn(words[0], run.stderr)


if __name__ == "__main__":
    unittest.main()
