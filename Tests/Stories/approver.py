"""A person at `oobctl prompt`, on a pseudo-terminal; and the issuer and the agent that they have."""

import json
import os
import termios
import time
import unittest
from pathlib import Path

import pexpect

from issuer import Issuer, Request
from programs import BIN_DIR, Agent, temporary_folder
from terminal import Terminal

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8"}
WITHIN = 60


class Approver:
    """`oobctl prompt` on a terminal that shows nothing of what is typed before there is a question.

    So its settings tell when the question stands: what is typed before that moment is thrown away.
    """

    def __init__(self, agent: Agent, *options: str, command: str | None = None, columns: int = 80, **variables: str):
        """`command` is a shell's, with the program as its $0 and the options as its arguments."""
        words = [str(BIN_DIR / "oobctl"), "prompt", "--socket", str(agent.socket), *options]
        shell = ["/bin/sh", "-c", command or 'exec "$@"', *words] if command else words
        self.process = Terminal(
            shell[0], shell[1:], env={**ENVIRONMENT, **variables}, dimensions=(24, columns), echo=False,
            timeout=WITHIN)
        self.before = termios.tcgetattr(self.process.child_fd)
        self.shown = b""

    def until(self, *texts: str):
        """Waits for each, in this order; what was shown up to the last is `shown`."""
        for text in texts:
            self.process.expect_exact(text.encode())
            self.shown += self.process.before + self.process.after

    def modes(self) -> int:
        return termios.tcgetattr(self.process.child_fd)[3]

    def ready(self, mode: int = termios.ECHO):
        """Waits until the question is one that can be answered; for a PIN `mode` is ECHONL."""
        deadline = time.monotonic() + WITHIN
        while not self.modes() & mode:
            assert time.monotonic() < deadline, f"no question within {WITHIN} s after {self.shown!r}"
            time.sleep(0.01)  # Looks again; nothing depends on how long.

    def question(self):
        self.until("> ")
        self.ready()

    def answer(self, text: str):
        self.question()
        self.process.send(text + "\r")

    def pin(self, text: str, enter: str = "\r"):
        self.until("PIN: ")
        self.ready(termios.ECHONL)
        self.process.send(text + enter)

    def end(self) -> int:
        """The exit status; the terminal's settings are what they were before."""
        self.process.expect(pexpect.EOF)
        self.shown += self.process.before
        self.process.close()
        return self.process.exitstatus if self.process.exitstatus is not None else -self.process.signalstatus

    def text(self) -> str:
        return self.shown.decode()


class AtAPrompt(unittest.TestCase):
    """An issuer, an agent with one enrollment, and whoever sits at its prompt."""

    authn_type = "presence"
    pin = "7362-Dæmø"

    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.issuer = self.enterContext(Issuer())
        self.agent = Agent(self.folder)
        self.addCleanup(lambda: self.agent.stop())
        self.requests: dict[str, Request] = {}
        self.enrollment = self.enroll(self.authn_type)

    def enroll(self, authn_type: str) -> str:
        (self.folder / "pin").touch(mode=0o600)
        (self.folder / "pin").write_text(self.pin)
        pin = ("--pin-file", str(self.folder / "pin")) if authn_type == "pin" else ()
        return self.agent.json(
            "enroll", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code(),
            "--authn-type", authn_type, *pin)["id"]

    def approver(self, *options: str, **how) -> Approver:
        approver = Approver(self.agent, *options, **how)
        self.addCleanup(approver.process.close, force=True)
        return approver

    def ask(self, number: int = 0, *, expires_in: int = 600, **members) -> dict:
        """A request, as the agent lists it once it has it."""
        transaction = self.issuer.transaction(**members)
        self.send(transaction, number, expires_in)
        while not (rows := self.rows(transaction["acsTransId"])):
            self.agent.json("fetch")
        return rows[0]

    def send(self, transaction: dict, number: int = 0, expires_in: int = 600):
        authenticator = list(self.issuer.authenticators.values())[number]
        self.requests[transaction["acsTransId"]] = self.issuer.ask(
            authenticator.id, transaction, expires_in=expires_in)

    def again(self, row: dict, later: int = 0, **members):
        """The same transaction once more, or another under its acsTransId."""
        request = self.requests[row["acsTransId"]]
        self.issuer.ask(request.authenticator_id, {**request.transaction, **members}, later=later)
        self.agent.json("fetch")

    def cancel(self, row: dict):
        self.issuer.cancel(self.requests[row["acsTransId"]])
        self.agent.json("fetch")

    def rows(self, acs: str) -> list[dict]:
        return [row for row in self.agent.json("list", "--all") if row["acsTransId"] == acs]

    def state(self, row: dict) -> tuple[str, str | None]:
        (now,) = [each for each in self.rows(row["acsTransId"]) if each["id"] == row["id"]]
        return now["state"], now.get("reason")

    def decisions(self) -> list[dict]:
        entries = [json.loads(line) for line in self.agent.ctl("audit export").stdout.splitlines()]
        return [entry for entry in entries if entry["entry"] == "decided"]

    def xdg_open(self) -> tuple[str, Path]:
        """A PATH with an xdg-open that only says what it was given, and where it says so."""
        folder, said = self.folder / "bin", self.folder / "opened"
        folder.mkdir(exist_ok=True)
        program = folder / "xdg-open"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$@" >{said}.part && mv {said}.part {said}\n')
        program.chmod(0o755)
        return f"{folder}:{os.environ['PATH']}", said

    def contents(self, file: Path) -> str:
        """What a file holds once it is there."""
        deadline = time.monotonic() + WITHIN
        while not file.exists():
            assert time.monotonic() < deadline, f"no {file}"
            time.sleep(0.01)  # Looks again; nothing depends on how long.
        return file.read_text()
