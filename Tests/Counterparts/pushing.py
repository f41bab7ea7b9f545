"""An issuer that pushes: pywebpush encrypts and sends, py_vapid signs."""

import time
from urllib.parse import urlsplit

import requests
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from pywebpush import WebPusher

from issuer import Issuer, Request
from verify import encode


class PushingIssuer(Issuer):
    """`subscriptions` is where each authenticator wants its pushes; a long poll brings nothing while `holds_polls`."""

    def __init__(self):
        self.vapid = Vapid02()
        self.vapid.generate_keys()
        self.subscriptions: dict[str, dict] = {}
        self.puts = 0
        self.holds_polls = False
        super().__init__()

    def discovery(self) -> dict:
        point = self.vapid.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {**super().discovery(), "vapidPublicKey": encode(point)}

    def enroll(self, bytes: bytes) -> dict:
        answer = super().enroll(bytes)
        subscription = self.json(bytes).get("pushSubscription")
        if subscription is not None:
            self.subscriptions[answer["authenticatorId"]] = subscription
        return answer

    def route(self, method: str, target: str, bearer: str | None, body: bytes):
        if urlsplit(target).path != "/v1/authenticator/push-subscription":
            return super().route(method, target, bearer, body)
        authenticator = self.authenticated(bearer)
        with self.changed:
            if method == "PUT":
                self.puts += 1
                self.subscriptions[authenticator.id] = self.json(body)
            else:
                self.subscriptions.pop(authenticator.id, None)
        return 204, None

    def listing(self, authenticator, query: dict) -> dict:
        wait = int(query.get("wait", ["0"])[0])
        if wait and self.holds_polls:
            with self.changed:
                self.changed.wait_for(lambda: self.closing or not self.holds_polls, wait)
            return {"requests": [], "cursor": query.get("after", ["0"])[0]}
        return super().listing(authenticator, query)

    def authorization(self, subscription: dict, vapid: Vapid02 | None = None, **claims) -> dict:
        url = urlsplit(subscription["endpoint"])
        claims = {"aud": f"{url.scheme}://{url.netloc}", "exp": int(time.time()) + 3_600,
                  "sub": "mailto:issuer@issuer.example", **claims}
        return (vapid or self.vapid).sign(claims)

    def push(self, subscription: dict, data: bytes | str, session: requests.Session | None = None) -> requests.Response:
        """Sends as any user of the library does."""
        return WebPusher(subscription, requests_session=session).send(
            data, self.authorization(subscription), ttl=60, content_encoding="aes128gcm", timeout=60)

    def push_request(self, request: Request, session: requests.Session | None = None) -> requests.Response:
        return self.push(self.subscriptions[request.authenticator_id], request.jws, session)

    def post(self, subscription: dict, body: bytes, headers: dict) -> requests.Response:
        """Sends a body as it is."""
        usual = {"Content-Encoding": "aes128gcm", "TTL": "60", **self.authorization(subscription)}
        fields = {name: value for name, value in {**usual, **headers}.items() if value is not None}
        return requests.post(subscription["endpoint"], data=body, headers=fields, timeout=60)

    def encrypted(self, subscription: dict, data: bytes) -> bytes:
        return WebPusher(subscription).encode(data, "aes128gcm")["body"]
