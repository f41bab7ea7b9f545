"""A sandbox that never dies and an agent that does: starting it under the shim, asking it, and knowing that it died."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from powercut import PowerCut
from programs import BIN_DIR, READY_WITHIN, Sandbox


class Gone(Exception):
    """The agent does not answer any more."""


class Refused(Exception):
    """The agent said no: nothing was done."""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


def exchange(connection: http.client.HTTPConnection, method: str, path: str, body=None) -> tuple[int, object]:
    """(status, JSON) of one call on a connection of its own."""
    try:
        bytes = None if body is None else json.dumps(body).encode()
        connection.request(method, path, bytes, {"Content-Type": "application/json"} if bytes else {})
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content else None
    finally:
        connection.close()


class Issuer:
    """The sandbox's own calls."""

    def __init__(self, folder: Path, *options: str):
        self.program = Sandbox(folder, *options)
        self.origin = self.program.origin
        self.place = self.origin.removeprefix("http://")

    def call(self, method: str, path: str, body=None):
        status, answer = exchange(http.client.HTTPConnection(self.place, timeout=60), method, "/sandbox" + path, body)
        if status >= 300:
            raise AssertionError(f"the sandbox answers {status} to {method} {path}: {answer}")
        return answer


class DyingAgent:
    """`oob-agent` on one state directory, one life after the other."""

    def __init__(self, folder: Path, library: Path, bin_dir: Path = BIN_DIR):
        folder.mkdir(exist_ok=True)
        self.bin_dir, self.state, self.log = bin_dir, folder / "state", folder / "agent.log"
        self.previous_secret: Path | None = None
        self.socket = folder / "control.sock"
        self.shim = PowerCut(library, folder, self.state)
        self.process: subprocess.Popen | None = None
        self.lives = self.crashes = self.life_begins = 0
        # A command that starts it, options, and what is changed in its environment.
        self.through: list[str] = []
        self.options: list[str] = []
        self.variables: dict[str, str] = {}

    def start(self):
        """A new life, ready for calls; Gone where it died before."""
        self.shim.begin_life()
        self.lives += 1
        self.life_begins = self.log.stat().st_size if self.log.exists() else 0
        options = ["--previous-secret-file", self.previous_secret] if self.previous_secret else []
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.through, self.bin_dir / "oob-agent", "--state-dir", self.state, "--socket", self.socket,
                 *self.options, *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **self.shim.variables, **self.variables})
        deadline = time.monotonic() + READY_WITHIN
        while True:
            try:
                return self.call("GET", "/status", patience=READY_WITHIN)
            except Gone:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)  # Asks again; nothing depends on how long.

    def change_secret(self):
        """Another secret in the state directory; from now on it is started with the one before, too."""
        self.previous_secret = self.state.parent / "previous-secret"
        secret = self.state / "secret"
        secret.replace(self.previous_secret)
        secret.touch(0o600)
        secret.write_bytes(os.urandom(32))

    def finish_change(self):
        """Waits until the secret before is of no use; Gone where it dies before that."""
        deadline = time.monotonic() + READY_WITHIN
        while b"remove the previous one" not in (said := self.said()) and b"remove it" not in said:
            if self.process.poll() is not None:
                raise Gone("it died while it changed the secret")
            if time.monotonic() > deadline:
                raise AssertionError(f"the secret is not changed:\n{self.tail()}")
            time.sleep(0.01)  # Looks again; nothing depends on how long.

    def said(self) -> bytes:
        """The log of this life."""
        with open(self.log, "rb") as log:
            log.seek(self.life_begins)
            return log.read()

    def kill(self):
        """Whatever it does; then the death is noticed like any other."""
        if self.process is not None:
            self.process.kill()
        self.bury()

    def stop(self):
        """An orderly stop, unless it dies of something else."""
        self.process.terminate()
        self.bury()

    def bury(self):
        """Waits for its end, where it was alive at all, and counts it where it was no orderly one."""
        if self.process is None:
            return
        status = self.process.wait(READY_WITHIN)
        self.process = None
        if status == -signal.SIGKILL:
            self.crashes += 1
        elif status != 0:
            raise AssertionError(f"the agent ended with {status}:\n{self.tail()}")

    def call(self, method: str, path: str, body=None, patience: float = 30):
        """The JSON that the control API answers; Gone where no answer comes, Refused where it is a no."""
        try:
            status, answer = exchange(UnixConnection(self.socket, patience), method, "/v1" + path, body)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if isinstance(error, TimeoutError):
                raise AssertionError(f"the agent does not answer {method} {path}:\n{self.tail()}") from None
            raise Gone from None
        if status >= 500 and status != 502:  # 502: its issuer does not do its part.
            raise AssertionError(f"the agent answers {status} to {method} {path}: {answer}\n{self.tail()}")
        if status >= 400:
            raise Refused(answer)
        return answer

    def oobctl(self, *arguments: str) -> subprocess.CompletedProcess:
        command, *rest = arguments
        return subprocess.run(
            [self.bin_dir / "oobctl", command, "--socket", self.socket, *rest], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120)

    def tail(self) -> str:
        return "".join(self.log.read_text(errors="replace").splitlines(keepends=True)[-30:])
