"""A push service in front of agents: it looks at VAPID itself and forwards what is encrypted, as UnifiedPush's do."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler

import requests
from py_vapid import Vapid02

from verify import decode
from web import QuietServer

FORWARDED = ["Content-Encoding", "TTL", "Topic", "Urgency"]


class PushService:
    """Forwards from below `/up` of a free port of loopback to an agent's receiver. A context manager.

    `senders` is whose VAPID key may push to which endpoint: who has a subscription tells the service.
    """

    def __init__(self, receiver: str, hands_on_vapid: bool):
        self.receiver = receiver
        self.forwarded = FORWARDED + ["Authorization"] * hands_on_vapid
        self.senders: dict[str, str] = {}
        self.http = QuietServer(("127.0.0.1", 0), self.handler())
        self.origin = f"http://localhost:{self.http.server_address[1]}"
        self.url = f"{self.origin}/up"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def status(self, endpoint: str, headers, body: bytes) -> int:
        sender = self.senders.get(endpoint)
        if sender is None:
            return 404
        if headers["Authorization"] is None:
            return 401
        if not self.is_from(sender, headers["Authorization"]):
            return 403
        fields = {name: headers[name] for name in self.forwarded if headers[name] is not None}
        target = self.receiver + endpoint.removeprefix(self.url)
        return requests.post(target, data=body, headers=fields, timeout=60).status_code

    def is_from(self, sender: str, authorization: str) -> bool:
        try:
            # py_vapid splits at the last space; RFC 9110 section 5.6.1 lets one follow a comma.
            if not Vapid02.verify(authorization.replace(", ", ",")):
                return False
            parameters = dict(part.strip().split("=", 1) for part in authorization.removeprefix("vapid ").split(","))
            claims = json.loads(decode(parameters["t"].split(".")[1]))
            return parameters["k"] == sender and claims["aud"] == self.origin and claims["exp"] > time.time()
        except (KeyError, ValueError):
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def handler(service):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(service.status(service.origin + self.path, self.headers, body))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        return Handler
