"""The agent's test clock: what is due comes at once, no test waits, and no state but a test's can have it.

Run with `.venv/bin/python Tests/Stories/test_clock.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import subprocess
import time
import unittest

from approver import Approver
from issuer import Issuer
from programs import BIN_DIR, ENDED_WITHIN, Agent, temporary_folder
from wall_clock import WallClock, build

HOUR, DAY = 3_600, 86_400


class WithATestClock(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.issuer = self.enterContext(Issuer())
        self.agent = Agent(self.folder, "--test-clock")
        self.addCleanup(lambda: self.agent.stop())

    def enroll(self, authn_type: str = "test") -> dict:
        run = self.agent.ctl(
            "enroll", "--json", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code(),
            "--authn-type", authn_type)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def send(self, later: int = 0) -> str:
        """A request of ten minutes whose issuer is `later` seconds ahead; returns its acsTransId."""
        (authenticator,) = [each for each in self.issuer.authenticators.values()]
        transaction = self.issuer.transaction()
        self.issuer.ask(authenticator.id, transaction, later=later)
        return transaction["acsTransId"]

    def ask(self, later: int = 0) -> str:
        acs = self.send(later)
        while not [row for row in self.agent.json("list", "--all") if row["acsTransId"] == acs]:
            self.agent.json("fetch")
        return acs

    def advance(self, duration: str) -> dict:
        return self.agent.json("clock advance", duration)

    def refused(self, status: int, command: str, *words: str) -> str:
        run = self.agent.ctl(command, *words)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run.stderr

    def does_not_start(self, *words: str) -> str:
        """What an agent says on the same state that exits 78."""
        run = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.folder / "state"), "--socket",
             str(self.folder / "other.sock"), *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ENDED_WITHIN)
        self.assertEqual(run.returncode, 78, run.stderr)
        return run.stderr

    def restart(self, *words: str):
        self.agent.stop()
        self.agent = Agent(self.folder, *words)

    def journal(self, entry: str) -> list[dict]:
        lines = self.agent.ctl("audit export").stdout.splitlines()
        return [each for each in map(json.loads, lines) if each["entry"] == entry]

    def until(self, look):
        deadline = time.monotonic() + 60
        while not (found := look()):
            self.assertLess(time.monotonic(), deadline, self.agent.tail())
            time.sleep(0.02)  # Looks again; nothing depends on how long.
        return found


class Advancing(WithATestClock):
    def test_a_request_of_ten_minutes_has_expired_when_the_advance_returns(self):
        self.enroll()
        acs = self.ask()
        self.advance("9m")
        self.assertEqual(self.agent.json("show", acs)["state"], "pending")
        before = self.agent.json("clock")["now"]
        answer = self.advance("1m")
        self.assertEqual((answer["isTest"], answer["offsetSeconds"]), (True, 600))
        self.assertGreater(answer["now"], before)
        self.assertEqual(self.agent.json("show", acs)["state"], "expired")
        self.assertIn("expired", self.refused(7, "approve", acs))
        (expired,), advances = self.journal("expired"), self.journal("clockAdvanced")
        self.assertEqual([(each["seconds"], each["offset"]) for each in advances], [(540, 540), (60, 600)])
        self.assertGreater(expired["seq"], advances[-1]["seq"])
        self.assertIn("the test clock was advanced", self.agent.log.read_text())
        # An issuer whose clock goes along is served as before.
        self.assertEqual(self.agent.json("approve", self.ask(600))["transStatus"], "Y")
        self.agent.json("audit verify")

    def test_a_restart_keeps_the_advance_and_a_start_without_the_flag_is_refused(self):
        self.enroll()
        self.advance("1h30m")
        self.agent.process.kill()
        self.agent.stop()
        said = self.does_not_start()
        self.assertIn("advanced by 1h30m", said)
        self.assertIn("--test-clock", said)
        self.restart("--test-clock")
        self.assertEqual(self.agent.json("clock")["offsetSeconds"], 5_400)
        self.assertEqual(self.advance("1s")["offsetSeconds"], 5_401)
        self.assertEqual(self.agent.json("approve", self.ask(5_401))["transStatus"], "Y")

    def test_a_backup_has_the_advance_with_it(self):
        self.advance("2d")
        self.assertEqual(self.agent.ctl("backup", str(self.folder / "copy.db")).returncode, 0)
        self.agent.stop()
        (self.folder / "state").rename(self.folder / "first")
        subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.folder / "state"), "--restore",
             str(self.folder / "copy.db")], check=True, capture_output=True, timeout=ENDED_WITHIN)
        secret = self.folder / "first" / "secret"
        self.assertIn("advanced by 2d", self.does_not_start("--secret-file", str(secret)))
        self.agent = Agent(self.folder, "--test-clock", "--secret-file", str(secret))
        self.assertEqual(self.agent.json("clock")["offsetSeconds"], 2 * DAY)

    def test_retention_follows_it(self):
        self.restart("--test-clock", "--retention", "2")
        self.enroll()
        acs = self.ask()
        self.agent.json("deny", acs)
        self.advance("3d")
        self.until(lambda: self.agent.ctl("show", acs).returncode == 3)

    def test_the_journals_retention_is_in_days(self):
        self.restart("--test-clock", "--audit-retention", "30")
        # In the end the first entry is 31 days old, and the second 29.
        for duration in ["2d", "1s", "29d"]:
            self.advance(duration)
        # All that is due goes together with the first, but for the newest entry, which always stays.
        kept = self.until(lambda: (entries := self.journal("clockAdvanced")) and len(entries) < 3 and entries)
        self.assertEqual([each["seconds"] for each in kept], [1, 29 * DAY])

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
        self.advance("1h")
        self.until(lambda: state() == "active")
        self.agent.json("unenroll", first["id"], "--local")

    def test_who_waits_for_a_request_waits_on(self):
        self.enroll()
        waiting = subprocess.Popen(
            [BIN_DIR / "oobctl", "approve", "--next", "--wait", "120", "--json", "--socket", str(self.agent.socket)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(5):
            self.advance("1h")
        self.send(5 * HOUR)
        output, errors = waiting.communicate(timeout=120)
        self.assertEqual(waiting.returncode, 0, errors)
        self.assertEqual(json.loads(output)["transStatus"], "Y")

    def test_status_doctor_and_prompt_say_that_it_is_a_tests(self):
        self.assertEqual(self.agent.json("status")["clock"]["offsetSeconds"], 0)
        self.enroll()
        self.advance("10m")
        self.assertIn("10m ahead", self.agent.ctl("status").stdout)
        (finding,) = [each for each in self.agent.json("doctor") if each["id"] == "testClock"]
        self.assertIn("10m ahead", finding["message"])
        self.assertEqual(finding["severity"], "medium")
        self.assertIn("a test's, 10m ahead", self.agent.ctl("clock").stdout)
        acs = self.ask(600)
        text = self.agent.json("show", acs)
        person = Approver(self.agent, "--once")
        self.addCleanup(person.process.close, force=True)
        person.until("The agent's clock is a test's, 10m ahead.", "Amount:", "Expires in ")
        person.ready()
        self.advance("5m")
        person.until("is asked about again, unchanged.", "15m ahead", "Expires in ")
        self.advance("5m")
        person.until("expired")
        # What is shown and recorded of the transaction has nothing of it.
        self.assertNotIn("clock", text["text"])

    def test_the_machines_clock_is_no_tests(self):
        self.restart()
        clock = self.agent.json("clock")
        self.assertEqual((clock["isTest"], clock["offsetSeconds"]), (False, 0))
        self.assertNotIn("clock", self.agent.json("status"))
        self.assertIn("--test-clock", self.refused(64, "clock advance", "10m"))


class Refusing(WithATestClock):
    def test_it_is_for_test_enrollments_alone(self):
        said = self.refused(
            64, "enroll", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code(), "--authn-type",
            "presence")
        self.assertIn("--test-clock", said)
        self.restart()
        payer = self.enroll("presence")
        self.agent.stop()
        said = self.does_not_start("--test-clock")
        self.assertIn(f"enrollment {payer['id']} is presence", said)
        self.assertIn("another state directory", said)
        # It has changed nothing, and what has ended does not matter.
        self.agent = Agent(self.folder)
        self.assertEqual(self.agent.ctl("unenroll", payer["id"], "--local").returncode, 0)
        self.restart("--test-clock")
        self.enroll()

    def test_what_is_no_time_is_refused_with_what_is_allowed(self):
        for duration, said in [
                ("0s", "1s at least"), ("-10m", "only goes forwards"), ("10", "such as 10m"), ("10x", "such as 10m"),
                ("", "such as 10m"), ("5m1h", "such as 10m"), ("401d", "400d at most"),
                ("99999999999999999999d", "such as 10m")]:
            with self.subTest(duration):
                self.assertIn(said, self.refused(64, "clock advance", duration))
        self.assertEqual(self.agent.json("clock")["offsetSeconds"], 0)
        self.advance("399d")
        said = self.refused(64, "clock advance", "2d")
        self.assertIn("400d at most", said)
        self.assertIn("399d ahead", said)
        self.assertEqual(self.advance("1d")["offsetSeconds"], 400 * DAY)


class Wrong(unittest.TestCase):
    """The machine's own clock, which is years ahead."""

    AHEAD = 800 * DAY

    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.issuer = self.enterContext(Issuer())
        self.clock = WallClock(build(self.folder), self.folder / "clock")

    def start(self) -> Agent:
        agent = Agent(self.folder, **self.clock.variables)
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop())
        return agent

    def accept(self) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.folder / "state"), "--accept-clock"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ENDED_WITHIN,
            env={**os.environ, **self.clock.variables})

    def is_ahead(self, agent: Agent) -> bool:
        reasons = agent.json("status").get("reasons", [])
        findings = {each["id"] for each in agent.json("doctor")}
        self.assertEqual("clockAhead" in findings, any(each.startswith("clockAhead: ") for each in reasons), reasons)
        return "clockAhead" in findings

    def entries(self, agent: Agent) -> list[str]:
        return [json.loads(line)["entry"] for line in agent.ctl("audit export").stdout.splitlines()]

    def test_a_clock_that_is_years_ahead_deletes_nothing_and_is_accepted_by_a_person(self):
        agent = self.start()
        enrolled = agent.ctl("enroll", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code())
        self.assertEqual(enrolled.returncode, 0, enrolled.stderr)
        (authenticator,) = self.issuer.authenticators
        transaction = self.issuer.transaction()
        self.issuer.ask(authenticator, transaction)
        acs = transaction["acsTransId"]
        while agent.ctl("show", acs).returncode != 0:
            agent.json("fetch")
        self.assertEqual(agent.json("approve", acs)["transStatus"], "Y")
        self.assertFalse(self.is_ahead(agent))
        agent.stop()

        self.clock.set(self.AHEAD)
        agent = self.start()
        self.assertTrue(self.is_ahead(agent))
        self.assertIn("the clock is ahead, and nothing is deleted by it", agent.log.read_text())
        self.assertEqual(agent.json("status")["state"], "degraded")
        self.assertEqual(self.accept().returncode, 69)
        agent.stop()

        self.clock.set(0)
        agent = self.start()
        self.assertFalse(self.is_ahead(agent))
        # The transaction that was decided is asked again.
        self.issuer.ask(authenticator, transaction, later=1)
        while "duplicate" not in self.entries(agent):
            agent.json("fetch")
        self.assertEqual([each["state"] for each in agent.json("list", "--all")], ["approved"])
        entries = self.entries(agent)
        self.assertEqual((entries[0], entries.count("presented")), ("auditKeyMade", 1))
        agent.stop()

        for ahead in [self.AHEAD, 0]:
            self.clock.set(ahead)
            accepted = self.accept()
            self.assertEqual(accepted.returncode, 0, accepted.stderr)
            self.assertIn("What was in doubt: ", accepted.stderr)
            self.assertIn("nothing to accept", self.accept().stderr)
            agent = self.start()
            self.assertFalse(self.is_ahead(agent))
            self.assertIn("clockAccepted", self.entries(agent))
            self.assertEqual(agent.ctl("audit verify").returncode, 0)
            agent.stop()


if __name__ == "__main__":
    unittest.main()
