"""docs/reference/emv-outcomes.md: what the sandbox sends, played row by row with the programs as they were built.

Run with `.venv/bin/python Tests/Programs/test_emv_outcomes.py`; OOB_BIN_DIR names the programs' directory.
"""

import unittest
import uuid

from citations import page
from issuer import EXAMPLE_TRANSACTION
from programs import Agent, Sandbox, started, temporary_folder
from software_authenticator import call

PIN, WRONG_PIN = "48315926", "48315927"


def rows() -> list[dict[str, str]]:
    """The table of the section, a row by its column's names."""
    section = page("emv-outcomes.md").read_text(encoding="utf-8").split("\n## What the sandbox sends\n")[1].split("\n## ")[0]
    header, _, *lines = [[cell.strip() for cell in line.strip("|").split("|")]
                         for line in section.splitlines() if line.startswith("|")]
    return [dict(zip(header, line, strict=True)) for line in lines]


def sent(story: dict) -> dict[str, str]:
    """A row as the messages of a purchase have it."""
    kinds = [message.get("messageType") for message in story["messages"]]
    assert kinds[:4] == ["AReq", "ARes", "CReq", "CRes"], kinds
    rest = [message for message in story["messages"][4:] if "messageType" in message]
    by_kind = {message["messageType"]: message for message in rest}
    # In this order, and each once.
    assert [message["messageType"] for message in rest] == [
        kind for kind in ["CReq", "RReq", "RRes", "CRes"] if kind in by_kind], kinds
    creq, rreq, cres = by_kind.get("CReq", {}), by_kind["RReq"], by_kind.get("CRes", {})
    assert rreq["messageVersion"] == "2.2.0" and "acsRenderingType" in rreq, rreq
    assert by_kind["RRes"]["resultsStatus"] == "01"
    last = [f"{name} {value}".replace("True", "true") for name in ["oobContinue", "challengeCancel"]
            if (value := creq.get(name)) is not None]
    return {
        "last CReq": " ".join(last) or "none", "RReq transStatus": rreq["transStatus"],
        "transStatusReason": rreq.get("transStatusReason", "none"),
        "challengeCancel": rreq.get("challengeCancel", "none"), "interactionCounter": rreq["interactionCounter"],
        "final CRes": cres.get("transStatus", "none"),
    }


class Outcomes(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.sandbox = started(type(self), Sandbox(self.folder))
        self.agent = Agent(self.folder)
        self.addCleanup(lambda: self.agent.process.poll() is None and self.agent.stop())
        for name, pin in [("pin", PIN), ("wrong", WRONG_PIN)]:
            file = self.folder / name
            file.write_text(pin + "\n")
            file.chmod(0o600)

    def enroll(self, *options: str) -> str:
        _, code = call("POST", f"{self.sandbox.origin}/sandbox/enrollment-codes", {})
        return self.agent.json("enroll", code["link"], *options)["authenticatorId"]

    def purchase(self, authenticator: str, **how) -> str:
        order = {**EXAMPLE_TRANSACTION, "acsTransId": str(uuid.uuid4()), "authenticatorId": authenticator, **how}
        status, answer = call("POST", f"{self.sandbox.origin}/sandbox/purchases", order)
        self.assertEqual(status, 201, answer)
        return answer["acsTransId"]

    def decide(self, verb: str, purchase: str, *options: str, status: int = 0):
        run = self.agent.ctl(verb, purchase, "--wait", "60", *options)
        self.assertEqual(run.returncode, status, run.stderr)

    def ended(self, purchase: str) -> dict[str, str]:
        while True:
            _, story = call("GET", f"{self.sandbox.origin}/sandbox/purchases/{purchase}?wait=20")
            if story["status"] != "pending":
                return sent(story)

    def test_each_row_is_what_the_sandbox_sends(self):
        present = self.enroll("--authn-type", "presence", "--name", "presence")
        known = self.enroll("--authn-type", "pin", "--pin-file", str(self.folder / "pin"), "--name", "pin")

        def decided(verb: str, *options: str) -> str:
            purchase = self.purchase(present)
            self.decide(verb, purchase, *options)
            return purchase

        def refused() -> str:
            return self.purchase(present, userVerification="required")

        def cancelled() -> str:
            purchase = self.purchase(present)
            status, _ = call("POST", f"{self.sandbox.origin}/sandbox/purchases/{purchase}/cancel", {})
            self.assertEqual(status, 200)
            return purchase

        def blocked() -> str:
            purchase = self.purchase(known)
            for wrong in range(5):
                self.decide("approve", purchase, "--pin-file", str(self.folder / "wrong"), status=6 if wrong == 4 else 5)
            self.decide("approve", purchase, "--pin-file", str(self.folder / "pin"), status=6)
            return self.purchase(known, expiresIn=1)

        def unreachable() -> str:
            self.agent.stop()
            return self.purchase(present, expiresIn=1)

        play = {
            "approved": lambda: decided("approve"), "denied": lambda: decided("deny"),
            "denied as fraud": lambda: decided("deny", "--reason", "suspectedFraud"),
            "refused by the agent": refused, "cancelled in the challenge UI": cancelled,
            "expired in the app": lambda: self.purchase(present, expiresIn=1), "blocked after wrong PINs": blocked,
            # The last: afterwards there is no agent.
            "agent unreachable": unreachable,
        }
        table = rows()
        self.assertEqual([row["outcome"] for row in table], list(play))
        for row in table:
            with self.subTest(row["outcome"]):
                self.assertEqual({"outcome": row["outcome"], **self.ended(play[row["outcome"]]())}, row)


if __name__ == "__main__":
    unittest.main()
