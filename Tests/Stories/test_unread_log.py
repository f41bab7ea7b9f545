"""An agent and a sandbox whose output nobody reads: it costs log lines, and neither answers nor the ability to stop.

Run with `.venv/bin/python Tests/Stories/test_unread_log.py`; OOB_BIN_DIR names the programs' directory.
"""

import fcntl
import os
import pty
import select
import signal
import socket
import subprocess
import termios
import threading
import time
import unittest
import urllib.error
from pathlib import Path

from issuer import Issuer
from programs import BIN_DIR, READY_WITHIN, Agent, Program, Sandbox, free_port, temporary_folder
from software_authenticator import call


WITHIN = 60
# For all of a test, with its enrollment, approvals and end.
HANGS_AFTER = 300
CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"


class UnreadPipe:
    """A pipe without room: whatever is written to it waits."""

    def __init__(self, test: unittest.TestCase):
        self.reader, self.writer = os.pipe()
        for end in (self.reader, self.writer):
            test.addCleanup(os.close, end)
        self.left = ""
        size = fcntl.fcntl(self.writer, fcntl.F_SETPIPE_SZ, 4_096)
        os.write(self.writer, b"." * (size - 1) + b"\n")

    def text_until(self, words: str) -> str:
        """What comes out of it, up to the line with those words."""
        while words not in self.left or "\n" not in self.left[self.left.index(words):]:
            if not select.select([self.reader], [], [], WITHIN)[0]:
                raise AssertionError(f"no line with {words!r} in {WITHIN} s, but {self.left!r}")
            self.left += os.read(self.reader, 65_536).decode()
        end = self.left.index("\n", self.left.index(words)) + 1
        said, self.left = self.left[:end], self.left[end:]
        return said


class UnreadOutput(unittest.TestCase):
    def agent_that_works(self, **streams: int) -> Agent:
        """It has enrolled and approved; it is killed where it hangs."""
        with Issuer() as issuer:
            agent = Agent(temporary_folder(type(self)), **streams)
            watchdog = threading.Timer(HANGS_AFTER, agent.process.kill)
            watchdog.start()
            self.addCleanup(watchdog.cancel)
            self.addCleanup(agent.process.kill)
            agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code())
            (authenticator,) = issuer.authenticators
            for _ in range(3):
                issuer.ask(authenticator, issuer.transaction())
                self.assertEqual(agent.json("approve", "--next", "--wait", "60")["delivery"], "delivered")
            return agent

    def expect_orderly_end(self, agent: Agent):
        agent.stop()
        self.assertEqual(agent.process.returncode, 0)

    def test_it_works_and_stops_with_a_log_that_nobody_reads(self):
        self.expect_orderly_end(self.agent_that_works(error=UnreadPipe(self).writer))

    def test_it_works_and_stops_with_its_log_on_a_terminal_that_is_stopped(self):
        terminal, own = pty.openpty()
        for end in (terminal, own):
            self.addCleanup(os.close, end)
        # As Ctrl-S does.
        termios.tcflow(own, termios.TCOOFF)
        self.expect_orderly_end(self.agent_that_works(error=own))

    def test_it_works_and_stops_with_a_standard_output_that_nobody_reads(self):
        self.expect_orderly_end(self.agent_that_works(output=UnreadPipe(self).writer))

    def test_a_reader_that_comes_late_gets_the_lines_that_waited(self):
        self.expect_late_lines(UnreadPipe(self))

    def test_so_it_does_if_another_process_has_made_the_pipe_non_blocking(self):
        pipe = UnreadPipe(self)
        os.set_blocking(pipe.writer, False)
        self.expect_late_lines(pipe)

    def expect_late_lines(self, pipe: UnreadPipe):
        agent = self.agent_that_works(error=pipe.writer)
        said = "".join(pipe.text_until(" decision delivery ended ") for _ in range(3))
        self.assertEqual((said.count(" request presented "), said.count(" decided ")), (3, 3), said)
        self.expect_orderly_end(agent)
        self.assertIn(" stopped\n", pipe.text_until(" stopped"))

    def test_an_error_at_its_start_ends_it_though_nobody_reads_what_it_was(self):
        folder = temporary_folder(type(self))
        (folder / "state").touch()
        ended = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", folder / "state" / "inside"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=UnreadPipe(self).writer, timeout=60)
        self.assertGreaterEqual(ended.returncode, 64)


