"""Past requests of the enrollments in `postgres_fleet.py`, as the agent leaves them.

They are copies of one of the agent's own, with its message and what was kept of it, encrypted for their own place as the agent
does. They have no entries in the journal.
"""

import hashlib
import time
from contextlib import contextmanager

from data_keys import DataKey, of_piece
from postgres_fleet import LONG, Fleet, cardholder

# The pieces of a request's evidence; a column of its row has the number of each.
PIECES = ["message", "text", "decision"]
# Rows of one statement.
BATCH = 1_000_000
# Seconds from the oldest to the newest, and from that to now.
SPAN, SINCE = 8_640_000, 172_800
# `StoreReading.messageSlot`
SLOT = 300
FILLED = ["request", "message", "message_tally"]


class Past:
    """Of a fleet, each of whose enrollments has the same number of requests, give or take one."""

    def __init__(self, fleet: Fleet, count: int):
        self.fleet, self.sql = fleet, fleet.sql
        self.key = DataKey(fleet.data_key)
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
        self.sql("SELECT setval(pg_get_serial_sequence('evidence', 'piece'), (SELECT max(piece) FROM evidence))")
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
        if old["warnings"] is not None:
            raise AssertionError("warnings are bound to their row, and are not written anew here")
        kept = {piece: self.opened(piece, old) for piece in PIECES}
        first = int(self.sql("SELECT max(piece) FROM evidence")[0][0]) + 1

        def numbers(number: int) -> dict[str, int]:
            start = first + (number - self.start - 1) * len(PIECES)
            return {f"{piece}_piece": start + place for place, piece in enumerate(PIECES)}

        def past():
            return (self.named(number, old) | numbers(number) for number in range(self.start + 1, self.end + 1))

        self.fleet.copy("request", list(old), (each.values() for each in past()))
        self.fleet.copy("evidence", ["piece", "bytes"], (
            [each[f"{piece}_piece"], self.key.closed(plain, of_piece(each["enrollment_id"], each["id"], piece))] for each in past() for piece, plain in kept.items()))

    def opened(self, piece: str, request: dict) -> bytes:
        data = self.fleet.row("evidence", f"piece = {request[f'{piece}_piece']}")["bytes"]
        return self.key.opened(data, of_piece(request["enrollment_id"], request["id"], piece))

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
