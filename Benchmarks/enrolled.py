"""A state with thousands of enrollments, each of which was really made, and its issuer.

One agent that enrolls 10,000 would take long, so many do, a hundred each. They have the same secret, so their rows are
good together: they are put into one state. What was made stays in .build/bench for the next run with the
same tables.
"""

import hashlib
import shutil
import sqlite3
from contextlib import ExitStack
from pathlib import Path

from http_client import Connection
from load import in_parallel
from programs import Sandbox
from row_sums import vouch
from world import WORK, AgentProcess, enrolled, issuer_options

CHUNK = 100
AT_ONCE = 4
SCHEMA = Path(__file__).parents[1] / "Sources" / "Storage" / "StoreTables" / "Schema"


def parts(count: int) -> Path:
    """A folder with an issuer, and with agents' states that have so many enrollments together."""
    form = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(SCHEMA.iterdir())))
    folder = WORK / f"enrolled-{form.hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    missing = [number for number in range(-(-count // CHUNK)) if not (folder / f"{number}" / "done").exists()]
    if missing:
        with ExitStack() as stack:
            sandbox = Sandbox(folder, *issuer_options(folder))
            stack.callback(sandbox.stop)
            in_parallel([lambda some=missing[place::AT_ONCE]: [make_part(folder, sandbox, each) for each in some]
                         for place in range(AT_ONCE)])
    return folder


def make_part(folder: Path, sandbox: Sandbox, number: int):
    part = folder / f"{number}"
    shutil.rmtree(part, ignore_errors=True)
    (part / "state").mkdir(parents=True, mode=0o700)
    secret = part / "state" / "secret"
    secret.touch(0o600)
    secret.write_bytes(b"the secret of a benchmark, 32 B.")
    agent = AgentProcess(part)
    try:
        with agent.connection() as control, Connection(sandbox.origin) as merchant:
            for place in range(CHUNK):
                enrolled(control, merchant, sandbox.origin, name=f"card {number * CHUNK + place}")
    finally:
        agent.stop()
    (part / "done").touch()


def put_together(source: Path, folder: Path, count: int):
    """A state of so many enrollments, and the issuer that knows them, in a folder for a `World`."""
    chosen = [source / f"{number}" / "state" for number in range(-(-count // CHUNK))]
    # No row may be newer than the journal that it is in.
    chosen.sort(key=journal_length, reverse=True)
    shutil.copytree(chosen[0], folder / "state")
    for file in [source / "port", *source.glob("issuer.db*")]:
        shutil.copy(file, folder)
    with sqlite3.connect(folder / "state" / "agent.db") as database:
        for state in chosen[1:]:
            add_enrollments(database, state)
        last = database.execute("SELECT id FROM enrollment ORDER BY seq LIMIT -1 OFFSET ?", (count,)).fetchall()
        database.executemany("DELETE FROM enrollment WHERE id = ?", last)
        database.executemany("DELETE FROM data_key WHERE enrollment_id = ?", last)
        vouch(database, (folder / "state" / "secret").read_bytes())
    database.close()


def journal_length(state: Path) -> int:
    with sqlite3.connect(state / "agent.db") as database:
        length = database.execute("SELECT max(seq) FROM journal").fetchone()[0]
    database.close()
    return length


def add_enrollments(database: sqlite3.Connection, state: Path):
    """With new places in the order, which no seal covers."""
    names = [row[1] for row in database.execute("PRAGMA table_info(enrollment)") if row[1] != "seq"]
    columns = ", ".join(names)
    other = sqlite3.connect(state / "agent.db")
    rows = other.execute(f"SELECT {columns} FROM enrollment ORDER BY seq").fetchall()
    keys = other.execute("SELECT enrollment_id, sealed FROM data_key ORDER BY slot").fetchall()
    other.close()
    database.executemany("INSERT INTO data_key (enrollment_id, sealed) VALUES (?, ?)", keys)
    database.executemany(f"INSERT INTO enrollment ({columns}) VALUES ({', '.join('?' * len(names))})", rows)
