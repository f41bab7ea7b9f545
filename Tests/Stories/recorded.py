"""Runs a script of tests, and records what became of each: passed, failed, or skipped and why.

Run with `.venv/bin/python -B Tests/Stories/recorded.py test_NAME.py`, or a text script's NAME.t; the record is a file of JSON in the
directory that OOB_TEST_RESULTS names, which `results.py` reads. It is complete at any moment: a script that is killed
leaves what it was at. A test that takes too long is an error, and the next ones run.
"""

import json
import os
import re
import signal
import sys
import time
import unittest
from pathlib import Path

# From the end of one test to the end of the next; the harness gives a script 1,800 s in all.
LIMIT = 600
# What does not end by that is told again so often.
AGAIN = 30


class TooLong(Exception):
    """In the place where a test hangs."""


def tests_of(suite):
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from tests_of(each)
        else:
            yield each


def name_of(test_id: str) -> str:
    """A test's name, without its script and its class; a title of a text script may have dots."""
    return re.sub(r"^(?:[^ .]+\.)+", "", test_id)


class Record:
    """What became of each test of a script, on disk after each change."""

    def __init__(self, path: Path | None, tests: list[unittest.TestCase]):
        self.path = path
        self.tests = {test.id(): {"name": name_of(test.id()), "outcome": "not run", "reason": ""} for test in tests}
        self.write()

    def note(self, test_id: str, outcome: str, reason: str = ""):
        test = self.tests.setdefault(test_id, {"name": name_of(test_id)})
        # What a part of a test ended with stays, when the rest of it passes.
        if outcome == "passed" and test.get("outcome") in ("failed", "skipped"):
            return
        test.update(outcome=outcome, reason=reason)
        self.write()

    def took(self, test_id: str, seconds: float):
        self.tests[test_id]["seconds"] = round(seconds, 1)
        self.write()

    def note_all(self, of: str, outcome: str, reason: str):
        """For all tests of a class or module, which is skipped or fails before them."""
        for test_id in list(self.tests):
            if test_id.startswith(of + "."):
                self.note(test_id, outcome, reason)

    def write(self):
        if self.path is None:
            return
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(list(self.tests.values()), indent=1), encoding="utf-8")
        new.replace(self.path)


class Recording(unittest.TextTestResult):
    record: Record
    limit: float = LIMIT

    def note(self, test, outcome: str, reason: str = ""):
        if of := re.fullmatch(r"(?:setUp|tearDown)(?:Class|Module) \((.+)\)", str(test)):
            self.record.note_all(of[1], outcome, reason)
        else:
            self.record.note(getattr(test, "test_case", test).id(), outcome, reason)

    def begin(self):
        signal.setitimer(signal.ITIMER_REAL, self.limit, AGAIN)

    def startTest(self, test):
        super().startTest(test)
        self.note(test, "running")
        self.began = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.record.took(test.id(), time.monotonic() - self.began)
        self.begin()

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "passed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped", reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failed", str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "failed", str(err[1]))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, "failed", str(err[1]))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "failed", "it was expected to fail")


def run(suite: unittest.TestSuite, path: Path | None, stream=None, limit: float = LIMIT) -> bool:
    """Whether there are tests, and none failed."""
    made = []

    def result(*arguments) -> Recording:
        recording = Recording(*arguments)
        recording.record, recording.limit = Record(path, list(tests_of(suite))), limit
        recording.begin()
        made.append(recording)
        return recording

    def too_long(*_):
        raise TooLong(f"no test has ended for {limit} s")

    def stop(*_):
        # A second signal would only interrupt the cleanups, which end what the tests have started.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for recording in made:
            recording.stop()
        raise TooLong("the script was asked to end")

    before = [signal.signal(signal.SIGALRM, too_long), signal.signal(signal.SIGTERM, stop)]
    try:
        done = unittest.TextTestRunner(stream=stream, verbosity=2, resultclass=result).run(suite)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before[0])
        signal.signal(signal.SIGTERM, before[1])
    # A script whose tests are all skipped is in order, one without tests is not.
    return done.wasSuccessful() and done.testsRun + len(done.skipped) > 0


def main():
    script = Path(sys.argv[1])
    folder = os.environ.get("OOB_TEST_RESULTS")
    # The folders that have scripts: a script imports modules of others.
    sys.path += sorted({str(path.parent) for path in Path(__file__).resolve().parents[1].glob("*/test_*.py")})
    if script.suffix == ".t":
        import text_scripts  # Needs prysk, which the others do not.

        suite = text_scripts.suite(text_scripts.SCRIPTS[script.name])
    else:
        suite = unittest.defaultTestLoader.loadTestsFromName(script.stem)
    sys.exit(0 if run(suite, folder and Path(folder) / f"{script.name}.json") else 1)


if __name__ == "__main__":
    main()
