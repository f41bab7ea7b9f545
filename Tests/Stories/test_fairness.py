"""One user, or one sender, who asks for far too much: root's `status` and `approve` answer all the same.

Run with `.venv/bin/python Tests/Stories/test_fairness.py`; OOB_BIN_DIR names the programs' directory.
"""

import collections
import contextlib
import errno
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import push_campaign
from issuer import Issuer
from programs import BIN_DIR, Agent, Sandbox, free_port, started, temporary_folder
from pushing import PushingIssuer

# They need no account: a number is enough.
ALICE, BOB, GROUP = 40_001, 40_002, 40_100
PYTHON = os.path.realpath(sys.executable)
# Opens connections to a Unix socket, sends the same on each, and then: `answers` prints the status and `retry-after` of
# each answer, `hold` waits until its input ends, `cut` waits until the agent has closed them all.
CROWD = """
import json, socket, sys
path, count, sent, what = sys.argv[1], int(sys.argv[2]), sys.argv[3].encode(), sys.argv[4]
connections = []
for _ in range(count):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)  # Waits while the kernel takes no more, which it does not with a time limit.
    connection.settimeout(120)
    try:
        connection.sendall(sent)
    except BrokenPipeError:
        pass  # It was closed for another already.
    connections.append(connection)
def head(connection):
    bytes = b""
    try:
        while b"\\r\\n\\r\\n" not in bytes:
            piece = connection.recv(65536)
            if not piece:
                return None
            bytes += piece
    except ConnectionError:
        return None
    lines = bytes.split(b"\\r\\n\\r\\n")[0].decode().split("\\r\\n")
    fields = dict(line.lower().split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), fields.get("retry-after")
if what == "answers":
    print(json.dumps([head(connection) for connection in connections]), flush=True)
elif what == "hold":
    print("held", flush=True)
    sys.stdin.read()
else:
    for connection in connections:
        while head(connection) is not None:
            pass
    print("cut", flush=True)
"""
as_root = unittest.skipUnless(os.geteuid() == 0, "only root can become other users")


def request(method: str, path: str, body: dict | None = None) -> str:
    text = "" if body is None else json.dumps(body)
    kind = "content-type: application/json\r\n" if body is not None else ""
    return f"{method} /v1/{path} HTTP/1.1\r\nhost: agent\r\n{kind}content-length: {len(text)}\r\n\r\n{text}"


class WithAgent(unittest.TestCase):
    def start(self, *arguments: str) -> Agent:
        folder = temporary_folder(type(self))
        folder.chmod(0o711)
        self.agent = started(type(self), Agent(folder, *arguments))
        return self.agent

    def crowd(self, user: int, count: int, sent: str, what: str) -> subprocess.Popen:
        """A process of a user that does the above; it is gone after the test."""
        child = subprocess.Popen(
            [PYTHON, "-I", "-c", CROWD, str(self.agent.socket), str(count), sent, what], user=user, group=user,
            extra_groups=[GROUP], cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def end():
            child.kill()
            child.communicate()

        self.addCleanup(end)
        return child

    def answers(self, child: subprocess.Popen) -> list[tuple[int, str | None]]:
        """Those of a crowd; connections that were closed for others have none."""
        return [tuple(answer) for answer in json.loads(child.communicate(timeout=120)[0]) if answer is not None]

    def enrolled(self, issuer: Issuer, *options: str) -> dict:
        return self.agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(),
                               "--authn-type", "presence", *options)

    def expect_service(self, issuer: Issuer, card: dict):
        """Root is told how the agent is, and approves."""
        self.assertEqual(self.agent.json("status")["state"], "ready")
        asked = issuer.ask(card["authenticatorId"], issuer.transaction())
        shown = self.agent.json("approve", asked.transaction["acsTransId"], "--wait", "60")
        self.assertEqual((shown["state"], shown["transStatus"]), ("approved", "Y"))


