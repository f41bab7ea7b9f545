#!/usr/bin/env python3
"""What goes through all enrollments, at a million of them: audit, fetch of all, erasure, change of the secret, restore, moves.

usage: OOB_BIN_DIR=.build/deb/release Benchmarks/million.py sqlite|postgres [ROWS [ACTIVE]]

ROWS (1,000,000 unless given) enrollments are made as the agent seals them, of which ACTIVE (100,000 unless given: what a store
in SQLite holds) have not ended. They are at an issuer that answers batch fetches with nothing. It prints for each the seconds,
by how much the agent's private memory grew at most, and the longest approval of another enrollment meanwhile.
"""

import json
import secrets
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

sys.dont_write_bytecode = True

from world import PLACE, QUEUED, TRANSACTION, AgentProcess, enrolled, until  # noqa: E402
from empty_issuer import EmptyIssuer  # noqa: E402
from data_keys import DataKey, of_file  # noqa: E402
from postgres_fleet import Fleet, cardholder, filling  # noqa: E402
from postgres_server import PostgresServer  # noqa: E402
from programs import BIN_DIR, Sandbox  # noqa: E402
from row_sums import row_key, vouch  # noqa: E402
from sealed import opened_by  # noqa: E402

PAGE = 5_000
# Seconds between two looks at the memory, and between two approvals.
LOOK, PAUSE = 0.05, 0.25
MOST_APPROVALS = 400


class FileFleet(Fleet):
    """The same rows in a SQLite file, of which one agent has one enrollment; no agent runs."""

    def __init__(self, file: Path, secret: bytes, issuer: str):
        self.secret, self.issuer = secret, issuer
        self.database = sqlite3.connect(file)
        self.database.row_factory = sqlite3.Row
        self.first = dict(self.database.execute("SELECT * FROM enrollment ORDER BY seq").fetchone())
        self.first.pop("seq")
        self.columns = list(self.first)
        self.data_key = of_file(self.database, secret, self.first["id"]).key
        self.first = DataKey(self.data_key).opened_row(self.first)
        self.token = opened_by(secret, self.first["sealed_token"], f"access token {self.first['id']}")
        self.key = opened_by(secret, self.first["sealed_key"], f"credential key {self.first['id']}")
        if self.seal(self.first) != self.first["seal"]:
            raise AssertionError("the seal of an enrollment is not what this script takes it for")

    def sealed_row_key(self) -> bytes:
        return row_key(self.database)

    def fill(self, active: int, ended: int):
        self.database.execute("PRAGMA synchronous = OFF")
        names, places = ", ".join(self.columns), ", ".join("?" * len(self.columns))
        self.database.executemany(f"INSERT INTO enrollment ({names}) VALUES ({places})", self.written(active, ended))
        self.database.executemany("INSERT INTO data_key (enrollment_id, sealed) VALUES (?, ?)", (
            (name, self.sealed(self.data_key, f"data key {name}")) for name in map(cardholder, range(active + ended))))
        vouch(self.database, self.secret)
        self.database.commit()
        self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.database.close()


class Watch:
    """What a process takes while something runs. A context manager."""

    def __init__(self, pid: int, approve=None):
        self.pid, self.approve = pid, approve
        self.end = threading.Event()
        self.peak, self.longest, self.approvals, self.failures = 0, 0.0, 0, []

    def memory(self) -> int:
        try:
            lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            return 0
        return 1024 * next((int(line.split()[1]) for line in lines if line.startswith("RssAnon:")), 0)

    def __enter__(self):
        self.before, self.began = self.memory(), time.monotonic()
        self.threads = [threading.Thread(target=self.look)] + ([threading.Thread(target=self.go_on)] if self.approve else [])
        for thread in self.threads:
            thread.start()
        return self

    def look(self):
        while not self.end.wait(LOOK):
            self.peak = max(self.peak, self.memory())

    def go_on(self):
        while not self.end.wait(PAUSE):
            began = time.monotonic()
            try:
                if not self.approve():
                    return
            except Exception as failure:
                self.failures.append(repr(failure))
            self.longest = max(self.longest, time.monotonic() - began)
            self.approvals += 1

    def __exit__(self, *_):
        self.end.set()
        self.seconds = time.monotonic() - self.began
        for thread in self.threads:
            thread.join()

    @property
    def figures(self) -> dict:
        told = {"seconds": round(self.seconds, 1), "memory before, MB": round(self.before / 1e6),
                "memory grew by, MB": round(max(self.peak - self.before, 0) / 1e6)}
        if self.approve:
            told |= {"approvals meanwhile": self.approvals, "the longest, s": round(self.longest, 3), "failed": self.failures}
        return told


