"""An issuer that fails on purpose, and the agent that has to live with it, both as they were built.

Run with `.venv/bin/python Tests/Stories/test_faults.py`; OOB_BIN_DIR names the programs' directory.
"""

import http.client
import json
import re
import subprocess
import time
import unittest
import uuid
from pathlib import Path
from urllib.parse import urlsplit

from issuer import EXAMPLE_TRANSACTION
from programs import BIN_DIR, IS_SANITIZED, Agent, Sandbox, started, temporary_folder
from software_authenticator import call

# Of this seed the first twenty decisions meet each kind, and the first fetches and the enrollment some.
MIX = ("slow=0.2:200ms,drop-before=0.04,drop-after=0.06,500=0.04,503=0.03,503-retry-after=0.03:1s,garbage=0.04,"
       "truncated=0.04,endless=0.02,duplicate=0.4,reorder=0.4,seed=419")
ENDINGS = {"drop", "500", "503", "503-retry-after", "garbage", "truncated", "endless"}
PURCHASES = 20
DELIVERED_WITHIN = 180


class OnTheWire(unittest.TestCase):
    """What a client sees that is no agent."""

    def fetched(self, faults: str) -> tuple[http.client.HTTPResponse, Sandbox]:
        """The answer to one call under faults, its body still unread."""
        sandbox = started(type(self), Sandbox(temporary_folder(type(self)), "--faults", f"{faults},seed=1"))
        connection = http.client.HTTPConnection(urlsplit(sandbox.origin).netloc, timeout=60)
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
        logged = re.findall(r'call="jwks 1" kind=(\S+) moment=(?:before|after) number=(\d+)\n', sandbox.tail())
        self.assertEqual({kind for kind, _ in logged}, {"slow", "500"})
        self.assertEqual([number for _, number in logged], ["1", "2"])

    def test_a_specification_out_of_order_is_wrong_usage(self):
        for faults in ["", "teapot=1", "500=2", "slow=0.1"]:
            run = subprocess.run(
                [BIN_DIR / "oob-issuer", "serve", "--listen", "localhost:0", "--faults", faults],
                capture_output=True, text=True, timeout=60)
            self.assertEqual((run.returncode, run.stdout), (64, ""))
            self.assertIn("Error: --faults: ", run.stderr)


class WithAnAgent(unittest.TestCase):
    """A sandbox with the faults of a class, and an agent; what its tests need of both."""

    FAULTS: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls):
        folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(folder, *cls.FAULTS))
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

    def decided(self, acs_trans_id: str, command: str = "approve") -> dict:
        """The one decision of a purchase that is waited for, decided and delivered."""
        run = self.agent.ctl(command, acs_trans_id, "--wait", "60", "--delivery-timeout", "90")
        self.assertEqual(run.returncode, 0, f"{run.stderr}\n{self.agent.tail()}")
        return self.ending(acs_trans_id, command, time.monotonic() + DELIVERED_WITHIN)

    def check_memory(self):
        """The agent's memory of its own stays below 64 MiB."""
        status = Path(f"/proc/{self.agent.process.pid}/status").read_text()
        if not IS_SANITIZED:
            self.assertLess(int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]), 64 << 10)

    def fetches(self) -> int:
        """How many fetches met a fault so far."""
        return len(re.findall(r'call="fetch \d+" ', self.sandbox.log.read_text()))


class AMixOfAll(WithAnAgent):
    FAULTS = ("--faults", MIX)

    def test_every_decision_is_taken_once_with_the_bytes_that_were_sent_first(self):
        authenticator_id = self.enrolled()
        commands = {
            self.purchase(authenticator_id): "deny" if number % 3 == 0 else "approve" for number in range(PURCHASES)}
        for acs_trans_id, command in commands.items():
            run = self.agent.ctl(command, acs_trans_id, "--wait", "60", "--delivery-timeout", "1")
            self.assertIn(run.returncode, (0, 75), run.stderr)
        deadline = time.monotonic() + DELIVERED_WITHIN
        decisions = [self.ending(*each, deadline) for each in commands.items()]
        met = re.findall(r'call="decision \d+" kind=(\S+)', self.sandbox.log.read_text())
        self.assertEqual(ENDINGS - set(met), set(), "the decisions did not meet every kind of fault")
        repeats = sum(decision["repeats"] for decision in decisions)
        self.assertGreater(repeats, 0, "no answer to a decision was lost: the test shows nothing")
        approvals = list(commands.values()).count("approve")
        authenticator = self.call(f"/sandbox/authenticators/{authenticator_id}")
        self.assertEqual(authenticator["signCount"], approvals, "something else was signed, or signed twice")


