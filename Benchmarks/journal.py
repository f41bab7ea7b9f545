"""A journal as long as that of a million requests, with the chain and the signature that the agent's own has.

The audit key is opened as docs/reference/sealed-values.md ("Format") says, with the secret in the state
directory: whoever has that can do what the agent can.
"""

import hashlib
import json
import sqlite3
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_der_private_key
from row_sums import vouch
from sealed import opened_by

LABEL = "audit key of sealed rows"
PAGE = 50_000


def lengthen(state: Path, requests: int):
    """Repeats the entries of the journal's one request, under new ids, until it has those of so many requests; the
    agent must not run."""
    database = sqlite3.connect(state / "agent.db")
    texts = [row[0] for row in database.execute("SELECT entry FROM journal ORDER BY seq")]
    entries = [json.loads(text) for text in texts]
    own = [entry for entry in entries if "request" in entry]
    sequence, digest = len(texts), hashlib.sha256(texts[-1].encode()).hexdigest()
    rows = []
    for number in range(requests):
        named = {"request": f"{number:020x}", "jti": f"{number:032x}"}
        for entry in own:
            sequence += 1
            text = canonical({**entry, **named, "seq": sequence, "previous": digest})
            digest = hashlib.sha256(text.encode()).hexdigest()
            rows.append((sequence, text))
        if len(rows) >= PAGE or number == requests - 1:
            with database:
                database.executemany("INSERT INTO journal VALUES (?, ?)", rows)
            rows = []
    signature = audit_key(state, database).sign(
        f"oob-agent journal head 1\n{sequence}\n{digest}\n".encode(), ec.ECDSA(hashes.SHA256()))
    with database:
        database.execute("UPDATE journal_mark SET seq = ?, digest = ?, signature = ? WHERE name = 'head'",
                         (sequence, bytes.fromhex(digest), signature))
        vouch(database, (state / "secret").read_bytes())
    database.close()


def canonical(entry: dict) -> str:
    """RFC 8785 of an entry, whose members have ASCII names and no fractions."""
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def audit_key(state: Path, database: sqlite3.Connection):
    secret = (state / "secret").read_bytes()
    sealed = database.execute("SELECT sealed FROM audit_key").fetchone()[0]
    return load_der_private_key(opened_by(secret, sealed, LABEL), None)
