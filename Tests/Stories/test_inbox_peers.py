"""oob-inbox and the other users of its machine, who connect to it with all that they could have stolen.

Run with `.venv/bin/python Tests/Stories/test_inbox_peers.py`; OOB_BIN_DIR names the programs' directory. Other users
need no account: a number is enough, but only root can become them.
"""

import os
import socket
import subprocess
import sys
import unittest
import urllib.parse
from pathlib import Path

from inbox_scene import WITHIN, Inbox, Scene
from programs import Program, temporary_folder

STRANGER, PROXY = 40_004, 40_005
# Connects from a port of its own, sends what standard input has, and prints all that comes back.
CLIENT = """
import os, socket, sys
family, host, port, kind = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
connection = socket.socket(family, socket.SOCK_STREAM, kind)
connection.settimeout(60)
connection.connect(host if family == socket.AF_UNIX else (host, port))
try:
    connection.sendall(sys.stdin.buffer.read())
    if sys.argv[5] == "close":
        sys.exit(0)
    while piece := connection.recv(65536):
        sys.stdout.buffer.write(piece)
except (BrokenPipeError, ConnectionResetError):
    pass
"""
MPTCP = 262


def through(user: int) -> list[str]:
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]


def said(user: int, request: bytes, host: str, port: int = 0, family: int = socket.AF_INET, kind: int = 0,
         end: str = "read") -> str:
    """What a user gets for some bytes."""
    run = subprocess.run([*through(user), sys.executable, "-c", CLIENT, str(int(family)), host, str(port), str(kind), end],
                         input=request, capture_output=True, timeout=WITHIN)
    assert run.returncode == 0, run.stderr
    return run.stdout.decode()


class Peers(Scene):
    def request(self, method: str, path: str, body: str = "", **fields: str) -> bytes:
        fields = {"Host": f"127.0.0.1:{self.inbox.port}", "Connection": "close", "Content-Length": str(len(body)), **fields}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n{body}".encode()

    def decision(self, cookie: str, request: str) -> bytes:
        body = urllib.parse.urlencode({**self.form(cookie, request), "decision": "approve"})
        return self.request("POST", f"/requests/{request}/decide", body, Cookie=cookie, Origin=self.inbox.origin)


class TheOtherAddressOfLocalhost(Peers):
    """A page of another listener at `localhost` would be one of the inbox's own origin."""

    def test_while_the_inbox_runs_nobody_listens_there(self):
        with socket.socket(socket.AF_INET6) as other, self.assertRaises(OSError):
            other.bind(("::1", self.inbox.port))

    def test_if_somebody_listens_there_the_name_localhost_is_refused(self):
        with socket.socket(socket.AF_INET6) as other:
            other.bind(("::1", 0))
            port = other.getsockname()[1]
            inbox = Inbox(temporary_folder(type(self)), self.agent, "--listen", f"127.0.0.1:{port}")
            self.addCleanup(inbox.stop)
            link = inbox.link.removeprefix(inbox.origin)
            self.assertEqual(inbox.call("GET", link, Host=f"localhost:{port}").status, 403)
            self.assertEqual(inbox.call("GET", link, Host=f"127.0.0.1:{port}").status, 200)
            self.assertIn("the name localhost is refused", inbox.log.read_text())


