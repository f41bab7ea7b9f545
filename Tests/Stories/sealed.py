"""What lies under the agent's secret, and its spellings.

It is opened as docs/reference/sealed-values.md ("Open a sealed value") says.
"""

import base64

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def derived(secret: bytes, use: str, label: str) -> bytes:
    info = f"oob-agent/1/{use}".encode() + b"\0" + label.encode()
    return HKDF(hashes.SHA256(), 32, None, info).derive(secret)


def opened_by(secret: bytes, sealed: bytes, label: str) -> bytes:
    return AESGCM(derived(secret, "seal", label)).decrypt(sealed[1:13], sealed[13:], label.encode())


def spellings(bytes: bytes) -> list[bytes]:
    return [bytes, bytes.hex().encode(), bytes.hex().upper().encode(), base64.b64encode(bytes).rstrip(b"="),
            base64.urlsafe_b64encode(bytes).rstrip(b"=")]
