"""recorded.py and results.py: that what was skipped, did not run or hung is never taken for proof.

Run with `.venv/bin/python Tests/Stories/test_results.py`.
"""

import io
import json
import shutil
import signal
import tempfile
import unittest
from pathlib import Path

import recorded
import results


def recorded_of(*classes: type) -> tuple[bool, dict[str, tuple[str, str]]]:
    """Whether a run of these classes ends well, and the record's outcome and reason of each test."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test_sample.py.json"
        suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(each) for each in classes)
        is_well = recorded.run(suite, path, stream=io.StringIO())
        record = json.loads(path.read_text(encoding="utf-8"))
    return is_well, {test["name"]: (test["outcome"], test["reason"]) for test in record}


class WhatIsRecorded(unittest.TestCase):
    def test_a_name_may_have_dots(self):
        class Sample(unittest.TestCase):
            def id(self):
                return "a-script.An app URL in 2.1.0 is refused"

            def test(self):
                pass

        self.assertEqual(list(recorded_of(Sample)[1]), ["An app URL in 2.1.0 is refused"])

    def test_each_outcome_and_its_reason(self):
        class Sample(unittest.TestCase):
            def test_good(self):
                self.assertGreater(signal.getitimer(signal.ITIMER_REAL)[0], 0, "a test has a limit")

            def test_bad(self):
                self.fail("no")

            def test_wrong(self):
                raise ValueError("oh")

            @unittest.skip("not today")
            def test_skipped(self):
                pass

            def test_skips_itself(self):
                self.skipTest("not here")

            def test_part_is_skipped(self):
                with self.subTest(1):
                    self.skipTest("not this")
                with self.subTest(2):
                    pass

            def test_part_is_bad(self):
                with self.subTest(1):
                    self.fail("no")

        is_well, outcomes = recorded_of(Sample)
        self.assertFalse(is_well)
        self.assertEqual(outcomes, {
            "test_good": ("passed", ""), "test_bad": ("failed", "no"), "test_wrong": ("failed", "oh"),
            "test_skipped": ("skipped", "not today"), "test_skips_itself": ("skipped", "not here"),
            "test_part_is_skipped": ("skipped", "not this"), "test_part_is_bad": ("failed", "no")})

    def test_a_class_that_is_skipped_or_fails_before_its_tests(self):
        class Skipped(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                raise unittest.SkipTest("nothing here")

            def test_one(self):
                pass

        class Broken(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                raise ValueError("oh")

            def test_two(self):
                pass

        self.assertEqual(recorded_of(Skipped), (True, {"test_one": ("skipped", "nothing here")}))
        self.assertEqual(recorded_of(Broken), (False, {"test_two": ("failed", "oh")}))

    def test_no_tests_are_a_failure(self):
        class Empty(unittest.TestCase):
            pass

        self.assertEqual(recorded_of(Empty), (False, {}))

    def test_a_test_that_hangs_is_an_error_and_the_next_runs(self):
        class Hanging(unittest.TestCase):
            def test_1(self):
                signal.raise_signal(signal.SIGALRM)  # As the timer does.

            def test_2(self):
                pass

        is_well, outcomes = recorded_of(Hanging)
        self.assertFalse(is_well)
        self.assertEqual(outcomes, {"test_1": ("failed", "no test has ended for 600 s"), "test_2": ("passed", "")})

    def test_a_script_that_is_asked_to_end_cleans_up_and_says_what_it_was_at(self):
        cleaned = []

        class Asked(unittest.TestCase):
            def test_1(self):
                self.addCleanup(cleaned.append, 1)
                signal.raise_signal(signal.SIGTERM)

            def test_2(self):
                pass

        is_well, outcomes = recorded_of(Asked)
        self.assertFalse(is_well)
        self.assertEqual(outcomes, {"test_1": ("failed", "the script was asked to end"), "test_2": ("not run", "")})
        self.assertEqual(cleaned, [1])


class WhatIsReported(unittest.TestCase):
    PAGE = {"page.md": "(`SampleTests/it works`, `test_sample.py/test_it`)"}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def swift(self, *events: dict, name: str = "it works", is_parameterized: bool = False):
        """A run of one test, by the entries of Swift Testing 6.3's event stream, version 0."""
        test = f"SampleTests.SampleTests/`{name}`()/SampleTests.swift:9:6"
        about = {"id": test, "kind": "function", "name": f"`{name}`(status:reason:)", "displayName": name,
                 "isParameterized": is_parameterized, "sourceLocation": {"fileID": "SampleTests/SampleTests.swift"}}
        entries = [{"kind": "test", "payload": about}]
        entries += [{"kind": "event", "payload": {"testID": test, "messages": [], **event}} for event in events]
        lines = [json.dumps({**entry, "version": 0}, ensure_ascii=False) for entry in entries]
        (self.folder / "part.jsonl").write_text("\n".join(lines), encoding="utf-8")

    STARTED = {"kind": "testStarted"}
    # Not every end of a line is one of the stream's.
    CASE = {"kind": "testCaseStarted", "messages": [{"symbol": "default", "text": "1 argument \u2028\u0085"}]}
    PASSED = {"kind": "testEnded", "messages": [{"symbol": "pass", "text": "Test passed."}]}
    FAILED = {"kind": "testEnded", "messages": [{"symbol": "fail", "text": "Test failed."}]}
    SKIPPED = {"kind": "testSkipped", "messages": [{"symbol": "skip", "text": 'Test "it works" skipped: "no root"'}]}
    ENDED = {"kind": "runEnded", "messages": [{"symbol": "pass", "text": "Test run with 1 test passed."}]}

    def python(self, outcome: str, reason: str = "", script: str = "test_sample.py", name: str = "test_it"):
        (self.folder / f"{script}.json").write_text(json.dumps([{"name": name, "outcome": outcome, "reason": reason}]))

    def report(self, nothing_skipped: bool = False, allowed: dict | None = None, pages: dict | None = None):
        return results.report(
            results.Results(self.folder), pages or self.PAGE, {"test_sample.py"}, allowed or {}, nothing_skipped)

    def test_all_is_well_when_what_is_cited_has_passed(self):
        self.swift(self.STARTED, self.CASE, self.PASSED, self.ENDED)
        self.python("passed")
        for nothing_skipped in [False, True]:
            lines, is_well = self.report(nothing_skipped)
            self.assertTrue(is_well, lines)
            self.assertEqual(lines, ["part: Test run with 1 test passed.",
                                     "outside: 1 tests in 1 scripts passed. Skipped in all: 0."])

    def test_the_scripts_that_took_the_longest_are_named(self):
        self.swift(self.STARTED, self.CASE, self.PASSED, self.ENDED)
        for number in range(results.SLOWEST + 1):
            tests = [{"name": "test_it", "outcome": "passed", "reason": "", "seconds": seconds} for seconds in [1, number]]
            (self.folder / f"test_{number:02}.py.json").write_text(json.dumps(tests))
        lines, _ = self.report()
        self.assertIn("slowest scripts: " + ", ".join(
            f"test_{number:02}.py {number + 1} s" for number in range(results.SLOWEST, 0, -1)), lines)

    def test_each_test_that_failed_is_named_with_its_reason_before_the_closing_lines(self):
        issue = {"kind": "issueRecorded", "messages": [{"symbol": "fail", "text": "Expectation\n failed: 1 == 2"}]}
        self.swift(self.STARTED, self.CASE, issue, self.FAILED, self.ENDED)
        (self.folder / "again").mkdir()
        shutil.copy(self.folder / "part.jsonl", self.folder / "again" / "postgres.jsonl")
        self.python("failed", "a" * 400 + "b" * 400)
        lines, is_well = self.report(pages={"page.md": "nothing"})
        self.assertEqual(lines, [
            "failed: SampleTests/it works: Expectation failed: 1 == 2",
            "failed: test_sample.py/test_it: " + "a" * 300 + " [...] " + "b" * 300,
            "failed with postgres: SampleTests/it works: Expectation failed: 1 == 2",
            "part: Test run with 1 test passed.", "postgres: Test run with 1 test passed.",
            "outside: 0 tests in 1 scripts passed. Skipped in all: 0."])

    def test_a_cited_test_that_is_not_among_the_results_is_a_failure(self):
        self.swift(self.STARTED, self.CASE, self.PASSED, name="it does something else")
        self.python("passed", name="test_something_else")
        lines, is_well = self.report()
        self.assertFalse(is_well)
        self.assertEqual(lines[:2], ["cited as proof by page.md, but: SampleTests/it works did not run",
                                     "cited as proof by page.md, but: test_sample.py/test_it did not run"])

    def test_a_cited_script_without_results_is_a_failure(self):
        lines, is_well = self.report(pages={"page.md": "by `.venv/bin/python Tests/Stories/test_sample.py`"})
        self.assertFalse(is_well)
        self.assertIn("cited as proof by page.md, but: test_sample.py did not run", lines)

    def test_a_script_of_the_folder_without_results_is_a_failure(self):
        lines, is_well = self.report(pages={"page.md": "nothing"})
        self.assertEqual((lines[0], is_well), ("this script did not run: test_sample.py", False))

    def test_a_cited_test_that_failed_or_was_never_given_an_argument_is_a_failure(self):
        self.python("failed", "no")
        for events, said in [((self.STARTED, self.CASE, self.FAILED), "failed"),
                             ((self.STARTED, self.PASSED), "not run: it had no arguments")]:
            self.swift(*events, is_parameterized=True)
            lines, is_well = self.report()
            self.assertFalse(is_well)
            self.assertEqual(lines[:2], [f"cited as proof by page.md, but: SampleTests/it works {said}",
                                         "cited as proof by page.md, but: test_sample.py/test_it failed: no"])

    def test_what_was_skipped_is_said_with_its_reason_and_is_a_failure_where_nothing_may_be(self):
        self.swift(self.SKIPPED, self.ENDED)
        self.python("skipped", "no root")
        lines, is_well = self.report()
        self.assertTrue(is_well)
        self.assertEqual(lines[:3], ["2 skipped, no root:", "    SampleTests/it works", "    test_sample.py/test_it"])
        self.assertEqual(lines[-1], "outside: 0 tests in 1 scripts passed. Skipped in all: 2.")
        lines, is_well = self.report(nothing_skipped=True)
        self.assertFalse(is_well)
        self.assertIn("may not be skipped here: SampleTests/it works", lines)
        self.assertIn("cited as proof by page.md, but: test_sample.py/test_it skipped: no root", lines)

    def test_an_exception_lets_a_test_be_skipped_but_for_one_that_is_cited_and_goes_when_the_test_runs(self):
        allowed = results.exceptions("# Why\n\ntest_sample.py/test_it: there is no such machine\n")
        self.assertEqual(allowed, {"test_sample.py/test_it": "there is no such machine"})
        self.python("skipped", "no root")
        elsewhere = {"page.md": "nothing"}
        self.assertTrue(self.report(True, allowed, elsewhere)[1])
        self.assertFalse(self.report(True, {}, elsewhere)[1])
        self.swift(self.STARTED, self.CASE, self.PASSED)
        self.assertFalse(self.report(True, allowed)[1])
        self.python("passed")
        lines, is_well = self.report(True, allowed, elsewhere)
        self.assertFalse(is_well)
        self.assertIn("not skipped any more: take it out of may-be-skipped.txt: test_sample.py/test_it", lines)

    def test_what_was_running_at_the_end_is_named(self):
        self.swift(self.STARTED, self.CASE)
        self.python("running")
        with open(self.folder / "part.jsonl", "a") as stream:
            stream.write('\n{"kind": "event", "payl')  # Where it was ended.
        lines, is_well = self.report(pages={"page.md": "nothing"})
        self.assertFalse(is_well)
        self.assertEqual(lines[:3], ["still running when it was ended: SampleTests/it works",
                                     "still running when it was ended: test_sample.py/test_it",
                                     "part: was ended before its end."])

    def test_every_exception_has_a_reason_and_is_cited_by_no_page(self):
        text = results.EXCEPTIONS.read_text(encoding="utf-8")
        for test, why in results.exceptions(text).items():
            self.assertGreater(len(why), 10, test)
            for page, cites in results.citations.TEXTS.items():
                self.assertNotIn(test, cites, page)


if __name__ == "__main__":
    unittest.main()
