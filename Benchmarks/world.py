"""An agent and a sandbox as real processes, what a payer and a merchant do with them, and what they spend on it."""

import json
import mmap
import os
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests" / "Stories"))
# Those that `make deb` leaves, unless others are named.
os.environ.setdefault("OOB_BIN_DIR", str(ROOT / ".build" / "deb" / "release"))

from http_client import Connection  # noqa: E402
from programs import BIN_DIR, Sandbox  # noqa: E402

WORK = ROOT / ".build" / "bench"
PATIENCE = 600
# An agent without work gives memory back within so many seconds (AgentProcess.memoryPause).
MEMORY_PAUSE = 21
# What is measured writes there: the disk of that counts. Short, for a socket's path has 103 bytes at most.
PLACE = os.environ.get("BENCH_DIR", "/tmp")
QUEUED = "SELECT count(*) FROM request WHERE state IN ('approved', 'denied', 'refused') AND delivery = 'queued'"
TRANSACTION = {
    "merchantName": "CoffeeHouse2", "purchaseAmount": "100", "purchaseCurrency": "840", "purchaseExponent": "2",
    "purchaseDate": "20231017055638", "threeDSRequestorAppURL": "https://merchant.example/return?transID=2f37539c",
}


def end_in_order():
    """What was started is stopped also when this is asked to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def compiled(source: str, name: str, *options: str) -> Path:
    """A C program or shim of this folder, made anew if its source is newer."""
    made, text = WORK / name, Path(__file__).with_name(source)
    if not made.exists() or made.stat().st_mtime < text.stat().st_mtime:
        WORK.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", *options[:2], "-o", made, text, *options[2:]],
                       check=True)
    return made


def issuer_options(folder: Path) -> tuple[str, ...]:
    """Those of a sandbox that comes back: it has to be where it was, and to know what it knew."""
    file = folder / "port"
    if not file.exists():
        with socket.create_server(("127.0.0.1", 0)) as probe:
            file.write_text(str(probe.getsockname()[1]))
    # Of two --listen the later one counts.
    return "--listen", f"localhost:{file.read_text()}", "--database", str(folder / "issuer.db")


def enrolled(control: Connection, merchant: Connection, issuer: str, **members) -> dict:
    """A new enrollment, by both sides' calls."""
    code = merchant.json("POST", "/sandbox/enrollment-codes", {})["code"]
    return control.json(
        "POST", "/v1/enrollments", {"issuer": issuer, "code": code, "authnType": "presence", **members})


def until(what: str, look, patience: float = PATIENCE, pause: float = 0.0005):
    """Looks again and again, and gives what it sees first."""
    deadline = time.monotonic() + patience
    while not (found := look()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {patience} s")
        time.sleep(pause)
    return found


class Counts:
    """What counting.c counts of one process."""

    NAMES = ("allocations", "reads", "writes", "syncs", "pages")

    def __init__(self, folder: Path):
        self.path = folder / "counts"
        self.path.write_bytes(bytes(8 * len(self.NAMES)))
        with open(self.path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 8 * len(self.NAMES))
        self.variables = {"LD_PRELOAD": str(compiled("counting.c", "counting.so", "-shared", "-fPIC", "-ldl")),
                          "OOB_COUNTS": str(self.path)}

    def now(self) -> dict[str, int]:
        return dict(zip(self.NAMES, struct.unpack(f"{len(self.NAMES)}Q", self.memory[:])))


class AgentProcess:
    """`oob-agent` on a state directory, ready when it is made; `start_seconds` is from its exec to READY=1."""

    def __init__(self, folder: Path, *options: str, through: tuple = (), variables: dict[str, str] | None = None):
        self.folder, self.socket, self.log = folder, folder / "control.sock", folder / "oob-agent.log"
        self.options = options
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, open(self.log, "ab") as log:
            manager.bind(str(folder / "notify.sock"))
            began = time.monotonic()
            self.process = subprocess.Popen(
                [*through, BIN_DIR / "oob-agent", "--state-dir", folder / "state", "--socket", self.socket,
                 *options],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                env={**os.environ, **(variables or {}), "NOTIFY_SOCKET": str(folder / "notify.sock")})
            manager.settimeout(PATIENCE)
            while b"READY=1" not in manager.recv(8192):
                pass
            self.start_seconds = time.monotonic() - began
        (folder / "notify.sock").unlink()

    @property
    def pid(self) -> int:
        return self.process.pid

    def cpu(self) -> float:
        """The processor seconds of all its threads so far: its CPU clock, clock_getcpuclockid(3)."""
        return time.clock_gettime(~self.pid << 3 | 2)

    def private_memory(self) -> int:
        """In bytes."""
        return self.status("RssAnon") * 1024

    def kept_memory(self) -> int:
        """The same, once the agent has given back what a busy time has left."""
        time.sleep(MEMORY_PAUSE + 2)
        return self.private_memory()

    def status(self, name: str) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))

    def rest(self, quiet: float = 0.1, share: float = 0.02):
        """Returns once it does next to nothing, so that what comes later is not what came before."""
        before = self.cpu()
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            time.sleep(quiet)
            now = self.cpu()
            if now - before < quiet * share:
                return
            before = now

    def connection(self, patience: float = 120) -> Connection:
        return Connection(self.socket, patience)

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


