"""What a thief gets who has a token or looks for one; threats.t has what a thief gets with the programs.

Run with `.venv/bin/python Tests/Stories/test_threats.py`; OOB_BIN_DIR names the programs' directory.
"""

import unittest

from cryptography.hazmat.primitives.asymmetric import ec

from issuer import Issuer
from programs import Agent, temporary_folder
from software_authenticator import Enrolled, call


class AStolenAccessToken(unittest.TestCase):
    def setUp(self):
        self.issuer = self.enterContext(Issuer())
        self.victim = Enrolled(self.issuer.origin, self.issuer.enrollment_code())

    def ask(self):
        return self.issuer.ask(self.victim.id, self.issuer.transaction())

    def test_it_reads_what_is_asked_and_can_deny_and_unenroll(self):
        request = self.ask()
        self.assertEqual(self.victim.fetch()[1]["requests"], [request.jws])
        denial = {"decision": "deny", "reason": "userDenied"}
        self.assertEqual(self.victim.decide(request.jti, denial), (200, {"transStatus": "N"}))
        self.assertEqual(call("DELETE", f"{self.issuer.origin}/v1/authenticator", token=self.victim.token)[0], 204)

    def test_it_approves_nothing(self):
        request = self.ask()
        own = ec.generate_private_key(ec.SECP256R1())
        status, problem = self.victim.approve(request.jti, request.challenge, key=own)
        self.assertEqual((status, problem["code"]), (422, "invalid_assertion"))
        self.assertIsNone(request.decision)

    def test_an_approval_that_was_overheard_approves_nothing_else(self):
        first, second = self.ask(), self.ask()
        overheard = self.victim.authenticator.sign(first.challenge)
        status, problem = self.victim.decide(second.jti, {"decision": "approve", "credential": overheard})
        self.assertEqual((status, problem["code"]), (422, "invalid_assertion"))


class ACopyOfTheState(unittest.TestCase):
    def test_no_token_is_in_it(self):
        folder = temporary_folder(type(self))
        issuer = self.enterContext(Issuer())
        agent = Agent(folder)
        try:
            agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(), "--authn-type", "presence")
            (enrolled,) = issuer.authenticators.values()
            request = issuer.ask(enrolled.id, issuer.transaction())
            agent.json("approve", request.transaction["acsTransId"], "--wait", "60")
        finally:
            agent.stop()
        files = [file for file in (folder / "state").rglob("*") if file.is_file()]
        self.assertIn("agent.db", [file.name for file in files])
        for file in files:
            self.assertNotIn(enrolled.token.encode(), file.read_bytes(), file.name)


if __name__ == "__main__":
    unittest.main()
