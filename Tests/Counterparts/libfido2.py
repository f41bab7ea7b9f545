"""Debian's libfido2 by its own commands, fido2-assert and fido2-cred: a party in C, with a parser of its own.

The manual pages (INPUT FORMAT) say which lines they read; that they know es384 is missing there.
"""

import hashlib
import subprocess
import tempfile
from base64 import b64encode, urlsafe_b64decode
from pathlib import Path

import cbor2
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
from webauthn.helpers import decode_credential_public_key, decoded_public_key_to_cryptography

NAMES = {-7: "es256", -35: "es384", -8: "eddsa"}


class Refused(Exception):
    """The command does not verify what it was given."""


def verify_assertion(response: dict, cose_key: bytes, rp_id: str):
    """The RP ID, user presence and the signature of an AuthenticationResponseJSON, under a COSE key."""
    inner = response["response"]
    key = decode_credential_public_key(cose_key)
    pem = decoded_public_key_to_cryptography(key).public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(pem)
        run(["fido2-assert", "-V", "-p", file.name, NAMES[key.alg]], [
            hashed(inner["clientDataJSON"]), rp_id, wrapped(bytes(inner["authenticatorData"])),
            text(bytes(inner["signature"]))])


def verify_self_attestation(response: dict, algorithm: int, rp_id: str):
    """The RP ID and the signature of a packed statement without a certificate; and that it attests `publicKey`."""
    inner = response["response"]
    attestation = cbor2.loads(bytes(inner["attestationObject"]))
    said = run(["fido2-cred", "-V", NAMES[algorithm]], [
        hashed(inner["clientDataJSON"]), rp_id, attestation["fmt"], wrapped(attestation["authData"]),
        text(bytes(response["rawId"])), text(attestation["attStmt"]["sig"])])
    key = load_pem_public_key(said[said.index(b"-----BEGIN"):])
    if key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo) != bytes(inner["publicKey"]):
        raise Refused("publicKey is not the key that libfido2 finds in authData")


def run(command: list[str], lines: list[str]) -> bytes:
    done = subprocess.run(command, input="".join(line + "\n" for line in lines).encode(), capture_output=True)
    if done.returncode != 0:
        raise Refused(done.stderr.decode(errors="replace").strip())
    return done.stdout


def hashed(client_data: str) -> str:
    return text(hashlib.sha256(bytes(client_data)).digest())


def wrapped(authenticator_data: bytes) -> str:
    """As CTAP has it: a CBOR byte string."""
    return text(cbor2.dumps(authenticator_data))


def bytes(base64url: str) -> bytes:
    return urlsafe_b64decode(base64url + "=" * (-len(base64url) % 4))


def text(bytes: bytes) -> str:
    return b64encode(bytes).decode()
