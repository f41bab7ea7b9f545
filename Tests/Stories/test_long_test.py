"""Scripts/long-test: that a check that did not pass on this very commit is run, and that the page lists every check.

Run with `.venv/bin/python Tests/Stories/test_long_test.py`.
"""

import json
import re
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from citations import ROOT

PAGE = ROOT / "docs/reference/campaigns.md"
LIST = ROOT / "Tests/Support/LongTest/checks.txt"
WITHIN = 60


class LongTest(unittest.TestCase):
    """A checkout of its own, with checks that are quick."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "Scripts").mkdir()
        (self.root / "Scripts/long-test").write_bytes((ROOT / "Scripts/long-test").read_bytes())
        self.list = self.root / "Tests/Support/LongTest/checks.txt"
        self.list.parent.mkdir(parents=True)
        (self.root / ".gitignore").write_text("/.build/\n/runs\n/ready\n")
        self.define("first | 1 | echo first >>runs | one", "second | 1 | echo second | cat >>runs | two")
        self.git("init", "--quiet")
        self.commit()

    def define(self, *checks: str):
        self.list.write_text("\n".join(["# Checks.", *checks, ""]))

    def git(self, *arguments: str):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments], cwd=self.root,
                       check=True, capture_output=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "x")

    def start(self, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen(["python3", "-B", "Scripts/long-test", *arguments], cwd=self.root, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_checks(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=WITHIN)
        return process.returncode, output, errors

    def until(self, holds):
        deadline = time.monotonic() + WITHIN
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)  # Looks again; nothing depends on how long.

    @property
    def runs(self) -> list[str]:
        file = self.root / "runs"
        return file.read_text().split() if file.exists() else []

    def test_all_run_once_on_a_commit(self):
        self.assertEqual(self.run_checks()[0], 0)
        self.assertEqual(self.run_checks()[0], 0)
        self.assertEqual(self.runs, ["first", "second"])

    def test_another_commit_runs_them_again(self):
        self.run_checks()
        self.commit()
        self.run_checks("second")
        self.assertEqual(self.runs, ["first", "second", "second"])

    def test_a_changed_tree_runs_them_each_time(self):
        (self.root / "new").write_text("x")
        self.run_checks("first")
        self.run_checks("first")
        self.assertEqual(self.runs, ["first", "first"])

    def test_what_passed_runs_again_if_asked(self):
        self.run_checks("first")
        self.run_checks("--again", "first")
        self.assertEqual(self.runs, ["first", "first"])

    def test_a_failure_is_said_and_the_others_run(self):
        self.define("bad | 1 | echo why; exit 3 | one", "good | 1 | echo good >>runs | two")
        self.commit()
        status, output, _ = self.run_checks()
        self.assertEqual((status, self.runs), (1, ["good"]))
        self.assertRegex(output, r"(?m)^bad \| .* \| failed, exit status 3: .*/bad\.log$")
        self.assertEqual(json.loads((self.root / ".build/long-test/bad.json").read_text())["figures"], ["why"])
        # It is not taken for passed.
        self.assertEqual(self.run_checks("bad")[0], 1)

    def test_what_was_interrupted_is_run_again_with_the_same_record(self):
        self.define('slow | 1 | echo "$RECORD" >>runs; touch ready; [ -e "$RECORD" ] || { touch "$RECORD"; sleep 120; } | one')
        self.commit()
        process = self.start()
        self.until(lambda: (self.root / "ready").exists())
        self.until(lambda: list((self.root / ".build/long-test").glob("*.record")))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=WITHIN)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("the same command goes on", errors)
        self.assertEqual(self.run_checks()[0], 0)
        self.assertEqual(len(self.runs), 2)
        self.assertEqual(len(set(self.runs)), 1)
        # On another commit what was done before does not count.
        self.commit()
        process = self.start()
        self.until(lambda: len(self.runs) == 3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WITHIN)
        self.assertEqual(len(set(self.runs)), 2)

    def test_an_unknown_name_is_refused_with_those_that_there_are(self):
        status, _, errors = self.run_checks("third")
        self.assertEqual(status, 64)
        self.assertIn("third: must be one of first, second", errors)
        self.assertEqual(self.runs, [])


class ThePage(unittest.TestCase):
    """docs/reference/campaigns.md."""

    def test_every_check_has_a_row_and_every_row_a_check(self):
        names = re.findall(r"^([a-z-]+) \| \d+ \| ", LIST.read_text(encoding="utf-8"), re.MULTILINE)
        self.assertGreater(len(names), 8)
        page = PAGE.read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE), names)

    def test_every_row_has_a_date_a_commit_a_seed_hours_and_figures_or_says_that_it_has_not_run(self):
        rows = re.findall(r"^\| `[a-z-]+` \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
        self.assertGreater(len(rows), 8)
        for row in rows:
            date, commit, seed, hours, figures = (cell.strip() for cell in row.split("|"))
            with self.subTest(row=row):
                self.assertTrue(figures)
                if date == "-":
                    continue
                self.assertRegex(date, r"^20\d\d-\d\d-\d\d$")
                self.assertRegex(commit, r"^`[0-9a-f]{8}`$|^-$")
                self.assertRegex(seed, r"^\d+$|^-$")
                self.assertRegex(hours, r"^\d+\.\d+ h$")


if __name__ == "__main__":
    unittest.main()