class BrokenPipe(unittest.TestCase):
    """A standard error whose reader was gone before the program began."""

    def setUp(self):
        reader, self.error = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, self.error)
        self.folder = temporary_folder(type(self))

    def ends_with(self, status: int, program: str, *arguments):
        ended = subprocess.run(
            [BIN_DIR / program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.error,
            timeout=60)
        self.assertEqual(ended.returncode, status, (program, arguments))

    def test_an_agent_starts_works_and_stops(self):
        with Issuer() as issuer:
            # The first thing that it logs, that a secret was made, comes before it has a connection.
            agent = Agent(self.folder, error=self.error)
            self.addCleanup(agent.process.kill)
            agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code())
            agent.stop()
        self.assertEqual(agent.process.returncode, 0)

    def test_the_servers_start_and_stop(self):
        for program, arguments in [("oob-issuer", ["serve"]), ("oob-inbox", [])]:
            with self.subTest(program):
                server = Program(self.folder, program, *arguments, "--listen", "localhost:0", error=self.error)
                self.addCleanup(server.process.kill)
                self.assertIn("http://", server.process.stdout.readline())
                server.stop()
                self.assertEqual(server.process.returncode, 0)

    def test_an_early_error_has_its_exit_status_though_nobody_can_read_its_sentence(self):
        (self.folder / "file").touch()
        inside = self.folder / "file" / "inside"
        self.ends_with(77, "oob-agent", "--state-dir", inside)
        self.ends_with(78, "oob-agent", "--config", inside)
        self.ends_with(64, "oob-agent", "--no-such-flag")
        self.ends_with(69, "oobctl", "status", "--socket", inside)
        self.ends_with(64, "oobctl", "no-such-verb")
        self.ends_with(64, "oob-inbox", "--listen", "192.0.2.1:80")
        self.ends_with(64, "oob-issuer", "serve", "--listen", "nowhere")
        self.ends_with(69, "oob-issuer", "list", "--issuer", "http://localhost:1")
        self.ends_with(2, "oob-conform", "approver", "--cases", inside)
        self.ends_with(66, "oob-conform", "check-request", inside)

    def test_a_standard_output_without_a_reader_is_an_error_and_no_death(self):
        self.error, left = os.open(os.devnull, os.O_WRONLY), self.error
        self.addCleanup(os.close, self.error)
        for status, program, *arguments in [(74, "oob-agent", "--print-config"),
                                            (1, "oob-conform", "issuer", "--list", "--cases", CASES)]:
            with self.subTest(program):
                ended = subprocess.run(
                    [BIN_DIR / program, *arguments], stdin=subprocess.DEVNULL, stdout=left, stderr=self.error, timeout=60)
                self.assertEqual(ended.returncode, status)

    def test_what_a_program_starts_does_not_ignore_the_signal(self):
        opener = self.folder / "xdg-open"
        seen = self.folder / "seen"
        opener.write_text(f"#!/bin/sh\ngrep SigIgn /proc/self/status > {seen}.part\nmv {seen}.part {seen}\n")
        opener.chmod(0o755)
        inbox = Program(self.folder, "oob-inbox", "--listen", "localhost:0", "--open",
                        PATH=f"{self.folder}:{os.environ['PATH']}", XDG_RUNTIME_DIR=str(self.folder))
        self.addCleanup(inbox.process.kill)
        deadline = time.monotonic() + WITHIN
        while not seen.exists():
            self.assertLess(time.monotonic(), deadline, inbox.tail())
            time.sleep(0.05)  # Asks again; nothing depends on how long.
        inbox.stop()
        ignored = int(seen.read_text().split()[1], 16)
        self.assertFalse(ignored & 1 << (signal.SIGPIPE - 1), seen.read_text())


class UnreadSandbox(unittest.TestCase):
    # Each call is a line of the log.
    FAULTS = ("--faults", "slow=1:1ms,path=jwks,seed=1")
    CALLS = 50

    def sandbox_that_answers(self, error: int) -> Sandbox:
        """It has answered all calls; it is killed if it hangs."""
        sandbox = Sandbox(temporary_folder(type(self)), *self.FAULTS, error=error)
        self.addCleanup(sandbox.process.kill)
        watchdog = threading.Timer(HANGS_AFTER, sandbox.process.kill)
        watchdog.start()
        self.addCleanup(watchdog.cancel)
        for _ in range(self.CALLS):
            self.assertEqual(call("GET", sandbox.origin + "/jwks.json")[0], 200)
        return sandbox

    def expect_orderly_end(self, sandbox: Program):
        sandbox.stop()
        self.assertEqual(sandbox.process.returncode, 0)

    def test_it_answers_and_stops_with_a_standard_output_that_nobody_reads(self):
        address = f"localhost:{free_port()}"
        sandbox = Program(temporary_folder(type(self)), "oob-issuer", "serve", "--listen", address,
                          output=UnreadPipe(self).writer)
        self.addCleanup(sandbox.process.kill)
        deadline = time.monotonic() + READY_WITHIN
        while True:
            try:
                self.assertEqual(call("GET", f"http://{address}/jwks.json")[0], 200)
                break
            except urllib.error.URLError:
                self.assertLess(time.monotonic(), deadline, sandbox.tail())
                time.sleep(0.05)  # Asks again; nothing depends on how long.
        self.expect_orderly_end(sandbox)

    def test_it_answers_and_stops_with_a_log_that_nobody_reads(self):
        self.expect_orderly_end(self.sandbox_that_answers(UnreadPipe(self).writer))

    def test_a_reader_that_comes_late_gets_the_lines_that_waited(self):
        pipe = UnreadPipe(self)
        sandbox = self.sandbox_that_answers(pipe.writer)
        said = pipe.text_until(f'call="jwks {self.CALLS}" ')
        self.assertEqual(said.count(" a fault on purpose "), self.CALLS, said)
        self.expect_orderly_end(sandbox)


if __name__ == "__main__":
    unittest.main()
