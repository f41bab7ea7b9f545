"""A short campaign of several hosts on one PostgreSQL: kills, frozen hosts, cut links, wrong clocks, a primary that dies.

Run with `.venv/bin/python Tests/Hosts/test_host_crashes.py`; OOB_BIN_DIR names the programs' directory. `make host-test`
is the long one.
"""

import random
import secrets
import unittest
from collections import Counter, defaultdict

import powercut
import wall_clock
from host_ledger import Ledger, Purchase, purchase_problems
from host_rounds import Round
from host_takeovers import takeovers
from postgres_server import needs_postgres
from programs import temporary_folder

HOSTS, LEASE, FAULTS = 3, 300, 24
# As host_pauses.py has it: three times what is promised, for a machine that has much else to do.
LIVE_WITHIN = 60


class SeveralHosts(unittest.TestCase):
    def test_nothing_is_lost_and_nothing_is_done_twice_whatever_happens_to_the_hosts_and_their_database(self):
        # Another one each time: what it finds is told with it.
        seed = secrets.randbelow(1 << 32)
        round = self.round(seed, has_standby=True)
        try:
            round.run(FAULTS)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        self.assertGreater(round.faults.total(), FAULTS / 2, round.faults)
        self.assertGreater(round.answers["told"], 0)
        self.assertGreater(round.faults["standby promoted"], 0)

    def test_the_others_take_all_the_work_of_each_host_that_is_killed(self):
        # Longer than a busy machine takes for a renewal, of which there are three in a lease.
        lease = 5 * LEASE
        self.assertEqual(len(takeovers(self.round(1, has_standby=False, lease=lease), lease, 3, random.Random(1))), 3)

    def round(self, seed: int, has_standby: bool, lease: int = LEASE) -> Round:
        needs_postgres()
        folder = temporary_folder(type(self))
        folder.chmod(0o755)
        round = Round(folder / "round", (powercut.build(folder), wall_clock.build(folder)), seed, HOSTS, lease,
                      has_standby, live_within=LIVE_WITHIN)
        self.addCleanup(round.close)
        return round


class TheLedger(unittest.TestCase):
    """It sees each way in which a promise breaks; a round that finds nothing says something only then."""

    STORY = {"status": "authenticated", "requests": [{"decision": {"decision": "approve", "conflicts": []}}]}
    SAID = {"r": {"presented": 1, "decided": 1, "answered": 1}}
    ROW = {"id": "r", "state": "approved", "delivery": "delivered"}

    def problems(self, told=(), unknown=(), rows=None, story=None, said=None) -> str:
        counts = defaultdict(Counter, {id: Counter(kinds) for id, kinds in (said or self.SAID).items()})
        found = purchase_problems(Purchase("t", "card", list(told), set(unknown)), [self.ROW] if rows is None else rows,
                                  story or self.STORY, counts)
        return "; ".join(found)

    def test_what_was_acknowledged_and_what_may_have_been_decided_is_in_order(self):
        self.assertEqual(self.problems(told=["approve"]), "")
        self.assertEqual(self.problems(unknown=["approve", "deny"]), "")

    def test_it_sees_a_lost_a_double_and_a_decision_that_nobody_made(self):
        pending = {**self.ROW, "state": "pending", "delivery": "none"}
        undecided = {"status": "pending", "requests": [{}]}
        for words, how in [
            ("it is undecided", {"told": ["approve"], "rows": [pending], "story": undecided}),
            ("[] was asked for", {}),
            ("['deny'] was asked for", {"told": ["deny"]}),
            ("said to be decided 2 times", {"told": ["approve", "approve"]}),
            ("decided 2 times", {"told": ["approve"], "said": {"r": {"presented": 1, "decided": 2}}}),
            ("it was not presented", {"told": ["approve"], "said": {"r": {"decided": 1}}}),
            ("presented 2 times", {"told": ["approve"], "said": {"r": {"presented": 2}}}),
            ("the hosts have it 0 times", {"rows": []}),
            ("the hosts have it 2 times", {"rows": [self.ROW, self.ROW]}),
            ("approved, failed", {"told": ["approve"], "rows": [{**self.ROW, "delivery": "failed"}]}),
            ("refused an assertion", {"told": ["approve"], "story": {
                **self.STORY, "requests": [*self.STORY["requests"], {"refusedAssertions": 1}]}}),
            ("other bytes", {"told": ["approve"], "story": {**self.STORY, "requests": [
                {"decision": {"decision": "approve", "conflicts": 1}}]}}),
        ]:
            with self.subTest(words):
                self.assertIn(words, self.problems(**how))

    def test_it_sees_a_sixth_guess_and_one_that_was_not_counted(self):
        ledger = Ledger(None, None, "")
        times = [{"entry": "notVerified", "at": f"2026-01-02T03:04:{second:02}Z"} for second in range(6)]
        self.assertEqual(ledger.pin_problems(times[:5]), [])
        self.assertIn("a sixth PIN was tried", ledger.pin_problems(times)[0])
        late = {"entry": "notVerified", "at": "2026-01-02T03:05:10Z"}
        self.assertEqual(ledger.pin_problems([*times[:5], late]), [])
        ledger.wrong_pins = 3
        self.assertIn("3 PINs were said to be wrong", ledger.pin_problems(times[:2])[0])


if __name__ == "__main__":
    unittest.main()
