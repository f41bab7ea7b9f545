"""A PostgreSQL of a test's own: Debian's programs in a directory of the test, on a Unix socket there."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PROGRAMS = Path("/usr/lib/postgresql/15/bin")
BIN_DIR = Path(os.environ.get("OOB_BIN_DIR") or Path(__file__).resolve().parents[2] / ".build" / "debug")
STARTED_WITHIN = 60


def needs_postgres():
    """Skips a class where there is no PostgreSQL 15, or the agent was built without it."""
    if not (PROGRAMS / "postgres").exists():
        raise unittest.SkipTest("there is no PostgreSQL 15 here: Scripts/bootstrap --tests installs it")
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", folder, "--database", "x", "--host-name", "a", "--check-config"],
            capture_output=True, text=True, timeout=60)
    if "built without PostgreSQL" in run.stderr:
        raise unittest.SkipTest("oob-agent was built without the package trait PostgreSQL")


class PostgresServer:
    """Started when it is made; each database has an owner `oob`, who needs no password on the socket."""

    def __init__(self, *options: str, port: int = 5432, primary: "PostgresServer | None" = None):
        """`primary` is the server whose standby it is."""
        self.folder = Path(tempfile.mkdtemp(prefix="oob-pg-", dir="/tmp"))
        self.options, self.port = options, port
        # The server refuses to run as root.
        self.through = []
        if os.geteuid() == 0:
            self.through = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(self.folder, "postgres", "postgres")
        if primary is None:
            self.run(PROGRAMS / "initdb", "-D", self.folder / "data", "-U", "oob", "-A", "trust", "--no-sync", "-E", "UTF8",
                     "--locale=C")
        else:
            self.copy(primary)
        self.start()

    def copy(self, primary: "PostgresServer"):
        """Begins anew as the standby of another, which runs; this one must not."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        self.run(PROGRAMS / "pg_basebackup", "-D", self.folder / "data", "--checkpoint=fast", "--no-sync",
                 "--write-recovery-conf", "-d", f"host={primary.folder} port={primary.port} user=oob")

    def run(self, *command):
        subprocess.run([*self.through, *command], cwd=self.folder, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, timeout=120)

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.through, PROGRAMS / "postgres", "-D", self.folder / "data", "-c", "listen_addresses=",
                 "-c", f"unix_socket_directories={self.folder}", "-c", f"port={self.port}", "-c", "max_connections=100",
                 *self.options],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + STARTED_WITHIN
        while subprocess.run([PROGRAMS / "pg_isready", "-q", "-h", self.folder, "-p", str(self.port), "-U", "oob",
                              "-d", "postgres"]).returncode:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError((self.folder / "log").read_text(errors="replace"))
            time.sleep(0.05)  # Asks again; nothing depends on how long.

    def stop(self, signal: int = 3):
        """SIGQUIT ends all of it at once, as a power cut would but for the disk."""
        self.process.send_signal(signal)
        self.process.wait(60)

    def remove(self):
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder)

    def create(self, name: str) -> str:
        """A new database; the URL by which an agent reaches it."""
        self.sql(f"CREATE DATABASE {name} TEMPLATE template0", "postgres")
        return self.url(name)

    def url(self, name: str) -> str:
        return f"postgres://oob@/{name}?host={self.folder}"

    def sql(self, statement: str, database: str, within: float = 60) -> list[list[str]]:
        """What a statement gives within so many seconds, as text."""
        run = subprocess.run(
            [PROGRAMS / "psql", "-XAtq", "-h", self.folder, "-p", str(self.port), "-U", "oob", "-d", database,
             "-v", "ON_ERROR_STOP=1", "-c", statement], capture_output=True, text=True, timeout=within)
        if run.returncode != 0:
            raise AssertionError(run.stderr)
        return [line.split("|") for line in run.stdout.splitlines()]
