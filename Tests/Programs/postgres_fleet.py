"""A store of many cardholders in PostgreSQL: copies of what one agent really made, put there by SQL.

The copies of an enrollment are as good as the first: each has its own seal, token and key under the agent's secret
(docs/explanation/threat-model.md). They are at an issuer that nobody listens at, so that no issuer has to know them. The
copies of a request are over, and have their message and their evidence.
"""

import hashlib
import os
import struct
import subprocess
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from postgres_server import PROGRAMS, PostgresServer
from sealed import derived, opened_by

# A port on which nobody listens (discard, which nothing here serves).
ISSUER = "http://localhost:9"
BATCH = 20_000
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
        self.columns = [name for (name,) in self.sql(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'enrollment' AND is_identity = 'NO' AND "
            "is_generated = 'NEVER' ORDER BY ordinal_position")]
        self.types = dict(self.sql("SELECT column_name, data_type FROM information_schema.columns "
                                   "WHERE table_name = 'enrollment'"))
        texts = ", ".join(f"coalesce({name}::text, '~')" for name in self.columns)
        (values,) = self.sql(f"SELECT {texts} FROM enrollment ORDER BY seq LIMIT 1")
        self.first = {name: self.value(name, text) for name, text in zip(self.columns, values)}
        self.token = opened_by(secret, self.first["sealed_token"], f"access token {self.first['id']}")
        file = keys / f"{self.first['id']}.key"
        kept = self.first.get("sealed_key") or (file.read_bytes() if file.exists() else None)
        self.key = kept and opened_by(secret, kept, f"credential key {self.first['id']}")
        if self.seal(self.first) != self.first["seal"]:
            raise AssertionError("the seal of an enrollment is not what this script takes it for")

    def sql(self, statement: str) -> list[list[str]]:
        return self.server.sql(statement, self.database)

    def value(self, name: str, text: str):
        if text == "~":
            return None
        kind = self.types[name]
        return bytes.fromhex(text[2:]) if kind == "bytea" else int(text) if kind == "bigint" else text

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
        for done in range(0, count, BATCH):
            source = (f"generate_series({start + done + 1}, {start + min(done + BATCH, count)}) AS n CROSS JOIN LATERAL "
                      f"(SELECT extract(epoch FROM now())::BIGINT - 172800 - (n - {start})::BIGINT * 8640000 / {count} AS at) AS moment "
                      f"JOIN card ON card.place = n % {enrollments}")
            self.remember_some(source)
        self.sql("ALTER TABLE message ENABLE TRIGGER message_counted")
        self.sql("DROP TABLE card")
        self.sql("SELECT setval(pg_get_serial_sequence('request', 'seq'), (SELECT max(seq) FROM request))")
        for table in ["request", "message", "evidence", "enrollment"]:
            self.sql(f"VACUUM (ANALYZE) {table}")

    def remember_some(self, source: str):
        name = "substr(md5('request ' || n), 1, 20)"
        self.multiply("request", {
            "seq": "n", "id": name, "enrollment_id": "card.id", "jti": "md5('jti ' || n)", "acs_trans_id": "md5('acs ' || n)",
            "iat": "at", "exp": "at + 600", "received_at": "at", "decided_at": "at"}, source,
            "seq = (SELECT min(seq) FROM request WHERE state <> 'pending' AND delivery = 'delivered')")
        self.multiply("message", {
            "enrollment_id": "card.id", "jti": "md5('jti ' || n)", "request_id": name, "seen_at": "at"}, source,
            "request_id IS NOT NULL")
        self.multiply("evidence", {"request_seq": "n"}, source, "TRUE")

    def multiply(self, table: str, made: dict[str, str], source: str, which: str):
        names = [name for (name,) in self.sql(
            f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' AND is_generated = 'NEVER' "
            "ORDER BY ordinal_position")]
        values = ", ".join(made.get(name, f'one."{name}"') for name in names)
        columns = ", ".join(f'"{name}"' for name in names)
        self.sql(f"INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE SELECT {values} FROM {source} "
                 f"CROSS JOIN (SELECT * FROM {table} WHERE {which} LIMIT 1) AS one")


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
