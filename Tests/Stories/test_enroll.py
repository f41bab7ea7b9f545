"""Enrolling as a person does it: the question at a real terminal.

Run with `.venv/bin/python Tests/Stories/test_enroll.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import signal
import termios
import time
import unittest
from urllib.parse import quote

import pexpect

from issuer import Issuer
from programs import BIN_DIR, Agent, temporary_folder
from terminal import Terminal

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8"}
WITHIN = 60
PIN = "7362-Dæmø"
# Waits for a line, and leaves what follows it in the terminal's queue for the program.
AFTER_A_LINE = ("/bin/sh", "-c", 'read line; exec "$@"', "sh")


class CountingIssuer(Issuer):
    """It knows how often it was asked anything."""

    def __init__(self):
        self.calls = []
        super().__init__()

    def route(self, method, target, bearer, body):
        self.calls.append(target)
        return super().route(method, target, bearer, body)


class Person:
    """Someone at a terminal, in whose session `oobctl enroll` runs."""

    def __init__(self, agent: Agent, *arguments: str, through: tuple[str, ...] = ()):
        words = [*through, str(BIN_DIR / "oobctl"), "enroll", "--socket", str(agent.socket), *arguments]
        self.process = Terminal(
            words[0], words[1:], env=ENVIRONMENT, dimensions=(24, 200), timeout=WITHIN, encoding="utf-8")
        self.shown = ""

    def until(self, text: str):
        self.process.expect_exact(text)
        self.shown += self.process.before + self.process.after

    def answer(self, question: str, keys: str):
        """Waits until the question takes an answer: before that, what is typed is thrown away."""
        self.until(question)
        self.wait_for_echo(False)
        self.process.send(keys)

    def wait_for_echo(self, expected: bool):
        deadline = time.monotonic() + WITHIN
        while bool(termios.tcgetattr(self.process.child_fd)[3] & termios.ECHO) != expected:
            assert time.monotonic() < deadline, f"echo is not {expected} after {self.shown!r}"
            time.sleep(0.01)  # Looks again; nothing depends on how long.

    def end(self) -> int:
        self.wait_for_echo(True)
        self.process.expect(pexpect.EOF)
        self.shown += self.process.before
        self.process.close()
        return self.process.exitstatus if self.process.exitstatus is not None else -self.process.signalstatus


class Enrolling(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.issuer = self.enterContext(CountingIssuer())
        self.agent = Agent(self.folder)
        self.addCleanup(self.agent.stop)

    def code(self) -> tuple[str, ...]:
        return ("--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code())

    def link(self) -> str:
        return f"oob-enroll:?issuer={quote(self.issuer.origin, safe='')}&code={self.issuer.enrollment_code()}"

    def person(self, *arguments: str, through: tuple[str, ...] = ()) -> Person:
        return Person(self.agent, *arguments, through=through)

    def assert_nothing_was_done(self):
        self.assertEqual(self.issuer.calls, [])
        self.assertEqual(self.agent.json("enrollments"), [])
        self.assertEqual(list((self.folder / "state").rglob("*.key")), [])


class AtATerminal(Enrolling):
    def test_issuer_and_origin_are_shown_and_the_question_comes_before_a_key_and_the_pin(self):
        person = self.person(self.link())
        person.until("[y/N] ")
        self.assertIn(f"Issuer: {self.issuer.origin}\r\nOrigin: {self.issuer.origin}\r\n", person.shown)
        self.assertIn("loopback", person.shown)
        self.assertIn(f"Make a key and enroll it at {self.issuer.origin}?", person.shown)
        self.assert_nothing_was_done()
        person.answer("", "y\r")
        person.answer("PIN for every approval", PIN + "\r")
        person.answer("The same again:", PIN + "\r")
        self.assertEqual(person.end(), 0, person.shown)
        self.assertEqual([row["state"] for row in self.agent.json("enrollments")], ["active"])

    def test_anything_but_yes_is_no(self):
        for keys in ["\r", "n\r", "no\r", "q\r", "yy\r", "y\x7f\r", "\x1b[A\r", "y n\r", "\u043d\r", "\u0443\r"]:
            with self.subTest(keys):
                person = self.person(*self.code(), "--authn-type", "presence")
                person.answer("[y/N] ", keys)
                self.assertEqual(person.end(), 1, person.shown)
                self.assertIn("Not confirmed; nothing was sent and no key was made.", person.shown)
        self.assert_nothing_was_done()

    def test_yes_may_be_written_out_and_corrected(self):
        for keys in ["YES\r", "no\x15y\r", "np\x7f\x08yes\r"]:
            with self.subTest(keys):
                person = self.person(*self.code(), "--authn-type", "presence")
                person.answer("[y/N] ", keys)
                self.assertEqual(person.end(), 0, person.shown)
        self.assertEqual(len(self.agent.json("enrollments")), 3)

    def test_who_gives_up_exits_1_with_d1s_number_and_the_terminal_is_as_it_was(self):
        for keys in ["\x03", "y\x03", "\x04", "\x1c"]:
            with self.subTest(keys):
                person = self.person(*self.code(), "--json")
                person.answer("[y/N] ", keys)
                self.assertEqual(person.end(), 1, person.shown)
                error = json.loads(person.shown.strip().splitlines()[-1])["error"]
                self.assertEqual((error["code"], error["name"]), (10001, "cancelled"))
        person = self.person(*self.code())
        person.until("[y/N] ")
        person.wait_for_echo(False)
        os.kill(person.process.pid, signal.SIGTERM)
        self.assertEqual(person.end(), -signal.SIGTERM)
        self.assert_nothing_was_done()

    def test_what_was_typed_before_the_question_answers_nothing(self):
        person = self.person(*self.code(), "--authn-type", "presence", through=AFTER_A_LINE)
        person.process.send("go\ry\ryes\r")
        person.answer("[y/N] ", "\r")
        self.assertEqual(person.end(), 1, person.shown)
        self.assert_nothing_was_done()

    def test_yes_asks_nothing(self):
        for flag in ["--yes", "-y"]:
            person = self.person(*self.code(), "--authn-type", "presence", flag)
            self.assertEqual(person.end(), 0, person.shown)
            self.assertNotIn("[y/N]", person.shown)

    def test_a_test_authenticator_other_roots_and_a_given_key_are_said_before_the_question(self):
        roots = self.folder / "roots.pem"
        roots.write_text("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n")
        person = self.person(
            "--issuer", "https://issuer.example", "--code", "x", "--authn-type", "test", "--ca-file", str(roots),
            "--key-uri", "file:/nowhere.pem", "--name", "two\x1b[31m words\u202e")
        person.answer("[y/N] ", "\r")
        self.assertEqual(person.end(), 1)
        for text in ["it claims that the user was verified", "--ca-file, instead of the system's",
                     "Key: file:/nowhere.pem", r"Name: two\u{1B}[31m words\u{202E}",
                     "Enroll that key at https://issuer.example?"]:
            self.assertIn(text, person.shown)
        self.assertNotIn("loopback", person.shown)

    def test_the_origin_is_where_the_address_leads_and_not_what_it_looks_like(self):
        for issuer, origin in [
            ("https://bank.example@evil.example", "https://evil.example"),
            ("https://bank.example:443@evil.example:8443/", "https://evil.example:8443"),
            ("https://evil.example/bank.example", "https://evil.example"),
            ("https://evil.example\\@bank.example", "https://evil.example"),
            ("https://xn--bnk-qla.example", "https://xn--bnk-qla.example"),
        ]:
            with self.subTest(issuer):
                person = self.person("--issuer", issuer, "--code", "x", "--authn-type", "presence")
                person.answer("[y/N] ", "\r")
                self.assertEqual(person.end(), 1)
                self.assertIn(f"\r\nOrigin: {origin}\r\n", person.shown)
                self.assertIn(f"enroll it at {origin}?", person.shown)
                self.assertEqual("xn-- stands for other letters" in person.shown, "xn--" in issuer)


if __name__ == "__main__":
    unittest.main()
