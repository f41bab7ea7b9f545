"""The data keys of enrollments, under which their personal values are encrypted in the agent's database.

docs/reference/limits.md ("Erasing an enrollment") says what they are for. A value is 01 || nonce (12) || AES-256-GCM ciphertext ||
tag (16), with "TABLE ENROLLMENT ROW COLUMN" authenticated. A value that is missing or empty stays so.
"""

import os
import sqlite3

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sealed import opened_by

TEXTS, BYTES = ["roots_pem", "name", "key_uri"], ["user_handle", "body"]


class DataKey:
    def __init__(self, key: bytes):
        self.key, self.cipher = key, AESGCM(key)

    def opened(self, value: bytes, place: str) -> bytes:
        return self.cipher.decrypt(value[1:13], value[13:], place.encode())

    def closed(self, plain: bytes, place: str) -> bytes:
        nonce = os.urandom(12)
        return b"\1" + nonce + self.cipher.encrypt(nonce, plain, place.encode())

    def opened_row(self, row: dict) -> dict:
        """An enrollment's row with its personal values in clear."""
        values = {name: row[name] and self.opened(row[name], in_enrollment(row["id"], name)) for name in TEXTS + BYTES}
        return {**row, **values, **{name: value and value.decode() for name, value in values.items() if name in TEXTS}}

    def closed_row(self, row: dict) -> dict:
        """The row as the database has it, but for the number of its name."""
        values = {**{name: row[name] and row[name].encode() for name in TEXTS}, **{name: row[name] for name in BYTES}}
        return {**row, **{
            name: value and self.closed(value, in_enrollment(row["id"], name)) for name, value in values.items()}}


def of_file(database: sqlite3.Connection, secret: bytes, enrollment: str) -> DataKey:
    """The data key of an enrollment in a SQLite database."""
    ((sealed,),) = database.execute("SELECT sealed FROM data_key WHERE enrollment_id = ?", (enrollment,)).fetchall()
    return DataKey(opened_by(secret, sealed, f"data key {enrollment}"))


def of_piece(enrollment: str, request: str, piece: str) -> str:
    """The place of a message, a text or a decision."""
    return f"evidence {enrollment} {request} {piece} bytes"


def in_enrollment(enrollment: str, column: str) -> str:
    return f"enrollment {enrollment} {enrollment} {column}"
