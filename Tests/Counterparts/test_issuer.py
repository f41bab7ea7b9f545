"""The outside issuer itself, against a software authenticator: what it says yes to, and what it must not."""

import json
import threading
import time
import unittest
from dataclasses import replace
from itertools import product
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from jwcrypto.jwk import JWK, JWKSet
from jwcrypto.jws import JWS

import verify
from issuer import Issuer, commitment
from software_authenticator import (
    FLAG, Enrolled, SoftwareAuthenticator, call, enrollment_body, enrollment_options, generate_key,
)
from verify import decode, encode

VECTORS = Path(__file__).parent.parent / "Fixtures" / "Vectors" / "challenge.json"


class Commitments(unittest.TestCase):
    def test_every_published_commitment_is_what_rfc8785_and_hashlib_make_of_it(self):
        cases = json.loads(VECTORS.read_text(encoding="utf-8"))
        self.assertGreater(len(cases), 0)
        for case in cases:
            with self.subTest(case["jcs"]):
                self.assertEqual(encode(commitment(decode(case["nonce"]), case["transaction"])), case["challenge"])


class Registrations(unittest.TestCase):
    def refused(self, attestation: str, **attest) -> str:
        algorithm = attest.pop("algorithm", -7)
        offered = attest.pop("offered", (algorithm,))
        with Issuer(attestation, attest.pop("user_verification", "preferred"), offered) as issuer:
            answer = enrollment_options(issuer.origin, issuer.enrollment_code())
            authenticator = SoftwareAuthenticator(
                attest.pop("origin", issuer.origin), attest.pop("rp_id", "localhost"), algorithm)
            challenge = attest.pop("challenge", decode(answer["publicKey"]["challenge"]))
            response = attest.pop("change", lambda same: same)(authenticator.attest(challenge, **attest))
            body = enrollment_body(answer["ceremonyId"], response)
            status, problem = call("POST", f"{issuer.origin}/v1/enrollments", body)
            self.assertEqual((status, problem["code"]), (422, "invalid_registration"))
            return problem["detail"]

    def test_none_and_packed_are_verified_by_both_libraries(self):
        for (attestation, packed), algorithm in product([("none", False), ("direct", True)], verify.ALGORITHMS):
            with Issuer(attestation, algorithms=(algorithm,)) as issuer:
                Enrolled(issuer.origin, issuer.enrollment_code(), packed=packed, algorithm=algorithm)
                (enrolled,) = issuer.authenticators.values()
                self.assertEqual(enrolled.credential.attestation_format, "packed" if packed else "none")

    def test_what_does_not_hold_is_refused(self):
        self.assertIn("format", self.refused("none", packed=True))
        self.assertIn("format", self.refused("direct", packed=False))
        for one in verify.ALGORITHMS:
            self.assertIn("Signature", self.refused("direct", packed=True, algorithm=one, key=generate_key(one)))
            for stated in set(verify.ALGORITHMS) - {one}:
                self.assertIn("alg", self.refused("direct", packed=True, algorithm=one, stated_algorithm=stated))
                self.assertIn("algorithm", self.refused("none", packed=False, algorithm=one, offered=(stated,)))
        self.assertIn("challenge", self.refused("none", packed=False, challenge=bytes(32)))
        self.assertIn("origin", self.refused("none", packed=False, origin="http://localhost:1"))
        self.assertIn("RP ID", self.refused("none", packed=False, rp_id="example.com"))
        self.assertIn("verif", self.refused("none", packed=False, user_verification="required"))
        self.assertIn("Present", self.refused("none", packed=False, flags=FLAG(0)))

    def test_a_member_that_repeats_another_wrongly_is_refused(self):
        def other_key(response: dict) -> dict:
            stranger = SoftwareAuthenticator("http://localhost:1").attest(bytes(32), packed=False)
            response["response"]["publicKey"] = stranger["response"]["publicKey"]
            return response

        self.assertIn("publicKey", self.refused("none", packed=False, change=other_key))

    def test_a_code_works_once(self):
        with Issuer() as issuer:
            code = {"enrollmentCode": issuer.enrollment_code()}
            url = f"{issuer.origin}/v1/enrollment-options"
            self.assertEqual(call("POST", url, code)[0], 200)
            status, problem = call("POST", url, code)
            self.assertEqual((status, problem["code"]), (403, "invalid_enrollment_code"))


