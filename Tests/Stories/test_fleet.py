"""Many enrollments at once: the question at a terminal, and purchases that start when they are due.

Run with `.venv/bin/python Tests/Stories/test_fleet.py`; OOB_BIN_DIR names the programs' directory.
"""

import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import pexpect

from programs import BIN_DIR, ENDED_WITHIN, Agent, Sandbox, started, temporary_folder
from terminal import Terminal

sys.path.append(str(Path(__file__).resolve().parents[2] / "Benchmarks"))

from purchases import Load  # noqa: E402


class Started(unittest.TestCase):
    def test_each_purchase_starts_when_it_is_due_though_none_before_it_is_answered(self):
        all_asked = threading.Barrier(6)

        class Held(Load):
            def call(self, method: str, path: str, body: dict | None = None):
                if method == "GET":
                    return [{"id": "a", "state": "active"}]
                try:
                    return {"acsTransId": str(all_asked.wait(ENDED_WITHIN))}
                except threading.BrokenBarrierError as error:
                    raise OSError("waits for the answer to another") from error

        load = Held("http://localhost:1")
        load.send(rate=6, seconds=1)
        self.assertEqual((load.refused, len(load.late)), ({}, 6))
        self.assertGreaterEqual(min(load.late.values()), 0)


class AtATerminal(unittest.TestCase):
    def test_the_question_comes_once(self):
        folder = temporary_folder(type(self))
        sandbox, agent = started(type(self), Sandbox(folder)), started(type(self), Agent(folder))
        codes = folder / "codes"
        codes.touch(mode=0o600)
        codes.write_text(subprocess.run(
            [BIN_DIR / "oob-issuer", "code", "--issuer", sandbox.origin, "--count", "5"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=True).stdout)
        person = Terminal(
            str(BIN_DIR / "oobctl"),
            ["enroll", "--socket", str(agent.socket), "--issuer", sandbox.origin, "--authn-type", "test", "--count", "5",
             "--code-file", str(codes)], env={**os.environ, "TERM": "xterm-256color"}, timeout=60, encoding="utf-8")
        person.expect_exact("Make up to 5 keys and enroll them")
        person.expect_exact("[y/N] ")
        while person.getecho():
            pass
        person.send("y\r")
        person.expect_exact("4 of 5 are enrolled.")
        person.expect_exact("5 are enrolled: 0 were there before, 5 were made.")
        person.expect(pexpect.EOF)
        person.close()
        self.assertEqual(person.exitstatus, 0)
        self.assertEqual(len(agent.json("enrollments")), 5)


if __name__ == "__main__":
    unittest.main()
