"""oobctl against what is no agent, or an agent that it does not know: nothing hangs, and it says what is there.

Run with `.venv/bin/python Tests/Stories/test_control_client.py`; OOB_BIN_DIR names the programs' directory.
"""

import contextlib
import itertools
import json
import os
import resource
import socketserver
import subprocess
import threading
import unittest

import pexpect

from programs import BIN_DIR, IS_SANITIZED, temporary_folder
from terminal import Terminal

REQUEST = {
    "id": "89abcdef0123456789ab", "jti": "b1c6", "acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62",
    "enrollmentId": "0123456789abcdef0123", "issuer": "https://issuer.example", "warnings": [], "state": "pending",
    "delivery": "none", "receivedAt": "2023-10-17T05:56:39Z",
}
STATUS = {
    "version": "9.9.9", "personas": False, "state": "ready", "reasons": [], "enrollments": [], "pending": 0, "queued": 0, "warnings": []}
PROBLEM = {"type": "about:blank", "title": "Moon phase", "status": 409, "detail": "the moon is new",
           "code": "moon_phase", "d1Code": 79_999, "d1Name": "moon", "later": True}


def answer(body, status: int = 200, content_type: str = "application/json", server: str = "oob-agent/9.9.9") -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = (f"HTTP/1.1 {status} Reason\r\nContent-Type: {content_type}\r\nServer: {server}\r\n"
            f"Content-Length: {len(data)}\r\n\r\n")
    return head.encode() + data


class Listener(socketserver.ThreadingUnixStreamServer):
    """Listens at a path and sends what it has, whatever is asked: `with Listener(path, bytes)`."""

    daemon_threads = True

    def __init__(self, path, *pieces, ends: bool = False):
        """It sends the pieces, and hangs up after them only if `ends`."""
        self.pieces, self.ends, self.is_over = pieces, ends, threading.Event()
        super().__init__(str(path), Sending)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def __exit__(self, *_):
        self.is_over.set()
        self.shutdown()
        self.server_close()


class ListenerAs(Listener):
    """Listens as another user, at a path that is root's."""

    def __init__(self, path, user: int, group: int, *pieces):
        self.user, self.group = user, group
        super().__init__(path, *pieces)

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
            for piece in itertools.chain.from_iterable(
                    [each] if isinstance(each, bytes) else each for each in self.server.pieces):
                self.request.sendall(piece)
            if not self.server.ends:
                self.server.is_over.wait(120)


class InTurn(Listener):
    """Sends each client the next of what it has, and hangs up."""

    def __init__(self, path, *answers: bytes):
        self.answers = iter(answers)
        super().__init__(path, ends=True)

    def process_request_thread(self, request, client_address):
        self.pieces = [next(self.answers, b"")]
        super().process_request_thread(request, client_address)


def little_memory():
    """A client that keeps what has no end would fail for want of memory."""
    if not IS_SANITIZED:  # AddressSanitizer reserves terabytes.
        resource.setrlimit(resource.RLIMIT_DATA, (512 << 20, 512 << 20))