class Million:
    def __init__(self, stack: ExitStack, kind: str, rows: int, active: int):
        self.stack, self.kind, self.rows, self.active = stack, kind, rows, active
        self.folder = Path(tempfile.mkdtemp(prefix="oob-", dir=PLACE))
        stack.callback(shutil.rmtree, self.folder)
        self.issuer = stack.enter_context(EmptyIssuer())
        self.sandbox = Sandbox(self.folder)
        stack.callback(self.sandbox.stop)
        self.secret = self.new_secret("secret")
        # The requests that wait to be approved, of an enrollment that may have a bounded number of them.
        self.requests: list[str] = []
        self.server = PostgresServer("-c", "shared_buffers=512MB", "-c", "max_wal_size=4GB")
        stack.callback(self.server.remove)
        self.name = "million"
        self.url = self.server.create(self.name)

    def new_secret(self, name: str) -> Path:
        file = self.folder / name
        file.touch(0o600)
        file.write_bytes(secrets.token_bytes(32))
        return file

    @property
    def of_file(self) -> list[str]:
        return ["--secret-file", str(self.secret)]

    @property
    def of_database(self) -> list[str]:
        return [*self.of_file, "--database", self.url, "--host-name", "alpha"]

    def start(self, kind: str, *options: str) -> AgentProcess:
        agent = AgentProcess(self.folder, *(self.of_file if kind == "sqlite" else self.of_database), *options)
        self.stack.callback(agent.stop)
        return agent

    def fill(self):
        agent = self.start(self.kind)
        with agent.connection() as control:
            self.card, self.leaving = (
                enrolled(control, self.sandbox_connection(), self.sandbox.origin, name=name) for name in ["card", "leaving"])
        agent.stop()
        secret = self.secret.read_bytes()
        # The agent has made two itself.
        active, ended = self.active - 2, self.rows - self.active
        if self.kind == "sqlite":
            FileFleet(self.folder / "state" / "agent.db", secret, self.issuer.origin).fill(active, ended)
        else:
            with filling(self.server):
                Fleet(self.server, self.name, secret, self.issuer.origin).enroll(active, ended)

    def sandbox_connection(self):
        from http_client import Connection
        return self.stack.enter_context(Connection(self.sandbox.origin))

    def buy(self, agent: AgentProcess) -> list[str]:
        merchant = self.sandbox_connection()
        with agent.connection() as control:
            before = control.json("GET", "/v1/status")["pending"]
        bought = [merchant.json("POST", "/sandbox/purchases", {
            **TRANSACTION, "authenticatorId": self.card["authenticatorId"], "expiresIn": 86_400})["acsTransId"]
            for _ in range(MOST_APPROVALS - len(self.requests))]
        with agent.connection() as control:
            until("the requests", lambda: control.json("GET", "/v1/status")["pending"] >= before + len(bought), pause=0.5)
        self.requests += bought
        return self.requests

    def approving(self, agent: AgentProcess, requests: list[str]):
        """Gives a function that approves the next of another enrollment's requests, and says whether there was one."""
        def approve() -> bool:
            if not requests:
                return False
            with agent.connection() as control:
                control.call("POST", f"/v1/requests/{requests.pop()}/approve", {"deliveryTimeout": 0})
            return True
        return approve

    def measured(self, agent: AgentProcess, requests: list[str], method: str, path: str, body=None) -> dict:
        """One call of the control socket, while another enrollment's requests are approved."""
        agent.rest()
        with agent.connection(7_200) as control, Watch(agent.pid, self.approving(agent, requests)) as watch:
            answer = control.json(method, path, body)
        return {**watch.figures, "answer": str(answer)[:300]}

    def ready(self, kind: str) -> tuple[AgentProcess, list[str]]:
        """An agent that rests, and the requests that can be approved meanwhile."""
        agent = self.start(kind)
        requests = self.buy(agent)
        agent.rest(quiet=5, share=0.1)
        return agent, requests

    def work(self, kind: str) -> dict:
        agent, requests = self.ready(kind)
        found = {"start": {"seconds": round(agent.start_seconds, 1)},
                 "audit": self.measured(agent, requests, "GET", "/v1/audit/verify"),
                 "fetch": self.measured(agent, requests, "POST", "/v1/fetch", {})}
        agent.stop()
        return found

    def erase(self, kind: str) -> dict:
        agent, requests = self.ready(kind)
        figures = self.measured(agent, requests, "DELETE", f"/v1/enrollments/{self.leaving['id']}", {"erase": True})
        agent.stop()
        return figures

    def change_secret(self, kind: str) -> dict:
        """The start with both secrets, what follows while the agent runs, and the start with the new one alone."""
        previous, self.secret = self.secret, self.new_secret(secrets.token_hex(8))
        told = (self.folder / "oob-agent.log").stat().st_size
        agent = self.start(kind, "--previous-secret-file", str(previous))

        def is_over() -> bool:
            with open(self.folder / "oob-agent.log", "rb") as log:
                log.seek(told)
                return b"the secret was changed" in log.read()

        requests = self.buy(agent)
        with Watch(agent.pid, self.approving(agent, requests)) as watch:
            until("the change of the secret", is_over, patience=7_200, pause=0.1)
        agent.stop()
        again = self.start(kind)
        again.stop()
        return {"start with both": round(agent.start_seconds, 1), "start with the new one": round(again.start_seconds, 1),
                **watch.figures}

    def restore(self, kind: str) -> dict:
        return self.restore_backup() if kind == "sqlite" else self.restore_snapshot()

    def restore_backup(self) -> dict:
        """A backup while requests are approved, and a state that is made from it."""
        agent, requests = self.ready("sqlite")
        backup = self.folder / "backup.db"
        with Watch(agent.pid, self.approving(agent, requests)) as watch:
            subprocess.run([BIN_DIR / "oobctl", "backup", "--socket", agent.socket, backup], check=True, timeout=7_200,
                           stdout=subprocess.DEVNULL)
        agent.stop()
        state = self.folder / "state"
        state.rename(self.folder / "broken")
        figures = self.ran("restore.log", *self.of_file, "--restore", str(backup))
        size = backup.stat().st_size
        backup.unlink()
        shutil.rmtree(self.folder / "broken")
        return {"backup": {**watch.figures, "bytes, MB": round(size / 1e6)}, "restore": figures,
                "start": self.start_restored("sqlite")}

    def restore_snapshot(self) -> dict:
        """The database as it was before the last decisions, under the host that made them."""
        self.server.sql(f"CREATE DATABASE snapshot TEMPLATE {self.name}", "postgres", 7_200)
        agent = self.start("postgres")
        requests = self.buy(agent)
        for _ in range(5):
            self.approving(agent, requests)()
        agent.stop()
        self.server.sql(f"DROP DATABASE {self.name}", "postgres", 7_200)
        self.server.sql(f"ALTER DATABASE snapshot RENAME TO {self.name}", "postgres", 7_200)
        return {"start": self.start_restored("postgres")}

    def start_restored(self, kind: str) -> dict:
        """A start that finds an older state."""
        agent = self.start(kind)
        with agent.connection() as control:
            reasons = control.json("GET", "/v1/status").get("reasons", [])
        agent.stop()
        return {"seconds": round(agent.start_seconds, 1), "reasons": reasons}

    def move(self, to: str) -> dict:
        return self.ran("move.log", *(
            [*self.of_file, "--host-name", "alpha", "--migrate-to", self.url] if to == "postgres" else
            [*self.of_database, "--migrate-to", "sqlite"]))

    def ran(self, log_name: str, *options: str) -> dict:
        """What one command of the agent took; it has to go well."""
        with open(self.folder / log_name, "ab") as log:
            run = subprocess.Popen([BIN_DIR / "oob-agent", "--state-dir", self.folder / "state", *options],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
            with Watch(run.pid) as watch:
                status = run.wait()
        if status != 0:
            raise AssertionError((self.folder / log_name).read_text()[-2_000:])
        return watch.figures


def main():
    kind = sys.argv[1]
    rows, active = (int(text) for text in (sys.argv[2:] + ["1000000", "100000"][len(sys.argv) - 2:]))

    def tell(what: str, figures: dict):
        print(json.dumps({what: figures}), flush=True)

    with ExitStack() as stack:
        million = Million(stack, kind, rows, active)
        began = time.monotonic()
        million.fill()
        tell("filled", {"seconds": round(time.monotonic() - began, 1)})
        tell(kind, million.work(kind))
        for what in [million.erase, million.change_secret, million.restore]:
            tell(what.__name__, what(kind))
        if kind == "sqlite":
            tell("move to PostgreSQL", million.move("postgres"))
            tell("move to SQLite", million.move("sqlite"))
            tell("sqlite, whose journal tells of all rows", million.work("sqlite"))


if __name__ == "__main__":
    main()