class EachKind(WithAnAgent):
    # As planned for one call; the kinds of lists go with a fetch only.
    ANSWERS = [{"status": 500}, {"status": 502}, {"status": 503}, {"status": 503, "retryAfter": 1}, {"status": 302},
               *({"kind": kind} for kind in ["drop", "garbage", "truncated", "endless"]),
               {"kind": "drop", "moment": "after"}, {"kind": "slow", "milliseconds": 700}]
    LISTS = [{"kind": kind} for kind in ["duplicate", "reorder", "full-list", "full-list-moving"]]

    def plan(self, path: str, fault: dict):
        self.call("/sandbox/faults", {"next": [{"path": path, **fault}]})

    def test_a_request_is_presented_once_and_its_decision_taken_once_whatever_its_fetch_and_delivery_meet(self):
        authenticator_id = self.enrolled()
        for fault in self.ANSWERS + self.LISTS:
            with self.subTest(str(fault)):
                self.plan("fetch", fault)
                if fault in self.ANSWERS:
                    self.plan("decision", fault)
                self.decided(self.purchase(authenticator_id))
        count = len(self.ANSWERS + self.LISTS)
        self.assertEqual(len(self.agent.json("list", "--all", "--limit", "1000")), count)
        self.assertEqual(self.call(f"/sandbox/authenticators/{authenticator_id}")["signCount"], count)
        self.check_memory()


class ASlowDecision(WithAnAgent):
    FAULTS = ("--faults", "slow=1:30s,path=decision,seed=1")

    def test_who_waits_for_the_issuer_when_the_agent_is_to_stop_is_told_that_it_is_decided(self):
        acs_trans_id = self.purchase(self.enrolled())
        with subprocess.Popen(
                [BIN_DIR / "oobctl", "approve", acs_trans_id, "--wait", "60", "--delivery-timeout", "60", "--json",
                 "--socket", str(self.agent.socket)],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
            while not any(each["state"] == "approved" for each in self.agent.json("list", "--all")):
                self.assertIsNone(waiting.poll())
            self.agent.stop()
            said, complaint = waiting.communicate(timeout=60)
        self.assertEqual((waiting.returncode, complaint), (75, ""))
        self.assertEqual((json.loads(said)["state"], json.loads(said)["delivery"]), ("approved", "queued"))
        self.assertEqual(self.agent.process.returncode, 0)


class AListOf100AgainAndAgain(WithAnAgent):
    """The cursor stays; below it moves."""

    FAULTS = ("--faults", "full-list=1,path=fetch,seed=1")
    # For a hundred answers that bring nothing new, as a debug build reads them on a busy machine.
    CALM_WITHIN = 120

    def asked_in(self, seconds: int) -> int:
        before = self.fetches()
        time.sleep(seconds)  # For the agent to ask as often as it likes.
        return self.fetches() - before

    def test_requests_are_decided_once_and_the_issuer_is_asked_about_once_a_second(self):
        authenticator_id = self.enrolled()
        ids = [self.purchase(authenticator_id) for _ in range(5)]
        for acs_trans_id in ids[:3]:
            self.decided(acs_trans_id)
        # Two stay listed, so that the lists stay full.
        deadline = time.monotonic() + self.CALM_WITHIN
        while (asked := self.asked_in(4)) > 8:
            self.assertLess(time.monotonic(), deadline, f"it asks without end, {asked} times in 4 s")
        before = self.fetches()
        while self.fetches() == before:
            self.assertLess(time.monotonic(), deadline, "it asks no more")
            time.sleep(0.1)  # Looks again; nothing depends on how long.
        self.assertEqual(len(self.agent.json("list", "--all")), len(ids))
        self.decided(self.purchase(authenticator_id))
        self.check_memory()


@unittest.skipIf(IS_SANITIZED, "a hundred full lists take minutes then; the core has a test of its own")
class AListOf100UnderEverNewCursors(AListOf100AgainAndAgain):
    FAULTS = ("--faults", "full-list-moving=1,path=fetch,seed=1")


if __name__ == "__main__":
    unittest.main()