class TheClient(unittest.TestCase):
    def run_against(self, *pieces, command=("status",), ends: bool = False) -> subprocess.CompletedProcess:
        path = temporary_folder(type(self)) / "a.sock"
        with Listener(path, *pieces, ends=ends):
            return subprocess.run(
                [BIN_DIR / "oobctl", *command, "--socket", path], stdin=subprocess.DEVNULL, capture_output=True,
                text=True, timeout=100, preexec_fn=little_memory)

    def expect(self, status: int, words: str, *pieces, **how):
        run = self.run_against(*pieces, **how)
        self.assertEqual(run.returncode, status, run)
        self.assertIn(words, run.stderr)
        self.assertEqual((run.stdout, run.stderr.count("\n")), ("", 1), run)

    def test_another_http_server_is_no_agent(self):
        for bytes in [answer(b"<html>", content_type="text/html"), answer(b"no", 404, "text/plain"),
                       b"HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"]:
            self.expect(69, "did not answer as an oob-agent does", bytes)

    def test_what_speaks_no_http_is_no_agent(self):
        self.expect(69, "is no oob-agent", b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
        self.expect(69, "is no oob-agent", b"\x16\x03\x01\x02\x00" + bytes(range(256)))

    def test_headers_without_end_are_given_up(self):
        lines = itertools.repeat(b"X-Filler: " + b"y" * 1_000 + b"\r\n")
        self.expect(69, "is no oob-agent", b"HTTP/1.1 200 OK\r\n", lines)

    def test_a_body_without_end_is_given_up(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
        self.expect(1, "more than 8 MiB", head, itertools.repeat(b"[" * 65_536))

    def test_a_listener_that_says_nothing_is_waited_for_15_seconds(self):
        self.expect(1, "did not answer within 15 s", command=("list",))

    def test_an_answer_that_is_cut_off_is_no_success(self):
        whole = answer(STATUS)
        for length in [0, 10, len(whole) - len(json.dumps(STATUS)) + 20, len(whole) - 1]:
            self.expect(1, "ended before its answer", whole[:length], ends=True)
        self.expect(1, "could not be read", answer(json.dumps(STATUS).encode()[:-1]))
        approve = ("approve", "2f37539c")
        for cut in [answer(json.dumps(REQUEST).encode()[:-1]), whole[:0], whole[:10]]:
            self.expect(11, "It is not known whether it was approved. Nothing is decided after", cut, command=approve,
                        ends=True)

    def test_an_agent_of_a_newer_version_is_understood_as_far_as_it_goes(self):
        run = self.run_against(answer({**STATUS, "later": {"a": 1}}), command=("status", "--json"))
        self.assertEqual((run.returncode, json.loads(run.stdout)), (0, STATUS))
        for status, body, command in [
                (1, {**STATUS, "state": "hibernating"}, ("status",)), (1, [{**REQUEST, "state": "parked"}], ("list",)),
                (11, {**REQUEST, "delivery": "by pigeon"}, ("approve", "2f37539c")), (1, {}, ("status",))]:
            words = "The answer of the agent, which is oob-agent/9.9.9, could not be read"
            self.expect(status, words, answer(body), command=command)
        problem = answer(PROBLEM, 409, "application/problem+json")
        self.expect(1, "the moon is new", problem, command=("approve", "2f37539c"))

    def test_an_erasure_is_said_to_be_done_once_the_agent_says_so(self):
        for members, status, words in [
                ({"erased": True}, 0, "Its personal data is erased."),
                ({"erased": False}, 75, "not all erased yet"), ({}, 75, "not all erased yet")]:
            ended = {"id": "0123456789abcdef0123", "unenrolled": True, "wasEnrolled": True, **members}
            run = self.run_against(answer(ended), command=("unenroll", "kitchen", "--erase"))
            self.assertEqual(run.returncode, status, run)
            self.assertIn(words, run.stderr)

    def test_what_a_version_says_of_itself_does_no_harm_at_a_terminal(self):
        run = self.run_against(answer({}, server="\u009b31m" + "x" * 10_000))
        self.assertEqual(run.returncode, 1)
        self.assertNotIn("\u009b", run.stderr)
        self.assertLess(len(run.stderr), 500)

    def test_events_that_are_not_known_are_told_and_those_that_cannot_be_read_are_said(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        known = {"event": "moonrise", "seq": 18, "at": "2023-10-17T05:56:41Z", "later": 1}
        unknown = {**known, "event": "requestParked", "request": {**REQUEST, "state": "parked"}}
        events = [f"id: {seq}\ndata: {json.dumps(each)}\n\n".encode() for seq, each in [(18, known), (19, unknown)]]
        run = self.run_against(head, *events, command=("watch", "--json", "--since", "17"))
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual([json.loads(line)["event"] for line in run.stdout.splitlines()], ["moonrise"])
        self.assertIn("could not be read: is it of another version?", run.stderr)

    def test_a_watch_waits_for_an_agent_that_goes_away_again_before_it_answers(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        events = [f'id: {seq}\ndata: {{"event": "moonrise", "seq": {seq}, "at": "2023-10-17T05:56:41Z"}}\n\n'.encode()
                  for seq in (18, 19)]
        path = temporary_folder(type(self)) / "a.sock"
        # The last cannot be read: that ends it, for the agent has answered.
        with InTurn(path, head + events[0], b"", head[:12], head + events[1] + b"id: 20\ndata: {\n\n"):
            run = subprocess.run(
                [BIN_DIR / "oobctl", "watch", "--json", "--socket", path], stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=100)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("could not be read", run.stderr)
        self.assertEqual([json.loads(line)["seq"] for line in run.stdout.splitlines()], [18, 19], run.stderr)

    def test_a_watch_whose_output_nobody_takes_ends(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        event = b'id: 18\ndata: {"event": "moonrise", "seq": 18, "at": "2023-10-17T05:56:41Z"}\n\n'
        path = temporary_folder(type(self)) / "a.sock"
        with InTurn(path, head, head + event), open("/dev/full", "w", encoding="utf-8") as full:
            run = subprocess.run(
                [BIN_DIR / "oobctl", "watch", "--json", "--socket", path], stdin=subprocess.DEVNULL, stdout=full,
                stderr=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("Standard output cannot be written", run.stderr)

    def test_JSON_holds_nothing_that_a_terminal_obeys_or_hides(self):
        name = "Bank\u007f\u009b31m\u202e\u200b\U000e0041\u2028 (Dæmø)"
        request = {**REQUEST, "merchantName": name}
        event = {"event": "moonrise", "seq": 18, "at": "2023-10-17T05:56:41Z", "request": request}
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        problem = answer({**PROBLEM, "detail": name}, 409, "application/problem+json")
        events = (head, f"id: 18\ndata: {json.dumps(event)}\n\n".encode())
        for command, pieces, read in [
                (("list",), (answer([request]),), lambda run: json.loads(run.stdout)[0]["merchantName"]),
                (("show", "2f37539c"), (answer(request),), lambda run: json.loads(run.stdout)["merchantName"]),
                (("watch", "--since", "17"), (*events, b"id: 19\ndata: {\n\n"),
                 lambda run: json.loads(run.stdout)["request"]["merchantName"]),
                (("approve", "2f37539c"), (problem,), lambda run: json.loads(run.stderr)["error"]["message"])]:
            with self.subTest(command):
                run = self.run_against(*pieces, command=(*command, "--json"))
                self.assertIn(name, read(run))
                for scalar in "\u007f\u009b\u202e\u200b\U000e0041\u2028":
                    self.assertNotIn(scalar, run.stdout + run.stderr)
                self.assertIn("(Dæmø)", run.stdout + run.stderr)

    def test_an_exported_entry_keeps_its_bytes_but_not_at_a_terminal(self):
        line = '{"seq":1,"acsTransId":"\u009b31m"}'.encode()
        body = answer(line + b"\n", content_type="application/x-ndjson")
        command = ("audit", "export", "--host", "alpha")
        self.assertEqual(self.run_against(body, command=command).stdout.encode(), line + b"\n")
        shown = self.at_a_terminal(body, command=command)
        self.assertEqual(shown.strip(), r'{"seq":1,"acsTransId":"\u009b31m"}')

    def at_a_terminal(self, *pieces, command, columns: int = 40) -> str:
        path = temporary_folder(type(self)) / "a.sock"
        with Listener(path, *pieces):
            terminal = Terminal(
                str(BIN_DIR / "oobctl"), [*command, "--socket", str(path)], dimensions=(24, columns), timeout=100,
                env={"PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8"}, encoding="utf-8")
            terminal.expect(pexpect.EOF)
            terminal.close()
            return terminal.before

    def test_no_text_of_a_merchant_begins_a_row_of_a_terminal(self):
        forged = "Amount: USD 0.01"
        # However wide the terminal is, some of these would begin a row.
        name = "x" * 8 + " " + " ".join([forged] * 12) + "x" * 60 + forged
        request = {**REQUEST, "merchantName": name, "amount": {"currency": "USD", "value": "9.00"},
                   "text": f"Amount:     USD 9.00\nMerchant:   {name}\nIssuer:     https://issuer.example"}
        problem = answer({**PROBLEM, "detail": f"the merchant is {name}"}, 409, "application/problem+json")
        for columns in range(24, 100, 5):
            for command, piece in [(("show", "2f37539c"), answer(request)), (("list",), answer([request])),
                                   (("deny", "2f37539c"), problem)]:
                with self.subTest(command=command, columns=columns):
                    rows = self.at_a_terminal(piece, command=command, columns=columns).split("\r\n")
                    self.assertEqual([row for row in rows if len(row) > columns], [])
                    self.assertEqual([row for row in rows if row.startswith("Amount: ") and "9.00" not in row], [])
                    self.assertEqual(sum("0.01" in row for row in rows) > 0, True)
        # To a program each line goes as it is.
        run = self.run_against(answer(request), command=("show", "2f37539c"))
        self.assertIn(f"Merchant:   {name}\n", run.stdout)

    def unread(self, *pieces, command) -> subprocess.CompletedProcess:
        """A run whose standard output is a pipe that nobody reads any more."""
        path = temporary_folder(type(self)) / "a.sock"
        reading, writing = os.pipe()
        os.close(reading)
        with Listener(path, *pieces), open(writing, "wb") as output:
            return subprocess.run(
                [BIN_DIR / "oobctl", *command, "--socket", path], stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.PIPE, text=True, timeout=100)

    def test_whoever_has_read_enough_ends_a_command_that_only_reads_and_that_is_no_error(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        event = b'id: 18\ndata: {"event": "moonrise", "seq": 18, "at": "2023-10-17T05:56:41Z"}\n\n'
        entries = answer(b'{"seq":1}\n', content_type="application/x-ndjson")
        for command, pieces in [
                (("watch", "--json", "--since", "17"), (head, event)), (("list", "--json"), (answer([REQUEST]),)),
                (("list",), (answer([REQUEST]),)), (("show", "2f37539c"), (answer(REQUEST),)),
                (("audit", "export", "--host", "alpha"), (entries,)), (("status",), (answer(STATUS),))]:
            with self.subTest(command):
                run = self.unread(*pieces, command=command)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
        # A decision whose return URL reached nobody is told.
        run = self.unread(answer({**REQUEST, "threeDSRequestorAppURL": "https://merchant.example/"}),
                          command=("approve", "2f37539c"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("what was asked of the agent is done", run.stderr)


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
