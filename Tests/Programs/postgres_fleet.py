"""A store of many cardholders in PostgreSQL: copies of what one agent really made, put there by SQL.

The copies of an enrollment are as good as the first: each has its own seal, token, key and data key under the agent's secret
(docs/explanation/threat-model.md). They are at an issuer that nobody listens at, so that no issuer has to know them. The
copies of a request are over, and have their message and their evidence, encrypted as the agent does.
"""

import base64
import hashlib
import os
import struct
import subprocess
import time
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from postgres_server import PROGRAMS, PostgresServer
from sealed import derived, opened_by

# A port on which nobody listens (discard, which nothing here serves).
ISSUER = "http://localhost:9"
BATCH = 20_000
# Of rows with what is encrypted, which are long.
PAST_BATCH = 5_000
PERSONAL = {"request": ["members", "nonce", "warnings", "payment", "message"], "evidence": ["text", "decision"]}
SEALED = [
    "id", "issuer", "roots_pem", "name", "authn_type", "algorithm", "rp_id", "credential_id", "user_handle", "started_at",
    "key_uri", "key_kind", "key_public", "key_exportable", "key_identity", "takes_push", "credential_key", "sign_count", "state",
    "authenticator_id", "sealed_token", "enrolled_at", "pin_failures", "pin_blocked_until", "pin_guessable",
    "sign_count_raised_from", "sign_count_raised_to", "sign_count_raised_at", "raised_elsewhere", "end_reason", "ended_at",
    "journal_seq",
]


