"""Writes the fixtures of HTTP clients that do not run here, from their public source and bug reports.

Run with `.venv/bin/python Tests/Counterparts/libraries/written_http.py`. The pushes are for the receiver of RFC 8291 appendix A,
which is published; the sender's keys are made for the run and thrown away.
"""

import base64
import json
import os
import time
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

FOLDER = Path(__file__).resolve().parents[2] / "Fixtures" / "Libraries"
ORDER = '{"merchantName":"Shop","purchaseAmount":"100","purchaseCurrency":"840","purchaseExponent":"2"}'
P256DH = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
PATH = f"/push/{'A' * 43}"


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def write(name: str, release: str, language: str, link: str, how: str, messages: list[dict]):
    fixture = {"library": name, "version": release, "language": language, "link": link, "origin": "written", "how": how,
               "messages": messages}
    (FOLDER / f"{name}.json").write_text(json.dumps(fixture, indent=2, ensure_ascii=False) + "\n")


def dotnet():
    def request(what: str, fields: list[str], body: str, method: str = "POST") -> dict:
        head = "\r\n".join([f"{method} /sandbox/purchases HTTP/1.1", "Host: localhost:8080", *fields]) + "\r\n\r\n"
        return {"kind": "httpRequest", "what": what, "value": {"head": head, "body": body}, "outcome": "taken"}

    chunked = f"{len(ORDER):X}\r\n{ORDER}\r\n0\r\n\r\n"
    write("dotnet-httpclient", "6.0.5", "C#", "https://github.com/dotnet/runtime/issues/49357",
          "bug reports: JsonContent knows no length, so PostAsJsonAsync is chunked (dotnet/runtime#49357, #70793)", [
              request("PostAsJsonAsync: in chunks, with a charset",
                      ["Transfer-Encoding: chunked", "Content-Type: application/json; charset=utf-8"], chunked),
              request("PostAsync of a StringContent",
                      ["Content-Type: application/json; charset=utf-8", f"Content-Length: {len(ORDER)}"], ORDER),
              request("ExpectContinue, which waits 1 s for 100", ["Expect: 100-continue",
                      "Content-Type: application/json; charset=utf-8", f"Content-Length: {len(ORDER)}"], ORDER),
              request("ExpectContinue in chunks", ["Expect: 100-continue", "Transfer-Encoding: chunked",
                      "Content-Type: application/json; charset=utf-8"], chunked),
              request("SendAsync of HttpMethod.Head", [], "", "HEAD"),
          ])


class Push:
    """What web-push-php sends, in its order of fields."""

    def __init__(self):
        self.vapid, self.now = ec.generate_private_key(ec.SECP256R1()), int(time.time())

    def token(self, aud: str) -> str:
        header = {"typ": "JWT", "alg": "ES256"}
        claims = {"aud": aud, "exp": self.now + 43_200, "sub": "mailto:push@issuer.example"}
        parts = [b64(json.dumps(each, separators=(",", ":")).encode()) for each in (header, claims)]
        r, s = utils.decode_dss_signature(self.vapid.sign(".".join(parts).encode(), ec.ECDSA(SHA256())))
        return ".".join([*parts, b64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))])

    def body(self, message: bytes, pad_to: int) -> bytes:
        sender, salt = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        receiver = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64(P256DH))
        shared = sender.exchange(ec.ECDH(), receiver)
        key = HKDF(SHA256(), 32, unb64(AUTH), b"WebPush: info\0" + unb64(P256DH) + point(sender)).derive(shared)
        derived = lambda length, info: HKDF(SHA256(), length, salt, b"Content-Encoding: " + info + b"\0").derive(key)
        plain = message + b"\2" + bytes(max(0, pad_to - len(message)))
        record = AESGCM(derived(16, b"aes128gcm")).encrypt(derived(12, b"nonce"), plain, b"")
        return salt + (4_096).to_bytes(4, "big") + b"\x41" + point(sender) + record

    def message(self, what: str, endpoint: str, aud: str, body: bytes, outcome: str = "taken", reason: str | None = None,
                coding: str = "aes128gcm") -> dict:
        host = endpoint.split("://")[1].split("/")[0]
        fields = [f"POST {PATH} HTTP/1.1", f"Content-Length: {len(body)}", "User-Agent: GuzzleHttp/7", f"Host: {host}"]
        fields += ["Content-Type: application/octet-stream", f"Content-Encoding: {coding}"] if body else []
        fields += ["TTL: 2419200", f"Authorization: vapid t={self.token(aud)}, k={b64(point(self.vapid))}"]
        value = {"endpoint": endpoint, "vapidKey": b64(point(self.vapid)), "at": self.now,
                 "head": "\r\n".join(fields) + "\r\n\r\n", "body": b64(body)}
        message = {"kind": "push", "what": what, "value": value, "outcome": outcome}
        return message if reason is None else {**message, "reason": reason}


def web_push_php():
    push, plain, port = Push(), f"https://agent.example{PATH}", f"https://agent.example:8443{PATH}"
    hint = push.body(b"hint", 3_052)
    write("web-push-php", "commit 011e2143", "PHP", "https://github.com/web-push-libs/web-push-php",
          "src/WebPush.php of the commit (prepare: the fields, and an aud of scheme and host alone) and src/Encryption.php", [
              push.message("a hint, padded to 3,052 bytes as by default", plain, "https://agent.example", hint),
              push.message("a hint without padding", plain, "https://agent.example", push.body(b"hint", 0)),
              push.message("a push without a payload: no Content-Encoding", plain, "https://agent.example", b""),
              push.message("an endpoint with a port, which the library leaves out of aud", port, "https://agent.example",
                           hint, "refused", "aud"),
              push.message("a Subscription with contentEncoding aesgcm", plain,
                           "https://agent.example", hint, "refused", "Content-Encoding must be sent once, as aes128gcm",
                           coding="aesgcm"),
          ])


if __name__ == "__main__":
    dotnet()
    web_push_php()
