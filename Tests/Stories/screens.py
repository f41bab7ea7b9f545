"""A person's terminal: tmux draws what programs print, and tells what stands on the screen."""

import itertools
import os
import shutil
import subprocess
import termios
import time
from pathlib import Path

HAS_TMUX = shutil.which("tmux") is not None
PROMPT = "SHELL$"
WITHIN = 60


class Screen:
    """A tmux session with a shell in it; `with Screen(folder) as screen`."""

    numbers = itertools.count()

    def __init__(self, folder: Path, columns: int = 80, rows: int = 24, **variables: str):
        self.command = ["tmux", "-f", "/dev/null", "-S", str(folder / f"tmux{next(self.numbers)}")]
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm-256color", "LANG": "C.UTF-8",
                       "PS1": PROMPT + " ", "HISTFILE": "/dev/null", **variables}
        self.environment = [word for pair in environment.items() for word in ("-e", "=".join(pair))]
        self.size = ["-x", str(columns), "-y", str(rows)]

    def __enter__(self):
        # TERM is tmux's own to set; whoever wants another says so to the shell.
        self.tmux("new-session", "-d", *self.size, *self.environment, "bash", "--norc", "--noprofile")
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("set-option", "-g", "window-size", "manual")
        self.until(PROMPT)
        return self

    def __exit__(self, *_):
        subprocess.run([*self.command, "kill-server"], capture_output=True)

    def tmux(self, *arguments: str) -> str:
        return subprocess.run(
            [*self.command, *arguments], check=True, capture_output=True, text=True, env={**os.environ, "LANG": "C.UTF-8"},
            timeout=60).stdout

    def type(self, text: str):
        self.tmux("send-keys", "-l", text)

    def press(self, *keys: str):
        self.tmux("send-keys", *keys)

    def run(self, line: str):
        self.type(line)
        self.press("Enter")

    def resize(self, columns: int, rows: int = 24):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def text(self, colours: bool = False, history: bool = True) -> str:
        options = (["-e"] if colours else []) + (["-S", "-"] if history else [])
        return self.tmux("capture-pane", "-p", *options).rstrip("\n")

    def until(self, text: str, count: int = 1) -> str:
        """What stands on the screen once this text does, so many times."""
        return self.wait(lambda shown: shown.count(text) >= count, f"{count} × {text!r}")

    def program(self) -> int:
        """The process that the shell runs."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        return int(subprocess.check_output(["pgrep", "-P", shell]))

    def ready(self, mode: int = termios.ECHO):
        """Waits until the terminal is in a mode, as questions set it (see approver.py): run after `stty -echo`."""
        number = os.open(self.tmux("display-message", "-p", "#{pane_tty}").strip(), os.O_RDWR | os.O_NOCTTY)
        try:
            deadline = time.monotonic() + WITHIN
            while not termios.tcgetattr(number)[3] & mode:
                assert time.monotonic() < deadline, f"no question:\n{self.text()}"
                time.sleep(0.01)  # Looks again; nothing depends on how long.
        finally:
            os.close(number)

    def until_gone(self, text: str) -> str:
        return self.wait(lambda shown: text not in shown, f"a screen without {text!r}")

    def wait(self, holds, what: str) -> str:
        deadline = time.monotonic() + WITHIN
        while not holds(shown := self.text()):
            if time.monotonic() > deadline:
                raise AssertionError(f"no {what} within {WITHIN} s:\n{shown}")
            time.sleep(0.05)  # Looks again; nothing depends on how long.
        return shown
