"""The least HTTP/1.1 that a load needs: what a client spends is spent on the cores that it measures."""

import json
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit


class Refused(Exception):
    """An answer that is an error."""


class Connection:
    """One connection that is kept, to a control socket (a path) or to a server (a URL).

    The agent closes a connection to its control socket that is idle for ten seconds: another one takes its place.
    """

    IDLE = 5

    def __init__(self, place: Path | str, patience: float = 120):
        self.place, self.patience = place, patience
        self.open()

    def open(self):
        if isinstance(self.place, Path):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(self.patience)
            self.socket.connect(str(self.place))
        else:
            url = urlsplit(self.place)
            self.socket = socket.create_connection((url.hostname, url.port), self.patience)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")
        self.used = time.monotonic()

    def call(self, method: str, path: str, body: dict | None = None) -> bytes:
        """The content of an answer that is no error."""
        self.send(method, path, b"" if body is None else json.dumps(body).encode())
        return self.answer()

    def json(self, method: str, path: str, body: dict | None = None):
        return json.loads(self.call(method, path, body) or b"null")

    def send(self, method: str, path: str, body: bytes = b"", fields: dict[str, str] | None = None):
        if isinstance(self.place, Path) and time.monotonic() - self.used > self.IDLE:
            self.close()
            self.open()
        lines = {"Host": "agent", "Content-Type": "application/json", **(fields or {}), "Content-Length": len(body)}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)

    def answer(self) -> bytes:
        status, content = self.any_answer()
        if status >= 400:
            raise Refused(f"{status}: {content.decode(errors='replace')}")
        return content

    def any_answer(self) -> tuple[int, bytes]:
        """Also one that is an error."""
        status, fields = self.head()
        content = b"".join(self.chunks()) if "transfer-encoding" in fields else \
            self.input.read(int(fields.get("content-length", 0)))
        self.used = time.monotonic()
        return status, content

    def head(self) -> tuple[int, dict[str, str]]:
        line = self.input.readline()
        if not line:
            raise Refused("the connection was closed")
        fields = {}
        while (field := self.input.readline()) not in (b"\r\n", b""):
            name, _, value = field.decode().partition(":")
            fields[name.lower()] = value.strip()
        return int(line.split()[1]), fields

    def chunks(self):
        while size := int(self.input.readline().split(b";")[0], 16):
            yield self.input.read(size)
            self.input.readline()
        self.input.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.input.close()
        self.socket.close()
