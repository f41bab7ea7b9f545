"""A host of several that share a database: its agent, its links, its clock, and what can be done to them."""

import contextlib
import http.client
import os
import signal
import threading
import time
from pathlib import Path
from typing import NamedTuple

from crash_world import DyingAgent, UnixConnection, exchange
from host_links import Link, Links, Network
from postgres_cluster import PostgresCluster
from programs import READY_WITHIN, free_port
from wall_clock import WallClock

# Exit statuses of a start that may go well later (commands.md).
TRIED_AGAIN = {69, 74, 77}
# That of a start whose secrets are not those of the other hosts, among others.
OTHER_SECRETS = 78
# That of an agent that a change of the secret has shut out while it was silent.
SHUT_OUT = 69
REVIVED_WITHIN = 120


class Secrets(NamedTuple):
    """The files with the secret of a host and, while that is changed, with the one before."""

    present: Path
    previous: Path | None = None


class Host(DyingAgent):
    """`databases` are its links to the servers of the database, and `issuer` is the one to the issuer, or None where a host
    cannot have a network of its own.

    `libraries` are the shims of points and of the clock."""

    def __init__(self, name: str, folder: Path, libraries: tuple[Path, Path], links: Links, cluster: PostgresCluster, port: int):
        super().__init__(folder, libraries[0])
        self.name, self.cluster = name, cluster
        self.databases = [Link(links, folder / f"database-{number}", server.port)
                          for number, server in enumerate(cluster.servers)]
        self.ports = [free_port() for _ in self.databases]
        ways = {port: link.path for port, link in zip(self.ports, self.databases)}
        self.issuer = None
        if Network.can_be_made():
            self.issuer = Link(links, folder / "issuer", port)
            ways[port] = self.issuer.path
        self.network = Network(ways)
        self.through = self.network.through
        self.clock = WallClock(libraries[1], folder / "clock")
        self.secrets: Secrets | None = None
        self.started_with: Secrets | None = None
        self.attending = threading.Lock()
        both = " ".join(str(library) for library in libraries)
        self.variables = {**self.clock.variables, "LD_PRELOAD": both}

    def use(self, database: str, lease: int):
        """The secrets are those that it has when it starts."""
        self.place = ["--database", self.cluster.url(database, self.ports), "--host-name", self.name,
                      "--host-lease", str(lease)]

    def ask(self, method: str, path: str, body=None, patience: float = 20) -> tuple[int, dict] | None:
        """(status, JSON), whatever it says; None where no answer came, so that nothing is known."""
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            return exchange(UnixConnection(self.socket, patience), method, "/v1" + path, body)

    def lines(self, path: str) -> list[str]:
        """An answer that is one line after the other."""
        connection = UnixConnection(self.socket, 60)
        try:
            connection.request("GET", "/v1" + path)
            answer = connection.getresponse()
            content = answer.read().decode()
        finally:
            connection.close()
        if answer.status != 200:
            raise AssertionError(f"{self.name} answers {answer.status} to {path}: {content}")
        return content.splitlines()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def attend(self):
        """Starts it again, as a service manager does, if a change of the secret has shut it out."""
        with self.attending:
            if self.process is not None and self.process.poll() == SHUT_OUT:
                self.process = None
                self.revive()

    def bury(self):
        if self.process is not None and self.process.wait(READY_WITHIN) == SHUT_OUT:
            self.process = None
        super().bury()

    def dies_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)  # Asks again; nothing depends on how long.
        return self.process.poll() is not None

    def revive(self):
        """Starts it, again and again while its database, its clock or a secret that was changed is in the way."""
        deadline = time.monotonic() + REVIVED_WITHIN
        while True:
            secrets = self.secrets
            self.options = [*self.place, "--secret-file", secrets.present]
            if secrets.previous is not None:
                self.options += ["--previous-secret-file", secrets.previous]
            try:
                self.start()
                self.started_with = secrets
                return
            except Exception as error:
                status = self.process.wait(READY_WITHIN)
                self.process = None
                # Others may have begun to change the secret while it started, or have given the change up.
                is_changed = status == OTHER_SECRETS and (secrets != self.secrets or secrets.previous is not None)
                if not (is_changed or status in TRIED_AGAIN) or time.monotonic() > deadline:
                    raise AssertionError(f"{self.name} ends its start with {status} ({error}):\n{self.tail()}") from error

    def close(self):
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.thaw()
                self.process.kill()
            self.process.wait()
            self.process = None
        self.network.close()
        for link in self.databases + ([self.issuer] if self.issuer is not None else []):
            link.close()
