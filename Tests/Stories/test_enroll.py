"""Enrolling as a person does it: the question at a real terminal, links, and codes that are not taken.

Run with `.venv/bin/python Tests/Stories/test_enroll.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import signal
import subprocess
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


class FromAScript(Enrolling):
    def error(self, *arguments: str, exits: int) -> dict:
        run = self.agent.ctl("enroll", *arguments, "--json")
        self.assertEqual(run.returncode, exits, run.stdout + run.stderr)
        return json.loads(run.stderr)["error"]

    def test_nobody_is_asked(self):
        run = self.agent.ctl("enroll", self.link())
        self.assertEqual((run.returncode, run.stderr), (0, f"Enrolled at {self.issuer.origin} as localhost.\n"))

    def test_a_code_that_is_not_taken_exits_9_and_says_what_to_do_next(self):
        arguments = self.code()
        self.assertEqual(self.agent.ctl("enroll", *arguments).returncode, 0)
        for code in [arguments[3], "WRONG"]:
            error = self.error("--issuer", self.issuer.origin, "--code", code, exits=9)
            self.assertEqual((error["code"], error["name"]), (70005, "authnInvalidEnrollmentToken"))
            for text in [self.issuer.origin, "good for one enrollment", "Ask the issuer for a new one"]:
                self.assertIn(text, error["message"])
            self.assertNotIn(code, error["message"])

    def given(self, *arguments: str, **how) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oobctl", "enroll", "--socket", str(self.agent.socket), "--issuer", self.issuer.origin,
             *arguments], capture_output=True, text=True, timeout=120, **how)

    def test_a_code_comes_from_a_file_or_standard_input_and_no_command_line_has_it(self):
        for end in ["", "\n", "\r\n"]:
            code = self.folder / "code"
            code.touch(mode=0o600)
            code.write_bytes((self.issuer.enrollment_code() + end).encode())
            run = self.given("--code-file", str(code))
            self.assertEqual(run.returncode, 0, run.stderr)
            run = self.given("--code-file", "-", input=self.issuer.enrollment_code() + end)
            self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(self.agent.json("enrollments")), 6)

    def test_a_code_is_one_text_with_a_byte_order_mark_or_spaces_around(self):
        code = self.folder / "code"
        code.touch(mode=0o600)
        for before, after in [("\ufeff", "\n"), (" ", " \n"), ("\ufeff\t", "\u00a0"), ("\r\n", "\n\n")]:
            code.write_text(before + self.issuer.enrollment_code() + after, encoding="utf-8")
            run = self.given("--code-file", str(code))
            self.assertEqual(run.returncode, 0, run.stderr)
        run = self.given("--code", f" {self.issuer.enrollment_code()} ")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_code_file_that_holds_no_code_is_wrong_usage_and_nothing_is_sent(self):
        code = self.folder / "code"
        code.touch(mode=0o600)
        for content, said in [(b"", "is empty"), (b"\n", "is empty"), (b" \n", "is empty"), (b"\xef\xbb\xbf\n", "is empty"), (b"a\nb\n", "more than one line"),
                              (b"q" * 257, "too long for a code"), (b"q" * 100_000, "too long for a code"),
                              (b"q" * 256 + b"\nb", "more than one line"), (b"\xe6", "not UTF-8"),
                              ("\ufeffABCD\r\n".encode("utf-16-le"), "is UTF-16: save it as UTF-8")]:
            with self.subTest(content[:9]):
                code.write_bytes(content)
                error = self.error("--issuer", self.issuer.origin, "--code-file", str(code), exits=64)
                self.assertEqual(error["code"], 60002)
                self.assertIn(f"--code-file: {code} ", error["message"])
                self.assertIn(said, error["message"])
        code.write_text("7QK4-M2XD")
        code.chmod(0o644)
        error = self.error("--issuer", self.issuer.origin, "--code-file", str(code), exits=64)
        self.assertIn("has mode 0644", error["message"])
        code.chmod(0o600)
        for more in [("--code", "x"), (self.link(),)]:
            error = self.error("--issuer", self.issuer.origin, "--code-file", str(code), *more, exits=64)
            self.assertIn("--issuer and one of --code and --code-file", error["message"])
        run = self.given("--code-file", "-", "--pin-file", "-", stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 64)
        self.assertIn("Standard input holds the code or the PIN", run.stderr)
        self.assert_nothing_was_done()

    def test_a_code_may_begin_with_a_dash(self):
        self.issuer.codes.add("-h5Code")
        run = self.agent.ctl("enroll", "--issuer", self.issuer.origin, "--code", "-h5Code", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_scheme_and_host_are_in_any_case_and_it_is_the_same_issuer(self):
        written = self.issuer.origin.replace("http://localhost", "HTTP://LocalHost")
        self.assertNotEqual(written, self.issuer.origin)
        issuers = [self.agent.json("enroll", "--issuer", issuer, "--code", self.issuer.enrollment_code())["issuer"]
                   for issuer in [written, self.issuer.origin]]
        self.assertEqual(issuers, [self.issuer.origin] * 2)
        link = f"oob-enroll:?issuer={quote(written, safe='')}&code={self.issuer.enrollment_code()}"
        self.assertEqual(self.agent.json("enroll", link)["issuer"], self.issuer.origin)

    def test_roots_that_cannot_be_used_are_refused_before_anyone_is_asked(self):
        roots = self.folder / "bad.pem"
        roots.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        error = self.error(*self.code(), "--ca-file", str(roots), exits=64)
        self.assertEqual(error["code"], 60002)
        self.assertIn("the root certificates hold no certificate, or one that cannot be read", error["message"])
        self.assert_nothing_was_done()

    def test_a_private_key_beside_the_roots_goes_nowhere(self):
        roots = self.folder / "with-key.pem"
        kinds = ["CERTIFICATE", "EC PRIVATE" + " KEY"]  # In two: check-walls looks for the words of a real one.
        roots.write_text("".join(f"-----BEGIN {kind}-----\nAAAA\n-----END {kind}-----\n" for kind in kinds))
        error = self.error(*self.code(), "--ca-file", str(roots), exits=64)
        self.assertIn(f"--ca-file: {roots} holds a private key", error["message"])
        self.assert_nothing_was_done()

    def test_a_link_of_another_form_says_what_is_allowed(self):
        for link, said in [
            ("https://issuer.example", "it must begin with oob-enroll:?"),
            ("oob-enroll:?issuer=https%3A%2F%2Fi.example", "put the link in quotes"),
            ("oob-enroll:?issuer=x&code=y&name=z", "and no others"),
            ("oob-enroll:?issuer=x&code=y&code=z", "code is given twice, and only one is allowed"),
            ("oob-enroll:?issuer=%E2%80%AEx&code=y", "issuer must be percent-encoded printable ASCII"),
            ("oob-enroll:?issuer=x&code=%", "code must be percent-encoded printable ASCII"),
            ("oob-enroll:?issuer=x&code=" + "y" * 4_096, "it may have 4,096 bytes at most"),
        ]:
            with self.subTest(link[:60]):
                error = self.error(link, exits=64)
                self.assertEqual(error["code"], 60002)
                self.assertIn("oob-enroll:?issuer=…&code=…", error["message"])
                self.assertIn(said, error["message"])

    def test_what_could_mislead_in_an_issuer_is_refused_and_shown_escaped(self):
        for issuer, shown in [("https://bänk.example", "https://bänk.example"),
                              ("https://b\u202eknab", r"https://b\u{202E}knab"), ("https://a\x1b[2J", r"\u{1B}[2J")]:
            error = self.error("--issuer", issuer, "--code", "x", exits=64)
            self.assertIn("printable ASCII, an international host name in its xn-- form", error["message"])
            self.assertIn(shown, error["message"])
        self.assert_nothing_was_done()


if __name__ == "__main__":
    unittest.main()