class Requests(unittest.TestCase):
    def setUp(self):
        self.issuer = self.enterContext(Issuer())
        self.enrolled = self.enroll()

    def enroll(self) -> Enrolled:
        return Enrolled(self.issuer.origin, self.issuer.enrollment_code())

    def ask(self, **how):
        return self.issuer.ask(self.enrolled.id, self.issuer.transaction(), **how)

    def approve(self, request, **wrong) -> tuple[int, dict]:
        return self.enrolled.approve(request.jti, request.challenge, **wrong)

    def refused(self, status: int, code: str, answer: tuple[int, dict]):
        self.assertEqual((answer[0], answer[1].get("code")), (status, code), answer)

    def test_an_approval_is_verified_once_and_answered_the_same_again(self):
        request = self.ask()
        decision = {"decision": "approve", "credential": self.enrolled.authenticator.sign(request.challenge)}
        self.assertEqual(self.enrolled.decide(request.jti, decision), (200, {"transStatus": "Y"}))
        self.assertEqual(self.enrolled.decide(request.jti, decision), (200, {"transStatus": "Y"}))
        denial = {"decision": "deny", "reason": "policy"}
        self.refused(409, "already_decided", self.enrolled.decide(request.jti, denial))
        self.assertEqual(self.enrolled.fetch()[1]["requests"], [])

    def test_a_denial_is_kept_with_its_reason(self):
        request = self.ask()
        denial = {"decision": "deny", "reason": "suspectedFraud"}
        self.assertEqual(self.enrolled.decide(request.jti, denial), (200, {"transStatus": "N"}))
        self.assertEqual(self.issuer.decided(request).decision, denial)

    def test_an_assertion_that_does_not_hold_is_refused(self):
        for name, wrong in {
            "signature": {"key": ec.generate_private_key(ec.SECP256R1())},
            "origin": {"origin": "http://localhost:1"},
            "RP ID": {"rp_id_hash": bytes(32)},
            "present": {"flags": FLAG(0)},
            "sign count": {"step": 0},
        }.items():
            with self.subTest(name):
                request = self.ask()
                self.enrolled.authenticator.sign_count = 7
                enrolled = self.issuer.authenticators[self.enrolled.id]
                enrolled.credential = replace(enrolled.credential, sign_count=7)
                self.refused(422, "invalid_assertion", self.approve(request, **wrong))
                self.assertIn(name.lower(), request.refusals[0].lower())

    def test_each_library_verifies_on_its_own(self):
        challenge = bytes(32)
        for algorithm in verify.ALGORITHMS:
            with Issuer(algorithms=(algorithm,)) as issuer:
                enrolled = Enrolled(issuer.origin, issuer.enrollment_code(), algorithm=algorithm)
                known = (issuer.authenticators[enrolled.id].credential, challenge, issuer.relying_party, False)
            for check in verify.parties(algorithm):
                check(enrolled.authenticator.sign(challenge), *known)
                with self.assertRaisesRegex(Exception, "ignature|INVALID_SIG"):
                    check(enrolled.authenticator.sign(challenge, key=generate_key(algorithm)), *known)

    def test_user_verification_is_required_where_the_request_says_so(self):
        request = self.ask(user_verification="required")
        self.refused(422, "invalid_assertion", self.approve(request))
        self.assertEqual(self.approve(request, flags=FLAG.UP | FLAG.UV), (200, {"transStatus": "Y"}))

    def test_the_assertion_of_one_request_does_not_answer_another(self):
        first, second = self.ask(), self.ask()
        approval = {"decision": "approve", "credential": self.enrolled.authenticator.sign(first.challenge)}
        self.refused(422, "invalid_assertion", self.enrolled.decide(second.jti, approval))

    def test_the_end_of_an_enrollment_and_requests_of_others(self):
        other, request = self.enroll(), self.ask()
        self.refused(404, "unknown_request", other.approve(request.jti, request.challenge))
        self.refused(410, "expired", self.approve(self.ask(expires_in=0)))
        url, token = f"{self.issuer.origin}/v1/authenticator", other.token
        self.assertEqual(call("GET", url, token=token)[1]["signCount"], 0)
        self.assertEqual(call("DELETE", url, token=token)[0], 204)
        self.refused(401, "invalid_token", call("GET", url, token=token))

    def test_a_listed_request_is_signed_for_its_reader_and_commits_to_its_transaction(self):
        request = self.ask()
        keys = JWKSet.from_json(json.dumps(call("GET", f"{self.issuer.origin}/jwks.json")[1]))
        (compact,) = self.enrolled.fetch()[1]["requests"]
        token = JWS()
        token.deserialize(compact)
        token.verify(keys.get_key(token.jose_header["kid"]), alg="ES256")
        claims = json.loads(token.payload)
        self.assertEqual((claims["jti"], claims["aud"]), (request.jti, self.enrolled.id))
        self.assertEqual(commitment(decode(claims["nonce"]), claims["transaction"]), request.challenge)

    def test_a_request_signed_by_another_key_does_not_verify(self):
        self.ask(key=JWK.generate(kty="EC", crv="P-256"))
        (compact,) = self.enrolled.fetch()[1]["requests"]
        with self.assertRaises(Exception):
            JWS().deserialize(compact, self.issuer.key)

    def test_a_fetch_waits_for_what_comes_after_its_cursor(self):
        first = self.ask()
        status, answer = self.enrolled.fetch()
        self.assertEqual((status, answer["requests"]), (200, [first.jws]))
        late = {}
        waiting = threading.Thread(
            target=lambda: late.update(self.enrolled.fetch(f"?wait=60&after={answer['cursor']}")[1]))
        began = time.monotonic()
        waiting.start()
        second = self.ask()
        waiting.join()
        self.assertEqual(late["requests"], [second.jws])
        self.assertLess(time.monotonic() - began, 55, "it waited to its end, and was not woken")
        self.refused(410, "unknown_cursor", self.enrolled.fetch("?after=nonsense"))
        self.refused(401, "invalid_token", call("GET", f"{self.issuer.origin}/v1/authn-requests", token="nobody"))

    def test_a_list_holds_a_hundred_and_the_cursor_goes_on_from_there(self):
        issued = [self.ask().jws for _ in range(101)]
        answer = self.enrolled.fetch()[1]
        self.assertEqual(answer["requests"], issued[:100])
        self.assertEqual(self.enrolled.fetch(f"?after={answer['cursor']}")[1]["requests"], issued[100:])


if __name__ == "__main__":
    unittest.main()
