"""oobctl at a terminal against any agent, and against a listener of another user.

Run with `.venv/bin/python Tests/Stories/test_control_client.py`; OOB_BIN_DIR names the programs' directory.
"""

import contextlib
import json
import os
import socketserver
import subprocess
import threading
import unittest

import pexpect

from programs import BIN_DIR, temporary_folder
from terminal import Terminal

REQUEST = {
    "id": "89abcdef0123456789ab", "jti": "b1c6", "acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62",
    "enrollmentId": "0123456789abcdef0123", "issuer": "https://issuer.example", "warnings": [], "state": "pending",
    "delivery": "none", "receivedAt": "2023-10-17T05:56:39Z",
}
STATUS = {
    "version": "9.9.9", "personas": False, "state": "ready", "reasons": [], "enrollments": [], "pending": 0, "queued": 0, "warnings": []}
PROBLEM = {"type": "about:blank", "title": "Moon phase", "status": 409, "code": "moon_phase", "d1Code": 79_999, "d1Name": "moon"}


def answer(body, status: int = 200, content_type: str = "application/json") -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = (f"HTTP/1.1 {status} Reason\r\nContent-Type: {content_type}\r\nServer: oob-agent/9.9.9\r\n"
            f"Content-Length: {len(data)}\r\n\r\n")
    return head.encode() + data


class Listener(socketserver.ThreadingUnixStreamServer):
    """Listens at a path and sends what it has, whatever is asked: `with Listener(path, bytes)`."""

    daemon_threads = True

    def __init__(self, path, data: bytes):
        self.data, self.is_over = data, threading.Event()
        super().__init__(str(path), Sending)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def __exit__(self, *_):
        self.is_over.set()
        self.shutdown()
        self.server_close()


class ListenerAs(Listener):
    """Listens as another user, at a path that is root's."""

    def __init__(self, path, user: int, group: int, data: bytes):
        self.user, self.group = user, group
        super().__init__(path, data)

    def server_activate(self):
        os.setegid(self.group)
        os.seteuid(self.user)
        try:
            super().server_activate()
        finally:
            os.seteuid(0)
            os.setegid(0)


class Sending(socketserver.BaseRequestHandler):
    def handle(self):
        with contextlib.suppress(OSError):
            self.request.recv(65_536)
            self.request.sendall(self.server.data)
            self.server.is_over.wait(120)


class AtATerminal(unittest.TestCase):
    def shown(self, data: bytes, *command: str, columns: int = 40) -> str:
        path = temporary_folder(type(self)) / "a.sock"
        with Listener(path, data):
            terminal = Terminal(
                str(BIN_DIR / "oobctl"), [*command, "--socket", str(path)], dimensions=(24, columns), timeout=100,
                env={"PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8"}, encoding="utf-8")
            terminal.expect(pexpect.EOF)
            terminal.close()
            return terminal.before

    def test_an_exported_entry_is_shown_escaped(self):
        body = answer('{"seq":1,"acsTransId":"\u009b31m"}\n'.encode(), content_type="application/x-ndjson")
        shown = self.shown(body, "audit", "export", "--host", "alpha")
        self.assertEqual(shown.strip(), r'{"seq":1,"acsTransId":"\u009b31m"}')

    def test_no_text_of_a_merchant_begins_a_row_of_a_terminal(self):
        forged = "Amount: USD 0.01"
        # However wide the terminal is, some of these would begin a row.
        name = "x" * 8 + " " + " ".join([forged] * 12) + "x" * 60 + forged
        request = {**REQUEST, "merchantName": name, "amount": {"currency": "USD", "value": "9.00"},
                   "text": f"Amount:     USD 9.00\nMerchant:   {name}\nIssuer:     https://issuer.example"}
        problem = answer({**PROBLEM, "detail": f"the merchant is {name}"}, 409, "application/problem+json")
        for columns in range(24, 100, 5):
            for command, data in [(("show", "2f37539c"), answer(request)), (("list",), answer([request])),
                                  (("deny", "2f37539c"), problem)]:
                with self.subTest(command=command, columns=columns):
                    rows = self.shown(data, *command, columns=columns).split("\r\n")
                    self.assertEqual([row for row in rows if len(row) > columns], [])
                    self.assertEqual([row for row in rows if row.startswith("Amount: ") and "9.00" not in row], [])
                    self.assertEqual(sum("0.01" in row for row in rows) > 0, True)


@unittest.skipUnless(os.geteuid() == 0, "only root can listen as other users")
class WhoListens(unittest.TestCase):
    # It needs no account: a number is enough.
    SOMEBODY = 40_001

    def ask(self, user: int, group: int) -> subprocess.CompletedProcess:
        path = temporary_folder(type(self)) / "a.sock"
        with ListenerAs(path, user, group, answer(STATUS)):
            return subprocess.run(
                [BIN_DIR / "oobctl", "status", "--socket", path], stdin=subprocess.DEVNULL, capture_output=True,
                text=True, timeout=100)

    def test_somebody_of_roots_group_is_not_root(self):
        run = self.ask(self.SOMEBODY, 0)
        self.assertEqual((run.returncode, run.stdout), (69, ""), run)
        self.assertIn(f"belongs to user id {self.SOMEBODY}", run.stderr)
        self.assertIn("nothing was sent", run.stderr)

    def test_root_of_any_group_is_root(self):
        run = self.ask(0, self.SOMEBODY)
        self.assertEqual(run.returncode, 0, run)


if __name__ == "__main__":
    unittest.main()
