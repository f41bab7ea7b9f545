"""The agent's test clock before a person at a terminal, and beside an issuer that forgets a token.

Run with `.venv/bin/python Tests/Stories/test_clock.py`; OOB_BIN_DIR names the programs' directory.
"""

import time
import unittest

from approver import Approver
from issuer import Issuer
from programs import Agent, temporary_folder


class TestClock(unittest.TestCase):
    def setUp(self):
        folder = temporary_folder(type(self))
        self.issuer = self.enterContext(Issuer())
        self.agent = Agent(folder, "--test-clock")
        self.addCleanup(self.agent.stop)

    def enroll(self) -> dict:
        return self.agent.json(
            "enroll", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code(), "--authn-type", "test")

    def until(self, look):
        deadline = time.monotonic() + 60
        while not (found := look()):
            self.assertLess(time.monotonic(), deadline, self.agent.tail())
            time.sleep(0.02)  # Looks again; nothing depends on how long.
        return found

    def test_a_suspended_enrollment_is_looked_at_again_while_another_is_polled_for(self):
        first, second = self.enroll(), self.enroll()
        authenticator = self.issuer.authenticators[second["authenticatorId"]]
        token, authenticator.token = authenticator.token, "x" * 43

        def state() -> str:
            return {each["id"]: each["state"] for each in self.agent.json("enrollments")}[second["id"]]
        # A poll of up to 50 s is under way when the issuer forgets the token.
        self.agent.ctl("fetch")
        self.until(lambda: state() == "suspended")
        authenticator.token = token
        self.agent.json("clock advance", "1h")
        self.until(lambda: state() == "active")
        self.agent.json("unenroll", first["id"], "--local")

    def test_a_prompt_says_that_the_clock_is_a_tests(self):
        payer = self.enroll()
        self.agent.json("clock advance", "10m")
        # The issuer's clock is ahead too.
        self.issuer.ask(payer["authenticatorId"], self.issuer.transaction(), later=600)
        self.until(lambda: self.agent.json("fetch") and self.agent.json("list"))
        person = Approver(self.agent, "--once")
        self.addCleanup(person.process.close, force=True)
        person.until("The agent's clock is a test's, 10m ahead.", "Amount:", "Expires in ")
        person.ready()
        self.agent.json("clock advance", "5m")
        person.until("is asked about again, unchanged.", "15m ahead", "Expires in ")
        self.agent.json("clock advance", "5m")
        person.until("expired")


if __name__ == "__main__":
    unittest.main()
