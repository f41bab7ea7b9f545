"""The sandbox from a shell, for whoever tests with it: what was, what goes wrong, the same again, and its clock.

Run with `.venv/bin/python Tests/Stories/test_bench.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import sqlite3
import subprocess
import time
import unittest

from programs import BIN_DIR, ENDED_WITHIN, Agent, Sandbox, started, temporary_folder
from software_authenticator import MODEL, Enrolled
from verify import decode

NOBODY = "00000000-0000-0000-0000-000000000000"
ORDER = ["--amount", "100", "--currency", "840", "--exponent", "2"]


class Bench(unittest.TestCase):
    """A sandbox with a test clock, and its commands."""

    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.sandbox = started(type(self), Sandbox(self.folder, "--test-clock"))

    def run_(self, *words: str, issuer: str | None = None) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oob-issuer", *words, "--issuer", issuer or self.sandbox.origin], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120)

    def said(self, *words: str) -> str:
        run = self.run_(*words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.strip()

    def json(self, *words: str):
        return json.loads(self.said(*words, "--json"))

    def refused(self, status: int, *words: str, **how) -> str:
        run = self.run_(*words, **how)
        self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)
        return run.stderr

    def enrolled(self) -> Enrolled:
        return Enrolled(self.sandbox.origin, self.json("code")["code"], aaguid=MODEL)

    def purchase(self, merchant: str, *options: str) -> str:
        return self.said("purchase", *ORDER, "--merchant", merchant, *options)

    def approve(self, by: Enrolled, acs: str, **wrong) -> int:
        """The status of an approval."""
        request = self.json("show", acs)["requests"][0]
        payload = json.loads(decode(request["jws"].split(".")[1]))
        return by.approve(request["jti"], decode(payload["publicKey"]["challenge"]), **wrong)[0]


class LookAndRepeat(Bench):
    def test_a_story_says_what_was_wrong_and_how_it_ended(self):
        authenticator = self.enrolled()
        acs = self.purchase("CoffeeHouse2 (Dæmø)")
        self.assertEqual(self.approve(authenticator, acs, origin="http://localhost:1"), 422)
        self.assertTrue(self.said("show", acs).startswith(f"{acs} pending\n"))
        self.assertEqual(self.approve(authenticator, acs), 200)
        text = self.said("show", acs)
        self.assertTrue(text.startswith(f"{acs} authenticated\n"), text)
        self.assertRegex(text, r"\nrefused: at=\S+ status=422 code=invalid_assertion detail=origin: ")
        self.assertIn("\n  signature: passed\n", text)

    def test_purchases_are_listed_page_by_page_and_by_their_status(self):
        self.enrolled()
        first, second, third = (self.purchase(name) for name in ["Mal\u202Elory", "Second", "Third"])
        self.assertEqual(self.said("cancel", second), f"{second} cancelled")
        run = self.run_("list", "--limit", "2")
        rows = [line.split()[0] for line in run.stdout.splitlines()]
        self.assertEqual(rows, ["ACSTRANSID", third, second])
        self.assertEqual(run.stderr, f"oob-issuer: there are more: oob-issuer list --limit 2 --after {second}\n")
        self.assertRegex(self.said("list", "--after", second), rf"{first}  pending  USD 1\.00  \S+  Mal\\u{{202E}}lory$")
        listed = self.json("list", "--status", "cancelled")
        self.assertEqual([each["acsTransId"] for each in listed["purchases"]], [second])
        self.assertEqual(self.refused(0, "list", "--status", "authenticated"),
                         "oob-issuer: there are no purchases that are authenticated\n")
        self.assertIn("completed already: cancelled", self.refused(1, "cancel", second))

    def test_an_agent_drops_what_is_replayed_and_presents_it_as_new(self):
        agent = started(type(self), Agent(self.folder, "--test-clock"))
        agent.json("enroll", self.json("code")["link"], "--authn-type", "test")
        acs = self.purchase("CoffeeHouse2")
        self.assertEqual(agent.ctl("approve", acs, "--wait", "60").returncode, 0)
        self.assertEqual(self.said("replay", acs), acs)
        anew = self.said("replay", acs, "--as-new")
        self.assertNotEqual(anew, acs)
        # What came after the duplicate is there, so the duplicate was dropped.
        self.assertEqual(agent.ctl("approve", anew, "--wait", "60").returncode, 0)
        self.assertEqual(len(agent.json("list", "--all")), 2)
        self.assertEqual([each["status"] for each in self.json("list")["purchases"]], ["authenticated"] * 2)

    def test_an_enrollment_is_revoked(self):
        authenticator = self.enrolled()
        self.assertEqual(self.said("revoke", authenticator.id), f"{authenticator.id} revoked")
        self.assertEqual(authenticator.fetch()[1]["code"], "invalid_token")
        self.assertIn("no authenticator is enrolled", self.refused(1, "purchase", *ORDER, "--merchant", "Shop"))

    def test_faults_are_set_listed_and_cleared(self):
        authenticator = self.enrolled()
        said = self.said("faults", "set", "503=1,path=fetch,seed=1", "--next", "path=authenticator,status=500,times=2")
        lines = ["odds: 503=1,path=fetch,seed=1", "next: path=authenticator,status=500,moment=before,times=2"]
        self.assertEqual(said.splitlines(), lines)
        self.assertEqual(self.said("faults", "list").splitlines(), lines)
        with self.assertRaises(json.JSONDecodeError):
            authenticator.fetch()
        self.assertEqual(self.json("faults", "clear"), {"cleared": 2, "planned": 0})
        self.assertEqual(authenticator.fetch()[0], 200)
        self.assertEqual(self.refused(0, "faults", "list"), "oob-issuer: no call is to fail\n")

    def test_what_is_wrong_is_told_by_what_was_typed(self):
        for words, part in [
                (["show", "2f37539c"], "<acsTransId> must be a UUID of 36 characters"),
                (["list", "--status", "pendin"], "--status: no such status; did you mean pending?"),
                (["list", "--limit", "1001"], "--limit must be 1 to 1000"),
                (["list", "--after", "x"], "--after must be a UUID of 36 characters"),
                (["revoke", "a/b"], "<authenticatorId> must be 1 to 64 of A-Z a-z 0-9 _ -"),
                (["faults", "set"], "Give odds"),
                (["faults", "set", "500=2"], "<spec>: 500: must be odds of 0 to 1"),
                (["faults", "set", "--next", "path=decision,kind=dro"], "--next: kind: must be one of slow, drop, "),
                (["faults", "set", "--next", "path=decision,kin=drop"], "--next: kin: no such member; did you mean kind?"),
                (["faults", "set", "--next", "path=decision,status=700"], "--next: status must be an integer of 300 to 599"),
                (["clock", "advance", "0s"], "<duration>: a clock moves by 1s at least"),
                (["clock", "advance", "-5m"], "<duration>: a clock only goes forwards"),
                (["clock", "advance", "10"], "with the units d, h, m and s"),
                (["clock", "advance", "401d"], "400d at most")]:
            with self.subTest(words):
                self.assertIn(part, self.refused(64, *words))

    def test_who_is_unknown_is_told_and_so_is_a_sandbox_that_is_not_there(self):
        for command in ["show", "cancel", "replay"]:
            self.assertEqual(self.refused(1, command, NOBODY), "oob-issuer: no purchase has this acsTransId\n")
            self.assertIn("no sandbox answers", self.refused(69, command, NOBODY, issuer="http://localhost:1"))
        self.assertEqual(self.refused(1, "revoke", "nobody"), "oob-issuer: no such authenticator\n")


class TestClock(Bench):
    def test_a_purchase_that_somebody_waits_for_expires_at_once(self):
        self.enrolled()
        begin = time.monotonic()
        waiting = subprocess.Popen(
            [BIN_DIR / "oob-issuer", "purchase", *ORDER, "--merchant", "Shop", "--expires-in", "86400", "--wait",
             "--issuer", self.sandbox.origin], stdout=subprocess.PIPE, text=True)
        self.addCleanup(waiting.stdout.close)
        while not self.json("list")["purchases"]:
            pass
        self.assertRegex(self.said("clock", "advance", "1d"), r"^\S+Z, a test's clock, 1d ahead of the machine's$")
        self.assertRegex(waiting.communicate(timeout=ENDED_WITHIN)[0], r"^\S+ expired\n")
        self.assertEqual(waiting.returncode, 1)
        self.assertLess(time.monotonic() - begin, ENDED_WITHIN)

    def test_it_says_that_it_is_a_tests_and_the_machines_is_not_moved(self):
        self.assertIn("warning the clock is a test's", self.sandbox.tail())
        plain = started(type(self), Sandbox(temporary_folder(type(self))))
        self.assertIn("serve --test-clock", self.refused(1, "clock", "advance", "1s", issuer=plain.origin))
        said = self.run_("clock", issuer=plain.origin).stdout
        self.assertRegex(said, r"^\S+Z, the machine's clock\n$")

    def test_a_database_keeps_it_ahead_and_is_served_with_a_test_clock_alone(self):
        file = str(self.folder / "issuer.sqlite")
        self.sandbox = Sandbox(self.folder, "--test-clock", "--database", file)
        self.json("clock", "advance", "1h30m")
        self.sandbox.stop()
        run = subprocess.run([BIN_DIR / "oob-issuer", "serve", "--listen", "localhost:0", "--database", file],
                             capture_output=True, text=True, timeout=ENDED_WITHIN)
        self.assertEqual(run.returncode, 1)
        self.assertIn("its clock is 1h30m ahead: serve it with --test-clock again", run.stderr)
        self.sandbox = started(type(self), Sandbox(self.folder, "--test-clock", "--database", file))
        self.assertEqual(self.json("clock")["offsetSeconds"], 5_400)


class OtherDatabases(Bench):
    def test_one_of_another_version_is_refused_and_left_as_it_is(self):
        file = str(self.folder / "other.sqlite")
        with sqlite3.connect(file) as database:
            database.execute("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
            database.execute("INSERT INTO grdb_migrations VALUES ('v1 enrollment')")
        database.close()
        run = subprocess.run(
            [BIN_DIR / "oob-issuer", "serve", "--listen", "localhost:0", "--database", file], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=ENDED_WITHIN)
        self.assertEqual(run.returncode, 1)
        self.assertIn("another version of oob-issuer made it; take another database", run.stderr)
        with sqlite3.connect(file) as database:
            self.assertEqual(database.execute("SELECT name FROM sqlite_master WHERE name = 'fact'").fetchall(), [])
        database.close()


if __name__ == "__main__":
    unittest.main()