class Fleet:
    """Of a database of which one agent has one enrollment, and at least one request that is over; no agent runs."""

    def __init__(self, server: PostgresServer, database: str, secret: bytes, keys: Path):
        """`keys` is the directory of the agent's key files."""
        self.keys = keys
        self.server, self.database, self.secret = server, database, secret
        self.first = self.row("enrollment", "TRUE ORDER BY seq")
        self.first.pop("seq")
        self.columns = list(self.first)
        sealed = self.row("data_key", f"enrollment_id = '{self.first['id']}'")["sealed"]
        # One for all; each enrollment has it sealed for itself.
        self.data_key = opened_by(secret, sealed, f"data key {self.first['id']}")
        self.token = opened_by(secret, self.first["sealed_token"], f"access token {self.first['id']}")
        file = keys / f"{self.first['id']}.key"
        kept = self.first.get("sealed_key") or (file.read_bytes() if file.exists() else None)
        self.key = kept and opened_by(secret, kept, f"credential key {self.first['id']}")
        if self.seal(self.first) != self.first["seal"]:
            raise AssertionError("the seal of an enrollment is not what this script takes it for")

    def sql(self, statement: str) -> list[list[str]]:
        return self.server.sql(statement, self.database)

    def row(self, table: str, which: str) -> dict:
        """The first row of those that a condition selects, with its columns as they can be written."""
        kinds = dict(self.sql(
            f"SELECT column_name, data_type FROM information_schema.columns WHERE table_name = '{table}' AND "
            "is_generated = 'NEVER' ORDER BY ordinal_position"))
        texts = ", ".join(f"coalesce(\"{name}\"::text, '~')" for name in kinds)
        (values,) = self.sql(f"SELECT {texts} FROM {table} WHERE {which} LIMIT 1")
        return {name: value(kind, text) for (name, kind), text in zip(kinds.items(), values)}

    def seal(self, row: dict) -> bytes:
        """Of `Enrollment.sealedBytes`, for one that is active."""
        members = {**row, "raised_elsewhere": None if row["sign_count_raised_at"] is None
                   else row["sign_count_raised_elsewhere"]}
        values = ["oob-agent enrollment 1", *(members[name] for name in SEALED)]
        if row["journal_host"] is not None:
            values.append(row["journal_host"])
        if row.get("sealed_key") is not None:
            values += ["sealed key", row["sealed_key"]]
        digest = hashlib.sha256(b"".join(map(with_length, values))).hexdigest()
        return derived(self.secret, "authenticator", f"enrollment row {digest}")

    def enroll(self, count: int):
        """So many more active enrollments."""
        base = int(self.sql("SELECT count(*) FROM enrollment")[0][0])
        for start in range(0, count, BATCH):
            self.copy("enrollment", self.columns, (
                [each[name] for name in self.columns]
                for each in map(self.copied, range(base + start, base + min(start + BATCH, count)))))
            names = (hashlib.sha256(f"cardholder {number}".encode()).hexdigest()[:20]
                     for number in range(base + start, base + min(start + BATCH, count)))
            self.copy("data_key", ["enrollment_id", "sealed"],
                      ([name, self.sealed(self.data_key, f"data key {name}")] for name in names))

    def copied(self, number: int) -> dict:
        name = hashlib.sha256(f"cardholder {number}".encode()).hexdigest()
        row = {**self.first, "id": name[:20], "issuer": ISSUER, "name": f"cardholder {number}", "takes_push": 0,
               "credential_id": bytes.fromhex(name), "user_handle": bytes.fromhex(name[:32]), "authenticator_id": name[:32],
               "sealed_token": self.sealed(self.token, f"access token {name[:20]}")}
        if self.key is not None:
            key = self.sealed(self.key, f"credential key {name[:20]}")
            if row.get("sealed_key") is not None:
                row["sealed_key"] = key
            else:
                self.write_key(name[:20], key)
        return {**row, "seal": self.seal(row)}

    def sealed(self, content: bytes, label: str) -> bytes:
        nonce = os.urandom(12)
        sealed = AESGCM(derived(self.secret, "seal", label)).encrypt(nonce, content, label.encode())
        return self.first["sealed_token"][:1] + nonce + sealed

    def write_key(self, name: str, content: bytes):
        path = self.keys / f"{name}.key"
        path.touch(0o600)
        path.write_bytes(content)

    def copy(self, table: str, columns: list[str], rows):
        names = ", ".join(f'"{name}"' for name in columns)
        text = "".join("\t".join(map(field, row)) + "\n" for row in rows)
        subprocess.run(
            [PROGRAMS / "psql", "-XAtq", "-h", self.server.folder, "-U", "oob", "-d", self.database, "-v", "ON_ERROR_STOP=1",
             "-c", f"COPY {table} ({names}) FROM STDIN"], input=text, text=True, check=True, capture_output=True, timeout=600)

    def remember(self, count: int):
        """So many more requests that are over, of all enrollments in turn, of the last hundred days."""
        enrollments = int(self.sql("SELECT count(*) FROM enrollment")[0][0])
        start = int(self.sql("SELECT coalesce(max(seq), 0) FROM request")[0][0])
        self.sql("CREATE UNLOGGED TABLE card AS SELECT id, row_number() OVER (ORDER BY seq) - 1 AS place FROM enrollment")
        self.sql("CREATE UNIQUE INDEX ON card (place)")
        # The tally of a day's messages is of no use for what is over, and its trigger is slow.
        self.sql("ALTER TABLE message DISABLE TRIGGER message_counted")
        ids = [name for (name,) in self.sql("SELECT id FROM card ORDER BY place")]
        first = self.row("request", "seq = (SELECT min(seq) FROM request WHERE state <> 'pending' AND delivery = 'delivered')")
        kept = self.row("evidence", f"request_seq = {first['seq']}")
        opened = {"request": self.opened("request", first, first), "evidence": self.opened("evidence", kept, first)}
        now = int(time.time())
        for done in range(0, count, PAST_BATCH):
            numbers = range(start + done + 1, start + min(done + PAST_BATCH, count) + 1)
            past = [self.past(n, ids[n % enrollments], now - 172800 - (n - start) * 8640000 // count, first) for n in numbers]
            self.copy("request", list(first), ([*self.encrypted("request", each, opened, each).values()] for each in past))
            self.copy("evidence", list(kept), (
                [*self.encrypted("evidence", {**kept, "request_seq": each["seq"]}, opened, each).values()] for each in past))
        for done in range(0, count, BATCH):
            self.multiply("message", {
                "enrollment_id": "r.enrollment_id", "jti": "r.jti", "request_id": "r.id", "seen_at": "r.received_at"},
                f"(SELECT * FROM request WHERE seq > {start + done} AND seq <= {start + done + BATCH}) AS r",
                "request_id IS NOT NULL")
        self.sql("ALTER TABLE message ENABLE TRIGGER message_counted")
        self.sql("DROP TABLE card")
        self.sql("SELECT setval(pg_get_serial_sequence('request', 'seq'), (SELECT max(seq) FROM request))")
        for table in ["request", "message", "evidence", "enrollment", "data_key"]:
            self.sql(f"VACUUM (ANALYZE) {table}")

    def past(self, number: int, enrollment: str, at: int, first: dict) -> dict:
        """A request that is over, with nothing encrypted yet."""
        name, jti, acs = (hashlib.md5(f"{kind} {number}".encode()).hexdigest() for kind in ["request", "jti", "acs"])
        return {**first, "seq": number, "id": name[:20], "enrollment_id": enrollment, "jti": jti, "acs_trans_id": acs,
                "iat": at, "exp": at + 600, "received_at": at, "decided_at": at}

    def opened(self, table: str, row: dict, request: dict) -> dict:
        """What is personal in a row, in clear."""
        found = {}
        for column in PERSONAL[table]:
            cell = row[column]
            if cell:
                data = cell if isinstance(cell, bytes) else base64.urlsafe_b64decode(cell + "=" * (-len(cell) % 4))
                found[column] = AESGCM(self.data_key).decrypt(data[1:13], data[13:], place(table, request, column))
        return found

    def encrypted(self, table: str, row: dict, opened: dict, request: dict) -> dict:
        """The row of a request as the agent would write it."""
        made = dict(row)
        for column, plain in opened[table].items():
            nonce = os.urandom(12)
            data = b"\1" + nonce + AESGCM(self.data_key).encrypt(nonce, plain, place(table, request, column))
            made[column] = data if isinstance(row[column], bytes) else base64.urlsafe_b64encode(data).rstrip(b"=").decode()
        return made

    def multiply(self, table: str, made: dict[str, str], source: str, which: str):
        names = [name for (name,) in self.sql(
            f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' AND is_generated = 'NEVER' "
            "ORDER BY ordinal_position")]
        values = ", ".join(made.get(name, f'one."{name}"') for name in names)
        columns = ", ".join(f'"{name}"' for name in names)
        self.sql(f"INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE SELECT {values} FROM {source} "
                 f"CROSS JOIN (SELECT * FROM {table} WHERE {which} LIMIT 1) AS one")


def place(table: str, request: dict, column: str) -> bytes:
    """Where a value is, to which it is bound."""
    return f"{table} {request['enrollment_id']} {request['id']} {column}".encode()


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
