"""A push receiver that no one of this project's code wrote a line of: http_ece decrypts, py_vapid verifies."""

import json
import queue
import secrets
import ssl
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02

from verify import decode, encode
from web import QuietServer


@dataclass
class Push:
    """A push as it came."""

    path: str
    headers: dict
    body: bytes


class PushReceiver:
    """Takes what is posted to it, on a free port of loopback. A context manager."""

    def __init__(self, tls: ssl.SSLContext | None = None):
        self.key, self.auth = ec.generate_private_key(ec.SECP256R1()), secrets.token_bytes(16)
        self.path = f"/push/{secrets.token_urlsafe(16)}"
        self.came: queue.Queue[Push] = queue.Queue()
        self.http = QuietServer(("127.0.0.1", 0), self.handler())
        if tls is not None:
            self.http.socket = tls.wrap_socket(self.http.socket, server_side=True)
        self.origin = f"{'http' if tls is None else 'https'}://localhost:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def subscription(self) -> dict:
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": self.origin + self.path, "expirationTime": None,
                "keys": {"p256dh": encode(point), "auth": encode(self.auth)}}

    def next(self) -> Push:
        return self.came.get(timeout=60)

    def message(self, push: Push, vapid_public_key: str) -> bytes:
        """What a push says, if VAPID says that the issuer of that key sent it here."""
        assert push.path == self.path and push.headers["content-encoding"] == "aes128gcm", push
        authorization = push.headers["authorization"]
        # py_vapid splits at the last space; RFC 9110 section 5.6.1 lets one follow a comma.
        assert Vapid02.verify(authorization.replace(", ", ",")), authorization
        parameters = dict(part.strip().split("=", 1) for part in authorization.removeprefix("vapid ").split(","))
        assert parameters["k"] == vapid_public_key, authorization
        claims = json.loads(decode(parameters["t"].split(".")[1]))
        assert claims["aud"] == self.origin, authorization
        return http_ece.decrypt(push.body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def handler(receiver):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.came.put(Push(self.path, headers, body))
                self.send_response(201)
                self.send_header("Location", receiver.path + "/message")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        return Handler
