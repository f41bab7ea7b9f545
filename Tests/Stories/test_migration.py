"""A state that is moved from a SQLite file into a PostgreSQL database: all of it, once, and never two that can be started."""

import os
import secrets
import sqlite3
import subprocess
import unittest
from pathlib import Path

from programs import BIN_DIR, Agent
from test_postgres_hosts import WITHIN, Hosts


class Migration(Hosts):
    """A home of one agent, whose state can be moved."""

    def setUp(self):
        super().setUp()
        self.pin = self.place() / "pin"
        self.pin.write_text("736251\n")
        self.pin.chmod(0o600)
        self.home = self.place()

    @property
    def state(self) -> Path:
        return self.home / "state"

    def single(self) -> Agent:
        """An agent on the SQLite file."""
        agent = Agent(self.home, "--secret-file", str(self.secret))
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop())
        return agent

    def migrate(self, secret: Path | None = None, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.state), "--secret-file", str(secret or self.secret),
             "--host-name", "alpha", "--migrate-to", self.url],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WITHIN, env={**os.environ, **variables})

    def moves(self):
        run = self.migrate()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("Moved to", run.stderr)

    def starts_no_more(self):
        """On the file that the state was in."""
        failed = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.state), "--secret-file", str(self.secret)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WITHIN)
        self.assertEqual(failed.returncode, 65, failed.stderr)
        self.assertIn("was moved", failed.stderr)

    def approves(self, agent: Agent, merchant: str):
        request = self.buy(merchant)
        self.waits(agent, request)
        self.assertEqual(agent.json("approve", request)["state"], "approved", agent.tail())

    def sqlite(self, statement: str) -> list:
        database = sqlite3.connect(self.state / "agent.db")
        try:
            rows = database.execute(statement).fetchall()
            database.commit()
            return rows
        finally:
            database.close()


