"""Enrollments that take a PIN: at a real terminal, what both WebAuthn libraries say of the result, and kills at any point.

Run with `.venv/bin/python Tests/Stories/test_pin.py`; OOB_BIN_DIR names the programs' directory.
"""

import codecs
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import termios
import time
import unittest

from failing import Failing
from issuer import Issuer
from programs import BIN_DIR, Agent, temporary_folder

PIN, OTHER, WRONG = "7362-Dæmø", "8473 øæ", "0918273645"


class Terminal:
    """A person at a pseudo-terminal, in whose session `oobctl` runs."""

    def __init__(self, *arguments: str):
        self.shown, self.status = "", None
        # A read may end within a character.
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.pid, self.number = pty.fork()
        if self.pid == 0:
            os.execv(BIN_DIR / "oobctl", ["oobctl", *arguments])

    def until(self, text: str):
        while text not in self.shown:
            if not select.select([self.number], [], [], 60)[0]:
                raise AssertionError(f"no {text!r} within 60 s after {self.shown!r}")
            if not (piece := self.read()):
                raise AssertionError(f"it ended without {text!r}, after {self.shown!r}")
            self.shown += piece

    def type(self, prompt: str, answer: str):
        """Waits for a question, sees that nothing that is typed will be shown, and answers."""
        self.until(prompt)
        self.wait_for_echo(False)
        os.write(self.number, answer.encode())
        self.shown = self.shown.split(prompt, 1)[1]

    def wait_for_echo(self, expected: bool):
        deadline = time.monotonic() + 60
        while bool(termios.tcgetattr(self.number)[3] & termios.ECHO) != expected:
            assert time.monotonic() < deadline, f"echo is not {expected} after {self.shown!r}"
            time.sleep(0.01)  # Looks again; nothing depends on how long.

    def read(self) -> str:
        """What came, of which there may be no whole character yet; empty at the end."""
        text = ""
        while not text:
            try:
                bytes = os.read(self.number, 4_096)
            except OSError:  # Nobody has it open any more.
                bytes = b""
            if not bytes:
                break
            text = self.decoder.decode(bytes)
        return text

    def end(self) -> int:
        """The exit status; what was shown meanwhile is in `shown`."""
        while piece := self.read():
            self.shown += piece
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class WithPIN(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.issuer = self.enterContext(Issuer(user_verification="required"))
        self.agent = self.started()
        self.addCleanup(lambda: self.agent.stop())
        self.texts = []

    def started(self) -> Agent:
        return Agent(self.folder)

    def tearDown(self):
        """No PIN is in the log, in the state, or in anything that was printed."""
        left = [self.agent.log, *(file for file in (self.folder / "state").rglob("*") if file.is_file())]
        for name, bytes in [(file.name, file.read_bytes()) for file in left] + [
                ("what was printed", text.encode()) for text in self.texts]:
            for pin in (PIN, OTHER, WRONG):
                self.assertNotIn(pin.encode(), bytes, name)

    def file(self, name: str, content: str) -> str:
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(content, encoding="utf-8")
        return str(path)

    def ctl(self, *arguments: str, exits: int = 0) -> subprocess.CompletedProcess:
        run = self.agent.ctl(*arguments)
        self.texts += [run.stdout, run.stderr]
        self.assertEqual(run.returncode, exits, run.stdout + run.stderr)
        return run

    def enroll(self) -> dict:
        code = ("--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code())
        run = self.ctl("enroll", *code, "--pin-file", self.file("pin", PIN + "\n"), "--json")
        return json.loads(run.stdout)

    def ask(self) -> str:
        (enrolled,) = self.issuer.authenticators.values()
        request = self.issuer.ask(enrolled.id, self.issuer.transaction(), user_verification="required")
        acs = request.transaction["acsTransId"]
        while not [row for row in self.agent.json("list") if row["acsTransId"] == acs]:
            self.agent.json("fetch")
        return acs

    def approve(self, acs: str, pin: str, exits: int = 0) -> subprocess.CompletedProcess:
        return self.ctl("approve", acs, "--pin-file", self.file("tried", pin), exits=exits)

    def terminal(self, *arguments: str) -> Terminal:
        return Terminal(*arguments, "--socket", str(self.agent.socket))


class ByFiles(WithPIN):
    def test_both_libraries_find_the_user_verified_in_registration_and_assertion(self):
        enrollment = self.enroll()
        self.assertEqual((enrollment["authnType"], enrollment["pinTriesLeft"]), ("pin", 5))
        (enrolled,) = self.issuer.authenticators.values()
        self.assertTrue(enrolled.credential.user_verified)
        self.assertEqual(enrolled.description["authnType"], "pin")
        # The issuer has both libraries require user verification before it says Y.
        acs = self.ask()
        run = self.approve(acs, PIN)
        self.assertIn("transStatus Y", run.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "credentials of systemd are root's")
    def test_a_credential_of_systemd_may_be_readable_by_its_group(self):
        self.enroll()
        folder = self.folder / "credentials"
        folder.mkdir()
        pin, elsewhere = folder / "pin", self.file("elsewhere", PIN)
        shutil.copy(elsewhere, pin)
        variables = {**os.environ, "CREDENTIALS_DIRECTORY": str(folder)}
        # A file elsewhere is no credential, whatever its name.
        for path, mode, exits in [(pin, 0o444, 64), (pin, 0o460, 64), (pin, 0o440, 0), (elsewhere, 0o440, 64)]:
            os.chmod(path, mode)
            run = subprocess.run(
                [BIN_DIR / "oobctl", "approve", self.ask(), "--socket", self.agent.socket, "--pin-file", path],
                capture_output=True, text=True, timeout=120, env=variables)
            self.assertEqual(run.returncode, exits, run.stderr)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("strace"), "needs root and strace")
    def test_whoever_kills_the_agent_before_the_key_is_opened_gains_no_try(self):
        self.enroll()
        acs = self.ask()
        left = [5]
        # The count is written before the key is opened. The agent may write something else before: then it dies without a
        # try, and it begins again.
        for _ in range(12):
            with Failing(self.agent.process.pid, self.log, "fdatasync:signal=KILL:when=1"):
                run = self.agent.ctl("approve", acs, "--pin-file", self.file("tried", WRONG))
                self.assertNotIn(run.returncode, (0, 5), run.stderr)
                self.restart()
            left.append(self.agent.json("enrollments")[0]["pinTriesLeft"])
            if left[-1] == 1:
                break
        self.assertEqual(sorted(set(left)), [1, 2, 3, 4, 5])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("strace"), "needs root and strace")
    def test_a_change_that_is_cut_off_leaves_exactly_one_pin_that_works(self):
        enrollment = self.enroll()["id"]
        old, new = PIN, OTHER
        # The try is counted in one database transaction, and the key sealed anew is written in the next one.
        for call in ["pwrite64:signal=KILL:when=1", "fdatasync:signal=KILL:when=1", "fdatasync:signal=KILL:when=2"]:
            # strace counts for each thread, and two commits may be on two: then nothing is cut off, and it begins again.
            for _ in range(30):
                files = ("--pin-file", self.file("old", old), "--new-pin-file", self.file("new", new))
                with Failing(self.agent.process.pid, self.log, call):
                    code = self.agent.ctl("pin change", enrollment, *files).returncode
                    if code != 0:
                        self.restart()
                acs = self.ask()
                worked = [pin for pin in (old, new) if self.agent.ctl(
                    "approve", acs, "--pin-file", self.file("tried", pin)).returncode == 0]
                self.assertEqual(len(worked), 1, call)
                old, new = worked[0], ({PIN, OTHER} - set(worked)).pop()
                if code != 0:
                    break
            self.assertEqual(code, 1, f"{call} has cut nothing off")

    @property
    def log(self):
        """The write-ahead log of the database."""
        return self.folder / "state" / "agent.db-wal"

    def restart(self):
        """As after a power cut."""
        self.agent.process.kill()
        self.agent.process.wait()
        self.agent.process.stdout.close()
        self.agent = self.started()


