"""An issuer that takes every registration, and answers polls as badly as a test wants.

It has no batch fetch, so each enrollment polls alone. It runs on a thread of its own, from the standard library alone.
"""

import asyncio
import json
import resource
import secrets
import threading
import time
from urllib.parse import parse_qs, urlsplit

from programs import READY_WITHIN, free_port

# The base point of P-256: a key that nobody needs to sign with here.
KEY = {"kty": "EC", "crv": "P-256", "kid": "k", "alg": "ES256", "use": "sig",
       "x": "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY", "y": "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"}


class HungryIssuer:
    """`with HungryIssuer(polls) as issuer`; `polls(writer, wait)` answers one poll, and may do so for as long as it likes."""

    def __init__(self, polls):
        self.polls = polls
        self.polled: dict[str, list[float]] = {}
        self.loop = asyncio.new_event_loop()
        # Each connection is a file here too.
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    def __enter__(self):
        started = threading.Event()

        async def serve():
            port = free_port()
            self.origin = f"http://localhost:{port}"
            # A name of loopback may lead to either address.
            self.servers = [await asyncio.start_server(self.connection, address, port, backlog=4096)
                            for address in ["127.0.0.1", "::1"]]
            started.set()

        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        asyncio.run_coroutine_threadsafe(serve(), self.loop)
        if not started.wait(READY_WITHIN):
            raise AssertionError("the issuer does not listen")
        return self

    def __exit__(self, *_):
        """It goes with the test's process: whatever it holds back is held until then."""

    async def connection(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, target, _ = head[0].split(" ")
                fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:] if line)}
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                await self.answer(writer, method, urlsplit(target), fields, body)
                await writer.drain()
                if fields.get("connection") == "close":
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, writer, method, url, fields, body):
        if url.path == "/v1/authn-requests":
            token = fields["authorization"]
            self.polled.setdefault(token, []).append(time.monotonic())
            return await self.polls(writer, int(parse_qs(url.query)["wait"][0]))
        if url.path == "/v1/enrollments":
            return send(writer, 201, {
                "authenticatorId": secrets.token_urlsafe(12), "accessToken": secrets.token_urlsafe(32)})
        send(writer, 200, {
            "/.well-known/oob-authenticator": self.discovery(), "/jwks.json": {"keys": [KEY]},
            "/v1/enrollment-options": self.options()}[url.path])

    def discovery(self) -> dict:
        return {
            "issuer": self.origin, "protocolVersions": [1], "jwksUri": f"{self.origin}/jwks.json",
            "enrollmentOptionsEndpoint": f"{self.origin}/v1/enrollment-options",
            "enrollmentsEndpoint": f"{self.origin}/v1/enrollments",
            "authnRequestsEndpoint": f"{self.origin}/v1/authn-requests",
            "authenticatorEndpoint": f"{self.origin}/v1/authenticator"}

    @staticmethod
    def options() -> dict:
        return {
            "ceremonyId": secrets.token_urlsafe(16),
            "publicKey": {
                "rp": {"id": "localhost", "name": "Hungry issuer"},
                "user": {"id": secrets.token_urlsafe(16), "name": "cardholder", "displayName": "A. Cardholder"},
                "challenge": secrets.token_urlsafe(32), "pubKeyCredParams": [{"type": "public-key", "alg": -7}],
                "excludeCredentials": [], "authenticatorSelection": {"userVerification": "preferred"},
                "attestation": "none", "timeout": 60_000}}


def send(writer, status: int, body: dict):
    content = json.dumps(body).encode()
    writer.write(f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
                 f"Content-Length: {len(content)}\r\n\r\n".encode() + content)


async def drip(writer, wait: int):
    """A list of 2 MiB less one byte, and then nothing."""
    size = 2_097_151
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                 b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % 2_097_152 + b" " * size)
    await writer.drain()
    await asyncio.sleep(600)


async def swell(writer, wait: int):
    """Header fields without an end."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"x-%s: %s\r\n" % (secrets.token_hex(8).encode(), b"y" * 8_000))
        await writer.drain()
        await asyncio.sleep(0.05)


async def hold(writer, wait: int):
    """Nothing new, after the whole wait."""
    await asyncio.sleep(wait)
    send(writer, 200, {"requests": [], "cursor": "0"})


async def hold_shortly(writer, wait: int):
    """Nothing new, after five seconds at most."""
    await asyncio.sleep(min(wait, 5))
    send(writer, 200, {"requests": [], "cursor": "0"})
