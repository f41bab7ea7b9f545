"""An issuer that fails on purpose, and the agent that has to live with it, both as they were built.

Run with `.venv/bin/python Tests/Outside/test_faults.py`; OOB_BIN_DIR names the programs' directory.
"""

import http.client
import json
import re
import subprocess
import time
import unittest
import uuid
from urllib.parse import urlsplit

from issuer import EXAMPLE_TRANSACTION
from programs import BIN_DIR, Agent, Sandbox, started, temporary_folder
from software_authenticator import call

# Of this seed the first twenty decisions meet each kind, and the first fetches and the enrollment some.
MIX = ("slow=0.2:200ms,drop-before=0.04,drop-after=0.06,500=0.04,503=0.03,503-retry-after=0.03:1s,garbage=0.04,"
       "truncated=0.04,endless=0.02,duplicate=0.4,reorder=0.4,seed=419")
ENDINGS = {"drop", "500", "503", "503-retry-after", "garbage", "truncated", "endless"}
PURCHASES = 20
DELIVERED_WITHIN = 45


class OnTheWire(unittest.TestCase):
    """What a client sees that is no agent."""

    def fetched(self, faults: str) -> tuple[http.client.HTTPResponse, Sandbox]:
        """The answer to one call under faults, its body still unread."""
        sandbox = started(type(self), Sandbox(temporary_folder(type(self)), "--faults", f"{faults},seed=1"))
        connection = http.client.HTTPConnection(urlsplit(sandbox.origin).netloc, timeout=10)
        self.addCleanup(connection.close)
        connection.request("GET", "/jwks.json")
        return connection.getresponse(), sandbox

    def test_a_dropped_call_has_no_answer(self):
        for kind in ["drop-before", "drop-after"]:
            with self.subTest(kind), self.assertRaises(http.client.RemoteDisconnected):
                self.fetched(f"{kind}=1")

    def test_a_truncated_body_is_shorter_than_its_length_says(self):
        answer, _ = self.fetched("truncated=1")
        with self.assertRaises(http.client.IncompleteRead) as read:
            answer.read()
        self.assertEqual(answer.status, 200)
        self.assertGreater(len(read.exception.partial), 0)
        self.assertEqual(len(read.exception.partial) + read.exception.expected, int(answer.headers["Content-Length"]))
        self.assertNotEqual(read.exception.expected, 0)

    def test_an_endless_body_goes_on_far_beyond_any_answer_and_never_ends(self):
        answer, _ = self.fetched("endless=1")
        with self.assertRaises(http.client.IncompleteRead) as read:
            answer.read()
        self.assertGreater(len(read.exception.partial), 8 << 20)

    def test_a_client_that_takes_nothing_of_it_does_not_keep_the_issuer_from_stopping(self):
        _, sandbox = self.fetched("endless=1")
        sandbox.stop()
        self.assertEqual(sandbox.process.returncode, 0)

    def test_garbage_says_that_it_is_json(self):
        answer, _ = self.fetched("garbage=1")
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "application/json"))
        with self.assertRaises(ValueError):
            json.loads(answer.read())

    def test_a_busy_issuer_says_when_to_come_again_where_that_was_asked_for(self):
        for faults, expected in [("500=1", (500, None)), ("503=1", (503, None)), ("503-retry-after=1:7s", (503, "7"))]:
            answer, _ = self.fetched(faults)
            self.assertEqual((answer.status, answer.headers["Retry-After"]), expected)

    def test_a_slow_answer_takes_its_time_and_each_fault_is_logged_with_its_number(self):
        before = time.monotonic()
        answer, sandbox = self.fetched("slow=1:300ms,500=1")
        self.assertEqual(answer.status, 500)
        self.assertGreaterEqual(time.monotonic() - before, 0.3)
        logged = re.findall(r"call=jwks 1 kind=(\S+) moment=(?:before|after) number=(\d+) ", sandbox.tail())
        self.assertEqual({kind for kind, _ in logged}, {"slow", "500"})
        self.assertEqual([number for _, number in logged], ["1", "2"])

    def test_a_specification_out_of_order_is_wrong_usage(self):
        for faults in ["", "teapot=1", "500=2", "slow=0.1"]:
            run = subprocess.run(
                [BIN_DIR / "oob-issuer", "serve", "--listen", "localhost:0", "--faults", faults],
                capture_output=True, text=True, timeout=60)
            self.assertEqual((run.returncode, run.stdout), (64, ""))
            self.assertIn("Error: --faults: ", run.stderr)


