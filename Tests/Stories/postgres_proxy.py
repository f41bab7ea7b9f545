"""A way to a PostgreSQL's socket that can be cut at a commit, before the server has it or after it has answered."""

import contextlib
import shutil
import socket
import struct
import tempfile
import threading
from pathlib import Path

WITHIN = 60


class PostgresProxy:
    """Forwards between a socket of its own and a server's, and knows PostgreSQL's messages (its manual, 55.7).

    `cut_at` is part of a statement: the next commit of a database transaction with such a statement is cut once, `before`
    the server gets it or `after` it has answered. While `is_closed` is set nobody gets through.
    """

    def __init__(self, server: Path):
        self.folder = Path(tempfile.mkdtemp(prefix="oob-way-", dir="/tmp"))
        self.folder.chmod(0o755)
        self.server = server / ".s.PGSQL.5432"
        self.cut_at, self.moment, self.is_closed = None, None, False
        self.was_cut = threading.Event()
        # Of each database transaction: how often its client waited for an answer, and its statements.
        self.ended: list[tuple[int, list[bytes]]] = []
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / ".s.PGSQL.5432"))
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def remove(self):
        self.listener.close()
        shutil.rmtree(self.folder)

    def arm(self, statement: str, moment: str, closes: bool = False):
        with self.lock:
            self.cut_at, self.moment, self.closes = statement.encode(), moment, closes
            self.was_cut.clear()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.connect, args=[client], daemon=True).start()

    def connect(self, client: socket.socket):
        with client, socket.socket(socket.AF_UNIX) as server:
            if self.is_closed:
                return
            answered = threading.Event()
            answers = threading.Thread(target=self.answer, args=[server, client, answered], daemon=True)
            try:
                server.connect(str(self.server))
                answers.start()
                self.forward(client, server, answered)
            except OSError:
                pass
            for end in [client, server]:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            if answers.ident is not None:
                answers.join(WITHIN)

    @staticmethod
    def answer(server: socket.socket, client: socket.socket, answered: threading.Event):
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                answered.set()
                with contextlib.suppress(OSError):
                    client.sendall(data)
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def exactly(source: socket.socket, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = source.recv(count - len(data))
            if not piece:
                raise OSError("ended")
            data += piece
        return data

    def forward(self, client: socket.socket, server: socket.socket, answered: threading.Event):
        # The first message has no type.
        length = self.exactly(client, 4)
        server.sendall(length + self.exactly(client, struct.unpack("!I", length)[0] - 4))
        statements: dict[bytes, bytes] = {}
        batch, seen, count = b"", [], 0
        while True:
            head = self.exactly(client, 5)
            body = self.exactly(client, struct.unpack("!I", head[1:])[0] - 4)
            if head[:1] == b"P":
                name, text = body.split(b"\0", 2)[:2]
                statements[name] = text
            elif head[:1] == b"B":
                seen.append(statements.get(body.split(b"\0", 2)[1], b""))
            batch += head + body
            if head[:1] != b"S":
                continue
            if self.cuts(seen):
                self.is_closed = self.closes
                self.was_cut.set()
                if self.moment == "after":
                    # The server answers, and that no longer reaches the client.
                    client.shutdown(socket.SHUT_RDWR)
                    answered.clear()
                    server.sendall(batch)
                    answered.wait(WITHIN)
                return
            server.sendall(batch)
            batch, count = b"", count + 1
            if b"COMMIT" in seen or b"ROLLBACK" in seen:
                self.ended.append((count, seen))
                seen, count = [], 0

    def cuts(self, seen: list[bytes]) -> bool:
        with self.lock:
            hits = self.cut_at is not None and b"COMMIT" in seen and any(self.cut_at in text for text in seen)
            if hits:
                self.cut_at = None
            return hits
