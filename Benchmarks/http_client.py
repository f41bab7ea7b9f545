"""The least HTTP/1.1 that a load needs: what a client spends is spent on the cores that it measures."""

import json
import socket
from pathlib import Path
from urllib.parse import urlsplit


class Refused(Exception):
    """An answer that is an error."""


class Connection:
    """One connection that is kept, to a control socket (a path) or to a server (a URL)."""

    def __init__(self, place: Path | str, patience: float = 120):
        if isinstance(place, Path):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(patience)
            self.socket.connect(str(place))
        else:
            url = urlsplit(place)
            self.socket = socket.create_connection((url.hostname, url.port), patience)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")

    def call(self, method: str, path: str, body: dict | None = None) -> bytes:
        """The content of an answer that is no error."""
        self.send(method, path, b"" if body is None else json.dumps(body).encode())
        return self.answer()

    def json(self, method: str, path: str, body: dict | None = None):
        return json.loads(self.call(method, path, body) or b"null")

    def send(self, method: str, path: str, body: bytes = b"", fields: dict[str, str] | None = None):
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