class AtATerminal(WithPIN):
    def test_enroll_asks_twice_approve_once_and_nothing_of_it_is_shown(self):
        person = self.terminal(
            "enroll", "--yes", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code())
        person.type("PIN for every approval, 4 to 64 characters:", PIN + "\r")
        person.type("The same again:", PIN + "\r")
        self.assertEqual(person.end(), 0, person.shown)
        self.assertEqual(self.agent.json("enrollments")[0]["authnType"], "pin")
        acs = self.ask()
        person = self.terminal("approve", acs)
        # A slip, taken back by the terminal's own keys.
        person.type("PIN to approve USD 1.00 to CoffeeHouse2 (Dæmø):", "oops\x15" + PIN + "ø\x7f\r")
        self.assertEqual(person.end(), 0, person.shown)
        self.texts.append(person.shown)
        self.assertIn("transStatus Y", person.shown)

    def test_nothing_is_shown_of_an_answer_from_the_first_byte_of_the_question_on(self):
        self.enroll()
        acs = self.ask()
        for _ in range(5):
            person = self.terminal("approve", acs)
            person.until("P")
            self.assertFalse(termios.tcgetattr(person.number)[3] & termios.ECHO)
            os.write(person.number, b"\x03")
            self.assertEqual(person.end(), 1, person.shown)

    def test_two_that_differ_enroll_nothing(self):
        person = self.terminal(
            "enroll", "--yes", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code())
        person.type("PIN for every approval", PIN + "\r")
        person.type("The same again:", OTHER + "\r")
        person.type("The two PINs are not the same. PIN for every approval", "\x03")
        self.assertEqual(person.end(), 1)
        self.assertEqual(self.agent.json("enrollments"), [])

    def test_one_that_is_too_short_is_said_at_once_and_both_are_asked_again(self):
        person = self.terminal(
            "enroll", "--yes", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code())
        person.type("PIN for every approval", "123\r")
        person.type("That is too short: a PIN has 4 to 64 characters. PIN for every approval", PIN + "\r")
        person.type("The same again:", OTHER + "\r")
        person.type("The two PINs are not the same. PIN for every approval", PIN + "\r")
        person.type("The same again:", PIN + "\r")
        self.assertEqual(person.end(), 0, person.shown)
        self.assertEqual(len(self.agent.json("enrollments")), 1)

    def test_who_gives_up_decides_nothing_and_the_terminal_is_as_it_was(self):
        self.enroll()
        acs = self.ask()
        for key in ["\x03", "12\x03", "\x04"]:
            person = self.terminal("approve", acs)
            person.type("PIN to approve", key)
            person.wait_for_echo(True)
            self.assertEqual(person.end(), 1, person.shown)
        person = self.terminal("approve", acs)
        person.until("PIN to approve")
        person.wait_for_echo(False)
        os.kill(person.pid, signal.SIGTERM)
        person.wait_for_echo(True)
        self.assertEqual(person.end(), -signal.SIGTERM)
        (row,) = self.agent.json("list")
        self.assertEqual((row["state"], self.agent.json("enrollments")[0]["pinTriesLeft"]), ("pending", 5))

    def test_pin_change_asks_for_the_old_one_and_twice_for_the_new_one(self):
        enrollment = self.enroll()["id"]
        person = self.terminal("pin", "change", enrollment)
        person.type(f"PIN that enrollment {enrollment} has:", PIN + "\r")
        person.type("New PIN:", OTHER + "\r")
        person.type("The same again:", OTHER + "\r")
        self.assertEqual(person.end(), 0, person.shown)
        self.approve(self.ask(), OTHER)


if __name__ == "__main__":
    unittest.main()
