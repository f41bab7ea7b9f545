"""A store of many cardholders in PostgreSQL: copies of what one agent really made, put there by SQL.

The copies of an enrollment are as good as the first: each has its own seal, token, key and data key under the agent's secret
(docs/reference/sealed-values.md). They are at an issuer that nobody listens at, so that no issuer has to know them. Their
past requests are in `postgres_past.py`.
"""

import hashlib
import os
import signal
import struct
import subprocess
import time
from contextlib import contextmanager

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from data_keys import DataKey
from postgres_server import PROGRAMS, PostgresServer
from row_sums import RowSums
from sealed import derived, opened_by

# A port on which nobody listens (discard, which nothing here serves).
ISSUER = "http://localhost:9"
# Rows that are on their way to the server at once.
PIECE = 2_000
# Seconds that one statement about all rows may take.
LONG = 3_600
# Quick, and safe in no crash: an agent refuses to start on it. Neither triggers nor references are looked at.
FILLING = [f"-c{name}={value}" for name, value in {
    "fsync": "off", "full_page_writes": "off", "wal_level": "minimal", "max_wal_senders": 0,
    "autovacuum": "off", "session_replication_role": "replica", "maintenance_work_mem": "1GB", "work_mem": "256MB",
    "max_wal_size": "2GB"}.items()]
SEALED = [
    "id", "issuer", "roots_pem", "name", "authn_type", "algorithm", "rp_id", "credential_id", "user_handle", "started_at",
    "key_uri", "key_kind", "key_public", "key_exportable", "key_identity", "takes_push", "credential_key", "sign_count", "state",
    "authenticator_id", "sealed_token", "enrolled_at", "pin_failures", "pin_blocked_until", "pin_guessable",
    "sign_count_raised_from", "sign_count_raised_to", "sign_count_raised_at", "raised_elsewhere", "end_reason", "ended_at",
    "journal_seq", "journal_host", "sealed_key", "version", "pin_epoch",
]


@contextmanager
def filling(server: PostgresServer):
    """The server has other settings while it is filled; afterwards all is on the disk, and it has its own again."""
    usual = server.options
    restart(server, (*usual, *FILLING))
    try:
        yield
    finally:
        restart(server, usual, PROGRAMS / "initdb", "--sync-only", "-D", server.folder / "data")


def restart(server: PostgresServer, options: tuple[str, ...], *between):
    """`between` is a command that is run while the server is stopped."""
    # Else the server writes what is left while it ends, and that takes longer than anybody waits for it.
    server.sql("CHECKPOINT", "postgres", LONG)
    server.stop(signal.SIGINT)
    if between:
        server.run(*between)
    server.options = options
    server.start()


