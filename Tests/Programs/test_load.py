"""`oob-issuer load`: purchases at a steady rate, against the sandbox and against an issuer that is slow on purpose.

Run with `.venv/bin/python Tests/Programs/test_load.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import re
import subprocess
import threading
import unittest
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from programs import BIN_DIR, Agent, Sandbox, started, temporary_folder
from software_authenticator import call


def load(origin: str, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [BIN_DIR / "oob-issuer", "load", "--issuer", origin, *words], stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=120)


class AgainstTheSandbox(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(cls.folder))

    def enroll(self, persona: str):
        _, code = call("POST", f"{self.sandbox.origin}/sandbox/enrollment-codes", {})
        self.agent.json("enroll", code["link"], "--authn-type", "test", "--persona", persona, "--name", persona)

    def test_without_an_authenticator_it_says_so(self):
        folder = temporary_folder(type(self))
        sandbox = started(type(self), Sandbox(folder))
        run = load(sandbox.origin, "--rate", "1", "--for", "1")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("no authenticator is enrolled", run.stderr)

    def test_the_report_counts_what_each_persona_did(self):
        self.agent = started(type(self), Agent(self.folder))
        for persona in ["autoApprove", "autoDeny"]:
            self.enroll(persona)
        run = load(self.sandbox.origin, "--rate", "4", "--for", "2", "--drain", "100", "--json")
        report = json.loads(run.stdout)
        self.assertEqual([report["sent"], report["started"], report["decided"]], [8, 8, 8])
        self.assertEqual(report["outcomes"], {"authenticated": 4, "notAuthenticated": 4})
        times = report["latencyMilliseconds"]
        self.assertTrue(0 <= times["p50"] <= times["p90"] <= times["p99"] <= times["max"], times)


class SlowIssuer:
    """Answers no purchase before so many of them are there; then each is decided 250 ms after it was started."""

    def __init__(self, purchases: int, status: int = 201, patience: float = 60):
        self.barrier = threading.Barrier(purchases)
        issuer = self
        issuer.ids, issuer.forgets = [], False

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status: int, body):
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                if self.path == "/sandbox/authenticators":
                    return self.answer(200, [{"id": "one", "state": "active"}, {"id": "gone", "state": "revoked"}])
                if issuer.forgets:
                    return self.answer(500, {"detail": "the book is closed"})
                pending = "status=pending" in self.path
                return self.answer(200, {"purchases": [] if pending else [
                    {"acsTransId": each, "status": "authenticated", "startedAtMilliseconds": 1_000,
                     "completedAtMilliseconds": 1_250} for each in issuer.ids]})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                assert body == {"authenticatorId": "one"}, body
                try:
                    issuer.barrier.wait(patience)
                except threading.BrokenBarrierError:
                    self.close_connection = True
                    return
                name = str(uuid.uuid4())
                if status == 201:
                    issuer.ids.append(name)
                self.answer(status, {"acsTransId": name} if status == 201 else {"detail": "the shop is closed"})

        class Server(ThreadingHTTPServer):
            daemon_threads, request_queue_size = True, 1_024

        self.server = Server(("localhost", 0), Handler)
        self.origin = f"http://localhost:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.barrier.abort()
        self.server.shutdown()
        self.server.server_close()


class AgainstASlowIssuer(unittest.TestCase):
    def test_each_purchase_is_sent_when_it_is_due_though_no_earlier_one_was_answered(self):
        # Whoever waited for an answer before the next call would never pass the barrier.
        with SlowIssuer(10) as issuer:
            run = load(issuer.origin, "--rate", "10", "--for", "1", "--json")
        report = json.loads(run.stdout)
        self.assertEqual([report["sent"], report["started"]], [10, 10])
        # The issuer's own 250 ms, and how late each was sent.
        self.assertGreaterEqual(report["latencyMilliseconds"]["p50"], 250)

    def test_what_was_sent_is_told_if_the_issuer_is_gone_at_the_end(self):
        with SlowIssuer(2) as issuer:
            issuer.forgets = True
            run = load(issuer.origin, "--rate", "2", "--for", "1", "--json")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(json.loads(run.stdout)["started"], 2)
        self.assertIn("what became of the purchases is not known: the book is closed", run.stderr)

    def test_what_the_issuer_does_not_take_is_counted_with_its_words(self):
        with SlowIssuer(2, status=503) as issuer:
            run = load(issuer.origin, "--rate", "2", "--for", "1", "--drain", "0")
        self.assertEqual(run.returncode, 1)
        self.assertIn("2 purchases were not started: HTTP status 503: the shop is closed", run.stderr)

    def test_a_rate_that_cannot_be_sent_is_told_with_what_was_reached(self):
        # All places are taken by calls that are not answered before there are more of them than places, which never is:
        # after 3 s every connection breaks.
        with SlowIssuer(513, patience=3) as issuer:
            run = load(issuer.origin, "--rate", "1000", "--for", "1", "--drain", "0", "--json")
        self.assertEqual(run.returncode, 1)
        reached = float(re.search(r"asked for 1000 purchases a second, sent ([0-9.]+):", run.stderr)[1])
        self.assertEqual(json.loads(run.stdout)["sentPerSecond"], reached)
        self.assertLess(reached, 990)
        self.assertIn("purchases were not started: the connection failed", run.stderr)


class WrongUsage(unittest.TestCase):
    def test_each_bound_is_named(self):
        for words, message in [
            (["--rate", "0", "--for", "1"], "--rate must be 1 to 10000 (purchases a second)"),
            (["--rate", "1", "--for", "0"], "--for must be 1 to 86400 (seconds)"),
            (["--rate", "-5", "--for", "1"], "--rate must be 1 to 10000"),
            (["--rate", "1", "--for", "1", "--drain", "3601"], "--drain must be 0 to 3600 (seconds)"),
            (["--rate", "10000", "--for", "86400"], "864000000 purchases; at most 1000000 are allowed"),
        ]:
            with self.subTest(words=words):
                run = load("http://localhost:1", *words)
                self.assertEqual(run.returncode, 64, run.stderr)
                self.assertIn(message, run.stderr)

    def test_without_a_sandbox_it_exits_69(self):
        run = load("http://localhost:1", "--rate", "1", "--for", "1")
        self.assertEqual(run.returncode, 69, run.stdout)
        self.assertIn("no sandbox answers at http://localhost:1", run.stderr)


if __name__ == "__main__":
    unittest.main()
