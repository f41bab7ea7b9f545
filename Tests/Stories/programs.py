"""Starts the programs as they were built, in a temporary directory, and stops them again.

OOB_BIN_DIR names the directory that holds them; without it, it is the checkout's debug build.
"""

import errno
import json
import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

BIN_DIR = Path(os.environ.get("OOB_BIN_DIR") or Path(__file__).resolve().parents[2] / ".build" / "debug")
# Under a sanitizer neither memory nor speed is the agent's own.
IS_SANITIZED = "sanitize" in str(BIN_DIR)
READY_WITHIN = 60
# A process that ends by itself takes far less, also on a busy machine; one that hangs takes longer than this.
ENDED_WITHIN = 60


# Outside those that connections get by themselves, which others make all the time; a server that is down keeps its port.
PORTS = range(20_000, 32_000)


def free_port() -> int:
    """A port of loopback that nobody has."""
    while True:
        port = random.choice(PORTS)
        try:
            for family, address in [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]:
                with socket.socket(family) as probe:
                    probe.bind((address, port))
        except OSError as error:
            # A machine without IPv6 has no such address.
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                continue
        return port


def unpacked(name: str) -> str | None:
    """A program of others as `Scripts/bootstrap --tests` leaves it, or as it is installed."""
    folder = Path(__file__).resolve().parents[2] / ".venv" / "debian" / "usr"
    places = [os.environ.get("PATH", ""), "/usr/sbin", *(str(folder / part) for part in ["bin", "sbin"])]
    return shutil.which(name, path=":".join(places))


class Program:
    """A long-running program; its standard error goes to a file that a failure quotes."""

    def __init__(self, folder: Path, name: str, *arguments: str, through: tuple[str, ...] = (),
                 output: int = subprocess.PIPE, error: int | None = None, program: Path | None = None, **variables: str):
        """`through` is a command that starts it, `program` another file than the one that was built; `variables` are
        added to its environment. `output` and `error` are its standard output and error, where they are not this
        test's to read."""
        self.log = folder / f"{name}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*through, program or BIN_DIR / name, *arguments], stdin=subprocess.DEVNULL, stdout=output,
                stderr=log if error is None else error, text=True, env={**os.environ, **variables})

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(ENDED_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"did not stop within {ENDED_WITHIN} s of SIGTERM:\n{self.tail()}") from None
        finally:
            if self.process.stdout is not None:
                self.process.stdout.close()

    def tail(self) -> str:
        return "".join(self.log.read_text(errors="replace").splitlines(keepends=True)[-30:])

    def logged(self, words: str, times: int = 1) -> str:
        """The last of so many lines of the log that have these words, once it is there."""
        deadline = time.monotonic() + READY_WITHIN
        while len(lines := [line for line in self.log.read_text().splitlines() if words in line]) < times:
            if time.monotonic() > deadline:
                raise AssertionError(f"{words!r} is not logged:\n{self.tail()}")
            time.sleep(0.05)  # Looks again; nothing depends on how long.
        return lines[-1]


class Sandbox(Program):
    """`oob-issuer serve` on a free port; `origin` is what it says that it listens on."""

    def __init__(self, folder: Path, *options: str, **how):
        super().__init__(folder, "oob-issuer", "serve", "--listen", "localhost:0", *options, **how)
        watchdog = threading.Timer(READY_WITHIN, self.process.kill)
        watchdog.start()
        said = self.process.stdout.readline()
        watchdog.cancel()
        match = re.fullmatch(r"listening on (http://localhost:\d+)\n", said)
        if match is None:
            raise AssertionError(f"oob-issuer did not say where it listens, but {said!r}:\n{self.tail()}")
        self.origin = match[1]


class Agent(Program):
    """`oob-agent` on a state directory of its own, and `oobctl` against it. Ready when it is made."""

    def __init__(self, folder: Path, *arguments: str, **how):
        self.socket = folder / "control.sock"
        super().__init__(
            folder, "oob-agent", "--state-dir", str(folder / "state"), "--socket", str(self.socket), *arguments, **how)
        deadline = time.monotonic() + READY_WITHIN
        while not self.has_started():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                self.process.wait()
                if self.process.stdout is not None:
                    self.process.stdout.close()
                raise AssertionError(f"oob-agent did not become ready:\n{self.tail()}")
            time.sleep(0.05)  # Asks again; nothing depends on how long.

    def has_started(self) -> bool:
        status = self.ctl("status", "--json")
        return status.returncode == 0 and json.loads(status.stdout)["state"] != "starting"

    def ctl(self, command: str, *arguments: str) -> subprocess.CompletedProcess:
        """One `oobctl` run, whatever it exits with; a command may be of two words, such as `audit verify`."""
        return subprocess.run(
            [BIN_DIR / "oobctl", *command.split(), "--socket", str(self.socket), *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)

    def json(self, command: str, *arguments: str):
        """What a run that must succeed prints with --json. A decision has to be delivered for that: its default is ten
        seconds, which a busy machine may take."""
        waits = command in ("approve", "deny") and "--delivery-timeout" not in arguments
        run = self.ctl(command, "--json", *(("--delivery-timeout", "60") if waits else ()), *arguments)
        if run.returncode != 0:
            raise AssertionError(f"oobctl {command} {arguments} exits {run.returncode}: {run.stderr}\n{self.tail()}")
        return json.loads(run.stdout)


def journal_stream(file: Path) -> str:
    """What systemd says of a standard error that is the journal's (systemd.exec(5)), here of a file that is made."""
    file.touch()
    status = file.stat()
    return f"{status.st_dev}:{status.st_ino}"


def temporary_folder(test) -> Path:
    """A directory that goes away after the tests of a class; short, for a socket's path has 107 bytes at most."""
    folder = Path(tempfile.mkdtemp(prefix="oob-", dir="/tmp"))
    test.addClassCleanup(shutil.rmtree, folder)
    return folder


def started(test, program: Program) -> Program:
    """Stops a program after the tests of a class."""
    test.addClassCleanup(program.stop)
    return program