class World:
    """One sandbox, one agent, and a look at the agent's database. A context manager."""

    def __init__(self, *options: str, enrollments: int = 1, counted: bool = False, folder: Path | None = None):
        """`folder` has been a world's before, and is kept; else the world is new."""
        self.options = options
        self.is_kept = folder is not None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="oob-", dir=PLACE))
        self.counts = Counts(self.folder) if counted else None
        self.sandbox = Sandbox(self.folder, *(issuer_options(self.folder) if self.is_kept else ()))
        self.merchant = Connection(self.sandbox.origin)
        self.start_agent()
        self.cards = [self.enroll() for _ in range(enrollments)]

    def start_agent(self, through: tuple = ()):
        variables = self.counts.variables if self.counts else None
        self.agent = AgentProcess(self.folder, *self.options, through=through, variables=variables)
        self.control = self.agent.connection()
        self.database = sqlite3.connect(f"file:{self.folder / 'state' / 'agent.db'}?mode=ro", uri=True)

    def stop_agent(self):
        self.database.close()
        self.control.close()
        self.agent.stop()

    # What payer and merchant do.

    def enroll(self) -> dict:
        return enrolled(self.control, self.merchant, self.sandbox.origin)

    def buy(self, card: dict, connection: Connection | None = None, **members) -> str:
        """The acsTransId of a purchase whose request is on its way."""
        order = {**TRANSACTION, "authenticatorId": card["authenticatorId"], "expiresIn": 3600, **members}
        return json.loads((connection or self.merchant).call("POST", "/sandbox/purchases", order))["acsTransId"]

    def approve(self, acs_trans_id: str, connection: Connection | None = None):
        """Returns once the approval is durable; it is delivered later."""
        (connection or self.control).call("POST", f"/v1/requests/{acs_trans_id}/approve", {"deliveryTimeout": 0})

    # What its database says, which costs the agent nothing.

    def one(self, sql: str, *values):
        return self.database.execute(sql, values).fetchone()[0]

    def received(self, acs_trans_id: str) -> bool:
        return bool(self.one(
            "SELECT count(*) FROM request WHERE acs_trans_id = ? AND is_presented = 1", acs_trans_id))

    def until_received(self, acs_trans_id: str):
        until("the request", lambda: self.received(acs_trans_id))

    def until_delivered(self):
        until("the last delivery", lambda: not self.one(QUEUED))

    def until_checkpoints(self):
        """The journal has its checkpoints, except the newest: the agent looks again after 256 events."""
        until("the journal's checkpoints", lambda: self.one(
            "SELECT (SELECT max(seq) FROM journal) - (SELECT coalesce(max(seq), 0) FROM journal_checkpoint) < 768"), pause=0.2)

    def pause_issuer(self):
        self.sandbox.process.send_signal(signal.SIGSTOP)

    def resume_issuer(self):
        self.sandbox.process.send_signal(signal.SIGCONT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.resume_issuer()
        self.stop_agent()
        self.merchant.close()
        self.sandbox.stop()
        if not self.is_kept:
            shutil.rmtree(self.folder)
