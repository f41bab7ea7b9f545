"""The messages that the scripts of this folder make, the same for each library, and how a fixture is written."""

import base64
import hashlib
import json
from pathlib import Path

import rfc8785

FIXTURES = Path(__file__).resolve().parents[2] / "Fixtures" / "Libraries"
ISSUED = 1_697_522_198
CREDENTIAL = "OcaLvG5j0lAofKLbF1zJ27YW822QpvN5r402OhJJMuM"
KEY_ID = "2026-1"
TYPE = "oob-authn-request+jwt"
TRANSACTION = {
    "acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62", "merchantName": "CoffeeHouse2 (Dæmø)",
    "purchaseAmount": "1250", "purchaseCurrency": "978", "purchaseExponent": "2",
    "purchaseDate": "20231017055638"}


def b64(bytes: bytes) -> str:
    return base64.urlsafe_b64encode(bytes).rstrip(b"=").decode()


def claims(**changes) -> dict:
    """An authn request for the enrollment that LibraryFixtureTests.swift describes."""
    nonce = bytes(range(32))
    challenge = hashlib.sha256(b"oob-authn-v1\x00" + nonce + rfc8785.dumps(TRANSACTION)).digest()
    return {
        "iss": "https://issuer.example", "aud": "k3yQm0Xv7bTzPwLd", "jti": "b1c6f0a2e94d4b7c8a51d3e6f7089b2c",
        "iat": ISSUED, "exp": ISSUED + 600, "nonce": b64(nonce), "transaction": TRANSACTION,
        "publicKey": {"challenge": b64(challenge), "rpId": "issuer.example",
                      "allowCredentials": [{"type": "public-key", "id": CREDENTIAL}]}} | changes


def key_set(public: dict) -> dict:
    """A set of a key with the members that RFC 7517 and 7518 require, and its `kid`."""
    return {"keys": [{"kid": KEY_ID} | public]}


def jws(what: str, token: str, jwks: dict, outcome: str = "taken", reason: str | None = None) -> dict:
    return message("jws", what, {"token": token, "jwks": jwks, "at": ISSUED + 1}, outcome, reason)


def message(kind: str, what: str, value, outcome: str = "taken", reason: str | None = None) -> dict:
    return ({"kind": kind, "what": what, "value": value, "outcome": outcome}
            | ({} if reason is None else {"reason": reason}))


def write(library: str, version: str, language: str, link: str, origin: str, how: str, messages: list[dict]) -> None:
    fixture = {"library": library, "version": version, "language": language, "link": link, "origin": origin,
               "how": how, "messages": messages}
    text = json.dumps(fixture, indent=2, ensure_ascii=False) + "\n"
    (FIXTURES / f"{library.lower().replace(' ', '-')}.json").write_text(text, encoding="utf-8")