@unittest.skipUnless(os.geteuid() == 0, "only root can become other users")
class AStranger(Peers):
    def test_a_stranger_with_a_stolen_cookie_and_form_token_approves_nothing(self):
        request, cookie = self.purchase("Not Stolen")["id"], self.inbox.entered()
        for kind in [0, MPTCP]:
            for bytes_ in [self.request("GET", f"/requests/{request}", Cookie=cookie), self.decision(cookie, request),
                           self.request("GET", self.inbox.next_link().removeprefix(self.inbox.origin)), b"", b"\x16\x03\x01"]:
                try:
                    answer = said(STRANGER, bytes_, "127.0.0.1", self.inbox.port, kind=kind)
                except AssertionError as error:
                    if kind == MPTCP and "not supported" in str(error) or "not available" in str(error):
                        continue  # A kernel without MPTCP.
                    raise
                self.assertTrue(answer.startswith("HTTP/1.1 403 Forbidden\r\n"), answer[:80])
                self.assertIn("another user", answer)
                self.assertIn("--allow-peer USER", answer)
                self.assertNotIn("Not Stolen", answer)
                self.assertLess(len(answer), 16_384)
        self.assertEqual(self.state(request), "pending")
        # Its own user has the same in its hands, and may.
        self.assertEqual(self.decide(cookie, request, "approve").status, 303)

    def test_who_sends_a_decision_and_is_gone_before_anybody_looks_decides_nothing(self):
        # The kernel calls a socket that no process holds root's.
        request, cookie = self.purchase("Hit And Run")["id"], self.inbox.entered()
        decision = self.decision(cookie, request)
        for _ in range(20):
            said(STRANGER, decision, "127.0.0.1", self.inbox.port, end="close")
        self.inbox.entered()
        self.assertEqual(self.state(request), "pending")

    def test_on_ipv6_the_same_holds(self):
        inbox = Inbox(temporary_folder(self), self.agent, "--listen", "[::1]:0")
        self.addCleanup(inbox.stop)
        self.assertRegex(inbox.link, r"^http://\[::1\]:\d+/enter")
        request = self.request("GET", "/", Host=f"[::1]:{inbox.port}")
        self.assertIn("another user", said(STRANGER, request, "::1", inbox.port, socket.AF_INET6))
        self.assertIn("A link opens this page", said(0, request, "::1", inbox.port, socket.AF_INET6))

    def test_the_inboxs_own_user_and_root_are_answered_and_a_named_one(self):
        self.folder.chmod(0o711)
        for options, answered in [((), [STRANGER, 0]), (("--allow-peer", str(PROXY), "--allow-peer", "daemon"), [STRANGER, 0, PROXY, 1])]:
            folder = temporary_folder(self)
            folder.chmod(0o777)
            inbox = Inbox(folder, self.agent, *options, through=tuple(through(STRANGER)))
            self.addCleanup(inbox.stop)
            for user in [0, 1, STRANGER, PROXY, 40_006]:
                answer = said(user, self.request("GET", "/"), "127.0.0.1", inbox.port)
                self.assertIn("A link opens this page" if user in answered else "another user", answer, user)

    def test_many_connections_of_a_stranger_keep_the_owner_from_nothing(self):
        # Of a program of its own, so that its thousand files are not this test's.
        flood = subprocess.Popen(
            [*through(STRANGER), sys.executable, "-c", f"""
import socket, sys
print("begun", flush=True)
held = []
while True:
    try:
        connection = socket.create_connection(("127.0.0.1", {self.inbox.port}), 5)
        connection.sendall(b"GET / HTTP/1.1\\r\\nHost: ")
        held.append(connection)
    except OSError:
        pass
    if len(held) > 200:
        held.pop(0).close()
"""], stdout=subprocess.PIPE)
        self.addCleanup(flood.wait)
        self.addCleanup(flood.kill)
        self.addCleanup(flood.stdout.close)
        self.assertEqual(flood.stdout.readline(), b"begun\n")
        cookie = self.inbox.entered()
        for _ in range(20):
            self.assertEqual(self.inbox.call("GET", "/?q=nothing-like-it", cookie=cookie).status, 200)
        # Sixteen strangers stand, and no more; the listening socket, the agent and the browser are a few more.
        held = len(list(Path(f"/proc/{self.inbox.process.pid}/fd").iterdir()))
        self.assertLess(held, 16 + 64)

    def test_one_line_a_minute_tells_whose_connections_were_refused(self):
        folder = temporary_folder(self)
        inbox = Inbox(folder, self.agent)
        self.addCleanup(inbox.stop)
        for _ in range(5):
            said(STRANGER, b"", "127.0.0.1", inbox.port)
        lines = [line for line in inbox.log.read_text().splitlines() if "was refused" in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(str(STRANGER), lines[0])

    def test_on_a_unix_socket_the_peer_is_asked_for_too(self):
        folder = temporary_folder(self)
        folder.chmod(0o711)
        path = folder / "inbox.sock"
        program = Program(folder, "oob-inbox", "--listen-socket", str(path), "--public-url", "https://inbox.example",
                          "--allow-peer", str(PROXY), "--socket", str(self.agent.socket))
        self.addCleanup(program.stop)
        self.assertRegex(program.process.stdout.readline(), r"^https://inbox\.example/enter")
        path.chmod(0o777)
        request = self.request("GET", "/", Host="inbox.example")
        for user, words in [(STRANGER, "another user"), (PROXY, "A link opens this page"), (0, "A link opens this page")]:
            self.assertIn(words, said(user, request, str(path), family=socket.AF_UNIX))

    def test_any_lets_everybody_in_with_a_warning_and_by_no_other_name(self):
        folder = temporary_folder(self)
        inbox = Inbox(folder, self.agent, "--listen", "0.0.0.0:0", "--allow-peer", "any")
        self.addCleanup(inbox.stop)
        self.assertRegex(inbox.link, r"^http://127\.0\.0\.1:\d+/enter")
        self.assertIn("warning: --allow-peer any: whoever can connect to 0.0.0.0:0 is answered", inbox.log.read_text())
        for host, words in [("localhost:9000", "A link opens this page"), ("evil.example", "not the inbox"),
                            (f"172.17.0.2:{inbox.port}", "not the inbox")]:
            self.assertIn(words, said(STRANGER, self.request("GET", "/", Host=host), "127.0.0.1", inbox.port))


class AContainer(Peers):
    def test_beyond_the_loopback_the_public_urls_name_is_answered_too(self):
        inbox = Inbox(temporary_folder(self), self.agent, "--listen", "0.0.0.0:0", "--allow-peer", "any",
                      "--public-url", "https://inbox.example")
        self.addCleanup(inbox.stop)
        self.assertRegex(inbox.link, r"^https://inbox\.example/enter\?token=[\w-]{43}$")


if __name__ == "__main__":
    unittest.main()