class TheAgent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(folder, "--faults", MIX))
        cls.agent = started(cls, Agent(folder))

    def call(self, path: str, body: dict | None = None) -> dict:
        status, answer = call("GET" if body is None else "POST", self.sandbox.origin + path, body)
        self.assertIn(status, (200, 201), answer)
        return answer

    def enrolled(self) -> str:
        """The authenticatorId of an enrollment; where the one answer that gives it is lost, a new code is needed."""
        for _ in range(10):
            link = self.call("/sandbox/enrollment-codes", {})["link"]
            run = self.agent.ctl("enroll", "--json", link, "--authn-type", "presence")
            if run.returncode == 0:
                return json.loads(run.stdout)["authenticatorId"]
        self.fail(f"did not enroll: {run.stderr}\n{self.agent.tail()}")

    def purchase(self, authenticator_id: str) -> str:
        traceparent = f"00-{uuid.uuid4().hex}-{uuid.uuid4().hex[:16]}-01"
        order = {**EXAMPLE_TRANSACTION, "acsTransId": str(uuid.uuid4()), "authenticatorId": authenticator_id}
        return self.call("/sandbox/purchases", {**order, "traceparent": traceparent})["acsTransId"]

    def test_every_decision_is_taken_once_with_the_octets_that_were_sent_first(self):
        authenticator_id = self.enrolled()
        commands = {
            self.purchase(authenticator_id): "deny" if number % 3 == 0 else "approve" for number in range(PURCHASES)}
        for acs_trans_id, command in commands.items():
            run = self.agent.ctl(command, acs_trans_id, "--wait", "30", "--delivery-timeout", "1")
            self.assertIn(run.returncode, (0, 75), run.stderr)
        deadline = time.monotonic() + DELIVERED_WITHIN
        decisions = [self.ending(*each, deadline) for each in commands.items()]
        met = re.findall(r"call=decision \d+ kind=(\S+)", self.sandbox.log.read_text())
        self.assertEqual(ENDINGS - set(met), set(), "the decisions did not meet every kind of fault")
        repeats = sum(decision["repeats"] for decision in decisions)
        self.assertGreater(repeats, 0, "no answer to a decision was lost: the test shows nothing")
        approvals = list(commands.values()).count("approve")
        authenticator = self.call(f"/sandbox/authenticators/{authenticator_id}")
        self.assertEqual(authenticator["signCount"], approvals, "something else was signed, or signed twice")

    def ending(self, acs_trans_id: str, command: str, deadline: float) -> dict:
        """The one decision of a purchase, when the issuer has it and the agent knows that."""
        while (request := self.agent.json("show", acs_trans_id))["delivery"] == "queued":
            self.assertLess(time.monotonic(), deadline, self.agent.tail())
            time.sleep(0.1)  # Asks again; nothing depends on how long.
        trans_status, status = ("Y", "authenticated") if command == "approve" else ("N", "notAuthenticated")
        self.assertEqual((request["delivery"], request["transStatus"]), ("delivered", trans_status))
        story = self.call(f"/sandbox/purchases/{acs_trans_id}")
        self.assertEqual((story["status"], story["transStatus"]), (status, trans_status))
        (asked,) = story["requests"]
        self.assertEqual(asked["decision"], story["decision"])
        self.assertNotIn("refusedAssertions", asked)
        self.assertEqual((story["decision"]["decision"], story["decision"]["conflicts"]), (command, 0))
        self.assertEqual(story["decision"]["traceparent"], story["traceparent"])
        return story["decision"]


if __name__ == "__main__":
    unittest.main()
