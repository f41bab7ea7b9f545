"""Past requests of the enrollments in `postgres_fleet.py`, as the agent leaves them.

They are copies of one of the agent's own, with its message and what was kept of it, encrypted for their own place as the agent
does. They have no entries in the journal.
"""

import base64
import hashlib
import os
import time
from contextlib import contextmanager

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from postgres_fleet import LONG, Fleet, cardholder

PERSONAL = {"request": ["members", "nonce", "warnings", "payment", "message"], "evidence": ["text", "decision"]}
# Rows of one statement.
BATCH = 1_000_000
# Seconds from the oldest to the newest, and from that to now.
SPAN, SINCE = 8_640_000, 172_800
# `DatabaseTransaction.messageSlot`
SLOT = 300
FILLED = ["request", "message", "message_tally"]


class Past:
    """Of a fleet, each of whose enrollments has the same number of requests, give or take one."""

    def __init__(self, fleet: Fleet, count: int):
        self.fleet, self.sql = fleet, fleet.sql
        self.cipher = AESGCM(fleet.data_key)
        self.cards = fleet.count("enrollment") - 1
        self.start = int(self.sql("SELECT max(seq) FROM request")[0][0])
        self.end = self.start + count
        self.begun = int(time.time()) - SINCE - SPAN
        self.pace = SPAN / count

    def remember(self):
        old = self.fleet.row("request", "delivery = 'delivered'")
        with self.without_indexes():
            self.add(old)
            for first in range(self.start + 1, self.end + 1, BATCH):
                made = self.numbered(first, min(first + BATCH - 1, self.end))
                self.multiply("message", {**MADE, "request_id": MADE["id"], "seen_at": "at"}, made, f"request_id = '{old['id']}'")
            self.sql(f"INSERT INTO message_tally SELECT enrollment_id, seen_at / {SLOT}, count(*) FROM message "
                     f"WHERE seen_at < {self.begun + SPAN + 1} GROUP BY 1, 2")
        self.sql("SELECT setval(pg_get_serial_sequence('request', 'seq'), (SELECT max(seq) FROM request))")
        for table in [*FILLED, "evidence"]:
            self.sql(f"VACUUM (ANALYZE) {table}")

    def numbered(self, first: int, last: int) -> str:
        """Where the rows of requests come from, each with its number and its time."""
        return (f"(SELECT n, {self.begun} + floor((n - {self.start}) * {self.pace})::bigint AS at, "
                f"(n - {self.start}) % {self.cards} AS card FROM generate_series({first}, {last}) AS n) AS made")

    def named(self, number: int, like: dict) -> dict:
        """The same in Python."""
        at = self.begun + int((number - self.start) * self.pace)
        name, jti, acs = (hashlib.md5(f"{kind} {number}".encode()).hexdigest() for kind in ["request", "jti", "acs"])
        return {**like, "seq": number, "id": name[:20], "enrollment_id": self.card(number), "jti": jti, "acs_trans_id": acs,
                "iat": at, "exp": at + 600, "received_at": at, "decided_at": at}

    def card(self, number: int) -> str:
        return cardholder((number - self.start) % self.cards)

    def add(self, old: dict):
        kept = self.fleet.row("evidence", f"request_seq = {old['seq']}")
        opened = {"request": self.opened("request", old, old), "evidence": self.opened("evidence", kept, old)}

        def past():
            return (self.named(number, old) for number in range(self.start + 1, self.end + 1))

        self.fleet.copy("request", list(old), (self.encrypted("request", each, opened, each).values() for each in past()))
        self.fleet.copy("evidence", list(kept), (
            self.encrypted("evidence", {**kept, "request_seq": each["seq"]}, opened, each).values() for each in past()))

    def opened(self, table: str, row: dict, request: dict) -> dict:
        """What is personal in a row, in clear."""
        found = {}
        for column in PERSONAL[table]:
            cell = row[column]
            if cell:
                data = cell if isinstance(cell, bytes) else base64.urlsafe_b64decode(cell + "=" * (-len(cell) % 4))
                found[column] = self.cipher.decrypt(data[1:13], data[13:], place(table, request, column))
        return found

    def encrypted(self, table: str, row: dict, opened: dict, request: dict) -> dict:
        """The row of a request as the agent would write it."""
        made = dict(row)
        for column, plain in opened[table].items():
            data = self.closed(plain, place(table, request, column))
            made[column] = data if isinstance(row[column], bytes) else base64.urlsafe_b64encode(data).rstrip(b"=").decode()
        return made

    def closed(self, plain: bytes, place: bytes) -> bytes:
        nonce = os.urandom(12)
        return b"\1" + nonce + self.cipher.encrypt(nonce, plain, place)

    def multiply(self, table: str, made: dict[str, str], source: str, which: str):
        """So many copies of one row as the source has rows, but for the columns that are made."""
        names = [name for (name,) in self.sql(
            f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' AND is_generated = 'NEVER' "
            "ORDER BY ordinal_position")]
        values = ", ".join(made.get(name, f'one."{name}"') for name in names)
        columns = ", ".join(f'"{name}"' for name in names)
        self.sql(f"INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE SELECT {values} FROM {source} "
                 f"CROSS JOIN (SELECT * FROM {table} WHERE {which} LIMIT 1) AS one", LONG)

    @contextmanager
    def without_indexes(self):
        """They are made anew afterwards, which is quicker; what a reference needs stays."""
        tables = ", ".join(f"'{table}'::regclass" for table in FILLED)
        constraints = self.sql(
            f"SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint AS c WHERE contype IN ('p', 'u') "
            f"AND conrelid IN ({tables}) AND conindid NOT IN (SELECT conindid FROM pg_constraint WHERE contype = 'f')")
        indexes = self.sql(
            f"SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid IN ({tables}) "
            "AND indexrelid NOT IN (SELECT conindid FROM pg_constraint)")
        for table, name, _ in constraints:
            self.sql(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        for name, _ in indexes:
            self.sql(f"DROP INDEX {name}")
        yield
        for table, name, definition in constraints:
            self.sql(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
        for _, definition in indexes:
            self.sql(definition)


# The columns of a request and of its message, of `numbered`.
MADE = {
    "seq": "n", "id": "left(md5('request ' || n), 20)", "jti": "md5('jti ' || n)", "acs_trans_id": "md5('acs ' || n)",
    "enrollment_id": "left(encode(sha256(convert_to('cardholder ' || card, 'UTF8')), 'hex'), 20)",
    "iat": "at", "exp": "at + 600", "received_at": "at", "decided_at": "at",
}


def place(table: str, request: dict, column: str) -> bytes:
    """Where a value is, to which it is bound."""
    return f"{table} {request['enrollment_id']} {request['id']} {column}".encode()
