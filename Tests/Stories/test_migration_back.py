"""A state that is moved from PostgreSQL into a SQLite file: all of it, once, and never two that can be started."""

import json
import re
import subprocess
import unittest
from pathlib import Path

from programs import BIN_DIR, Agent
from test_migration import Migration
from test_postgres_hosts import WITHIN


class ReturnTests(Migration):
    def back(self, *options: str, host: str = "alpha", home: Path | None = None) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str((home or self.home) / "state"), *self.options(host),
             *(options or ("--migrate-to", "sqlite"))],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WITHIN)

    def comes_back(self):
        run = self.back()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("Moved to", run.stderr)

    def two(self) -> tuple[Agent, Agent]:
        """Hosts that have worked, alpha in the home, and the enrollments that each has made."""
        self.home_of_beta = self.place()
        alpha, beta = self.host("alpha", self.home), self.host("beta", self.home_of_beta)
        self.guarded = self.enroll(beta, "--authn-type", "pin", "--pin-file", str(self.pin), "--name", "guarded")
        self.card = self.enroll(alpha)
        return alpha, beta

    def stops(self, *agents: Agent):
        for agent in agents:
            agent.stop()

    def starts_no_host(self):
        failed = self.refused(*self.options("beta"))
        self.assertEqual(failed.returncode, 65, failed.stderr)
        self.assertIn("was moved to", failed.stderr)

    def starts_no_agent(self):
        failed = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.state), "--secret-file", str(self.secret)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WITHIN)
        self.assertEqual(failed.returncode, 65, failed.stderr)
        self.assertIn("did not finish", failed.stderr)

    def exported(self) -> Path:
        (folder,) = self.state.glob("journal-of-hosts-2*")
        return folder

    def test_all_of_it_comes_back_and_the_agent_goes_on_with_it(self):
        alpha, beta = self.two()
        for host, merchant in [(alpha, "First"), (beta, "Second")]:
            self.approves(host, merchant)
        wrong = self.place() / "wrong"
        wrong.write_text("111111\n")
        wrong.chmod(0o600)
        for _ in range(2):
            changed = beta.ctl("pin change", self.guarded, "--pin-file", str(wrong), "--new-pin-file", str(self.pin))
            self.assertNotEqual(changed.returncode, 0)
        ended = self.enroll(beta, "--name", "ended")
        self.assertEqual(beta.ctl("unenroll", ended).returncode, 0, beta.tail())
        lists = {"enrollments": [], "list": ["--all"]}
        before = {name: alpha.json(name, *options) for name, options in lists.items()}
        evidence = self.place() / "evidence"
        decided_there = before["list"][-1]["id"]
        self.stops(alpha, beta)
        self.comes_back()
        self.starts_no_host()
        agent = self.single()
        after = {name: agent.json(name, *options) for name, options in lists.items()}
        for each in before["enrollments"] + after["enrollments"]:
            each.pop("keyTest", None)
        self.maxDiff = None
        self.assertEqual(after, before)
        self.assertEqual(self.sqlite("SELECT id FROM enrollment WHERE sealed_key IS NOT NULL ORDER BY id"),
                         sorted([(self.card,), (self.guarded,)]))
        # The wrong PINs that the other host has counted count on, and the journal says so, which has only this chain.
        self.assertEqual(self.sqlite(f"SELECT pin_failures FROM enrollment WHERE id = '{self.guarded}'"), [(2,)])
        self.assertEqual(agent.ctl("audit verify").returncode, 0)
        self.approves(agent, "After")
        self.assertEqual(self.sqlite(f"SELECT sign_count FROM enrollment WHERE id = '{self.card}'"), [(3,)])
        new = self.place() / "pin"
        new.write_text("918273\n")
        new.chmod(0o600)
        changed = agent.ctl("pin change", self.guarded, "--pin-file", str(self.pin), "--new-pin-file", str(new))
        self.assertEqual(changed.returncode, 0, changed.stderr)
        self.assertEqual(agent.ctl("evidence", decided_there, "-o", str(evidence)).returncode, 0)
        self.stops(agent)
        agent = self.single()
        self.assertEqual(agent.ctl("audit verify").returncode, 0)

    def test_the_journals_of_all_hosts_stay_beside_it_and_can_be_checked_by_hand(self):
        alpha, beta = self.two()
        self.approves(beta, "First")
        self.stops(beta, alpha)
        self.comes_back()
        page = (Path(__file__).parents[2] / "docs/reference/audit.md").read_text(encoding="utf-8")
        (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        agent = self.single()
        alone = self.place()
        (alone / "verify.json").write_text(agent.ctl("audit verify", "--json").stdout)
        (alone / "journal.jsonl").write_text(agent.ctl("audit export").stdout)
        for folder, chains in [(self.exported(), ["alpha", "beta"]), (alone, ["journal"])]:
            (folder / "check.py").write_text(program)
            run = subprocess.run(["python3", "check.py"], cwd=folder, capture_output=True, text=True, timeout=WITHIN)
            self.assertEqual(run.returncode, 0, run.stderr)
            for chain in chains:
                run = subprocess.run(
                    ["openssl", "dgst", "-sha256", "-verify", f"{chain}.pem", "-signature", f"{chain}.sig", f"{chain}.txt"],
                    cwd=folder, capture_output=True, text=True, timeout=WITHIN)
                self.assertEqual(run.stdout, "Verified OK\n", run.stderr)
        lines = (self.exported() / "journal.jsonl").read_text().splitlines()
        kinds = {(json.loads(line)["chain"], json.loads(line)["entry"]) for line in lines}
        self.assertLessEqual({("beta", "decided"), ("beta", "stopped"), ("alpha", "hostsSeen")}, kinds)
        # Every entry of the one chain is in the agent's own journal, which goes on behind it.
        own = (alone / "journal.jsonl").read_text().splitlines()
        there = ["{" + line.removeprefix('{"chain":"alpha",') for line in lines if json.loads(line)["chain"] == "alpha"]
        self.assertEqual(own[:len(there)], there)
        self.assertEqual(json.loads(own[len(there)])["entry"], "moved")

    def test_it_goes_to_another_database_again_and_a_host_of_the_old_name_is_another_one(self):
        alpha, beta = self.two()
        self.approves(beta, "First")
        self.stops(beta, alpha)
        self.comes_back()
        old = self.name
        self.name = f"{old}b"
        self.url = self.server.create(self.name)
        self.moves()
        alpha, beta = self.host("alpha", self.home), self.host("beta")
        for host, merchant in [(alpha, "Second"), (beta, "Third")]:
            self.approves(host, merchant)
        self.stops(beta)
        beta = self.host("beta")
        for host in [alpha, beta]:
            verified = host.ctl("audit verify")
            self.assertEqual(verified.returncode, 0, verified.stderr + verified.stdout)
        self.assertEqual(
            self.server.sql(f"SELECT sign_count FROM enrollment WHERE id = '{self.card}'", self.name), [["3"]])
        # And back once more, over the file that says where the state was moved to.
        self.stops(alpha, beta)
        self.comes_back()
        self.approves(agent := self.single(), "Fourth")
        self.assertEqual(agent.ctl("audit verify").returncode, 0)

    def test_whoever_is_cut_short_before_the_state_is_marked_starts_hosts_or_moves_it_again(self):
        alpha, beta = self.two()
        self.stops(alpha, beta)
        left = [self.state / name for name in ["agent.db.moving", "agent.db.moving-wal"]]
        for path in left:
            path.write_text("half a state")
        # No agent begins a new state there, which would be written over.
        self.starts_no_agent()
        self.approves(alpha := self.host("alpha", self.home), "Meanwhile")
        self.assertEqual([path.name for path in self.state.iterdir() if "moving" in path.name], [])
        alpha.stop()
        for path in left:
            path.write_text("half a state")
        self.comes_back()
        self.approves(self.single(), "After")
        self.assertEqual(self.sqlite(f"SELECT sign_count FROM enrollment WHERE id = '{self.card}'"), [(2,)])

    def test_whoever_is_cut_short_after_the_state_is_marked_can_start_neither_and_goes_on(self):
        alpha, beta = self.two()
        self.stops(alpha, beta)
        self.comes_back()
        (self.state / "agent.db").rename(self.state / "agent.db.moving")
        self.starts_no_host()
        self.starts_no_agent()
        self.comes_back()
        self.approves(agent := self.single(), "After")
        agent.stop()
        # A second time it only says so.
        self.comes_back()
        self.approves(self.single(), "Again")

    def test_a_host_that_starts_meanwhile_keeps_the_state(self):
        """What the last step sees: a host has started since the first one."""
        alpha, beta = self.two()
        self.stops(alpha, beta)
        self.approves(beta := self.host("beta", self.home_of_beta), "News for alpha to record")
        beta.stop()
        # While the state is moved, alpha records what beta has written: that is when beta is made to start.
        self.server.sql(
            "CREATE FUNCTION meanwhile() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "UPDATE host SET incarnation = incarnation + 1 WHERE name = 'beta'; RETURN NULL; END $$", self.name)
        self.server.sql(
            "CREATE TRIGGER meanwhile AFTER INSERT ON journal FOR EACH STATEMENT EXECUTE FUNCTION meanwhile()", self.name)
        run = self.back()
        self.assertEqual(run.returncode, 69, run.stderr)
        self.assertIn("has started", run.stderr)
        self.server.sql("DROP TRIGGER meanwhile ON journal", self.name)
        self.approves(self.host("alpha", self.home), "As before")

    def test_what_is_not_right_moves_nothing_and_the_hosts_start_as_before(self):
        alpha, beta = self.two()
        # Another host runs, then the one itself.
        alpha.stop()
        run = self.back()
        self.assertEqual(run.returncode, 69, run.stderr)
        self.assertIn("beta", run.stderr)
        alpha = self.host("alpha", self.home)
        beta.stop()
        self.assertEqual(self.back().returncode, 69)
        alpha.stop()
        other = self.place() / "secret"
        other.write_bytes(b"x" * 32)
        other.chmod(0o600)
        wrong = self.secret
        self.secret = other
        run = self.back()
        self.assertEqual(run.returncode, 78, run.stderr)
        self.secret = wrong
        # A host that has never run, and has no journal.
        run = self.back(host="gamma")
        self.assertEqual(run.returncode, 64, run.stderr)
        self.assertIn("gamma", run.stderr)
        # A row that no agent has written.
        self.server.sql("UPDATE enrollment SET sign_count = sign_count + 7", self.name)
        run = self.back()
        self.assertEqual(run.returncode, 65, run.stderr)
        self.server.sql("UPDATE enrollment SET sign_count = sign_count - 7", self.name)
        # A state that is there.
        home = self.place()
        single = Agent(home, "--secret-file", str(self.secret))
        single.stop()
        run = self.back(home=home, host="beta")
        self.assertEqual(run.returncode, 73, run.stderr)
        # Words that are neither.
        for options in [("--migrate-to", "mysql"), ("--migrate-to", self.url)]:
            run = self.back(*options)
            self.assertEqual(run.returncode, 64, run.stderr)
            self.assertIn("sqlite", run.stderr)
        self.approves(self.host("alpha", self.home), "As before")

    def test_sqlite_without_a_database_says_what_is_missing(self):
        run = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.state), "--migrate-to", "sqlite"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WITHIN)
        self.assertEqual(run.returncode, 64, run.stderr)
        self.assertIn("--database", run.stderr)


if __name__ == "__main__":
    unittest.main()