class Fleet:
    """Of a database of which one agent has one enrollment; no agent runs, and the server is in `filling`."""

    def __init__(self, server: PostgresServer, database: str, secret: bytes, issuer: str = ISSUER):
        self.server, self.database, self.secret, self.issuer = server, database, secret, issuer
        self.first = self.row("enrollment", "TRUE ORDER BY seq")
        self.first.pop("seq")
        self.columns = list(self.first)
        sealed = self.row("data_key", f"enrollment_id = '{self.first['id']}'")["sealed"]
        # One for all; each enrollment has it sealed for itself.
        self.data_key = opened_by(secret, sealed, f"data key {self.first['id']}")
        self.first = DataKey(self.data_key).opened_row(self.first)
        self.token = opened_by(secret, self.first["sealed_token"], f"access token {self.first['id']}")
        self.key = opened_by(secret, self.first["sealed_key"], f"credential key {self.first['id']}")
        if self.seal(self.first) != self.first["seal"]:
            raise AssertionError("the seal of an enrollment is not what this script takes it for")

    def sql(self, statement: str, within: float = LONG) -> list[list[str]]:
        return self.server.sql(statement, self.database, within)

    def count(self, table: str) -> int:
        return int(self.sql(f"SELECT count(*) FROM {table}")[0][0])

    def row(self, table: str, which: str) -> dict:
        """The first row of those that a condition selects, with its columns as they can be written."""
        kinds = dict(self.sql(
            f"SELECT column_name, data_type FROM information_schema.columns WHERE table_name = '{table}' AND "
            "is_generated = 'NEVER' ORDER BY ordinal_position"))
        texts = ", ".join(f"coalesce(\"{name}\"::text, '~')" for name in kinds)
        (values,) = self.sql(f"SELECT {texts} FROM {table} WHERE {which} LIMIT 1")
        return {name: value(kind, text) for (name, kind), text in zip(kinds.items(), values)}

    def seal(self, row: dict) -> bytes:
        """Of `Enrollment.sealedBytes`, for one that is active or has ended."""
        of_active = {"sealed_token", "enrolled_at"} if row["state"] == "ended" else set()
        members = {**row, "raised_elsewhere": None if row["sign_count_raised_at"] is None
                   else row["sign_count_raised_elsewhere"]}
        values = ["oob-agent enrollment 1", *(members[name] for name in SEALED if name not in of_active)]
        digest = hashlib.sha256(b"".join(map(with_length, values))).hexdigest()
        return derived(self.secret, "authenticator", f"enrollment row {digest}")

    def enroll(self, count: int, ended: int = 0):
        """So many active enrollments besides the agent's own, and then so many that have ended."""
        self.copy("enrollment", self.columns, self.written(count, ended))
        self.copy("data_key", ["enrollment_id", "sealed"], (
            [name, self.sealed(self.data_key, f"data key {name}")] for name in map(cardholder, range(count + ended))))
        self.vouch()
        for table in ["enrollment", "data_key"]:
            self.sql(f"VACUUM (ANALYZE) {table}")

    def written(self, active: int, ended: int):
        """The rows as the database has them."""
        key, sums = DataKey(self.data_key), RowSums(self.secret, self.sealed_row_key())
        return ([{**key.closed_row(row), "name_bucket": sums.bucket(row["name"])}[name] for name in self.columns]
                for row in self.rows(active, ended))

    def sealed_row_key(self) -> bytes:
        return self.row("row_key", "TRUE")["sealed"]

    def vouch(self):
        """Has the newest head vouch for the rows as they are; without the wrong PINs of keys, of which there are none."""
        sums = RowSums(self.secret, self.sealed_row_key())
        total = sum(sums.term("enrollment", name.encode(), state, int(version), bytes.fromhex(seal))
                    for name, state, version, seal in
                    self.sql("SELECT id, state, version, encode(seal, 'hex') FROM enrollment"))
        heads = self.sql("SELECT host, seq, encode(digest, 'hex'), encode(rows, 'hex') FROM journal_mark WHERE name = 'head'")
        (host, sequence, digest, _), *others = heads
        for other, number, point, rows in others:
            total -= sums.opened(bytes.fromhex(rows), other, int(number), bytes.fromhex(point))
        rows = sums.sealed(total, host, int(sequence), bytes.fromhex(digest))
        self.sql(f"UPDATE journal_mark SET rows = '\\x{rows.hex()}' WHERE host = '{host}' AND name = 'head'")

    def rows(self, active: int, ended: int):
        for number in range(active + ended):
            yield self.copied(number) if number < active else self.ended(number)

    def ended(self, number: int) -> dict:
        """As `oobctl unenroll --local` leaves it."""
        name = hashlib.sha256(f"cardholder {number}".encode()).hexdigest()
        row = {**self.first, "id": name[:20], "issuer": self.issuer, "name": f"cardholder {number}", "takes_push": 0,
               "credential_id": bytes.fromhex(name), "user_handle": bytes.fromhex(name[:32]), "authenticator_id": name[:32],
               "state": "ended", "ended_at": int(time.time()), "sealed_token": None, "enrolled_at": None, "sealed_key": None}
        return {**row, "seal": self.seal(row)}

    def copied(self, number: int) -> dict:
        name = hashlib.sha256(f"cardholder {number}".encode()).hexdigest()
        row = {**self.first, "id": name[:20], "issuer": self.issuer, "name": f"cardholder {number}", "takes_push": 0,
               "credential_id": bytes.fromhex(name), "user_handle": bytes.fromhex(name[:32]), "authenticator_id": name[:32],
               "sealed_token": self.sealed(self.token, f"access token {name[:20]}"),
               "sealed_key": self.sealed(self.key, f"credential key {name[:20]}")}
        return {**row, "seal": self.seal(row)}

    def sealed(self, content: bytes, label: str) -> bytes:
        nonce = os.urandom(12)
        sealed = AESGCM(derived(self.secret, "seal", label)).encrypt(nonce, content, label.encode())
        return self.first["sealed_token"][:1] + nonce + sealed

    def copy(self, table: str, columns: list[str], rows):
        names = ", ".join(f'"{name}"' for name in columns)
        with subprocess.Popen(
                [PROGRAMS / "psql", "-XAtq", "-h", self.server.folder, "-U", "oob", "-d", self.database, "-v", "ON_ERROR_STOP=1",
                 "-c", f"COPY {table} ({names}) FROM STDIN"], stdin=subprocess.PIPE, text=True) as run:
            lines = []
            for row in rows:
                lines.append("\t".join(map(field, row)) + "\n")
                if len(lines) == PIECE:
                    run.stdin.write("".join(lines))
                    lines = []
            run.stdin.write("".join(lines))
        if run.returncode != 0:
            raise AssertionError(f"{table} could not be filled")


def cardholder(number: int) -> str:
    """The id of a copy."""
    return hashlib.sha256(f"cardholder {number}".encode()).hexdigest()[:20]


def value(kind: str, text: str):
    if text == "~":
        return None
    return bytes.fromhex(text[2:]) if kind == "bytea" else int(text) if kind == "bigint" else text


def with_length(value) -> bytes:
    if value is None:
        return b"\0"
    data = value.encode() if isinstance(value, str) else struct.pack(">q", value) if isinstance(value, int) else value
    return b"\1" + struct.pack(">Q", len(data)) + data


def field(value) -> str:
    """As COPY has it."""
    if value is None:
        return "\\N"
    if isinstance(value, bytes):
        return "\\\\x" + value.hex()
    return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
