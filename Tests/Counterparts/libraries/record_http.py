"""Records what curl, wget, Java's HTTP client and pywebpush send, on a socket of the loopback, as fixtures.

Run with `.venv/bin/python Tests/Counterparts/libraries/record_http.py`; it writes Tests/Fixtures/Libraries/*.json. The push is
for the receiver of RFC 8291 appendix A, which is published; the VAPID key is made for the run and thrown away.
"""

import base64
import json
import re
import socket
import subprocess
import threading
import time
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "Fixtures" / "Libraries"
PURCHASES = "/sandbox/purchases"
ORDER = '{"merchantName":"Shop","purchaseAmount":"100","purchaseCurrency":"840","purchaseExponent":"2"}'


class Recorder:
    """Takes one request on each connection, and answers it; `requests` are head and body as they came."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.origin = f"http://localhost:{self.listener.getsockname()[1]}"
        self.requests: list[tuple[str, bytes]] = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            peer, _ = self.listener.accept()
            with peer:
                self.one(peer)

    def one(self, peer: socket.socket):
        data = b""
        while b"\r\n\r\n" not in data:
            if not (more := peer.recv(65_536)):
                return
            data += more
        head, data = data.split(b"\r\n\r\n", 1)
        if b"100-continue" in head.lower():
            peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
        isChunked = re.search(rb"\r\ntransfer-encoding: *chunked", head, re.IGNORECASE)
        while (length and len(data) < int(length[1])) or (isChunked and not data.endswith(b"0\r\n\r\n")):
            data += peer.recv(65_536)
        self.requests.append((head.decode() + "\r\n\r\n", data))
        peer.sendall(b"HTTP/1.1 201 Created\r\nLocation: /x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
                     b"Connection: close\r\n\r\n" + (b"" if head.startswith(b"HEAD") else b"{}"))


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def http_request(what: str, request: tuple[str, bytes], outcome: str = "taken", reason: str | None = None) -> dict:
    head, body = request
    message = {"kind": "httpRequest", "what": what, "value": {"head": head, "body": body.decode()}, "outcome": outcome}
    return message if reason is None else {**message, "reason": reason}


def write(name: str, release: str, language: str, link: str, how: str, messages: list[dict]):
    fixture = {"library": name, "version": release, "language": language, "link": link, "origin": "recorded", "how": how,
               "messages": messages}
    (FOLDER / f"{name}.json").write_text(json.dumps(fixture, indent=2, ensure_ascii=False) + "\n")


def curl(recorder: Recorder):
    url = recorder.origin
    calls = [
        ("an order with -d, as JSON", ["--json", ORDER, url + PURCHASES]),
        ("an order that waits to be told to go on", ["--json", ORDER, "-H", "Expect: 100-continue", url + PURCHASES]),
        ("an order in chunks", ["--json", ORDER, "-H", "Transfer-Encoding: chunked", url + PURCHASES]),
        ("an order as a form, which is what -d says if nobody names a type", ["-d", ORDER, url + PURCHASES]),
        ("a health check (-I) of discovery", ["-I", url + "/.well-known/oob-authenticator"]),
        ("a look at the page", [url + "/"]),
    ]
    messages = []
    for what, words in calls:
        subprocess.run(["curl", "-sS", *words], check=True, capture_output=True, timeout=30)
        messages.append(http_request(what, recorder.requests[-1]))
    said = subprocess.run(["curl", "--version"], check=True, capture_output=True, text=True).stdout
    write("curl", said.split()[1], "C", "https://curl.se/", "Tests/Counterparts/libraries/record_http.py", messages)


def wget(recorder: Recorder):
    url = recorder.origin
    calls = [
        ("a health check (--spider) of the page: HEAD", ["--spider", url + "/"]),
        ("a health check of discovery", ["--spider", url + "/.well-known/oob-authenticator"]),
        ("discovery", [url + "/.well-known/oob-authenticator"]),
        ("an order", ["--header=Content-Type: application/json", f"--post-data={ORDER}", url + PURCHASES]),
    ]
    messages = []
    for what, words in calls:
        subprocess.run(["wget", "-q", "-O", "/dev/null", "--tries=1", *words], check=True, capture_output=True, timeout=30)
        messages.append(http_request(what, recorder.requests[-1]))
    said = subprocess.run(["wget", "--version"], check=True, capture_output=True, text=True).stdout
    write("wget", said.split()[2], "C", "https://www.gnu.org/software/wget/", "Tests/Counterparts/libraries/record_http.py", messages)


def java(recorder: Recorder):
    first = len(recorder.requests)
    subprocess.run(["java", Path(__file__).parent / "Calls.java", recorder.origin, PURCHASES], check=True,
                   capture_output=True, timeout=120)
    whats = ["an order by the default client, which offers HTTP/2 in clear (h2c)", "an order that waits to be told to go on",
             "a health check: HEAD", "a list, by the default client"]
    said = subprocess.run(["java", "-version"], check=True, capture_output=True, text=True).stderr
    write("java-httpclient", re.search(r'version "([^"]+)"', said)[1], "Java",
          "https://docs.oracle.com/en/java/javase/17/docs/api/java.net.http/java/net/http/HttpClient.html",
          "Tests/Counterparts/libraries/Calls.java, by record_http.py",
          [http_request(what, request) for what, request in zip(whats, recorder.requests[first:], strict=True)])


def pywebpush(recorder: Recorder):
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    from py_vapid import Vapid02
    from pywebpush import WebPusher

    endpoint = f"{recorder.origin}/push/{'A' * 43}"
    subscription = {"endpoint": endpoint, "keys": {
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}
    vapid = Vapid02()
    vapid.generate_keys()
    now = int(time.time())
    fields = vapid.sign({"aud": recorder.origin, "exp": now + 3_600, "sub": "mailto:push@issuer.example"})
    point = vapid.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    calls = [
        ("a hint, with the library's default coding", b"hint", {}, "taken", None),
        ("a hint with Topic and Urgency", b"hint", {"Topic": "t", "Urgency": "high"}, "taken", None),
        ("the longest message", b"x" * 3_993, {}, "taken", None),
        ("a push without a payload", None, {}, "taken", None),
        ("the older coding aesgcm, which the library still has", b"hint", {"coding": "aesgcm"}, "refused",
         "Content-Encoding must be sent once, as aes128gcm"),
    ]
    messages = []
    for what, data, more, outcome, reason in calls:
        more = dict(more)
        coding = more.pop("coding", "aes128gcm")
        answer = WebPusher(subscription).send(data, {**fields, **more}, ttl=60, content_encoding=coding, timeout=30)
        assert answer.status_code == 201, answer.text
        head, body = recorder.requests[-1]
        message = {"kind": "push", "what": what, "value": {
            "endpoint": endpoint, "vapidKey": encoded(point), "at": now, "head": head, "body": encoded(body)}, "outcome": outcome}
        messages.append(message if reason is None else {**message, "reason": reason})
    write("pywebpush", version("pywebpush"), "Python", "https://github.com/web-push-libs/pywebpush",
          "Tests/Counterparts/libraries/record_http.py", messages)


if __name__ == "__main__":
    recorder = Recorder()
    for record in [curl, wget, java, pywebpush]:
        record(recorder)
