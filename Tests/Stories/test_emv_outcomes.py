"""Every version and channel of EMV 3-D Secure that the sandbox plays, with every outcome, through the programs as built.

Run with `.venv/bin/python Tests/Stories/test_emv_outcomes.py`; OOB_BIN_DIR names the programs' directory. With --update
it plays all of it and writes the case files, and the tables of docs/reference/emv-outcomes.md that are made of them.
"""

import sys
import unittest
import uuid

import emv_cases
from citations import page
from issuer import EXAMPLE_TRANSACTION
from programs import Agent, Sandbox, started, temporary_folder
from software_authenticator import call

PIN, WRONG_PIN = "48315926", "48315927"
# Not every version and channel has a threeDSRequestorAppURL.
TRANSACTION = {name: value for name, value in EXAMPLE_TRANSACTION.items() if name != "threeDSRequestorAppURL"}
APP_URL = "https://merchant.example/return?transID=7"
PAGE = page("emv-outcomes.md")
# Longer than any purchase of these tests.
ALL_TIME = 8 * 86_400


class Matrix(unittest.TestCase):
    """A sandbox whose clock the test moves, and an agent with the machine's, so that it takes enrollments with a PIN."""

    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.sandbox = started(type(self), Sandbox(self.folder, "--test-clock"))
        self.agent = Agent(self.folder)
        self.addCleanup(lambda: self.agent.process.poll() is None and self.agent.stop())
        for name, pin in [("pin", PIN), ("wrong", WRONG_PIN)]:
            file = self.folder / name
            file.write_text(pin + "\n")
            file.chmod(0o600)

    def enroll(self, *options: str) -> str:
        _, code = call("POST", f"{self.sandbox.origin}/sandbox/enrollment-codes", {})
        return self.agent.json("enroll", code["link"], *options)["authenticatorId"]

    def post(self, path: str, body: dict, status: int = 200) -> dict:
        answered, answer = call("POST", f"{self.sandbox.origin}/sandbox/{path}", body)
        self.assertEqual(answered, status, answer)
        return answer

    def purchase(self, **how) -> str:
        return self.post("purchases", {**TRANSACTION, "acsTransId": str(uuid.uuid4()), **how}, 201)["acsTransId"]

    def decide(self, verb: str, purchase: str, *options: str, status: int = 0):
        run = self.agent.ctl(verb, purchase, "--wait", "60", *options)
        self.assertEqual(run.returncode, status, run.stderr)

    def ended(self, purchase: str) -> dict:
        while (story := call("GET", f"{self.sandbox.origin}/sandbox/purchases/{purchase}?wait=20")[1])["status"] == "pending":
            pass
        return story

    def order(self, version: str, channel: str, authenticator: str, **more) -> str:
        order = {"emv": {**emv_cases.profile(version, channel), **more.pop("emv", {})}, **more}
        if channel == "app" and version != "2.1.0":
            order["threeDSRequestorAppURL"] = APP_URL
        return self.purchase(authenticatorId=authenticator, **order)

    def play(self) -> dict[tuple[str, str, str], list[dict]]:
        present = self.enroll("--authn-type", "presence", "--name", "presence")
        known = self.enroll("--authn-type", "pin", "--pin-file", str(self.folder / "pin"), "--name", "pin")
        purchases = {}
        decisions = {"approved": ["approve"], "denied": ["deny"], "denied as fraud": ["deny", "--reason", "suspectedFraud"]}
        self.block(known)
        for version, channel, outcome in emv_cases.cells():
            more = {}
            if outcome == "refused by the agent":
                more = {"userVerification": "required"}
            if outcome == "expired before the first CReq":
                more = {"emv": {"sdk": "noFirstCReq"}}
            if outcome != "agent unreachable":
                authenticator = known if outcome == "blocked after wrong PINs" else present
                purchase = self.order(version, channel, authenticator, **more)
                purchases[version, channel, outcome] = purchase
                if outcome in decisions:
                    verb, *options = decisions[outcome]
                    self.decide(verb, purchase, *options)
                if outcome == "cancelled in the challenge UI":
                    self.post(f"purchases/{purchase}/cancel", {})
                if outcome == "refused by the agent":
                    self.assertEqual(self.ended(purchase)["status"], "notAuthenticated")
        self.agent.stop()
        for version, channel, outcome in emv_cases.cells():
            if outcome == "agent unreachable":
                purchases[version, channel, outcome] = self.order(version, channel, present)
        self.post("clock", {"advanceSeconds": ALL_TIME})
        return {cell: emv_cases.without_identifiers(self.ended(purchase)["messages"])
                for cell, purchase in purchases.items()}

    def block(self, authenticator: str):
        purchase = self.purchase(authenticatorId=authenticator)
        for wrong in range(5):
            self.decide("approve", purchase, "--pin-file", str(self.folder / "wrong"), status=6 if wrong == 4 else 5)
        self.decide("approve", purchase, "--pin-file", str(self.folder / "pin"), status=6)

    def test_each_version_channel_and_outcome_has_the_messages_of_its_case_file(self):
        played, stored = self.play(), emv_cases.stored()
        self.assertEqual(sorted(played), sorted(emv_cases.cells()))
        self.assertEqual(sorted(stored), sorted(played))
        for cell, messages in played.items():
            with self.subTest(" ".join(cell)):
                self.assertEqual(messages, stored[cell])


class Tables(unittest.TestCase):
    def test_the_tables_are_made_of_the_case_files(self):
        text = PAGE.read_text(encoding="utf-8")
        for channel in emv_cases.CHANNELS:
            with self.subTest(channel):
                self.assertEqual(emv_cases.replaced(text, channel, emv_cases.table(channel, emv_cases.stored())), text)


def update():
    test = Matrix()
    test.setUp()
    try:
        emv_cases.store(test.play())
    finally:
        test.doCleanups()
        Matrix.doClassCleanups()
    text = PAGE.read_text(encoding="utf-8")
    for channel in emv_cases.CHANNELS:
        text = emv_cases.replaced(text, channel, emv_cases.table(channel, emv_cases.stored()))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
