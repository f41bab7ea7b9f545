"""Enrollments that take a PIN: at a real terminal and by files, with what both WebAuthn libraries say of the result.

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
import unicodedata
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

    def file(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def ctl(self, *arguments: str, exits: int = 0) -> subprocess.CompletedProcess:
        run = self.agent.ctl(*arguments)
        self.texts += [run.stdout, run.stderr]
        self.assertEqual(run.returncode, exits, run.stdout + run.stderr)
        return run

    def error(self, *arguments: str, exits: int) -> dict:
        return json.loads(self.ctl(*arguments, "--json", exits=exits).stderr)["error"]

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
        acs = self.ask()
        self.ctl("approve", acs, "--pin-file", "/dev/stdin", exits=64)  # It is empty.

    def test_without_a_pin_it_exits_5_and_counts_nothing(self):
        self.enroll()
        acs = self.ask()
        for _ in range(6):
            error = self.error("approve", acs, exits=5)
            self.assertEqual((error["code"], error["name"]), (70003, "authnAccessDenied"))
        self.assertEqual(self.agent.json("enrollments")[0]["pinTriesLeft"], 5)

    def test_five_wrong_ones_block_also_across_restarts_and_a_deny_goes_on(self):
        self.enroll()
        acs, other = self.ask(), self.ask()
        for left in ["4 tries", "3 tries", "2 tries", "1 try"]:
            run = self.approve(acs, WRONG, exits=5)
            self.assertIn(f"not verified: wrong PIN. {left} left", run.stderr)
        self.assertEqual(self.error("approve", acs, "--pin-file", self.file("tried", WRONG), exits=6)["code"], 70004)
        self.restart()
        run = self.approve(acs, PIN, exits=6)
        (row,) = self.agent.json("enrollments")
        self.assertEqual(row["state"], "blocked")
        self.assertIn(f"the next try is possible at {row['blockedUntil']}", run.stderr)
        self.ctl("deny", other)
        self.assertEqual([row["state"] for row in self.agent.json("list", "--all")], ["pending", "denied"])
        kinds = [json.loads(line)["entry"] for line in self.agent.ctl("audit export").stdout.splitlines()]
        self.assertEqual((kinds.count("notVerified"), kinds.count("blocked")), (5, 1))

    def test_a_pin_is_changed_and_a_wrong_old_one_counts(self):
        enrollment = self.enroll()["id"]
        files = ("--pin-file", self.file("old", PIN), "--new-pin-file", self.file("new", OTHER + "\r\n"))
        self.ctl("pin change", enrollment, *files)
        error = self.error("pin change", enrollment, *files, exits=5)
        self.assertEqual(error["code"], 70003)
        acs = self.ask()
        self.assertIn("3 tries left", self.approve(acs, PIN, exits=5).stderr)
        self.approve(acs, OTHER)
        self.assertEqual(self.agent.json("enrollments")[0]["pinTriesLeft"], 5)

    def test_a_pin_is_the_same_in_both_spellings_of_its_letters(self):
        enrollment = self.enroll()["id"]
        composed, decomposed = (unicodedata.normalize(form, "Grüße7") for form in ("NFC", "NFD"))
        self.ctl("pin change", enrollment, "--pin-file", self.file("old", PIN),
                 "--new-pin-file", self.file("new", decomposed))
        for spelling in (composed, decomposed):
            self.approve(self.ask(), spelling)
        self.assertIn("4 tries left", self.approve(self.ask(), "Grusse7", exits=5).stderr)

    def test_no_pin_is_chosen_or_tried_from_a_file_with_a_byte_order_mark(self):
        enrollment = self.enroll()["id"]
        error = self.error("pin change", enrollment, "--pin-file", self.file("old", PIN), "--new-pin-file",
                           self.file("new", "\ufeff" + OTHER), exits=64)
        self.assertIn("begins with a byte order mark", error["message"])
        acs = self.ask()
        error = self.error("approve", acs, "--pin-file", self.file("tried", "\ufeff" + PIN), exits=64)
        self.assertIn("begins with a byte order mark", error["message"])
        self.assertEqual(self.agent.json("enrollments")[0]["pinTriesLeft"], 5)
        self.approve(acs, PIN)

    def test_files_that_hold_no_pin_are_wrong_usage_and_cost_no_try(self):
        self.enroll()
        acs = self.ask()
        secret = "q" * 61 + "WXYZ"
        for name, content, said in [
            ("empty", "", "is empty"), ("line feed", "\n", "is empty"), ("two lines", "2468\n1357\n", "more than one line"),
            ("blank end", "2468\n\n", "more than one line"), ("short", "123", "too short"), ("long", secret, "too long"),
            ("endless", "q" * 100_000, "too long"), ("latin1", b"72\xe66", "not UTF-8"), ("nul", "24\0068", "control"),
        ]:
            with self.subTest(name):
                error = self.error("approve", acs, "--pin-file", self.file("bad", content), exits=64)
                self.assertEqual(error["code"], 60002)
                self.assertIn(said, error["message"])
                self.assertNotIn("WXYZ", error["message"])
        for path, said in [(self.folder / "missing", "No such file"), (self.folder, "Is a directory")]:
            self.assertIn(said, self.error("approve", acs, "--pin-file", str(path), exits=64)["message"])
        self.assertEqual(self.agent.json("enrollments")[0]["pinTriesLeft"], 5)

    def test_the_longest_line_is_a_pin_and_a_second_line_is_seen_after_it(self):
        self.enroll()
        acs = self.ask()
        for length in [256, 512]:
            for end, said in [("", "too long"), ("\r\n", "too long"), ("\n2", "more than one line"),
                              ("\r\n2", "more than one line"), ("\n2468\n", "more than one line")]:
                with self.subTest(f"{length} bytes and {end!r}"):
                    path = self.file("long", "7" * length + end)
                    error = self.error("approve", acs, "--pin-file", path, exits=64)
                    self.assertIn(said, error["message"])
        # 64 characters of four bytes are a PIN, only a wrong one; with a second line they are none.
        pin = self.file("wide", "\N{GRINNING FACE}" * 64 + "\n")
        self.error("approve", acs, "--pin-file", pin, exits=5)
        pin = self.file("wide", "\N{GRINNING FACE}" * 64 + "\n2468")
        self.assertIn("more than one line", self.error("approve", acs, "--pin-file", pin, exits=64)["message"])

    def test_a_file_that_others_may_use_holds_no_pin(self):
        self.enroll()
        acs = self.ask()
        path = self.file("open", PIN)
        for mode in [0o644, 0o640, 0o604, 0o620, 0o602, 0o610, 0o601]:
            with self.subTest(oct(mode)):
                os.chmod(path, mode)
                error = self.error("approve", acs, "--pin-file", path, exits=64)
                self.assertIn(f"has mode 0{mode:o}", error["message"])
                self.assertIn("chmod 600", error["message"])
        self.assertEqual(self.agent.json("enrollments")[0]["pinTriesLeft"], 5)
        os.chmod(path, 0o400)
        self.ctl("approve", acs, "--pin-file", path)

    def given(self, acs: str, option: str, **how) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oobctl", "approve", acs, "--socket", str(self.agent.socket), "--pin-file", option],
            capture_output=True, text=True, timeout=120, **how)

    def test_standard_input_a_pipe_and_a_credential_of_systemd_pass(self):
        self.enroll()
        path = self.file("open", PIN)
        os.chmod(path, 0o644)
        with open(path, encoding="utf-8") as file:
            run = self.given(self.ask(), "-", stdin=file)
        self.assertEqual(run.returncode, 0, run.stderr)
        reading, writing = os.pipe()
        os.write(writing, PIN.encode())
        os.close(writing)
        run = self.given(self.ask(), f"/dev/fd/{reading}", stdin=subprocess.DEVNULL, pass_fds=[reading])
        os.close(reading)
        self.assertEqual(run.returncode, 0, run.stderr)
        if os.geteuid() != 0:
            self.skipTest("credentials of systemd are root's")
        folder = self.folder / "credentials"
        folder.mkdir()
        shutil.copy(path, folder / "pin")
        for mode, exits in [(0o444, 64), (0o460, 64), (0o440, 0)]:
            (folder / "pin").chmod(mode)
            variables = {**os.environ, "CREDENTIALS_DIRECTORY": str(folder)}
            run = self.given(self.ask(), str(folder / "pin"), env=variables)
            self.assertEqual(run.returncode, exits, run.stderr)
        # A file elsewhere is none, whatever its name.
        os.chmod(path, 0o440)
        self.assertEqual(self.given(self.ask(), path, env=variables).returncode, 64)

    def test_a_pin_is_refused_where_nothing_would_check_it(self):
        code = ("--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code())
        pin = ("--pin-file", self.file("pin", PIN))
        self.assertEqual(self.error("enroll", *code, *pin, "--authn-type", "presence", exits=64)["code"], 60002)
        self.assertEqual(self.error("enroll", *code, "--authn-type", "pin", exits=64)["code"], 60002)
        self.enroll()
        self.assertEqual(self.ctl("deny", self.ask(), *pin, exits=64).stdout, "")

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
