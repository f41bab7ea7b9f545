"""A move of a state between a file and a database dies: at most one of the two can be started, and nothing is lost.

Run with `.venv/bin/python Tests/Hosts/test_move_crashes.py`; OOB_BIN_DIR names the programs' directory.
"""

import os
import random
import secrets
import shutil
import signal
import sqlite3
import subprocess
import unittest
from pathlib import Path

import powercut
from programs import BIN_DIR, Agent
from test_postgres_hosts import WITHIN, Hosts

DEATHS = 12


class MoveCrashTests(Hosts):
    def setUp(self):
        super().setUp()
        self.pin = self.place() / "pin"
        self.pin.write_text("736251\n")
        self.pin.chmod(0o600)
        self.home = self.place()
        alpha, beta = self.host("alpha", self.home), self.host("beta")
        self.enroll(beta, "--authn-type", "pin", "--pin-file", str(self.pin), "--name", "guarded")
        self.card = self.enroll(alpha)
        for host, merchant in [(alpha, "First"), (beta, "Second")]:
            self.approves(host, merchant)
        for host in [beta, alpha]:
            host.stop()
        self.library = powercut.build(self.place())
        self.save()

    @property
    def state(self) -> Path:
        return self.home / "state"

    def approves(self, agent: Agent, merchant: str):
        request = self.buy(merchant)
        self.waits(agent, request)
        self.assertEqual(agent.json("approve", request)["state"], "approved", agent.tail())

    def sqlite(self, statement: str) -> list:
        database = sqlite3.connect(self.state / "agent.db")
        try:
            return database.execute(statement).fetchall()
        finally:
            database.close()

    def save(self):
        """What each death begins with."""
        self.saved = self.place() / "saved"
        shutil.copytree(self.state, self.saved)
        self.server.sql(f"CREATE DATABASE {self.name}_saved TEMPLATE {self.name}", "postgres")

    def begin_again(self, cut: powercut.PowerCut):
        shutil.rmtree(self.state)
        shutil.copytree(self.saved, self.state)
        self.server.sql(f"DROP DATABASE {self.name} WITH (FORCE)", "postgres")
        self.server.sql(f"CREATE DATABASE {self.name} TEMPLATE {self.name}_saved", "postgres")
        # Nothing is left of the files to which the last death's unsynced writes belong.
        shutil.rmtree(cut.aside)
        cut.begin_life()

    def move(self, cut: powercut.PowerCut | None = None) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.state), *self.options("alpha"), "--migrate-to", "sqlite"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WITHIN,
            env={**os.environ, **(cut.variables if cut else {})})

    def migrate(self, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.state), "--secret-file", str(self.secret), "--host-name", "alpha",
             "--migrate-to", self.url],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WITHIN, env={**os.environ, **variables})

    def starts(self, *options: str, place: Path) -> bool:
        """Whether an agent starts and finds all; one that does not must say that the state is not there."""
        try:
            agent = Agent(place, *options)
        except AssertionError as error:
            self.assertRegex(str(error), "was moved|did not finish|cut short")
            return False
        self.assertEqual(len(agent.json("enrollments")), 2)
        self.assertEqual(agent.ctl("audit verify").returncode, 0)
        agent.stop()
        return True

    def test_wherever_the_move_dies_at_most_one_of_the_two_can_be_started_and_the_same_again_ends_it(self):
        seed = secrets.randbelow(1 << 32)
        rng = random.Random(seed)
        cut = powercut.PowerCut(self.library, self.place(), self.state)
        whole = self.move(cut)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        labels = [label.removesuffix(powercut.LAST) for label in cut.labels()]
        self.assertGreater(len(labels), 2 * DEATHS)
        # Half of them near the end, where the database is marked and the copy gets its name.
        places = rng.sample(range(len(labels) - 25), DEATHS // 2) + rng.sample(range(len(labels) - 25, len(labels)), DEATHS // 2)
        outcomes = set()
        for place in places:
            way = rng.choice(sorted(powercut.WAYS))
            with self.subTest(seed=seed, place=place, way=way, label=labels[place]):
                self.begin_again(cut)
                cut.order("", place + 1, way, rng.randrange(1 << 32))
                run = self.move(cut)
                cut.clear()
                # It may have done all before it died, or its points may have come in another number.
                self.assertIn(run.returncode, [0, -signal.SIGKILL], run.stderr)
                outcomes.add(run.returncode)
                on_hosts = self.starts(*self.options("beta"), place=self.place())
                on_file = not on_hosts and self.starts("--secret-file", str(self.secret), place=self.home)
                again = self.move()
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertFalse(self.starts(*self.options("beta"), place=self.place()))
                self.assertTrue(self.starts("--secret-file", str(self.secret), place=self.home))
                self.assertEqual(self.sqlite("SELECT count(*) FROM enrollment WHERE sealed_key IS NOT NULL"), [(2,)])
                self.assertGreater(len(list(self.state.glob("journal-of-hosts-*/verify.json"))), 0)
                self.assertEqual(self.sqlite(f"SELECT sign_count FROM enrollment WHERE id = '{self.card}'"), [(2,)])
                outcomes.add("hosts" if on_hosts else "file" if on_file else "neither")
        self.assertIn(-signal.SIGKILL, outcomes)
        self.assertIn("hosts", outcomes)

    def test_wherever_the_way_into_a_database_dies_once_all_is_copied_at_most_one_of_the_two_can_be_started(self):
        back = self.move()
        self.assertEqual(back.returncode, 0, back.stderr)
        self.name += "b"
        self.url = self.server.create(self.name)
        self.save()
        cut = powercut.PowerCut(self.library, self.place(), self.state)
        whole = self.migrate(**cut.variables)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        labels = cut.labels()
        # The last commit to the file marks it as moved. The database lets hosts in after that, and not before.
        commit = "write agent.db-wal"
        first = len(labels) - 1 - labels[::-1].index(commit)
        while labels[first - 1] == commit:
            first -= 1
        outcomes = set()
        for place, label in list(enumerate(labels))[first:]:
            with self.subTest(place=place, label=label):
                self.begin_again(cut)
                cut.order(label, labels[:place + 1].count(label), "kill-before", 0)
                run = self.migrate(**cut.variables)
                cut.clear()
                # Its points on the way to the database may have come in another number.
                self.assertIn(run.returncode, [0, -signal.SIGKILL], run.stderr)
                on_hosts = self.starts(*self.options("beta"), place=self.place())
                on_file = self.starts("--secret-file", str(self.secret), place=self.home)
                self.assertFalse(on_hosts and on_file, "both can be started")
                again = self.migrate()
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertFalse(self.starts("--secret-file", str(self.secret), place=self.home))
                self.assertTrue(on_hosts or self.starts(*self.options("beta"), place=self.place()))
                counts = self.server.sql(f"SELECT sign_count FROM enrollment WHERE id = '{self.card}'", self.name)
                self.assertEqual(counts, [["2"]])
                outcomes.add("hosts" if on_hosts else "file" if on_file else "neither")
        self.assertEqual(outcomes, {"file", "neither", "hosts"})


if __name__ == "__main__":
    unittest.main()
