"""The programs: found, started, and stopped again.

OOB_BIN_DIR names the directory that holds oob-agent, oobctl and oob-issuer; without it they are looked for on PATH. What
they log goes to a temporary directory, or to OOB_LOG_DIR, which is kept.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .shown import shown

READY_WITHIN = 60  # seconds, for a machine that is busy; a start takes a fraction of one


def program(name: str) -> str:
    found = shutil.which(name, path=os.environ.get("OOB_BIN_DIR"))
    if found is None:
        raise RuntimeError(f"there is no {name} in $OOB_BIN_DIR, or without that on PATH")
    return found


class Program:
    """A program that runs until the end of a `with`, and says `listening on ADDRESS` when it is ready."""

    def __init__(self, logs: Path, name: str, *words: str):
        self.log = logs / f"{name}.log"
        self.words = [program(name), *words]
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)

    def address(self) -> str:
        """Waits for the line: no polling, and if the program ends instead, so does the wait."""
        watchdog = threading.Timer(READY_WITHIN, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        if not line.startswith("listening on "):
            raise RuntimeError(f"{self.log.stem} did not start:\n{shown(self.log.read_text(errors='replace'))}")
        return line.removeprefix("listening on ").rstrip("\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.process:  # Which waits for its end.
            self.process.terminate()


class Supervised(Program):
    """One that is started again when SIGKILL has ended it, as the persona crashesAfterSigning does."""

    def __enter__(self):
        self.is_ending = False
        self.supervisor = threading.Thread(target=self._supervise, daemon=True)
        self.supervisor.start()
        return self

    def _supervise(self):
        while self.process.wait() == -signal.SIGKILL and not self.is_ending:
            self.process.stdout.close()
            self.start()
            # The end may have come meanwhile, for the one before.
            if self.is_ending:
                self.process.terminate()

    def __exit__(self, *_):
        self.is_ending = True
        self.process.terminate()
        self.supervisor.join()
        self.process.stdout.close()


@contextmanager
def running():
    """Starts a sandbox and an agent, side by side, on free ports and with clocks that tests advance; stops both at the end.

    Gives `(socket, origin)`: where the agent is, and where the sandbox is.
    """
    with ExitStack() as stack:
        # Short, for the path of a socket has 103 bytes at most.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="oob-")))
        logs = Path(os.environ.get("OOB_LOG_DIR") or folder)
        issuer = stack.enter_context(Program(logs, "oob-issuer", "serve", "--listen", "localhost:0", "--test-clock"))
        agent = stack.enter_context(Supervised(
            logs, "oob-agent", "--state-dir", f"{folder}/state", "--socket", f"{folder}/control.sock", "--test-clock"))
        yield agent.address(), issuer.address()
