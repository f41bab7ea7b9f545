"""`make demo KEEP=DIR` with the programs as they were built: what stays, what its check says, and what a failure leaves.

Run with `.venv/bin/python Tests/Stories/test_demo.py`; OOB_BIN_DIR names the programs' directory.
"""

import os
import re
import signal
import subprocess
import unittest
from pathlib import Path

import pexpect

from programs import BIN_DIR, temporary_folder
from terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "keys" / "README.md").read_text(encoding="utf-8")
WITHIN = 120


class TheDemo(unittest.TestCase):
    def setUp(self):
        self.kept = temporary_folder(type(self)) / "demo"
        self.environment = {**os.environ, "OOB_BIN_DIR": str(BIN_DIR), "KEEP": str(self.kept)}

    def run_alone(self) -> subprocess.CompletedProcess:
        """Without a terminal, where it approves."""
        return subprocess.run(
            [ROOT / "Scripts" / "demo"], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=WITHIN)

    def asked(self) -> Terminal:
        """At a terminal, once it asks."""
        terminal = Terminal(str(ROOT / "Scripts" / "demo"), env=self.environment, encoding="utf-8", timeout=WITHIN)
        self.addCleanup(terminal.close)
        terminal.expect_exact("Type a or d: ")
        return terminal

    def expect_end(self, terminal: Terminal, status: int) -> str:
        terminal.expect(pexpect.EOF)
        said = terminal.before
        terminal.close()
        self.assertEqual(terminal.exitstatus, status, said)
        return said

    def check(self) -> subprocess.CompletedProcess:
        return subprocess.run(["sh", self.kept / "check.sh"], cwd="/", capture_output=True, text=True, timeout=WITHIN)

    def expect_kept(self) -> str:
        """All that the page says is there, and holds; what the check said."""
        described = re.findall(r"^\| `keys/demo/(\S+)` \|", README, re.MULTILINE)
        self.assertEqual(sorted(path.name for path in self.kept.iterdir()), sorted(described))
        checked = self.check()
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
        self.assertIn("holds: the challenge that the issuer signed is over transaction.json", checked.stdout)
        return checked.stdout

    def test_an_approval_stays_with_a_check_that_fails_for_another_key(self):
        run = self.run_alone()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("user present: 1", self.expect_kept())
        again = self.run_alone()
        self.assertEqual((again.returncode, "is there already" in again.stderr), (64, True), again.stderr)
        self.expect_kept()
        pem = (self.kept / "evidence" / "audit.pem").read_bytes()
        for name in ["public.pem", "evidence/credential.pem"]:
            (self.kept / name).write_bytes(pem)
        self.assertNotEqual(self.check().returncode, 0)

    def test_a_denial_stays_with_a_check_of_what_was_asked_and_decided(self):
        terminal = self.asked()
        terminal.sendline("d")
        self.expect_end(terminal, 0)
        self.assertNotIn("user present", self.expect_kept())

    def test_one_that_fails_or_is_interrupted_leaves_nothing(self):
        terminal = self.asked()
        self.assertTrue((self.kept / "state").exists())
        terminal.kill(signal.SIGINT)
        self.expect_end(terminal, 130)
        self.assertFalse(self.kept.exists())
        terminal = self.asked()
        terminal.sendeof()
        self.assertIn("nothing decided", self.expect_end(terminal, 1))
        self.assertFalse(self.kept.exists())


if __name__ == "__main__":
    unittest.main()
