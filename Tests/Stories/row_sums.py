"""The sums over an agent's rows: what each head in the database vouches for, computed anew from the database alone.

docs/explanation/reliability.md ("Older rows") says what they are for. A row stands in a sum with
HMAC-SHA256(K, table || 00 || key || 00 || state || 00 || version, 8 bytes || seal), a number modulo 2^256, where K is
HMAC-SHA256(row key, "oob-agent row 1" || 01). A head has the sum under AES-256-GCM with the row key: 01, nonce, ciphertext and
tag; "journal_mark HOST SEQ DIGEST" is authenticated with it, of which HOST is empty in SQLite.
"""

import hmac
import os
import sqlite3

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sealed import opened_by

MODULUS = 1 << 256


class RowSums:
    def __init__(self, secret: bytes, sealed_row_key: bytes):
        self.key = opened_by(secret, sealed_row_key, "row key")
        self.of_terms = hmac.digest(self.key, b"oob-agent row 1\x01", "sha256")

    def bucket(self, name: str) -> int:
        """The number by which an enrollment's name is looked up."""
        of_names = hmac.digest(self.key, b"oob-agent name 1\x01", "sha256")
        return 1 + int.from_bytes(hmac.digest(of_names, name.encode(), "sha256")[:2], "big")

    def term(self, table: str, key: bytes, state: str, version: int, seal: bytes) -> int:
        message = table.encode() + b"\0" + key + b"\0" + state.encode() + b"\0" + version.to_bytes(8, "big") + seal
        return int.from_bytes(hmac.digest(self.of_terms, message, "sha256"), "big")

    def opened(self, rows: bytes, host: str, sequence: int, digest: bytes) -> int:
        return int.from_bytes(AESGCM(self.key).decrypt(rows[1:13], rows[13:], place(host, sequence, digest)), "big")

    def sealed(self, total: int, host: str, sequence: int, digest: bytes) -> bytes:
        nonce = os.urandom(12)
        plain = (total % MODULUS).to_bytes(32, "big")
        return b"\1" + nonce + AESGCM(self.key).encrypt(nonce, plain, place(host, sequence, digest))


def place(host: str, sequence: int, digest: bytes) -> bytes:
    return f"journal_mark {host} {sequence} {digest.hex()}".encode()


def of_file(database: sqlite3.Connection, secret: bytes) -> tuple[int, int | None]:
    """The sum over all rows of a SQLite database, and what its head says; None if it says nothing."""
    sums, total = RowSums(secret, row_key(database)), 0
    for name, state, version, seal in database.execute("SELECT id, state, version, seal FROM enrollment"):
        total += sums.term("enrollment", name.encode(), state, version, seal)
    for identity, version, seal in database.execute("SELECT identity, tries_version, tries_seal FROM key_tries"):
        total += sums.term("key_tries", identity, "", version, seal)
    sequence, digest, rows = head(database)
    return total % MODULUS, sums.opened(rows, "", sequence, digest) if rows else None


def vouch(database: sqlite3.Connection, secret: bytes):
    """Has the head of a SQLite database vouch for the rows as they are; the agent must not run."""
    sequence, digest, _ = head(database)
    database.execute("UPDATE journal_mark SET rows = NULL")
    total, _ = of_file(database, secret)
    rows = RowSums(secret, row_key(database)).sealed(total, "", sequence, digest)
    database.execute("UPDATE journal_mark SET rows = ? WHERE name = 'head'", (rows,))


def row_key(database: sqlite3.Connection) -> bytes:
    return database.execute("SELECT sealed FROM row_key").fetchone()[0]


def head(database: sqlite3.Connection) -> tuple:
    return database.execute("SELECT seq, digest, rows FROM journal_mark WHERE name = 'head'").fetchone()