@as_root
class Users(WithAgent):
    """Bob may look, Alice may decide."""

    def setUp(self):
        self.start("--socket-group", str(GROUP), "--may-decide", str(ALICE))
        self.issuer = self.enterContext(Issuer())

    def test_who_only_looks_cannot_hold_up_a_decision_with_answers_that_take_long(self):
        card = self.enrolled(self.issuer)
        self.expect_service(self.issuer, card)
        (row,) = self.agent.json("list", "--all")
        paths = ["audit/verify", f"requests/{row['id']}/evidence"]
        crowds = [self.crowd(BOB, 100, request("GET", path), "answers") for path in paths]
        readers = self.crowd(BOB, 50, request("GET", "events?since=0"), "hold")
        self.assertEqual(readers.stdout.readline(), "held\n")
        self.expect_service(self.issuer, card)
        answers = [answer for crowd in crowds for answer in self.answers(crowd)]
        self.assertEqual({status for status, _ in answers}, {200, 429})
        for status, pause in answers:
            self.assertEqual(pause is not None, status == 429)
        self.expect_service(self.issuer, card)
        self.assertEqual(self.agent.ctl("audit verify").returncode, 0)

    def test_commands_that_come_to_nothing_leave_no_entry_and_are_bounded(self):
        connection = http.client.HTTPConnection("agent", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(60)
        connection.sock.connect(str(self.agent.socket))
        statuses = []
        for _ in range(700):
            connection.request("POST", "/v1/push/rotate", b"{}", {"content-type": "application/json"})
            answer = connection.getresponse()
            problem = json.load(answer)
            statuses.append(answer.status)
        connection.close()
        self.assertEqual((statuses[0], set(statuses)), (400, {400, 429}))
        self.assertEqual(set(statuses[:600]), {400})
        if statuses[-1] == 429:
            self.assertEqual(problem["code"], "too_many_requests")
        run = self.agent.ctl("push rotate")
        self.assertIn(run.returncode, [1, 64], run.stderr)
        card = self.enrolled(self.issuer)
        for _ in range(2):
            self.assertEqual(self.agent.ctl("unenroll", card["id"], "--local", "--force").returncode, 0)
        entries = [json.loads(line) for line in self.agent.ctl("audit export").stdout.splitlines()]
        self.assertEqual(
            [each["command"] for each in entries if each["entry"] == "commanded"], ["enroll", "unenroll"])

    def test_ever_new_rotations_of_all_write_as_much_as_one_and_root_rotates_all_the_same(self):
        self.agent.stop()
        port = free_port()
        self.start("--socket-group", str(GROUP), "--may-decide", str(ALICE), "--push-listen", f"localhost:{port}",
                   "--push-url", f"http://localhost:{port}")
        issuer = self.enterContext(PushingIssuer())
        cards = [push_campaign.enrolled(self.agent, issuer) for _ in range(52)]
        before, puts = self.entries(), issuer.puts
        answers = []
        for _ in range(6):  # At most 16 calls of a process are under way.
            answers += self.answers(self.crowd(ALICE, 10, request("POST", "push/rotate", {}), "answers"))
        for card in cards[:4]:
            body = {"enrollment": card["id"]}
            answers += self.answers(self.crowd(ALICE, 2, request("POST", "push/rotate", body), "answers"))
        self.assertEqual(collections.Counter(status for status, _ in answers), {200: 1, 429: 67})
        for status, pause in answers:
            self.assertEqual(pause is not None, status == 429)
        # Of each: it is made, the issuer has it, and the old one is gone; and one entry tells who has commanded it.
        self.assertLessEqual(self.entries() - before, 3 * len(cards) + 1)
        self.assertLessEqual(issuer.puts - puts, len(cards))
        self.assertEqual(self.agent.json("push rotate"), {"open": []})
        self.assertEqual(self.agent.json("push rotate", cards[0]["id"]), {"open": []})

    def entries(self) -> int:
        """How many the journal has."""
        return len(self.agent.ctl("audit export").stdout.splitlines())

    def test_a_user_with_hundreds_of_enrolls_under_way_keeps_nobody_from_his_own(self):
        stolen, card = self.enrolled(self.issuer), self.enrolled(self.issuer)
        silent = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        body = {"issuer": f"http://localhost:{silent.getsockname()[1]}", "code": "AAAA-AAAA"}
        crowds = [self.crowd(ALICE, 16, request("POST", "enrollments", body), "hold") for _ in range(20)]
        for crowd in crowds:
            self.assertEqual(crowd.stdout.readline(), "held\n")
        silent.settimeout(60)
        self.enterContext(silent.accept()[0])  # So a call is under way.
        refused = self.answers(self.crowd(ALICE, 80, request("POST", "fetch", {}), "answers"))
        self.assertLessEqual({status for status, _ in refused}, {200, 429})
        self.enrolled(self.issuer)
        self.assertEqual(self.agent.ctl("fetch").returncode, 0)
        run = subprocess.run(
            [BIN_DIR / "oobctl", "unenroll", stolen["id"], "--local", "--force", "--socket", self.agent.socket],
            user=ALICE, group=ALICE, extra_groups=[GROUP], cwd="/", capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.expect_service(self.issuer, card)
        self.assertEqual(self.agent.ctl("unenroll", card["id"]).returncode, 0)

    def test_strangers_at_a_socket_that_was_widened_are_cut_and_hold_no_place(self):
        self.agent.stop()
        self.start()  # For no group.
        self.agent.socket.chmod(0o666)
        for sent in ["", request("GET", "status")]:
            crowd = self.crowd(BOB, 300, sent, "cut")  # There are 256 places.
            self.assertEqual(self.agent.json("status")["state"], "ready")
            self.assertEqual(crowd.stdout.readline(), "cut\n")
        self.assertNotIn("all places on the control socket were taken", self.agent.log.read_text())
        ((status, _),) = self.answers(self.crowd(BOB, 1, request("GET", "status"), "answers"))
        self.assertEqual(status, 403)


@as_root
class SomebodyElsesSocket(unittest.TestCase):
    LISTENER = """
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("listening", flush=True)
connection = listener.accept()[0]
print(len(connection.recv(65536)), flush=True)
"""

    def test_who_listens_is_asked_of_the_connection_before_anything_is_sent(self):
        folder = temporary_folder(type(self))
        folder.chmod(0o777)
        path = folder / "control.sock"
        listener = subprocess.Popen(
            [PYTHON, "-I", "-c", self.LISTENER, str(path)], user=BOB, group=BOB, extra_groups=[], cwd="/",
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(listener.communicate)
        self.addCleanup(listener.kill)
        self.assertEqual(listener.stdout.readline(), "listening\n")
        os.chown(path, 0, 0)  # What stands there is root's, as far as a look tells.
        run = subprocess.run(
            [BIN_DIR / "oobctl", "status", "--socket", path], capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 69, run.stderr)
        self.assertIn(f"belongs to user id {BOB}", run.stderr)
        self.assertEqual(listener.stdout.readline(), "0\n")


class Connections(WithAgent):
    def connected(self, blocking: bool = True) -> socket.socket | None:
        """Nil if the kernel takes no more."""
        connection = self.enterContext(socket.socket(socket.AF_UNIX))
        connection.setblocking(blocking)
        try:
            connection.connect(str(self.agent.socket))
        except BlockingIOError as error:
            self.assertEqual(error.errno, errno.EAGAIN)
            return None
        return connection

    def test_half_open_connections_keep_nobody_out(self):
        self.start()
        with Issuer() as issuer:
            card = self.enrolled(issuer)
            for _ in range(3):
                for _ in range(540):
                    with contextlib.suppress(BrokenPipeError):
                        self.connected().sendall(b"GET /v1/sta")
                self.expect_service(issuer, card)

    def test_an_agent_that_is_stopped_keeps_its_socket_and_clients_are_told_that_it_is_full(self):
        agent = self.start()
        self.addCleanup(agent.process.send_signal, signal.SIGCONT)
        agent.process.send_signal(signal.SIGSTOP)
        # Until the kernel says that it is stopped, it may still take connections.
        os.waitid(os.P_PID, agent.process.pid, os.WSTOPPED)
        while self.connected(blocking=False) is not None:
            pass
        file = agent.socket.stat().st_ino
        folder = temporary_folder(type(self))
        second = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", folder / "state", "--socket", agent.socket], capture_output=True,
            text=True, timeout=120)
        self.assertEqual(second.returncode, 69, second.stderr)
        self.assertIn("another process listens on the control socket", second.stderr)
        self.assertEqual(agent.socket.stat().st_ino, file)
        run = agent.ctl("status")
        self.assertEqual(run.returncode, 69, run.stderr)
        self.assertIn("too many wait already", run.stderr)
        agent.process.send_signal(signal.SIGCONT)
        self.assertEqual(agent.json("status")["state"], "ready")


class Senders(unittest.TestCase):
    PLACES, PEERS = 256, 300

    def test_who_trickles_on_many_connections_keeps_no_push_out(self):
        agent = started(type(self), push_campaign.receiving(
            temporary_folder(type(self))))
        with PushingIssuer() as issuer:
            issuer.holds_polls = True
            card = push_campaign.enrolled(agent, issuer)
            subscription = issuer.subscriptions[card["authenticatorId"]]
            url = urlsplit(subscription["endpoint"])
            for round_ in range(3):
                for _ in range(self.PEERS):
                    peer = self.enterContext(socket.create_connection((url.hostname, url.port), 60))
                    with contextlib.suppress(ConnectionError):
                        peer.sendall(b"POST /push/x HTTP/1.1\r\nHost: x\r\n")
                self.assertEqual(issuer.push(subscription, b"hint").status_code, 201)
                self.assertEqual(agent.json("status")["state"], "ready")
            figures = self.figures(agent.socket)
            cut = [figures[f'oob_agent_push_connections_cut_total{{reason="{reason}"}}'] for reason in ("slow", "crowded")]
            self.assertGreater(sum(cut), 3 * self.PEERS - self.PLACES - 2)
            self.assertLessEqual(figures["oob_agent_push_connections"], self.PLACES)

    @staticmethod
    def figures(path: Path) -> dict[str, int]:
        connection = http.client.HTTPConnection("agent", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(path))
        connection.request("GET", "/v1/metrics")
        with contextlib.closing(connection):
            lines = connection.getresponse().read().decode().splitlines()
        return {name: int(number) for name, number in
                (line.rsplit(" ", 1) for line in lines if line.startswith("oob_agent_push_connections"))}


class Sandboxes(unittest.TestCase):
    """Half of 128 files are for connections."""
    FILES = 128
    COUNT = 400

    def test_who_holds_many_connections_to_the_sandbox_keeps_nobody_else_out(self):
        sandbox = started(type(self), Sandbox(
            temporary_folder(type(self)), through=("sh", "-c", f'ulimit -n {self.FILES}; exec "$@"', "sh")))
        url = urlsplit(sandbox.origin)
        for _ in range(3):
            held = []
            for number in range(self.COUNT):
                peer = self.enterContext(socket.create_connection((url.hostname, url.port), 60))
                with contextlib.suppress(ConnectionError):
                    peer.sendall(b"" if number % 2 else b"POST /sandbox/purchases HTTP/1.1\r\nHost: x\r\n")
                held.append(peer)
            with urllib.request.urlopen(f"{sandbox.origin}/.well-known/oob-authenticator", timeout=60) as answer:
                self.assertEqual(answer.status, 200)
            for peer in held[:self.COUNT - self.FILES]:  # These had to go for others.
                with contextlib.suppress(ConnectionError):
                    self.assertEqual(peer.recv(1), b"")
            for peer in held:
                peer.close()


if __name__ == "__main__":
    unittest.main()