class MigrationTests(Migration):
    def test_all_of_it_goes_over_and_the_agent_goes_on_there_and_no_more_here(self):
        agent = self.single()
        guarded = agent.json("enroll", subprocess.run(
            [BIN_DIR / "oob-issuer", "code", "--issuer", self.sandbox.origin], check=True,
            capture_output=True, text=True, timeout=WITHIN).stdout.splitlines()[-1],
            "--authn-type", "pin", "--pin-file", str(self.pin), "--name", "guarded")["id"]
        # The newest is whom a purchase is for.
        self.enroll(agent)
        self.approves(agent, "First")
        agent.stop()
        entries = self.sqlite("SELECT count(*) FROM journal")[0][0]
        ((key,),) = self.sqlite(f"SELECT sealed_key FROM enrollment WHERE id = '{guarded}'")
        self.moves()
        # The key under the PIN went over as it is.
        sealed = self.server.sql(f"SELECT encode(sealed_key, 'hex') FROM enrollment WHERE id = '{guarded}'", self.name)
        self.assertEqual(bytes.fromhex(sealed[0][0]), key)
        self.starts_no_more()
        alpha, beta = self.host("alpha", self.home), self.host("beta")
        self.assertEqual(len(beta.json("enrollments")), 2)
        self.assertGreater(int(self.server.sql("SELECT count(*) FROM journal WHERE host = 'alpha'", self.name)[0][0]),
                           entries)
        for number, host in enumerate([beta, alpha]):
            self.approves(host, f"After {number}")
        self.assertEqual(self.server.sql("SELECT sum(sign_count) FROM enrollment", self.name), [["3"]])
        # The PIN opens the other key there.
        new = self.place() / "pin"
        new.write_text("918273\n")
        new.chmod(0o600)
        changed = beta.ctl("pin change", guarded, "--pin-file", str(self.pin), "--new-pin-file", str(new))
        self.assertEqual(changed.returncode, 0, changed.stderr)
        for host in [alpha, beta]:
            self.assertEqual(host.ctl("audit verify").returncode, 0)

    def test_every_table_goes_over_with_all_its_rows(self):
        agent = self.single()
        card = self.enroll(agent)
        self.approves(agent, "First")
        agent.stop()
        for statement in [
            f"INSERT INTO cancellation VALUES ('{card}', 'other', 4102444800)",
            f"INSERT INTO persona VALUES ('{card}', '{{}}')", "INSERT INTO script VALUES (77, 'rule', '{}')",
            "INSERT INTO test_clock VALUES (1, 5)", "INSERT INTO journal_of_request VALUES (77, 64)",
            # A number that was given is not given again, though its row is gone.
            "UPDATE sqlite_sequence SET seq = 4711 WHERE name = 'enrollment'",
        ]:
            self.sqlite(statement)
        self.moves()
        here = {table for (table,) in self.sqlite("SELECT name FROM sqlite_master WHERE type = 'table'")}
        here -= {"moved_state", "scrub_due", "sqlite_sequence"}
        there = {table for (table,) in self.server.sql(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace", self.name)}
        self.assertEqual(there - here, {
            "host", "host_version", "lease", "lineage", "moved_state", "secret_change"})
        counts = {table: self.sqlite(f"SELECT count(*) FROM {table}")[0][0] for table in here}
        self.assertEqual(
            {table: int(self.server.sql(f"SELECT count(*) FROM {table}", self.name)[0][0]) for table in here}, counts)
        empty = {table for table, count in counts.items() if count == 0}
        self.assertLessEqual(empty, {"journal_checkpoint", "key_tries", "push_subscription"})
        self.assertEqual(self.server.sql("SELECT document, rule FROM script", self.name), [["{}", "rule"]])
        # What is personal is encrypted in both, and each enrollment has a new key for that there.
        self.assertEqual(self.server.sql("SELECT enrollment_id FROM data_key", self.name), [[card]])
        pieces = self.sqlite("SELECT lower(hex(bytes)) FROM evidence ORDER BY piece")
        kept = self.server.sql("SELECT encode(bytes, 'hex') FROM evidence ORDER BY piece", self.name)
        self.assertEqual((len(pieces), len(kept)), (3, 3))
        for (here,), (there,) in zip(pieces, kept):
            self.assertNotEqual(here, there)
            self.assertEqual(len(here), len(there))
        ((old,),) = self.sqlite("SELECT lower(hex(sealed)) FROM data_key")
        self.assertNotEqual([[old]], self.server.sql("SELECT encode(sealed, 'hex') FROM data_key", self.name))
        self.assertEqual(
            self.server.sql("SELECT nextval(pg_get_serial_sequence('enrollment', 'seq')), "
                            "nextval(pg_get_serial_sequence('evidence', 'piece'))", self.name), [["4712", "4"]])

    def test_a_second_time_it_only_looks_whether_all_is_there(self):
        self.enroll(agent := self.single())
        agent.stop()
        self.moves()
        self.moves()
        self.approves(self.host("alpha", self.home), "After")

    def test_whoever_is_cut_short_before_the_state_is_marked_starts_on_it_or_moves_it_again(self):
        self.enroll(agent := self.single())
        agent.stop()
        self.moves()
        # As it is between the copy and the mark.
        self.server.sql("INSERT INTO moved_state VALUES (1, 'in', '/somewhere')", self.name)
        self.sqlite("DELETE FROM moved_state")
        failed = self.refused(*self.options("beta"))
        self.assertEqual(failed.returncode, 65, failed.stderr)
        self.assertIn("cut short", failed.stderr)
        agent = self.single()
        self.approves(agent, "Meanwhile")
        agent.stop()
        self.moves()
        self.starts_no_more()
        self.approves(self.host("alpha", self.home), "After")
        self.assertEqual(self.server.sql("SELECT sign_count FROM enrollment", self.name), [["2"]])

    def test_whoever_is_cut_short_after_the_state_is_marked_can_start_neither_and_goes_on(self):
        self.enroll(agent := self.single())
        agent.stop()
        self.moves()
        self.server.sql("INSERT INTO moved_state VALUES (1, 'in', '/somewhere')", self.name)
        self.starts_no_more()
        self.assertEqual(self.refused(*self.options("beta")).returncode, 65)
        self.moves()
        self.approves(self.host("alpha", self.home), "After")

    def test_what_is_not_right_moves_nothing_and_the_agent_starts_as_before(self):
        self.enroll(agent := self.single())
        # It runs.
        run = self.migrate()
        self.assertEqual(run.returncode, 69, run.stderr)
        agent.stop()
        # Another secret.
        other = self.place() / "secret"
        other.write_bytes(secrets.token_bytes(32))
        other.chmod(0o600)
        run = self.migrate(other)
        self.assertEqual(run.returncode, 78, run.stderr)
        # Tables of another form.
        self.sqlite("UPDATE oob_agent_store SET form = 2, least_form = 2")
        run = self.migrate()
        self.assertEqual(run.returncode, 78, run.stderr)
        self.sqlite("UPDATE oob_agent_store SET form = 1, least_form = 1")
        # A row that the agent has not written.
        count = self.sqlite("SELECT sign_count FROM enrollment")[0][0]
        self.sqlite("UPDATE enrollment SET sign_count = sign_count + 7")
        run = self.migrate()
        self.assertEqual(run.returncode, 65, run.stderr)
        self.sqlite(f"UPDATE enrollment SET sign_count = {count}")
        # Somebody else's database.
        self.server.sql("CREATE TABLE theirs (id INTEGER)", self.name)
        self.assertNotEqual(self.migrate().returncode, 0)
        self.server.sql("DROP TABLE theirs", self.name)
        self.approves(self.single(), "As before")

    def test_a_database_that_hosts_have_used_is_left_alone(self):
        self.enroll(agent := self.single())
        agent.stop()
        self.enroll(other := self.host("gamma"))
        run = self.migrate()
        self.assertEqual(run.returncode, 73, run.stderr)
        self.assertIn("not empty", run.stderr)
        self.approves(other, "Theirs")
        other.stop()
        self.assertEqual(self.migrate().returncode, 73)

    def test_without_a_state_or_a_host_name_it_says_so(self):
        run = self.migrate()
        self.assertEqual(run.returncode, 66, run.stderr)
        run = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.state), "--migrate-to", self.url],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WITHIN)
        self.assertEqual(run.returncode, 64, run.stderr)
        self.assertIn("host-name", run.stderr)


if __name__ == "__main__":
    unittest.main()
