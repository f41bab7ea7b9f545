"""An older database in the place of the newest, and a state directory without its head, on PostgreSQL. On SQLite: heads.t.

Run with `.venv/bin/python Tests/Stories/test_heads.py`; OOB_BIN_DIR names the programs' directory.
"""

import shutil
import signal
import subprocess
import unittest
from pathlib import Path

from programs import BIN_DIR, Agent
from test_postgres_hosts import PROGRAMS, WITHIN, Hosts


class Heads(Hosts):
    def setUp(self):
        super().setUp()
        self.home = self.place()

    @property
    def head(self) -> Path:
        return self.home / "state" / "head"

    def start(self) -> Agent:
        agent = Agent(self.home, *self.options("alpha"))
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop())
        return agent

    def run_agent(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.home / "state"), *self.options("alpha"), *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WITHIN)

    def reasons(self, agent: Agent) -> str:
        return " ".join(agent.json("status").get("reasons", []))

    def asked(self, agent: Agent, merchant: str) -> str:
        request = self.buy(merchant)
        self.waits(agent, request)
        return request

    def save(self):
        self.dump = subprocess.run(
            [PROGRAMS / "pg_dump", "-h", self.server.folder, "-U", "oob", self.name], capture_output=True, check=True,
            timeout=WITHIN).stdout

    def put_back(self):
        """A restore of a dump into the same server: it begins no timeline."""
        self.server.sql(f"DROP DATABASE {self.name} WITH (FORCE)", "postgres")
        self.url = self.server.create(self.name)
        subprocess.run(
            [PROGRAMS / "psql", "-XAtq", "-h", self.server.folder, "-U", "oob", "-d", self.name, "-v", "ON_ERROR_STOP=1"],
            input=self.dump, check=True, capture_output=True, timeout=WITHIN)

    def test_a_database_that_was_put_back_approves_nothing_before_the_issuer_was_asked_until_it_is_accepted(self):
        agent = self.start()
        self.enroll(agent)
        first, second = self.asked(agent, "First"), self.asked(agent, "Second")
        agent.stop()
        self.save()
        agent = self.start()
        self.assertEqual(agent.ctl("approve", first).returncode, 0, agent.tail())
        agent.stop()
        noted = self.head.read_bytes()
        self.put_back()
        for _ in range(2):
            # It is asked at once after a start.
            self.sandbox.process.send_signal(signal.SIGSTOP)
            try:
                agent = self.start()
                self.assertIn("restored: this host has noted entry ", self.reasons(agent))
                self.assertIn("restored", {each["id"] for each in agent.json("doctor")})
                self.assertIn("the database is in doubt", agent.tail())
                refused = agent.ctl("approve", second)
                self.assertNotEqual(refused.returncode, 0, refused.stdout)
                self.assertIn("the issuer must first say which signCount it accepted", refused.stderr)
                self.assertEqual(agent.json("show", second)["state"], "pending")
            finally:
                self.sandbox.process.send_signal(signal.SIGCONT)
            agent.stop()
            self.assertEqual(self.head.read_bytes(), noted)
        accepted = self.run_agent("--accept-head")
        self.assertEqual(accepted.returncode, 0, accepted.stderr)
        self.assertIn("What was in doubt: restored: ", accepted.stderr)
        agent = self.start()
        self.assertNotIn("restored", self.reasons(agent))
        self.until(lambda: agent.ctl("approve", second).returncode == 0, agent.tail())
        self.assertIn('"entry":"headAccepted"', agent.ctl("audit export").stdout)
        agent.stop()
        nothing = self.run_agent("--accept-head")
        self.assertEqual(nothing.returncode, 0, nothing.stderr)
        self.assertIn("nothing to accept", nothing.stderr)

    def test_without_its_head_a_host_approves_nothing_until_it_is_accepted(self):
        agent = self.start()
        self.enroll(agent)
        first, second = self.asked(agent, "First"), self.asked(agent, "Second")
        agent.process.kill()
        agent.process.wait()
        self.head.unlink()
        agent = self.start()
        self.assertIn("headMissing: there is no ", self.reasons(agent))
        refused = agent.ctl("approve", first)
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("headMissing", refused.stderr)
        self.assertEqual(agent.ctl("deny", second).returncode, 0, agent.tail())
        agent.stop()
        self.assertFalse(self.head.exists())
        accepted = self.run_agent("--accept-head")
        self.assertEqual(accepted.returncode, 0, accepted.stderr)
        self.assertEqual(self.head.stat().st_mode & 0o777, 0o600)
        agent = self.start()
        self.assertEqual(agent.ctl("approve", first).returncode, 0, agent.tail())

    def test_a_host_that_is_killed_again_and_again_has_its_head(self):
        for _ in range(4):
            agent = self.start()
            self.assertNotIn("head", self.reasons(agent))
            agent.process.send_signal(signal.SIGKILL)
            agent.process.wait()
        self.assertIn(b"oob-agent journal head 1\n", self.head.read_bytes())

    def test_the_head_of_another_agent_stops_the_start_and_stays(self):
        self.start().stop()
        other = self.place()
        Agent(other, *self.options("beta")).stop()
        shutil.copy(other / "state" / "head", self.head)
        foreign = self.head.read_bytes()
        for arguments in [(), ("--accept-head",)]:
            failed = self.run_agent("--socket", str(self.home / "control.sock"), *arguments)
            self.assertEqual(failed.returncode, 78, failed.stderr)
            self.assertIn("is of another agent's or host's journal", failed.stderr)
        self.assertEqual(self.head.read_bytes(), foreign)

    def test_a_host_that_is_new_there_has_no_head_to_miss(self):
        alpha = self.start()
        self.enroll(alpha)
        request = self.asked(alpha, "First")
        beta = self.host("beta")
        self.assertNotIn("head", self.reasons(beta))
        self.assertEqual(beta.ctl("approve", request).returncode, 0, beta.tail())


if __name__ == "__main__":
    unittest.main(verbosity=2)
