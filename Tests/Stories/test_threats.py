"""What docs/explanation/threat-model.md says that a thief gets, and does not get, tried with the programs.

Run with `.venv/bin/python Tests/Stories/test_threats.py`; OOB_BIN_DIR names the programs' directory.
"""

import contextlib
import http.client
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import unittest

from cryptography.hazmat.primitives.asymmetric import ec

from issuer import Issuer
from programs import BIN_DIR, Agent, started, temporary_folder
from software_authenticator import Enrolled, call

NOBODY = 65_534


class AStolenAccessToken(unittest.TestCase):
    def setUp(self):
        self.issuer = self.enterContext(Issuer())
        self.victim = Enrolled(self.issuer.origin, self.issuer.enrollment_code())

    def ask(self):
        return self.issuer.ask(self.victim.id, self.issuer.transaction())

    def test_it_reads_what_is_asked_and_can_deny_and_unenroll(self):
        request = self.ask()
        self.assertEqual(self.victim.fetch()[1]["requests"], [request.jws])
        denial = {"decision": "deny", "reason": "userDenied"}
        self.assertEqual(self.victim.decide(request.jti, denial), (200, {"transStatus": "N"}))
        self.assertEqual(call("DELETE", f"{self.issuer.origin}/v1/authenticator", token=self.victim.token)[0], 204)

    def test_it_approves_nothing(self):
        request = self.ask()
        own = ec.generate_private_key(ec.SECP256R1())
        status, problem = self.victim.approve(request.jti, request.challenge, key=own)
        self.assertEqual((status, problem["code"]), (422, "invalid_assertion"))
        self.assertIsNone(request.decision)

    def test_an_approval_that_was_overheard_approves_nothing_else(self):
        first, second = self.ask(), self.ask()
        overheard = self.victim.authenticator.sign(first.challenge)
        status, problem = self.victim.decide(second.jti, {"decision": "approve", "credential": overheard})
        self.assertEqual((status, problem["code"]), (422, "invalid_assertion"))


class ACopyOfTheState(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.issuer = self.enterContext(Issuer())
        agent = self.agent(self.folder)
        agent.json("enroll", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code(), "--authn-type",
                   "presence", "--name", "victim")
        self.approve(agent)
        agent.stop()

    def agent(self, folder):
        folder.mkdir(exist_ok=True)
        return Agent(folder)

    def approve(self, agent: Agent) -> dict:
        (enrolled,) = self.issuer.authenticators.values()
        request = self.issuer.ask(enrolled.id, self.issuer.transaction())
        return agent.json("approve", request.transaction["acsTransId"], "--wait", "60")

    def copy(self, *, secret: bool):
        target = self.folder / "copy"
        shutil.copytree(self.folder / "state", target / "state")
        if not secret:
            (target / "state" / "secret").write_bytes(os.urandom(32))
        return target

    def test_without_the_secret_no_agent_starts_on_it_and_no_token_is_in_it(self):
        folder = self.copy(secret=False)
        run = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", folder / "state", "--socket", folder / "control.sock"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("the secret is not the one that this state was made with", run.stderr)
        (enrolled,) = self.issuer.authenticators.values()
        for file in folder.rglob("*"):
            if file.is_file():
                self.assertNotIn(enrolled.token.encode(), file.read_bytes(), file.name)

    def test_without_the_secret_it_tells_when_but_not_what_was_bought(self):
        (request,) = self.issuer.requests.values()
        bytes = b"".join(file.read_bytes() for file in self.copy(secret=False).rglob("agent.db*"))
        self.assertIn(request.transaction["acsTransId"].encode(), bytes)
        self.assertNotIn(request.transaction["merchantName"].encode(), bytes)

    def test_with_the_secret_it_signs_and_the_agent_notices(self):
        thief = self.agent(self.copy(secret=True))
        self.approve(thief)
        thief.stop()
        agent = self.agent(self.folder)
        self.addCleanup(agent.stop)
        self.assertEqual(self.approve(agent)["transStatus"], "Y")
        warnings = {each["id"]: each for each in agent.json("status")["warnings"]}
        self.assertEqual(warnings["signCountRaised"]["severity"], "high")


class AStolenPIN(unittest.TestCase):
    """Of an enrollment of type pin: the PIN with the disk, with the secret, with neither."""

    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.issuer = self.enterContext(Issuer())
        self.pins = {}
        for name, pin in {"right": "k4rtoffel", "wrong": "kartoffel"}.items():
            self.pins[name] = self.folder / name
            self.pins[name].touch(mode=0o600)
            self.pins[name].write_text(pin + "\n")
        agent = Agent(self.folder)
        agent.json("enroll", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code(), "--authn-type",
                   "pin", "--pin-file", str(self.pins["right"]))
        self.assertEqual(self.approve(agent, "right").returncode, 0)
        agent.stop()

    def approve(self, agent: Agent, pin: str | None) -> subprocess.CompletedProcess:
        (enrolled,) = self.issuer.authenticators.values()
        request = self.issuer.ask(enrolled.id, self.issuer.transaction(), user_verification="required")
        given = ["--pin-file", str(self.pins[pin])] if pin else []
        return agent.ctl("approve", request.transaction["acsTransId"], "--wait", "60", *given)

    def thief(self) -> Agent:
        """An agent on a copy of the state, secret and all."""
        copy = self.folder / "copy"
        shutil.copytree(self.folder / "state", copy / "state")
        agent = Agent(copy)
        self.addCleanup(agent.stop)
        return agent

    def test_the_disk_and_the_secret_approve_nothing_without_it(self):
        thief = self.thief()
        for pin in [None, "wrong"]:
            run = self.approve(thief, pin)
            self.assertEqual((run.returncode, run.stdout), (5, ""), run.stderr)
        decided = [request for request in self.issuer.requests.values() if request.decision]
        self.assertEqual(len(decided), 1)

    def test_with_the_disk_and_the_secret_it_is_the_authenticator(self):
        self.assertEqual(self.approve(self.thief(), "right").returncode, 0)

    def test_with_the_disk_alone_it_is_worth_nothing(self):
        copy = self.folder / "copy"
        shutil.copytree(self.folder / "state", copy / "state")
        (copy / "state" / "secret").write_bytes(os.urandom(32))
        run = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", copy / "state", "--socket", copy / "control.sock"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("the secret is not the one that this state was made with", run.stderr)

    def test_whoever_writes_the_database_and_sets_the_count_of_wrong_ones_back_ends_the_tries(self):
        agent = Agent(self.folder)
        self.addCleanup(agent.stop)
        self.assertEqual(self.approve(agent, "wrong").returncode, 5)
        (pending,) = agent.json("list")
        with sqlite3.connect(self.folder / "state" / "agent.db", timeout=30) as database:
            database.execute("UPDATE enrollment SET pin_failures = 0")
        database.close()
        for pin in ["wrong", "right"]:
            run = agent.ctl("approve", pending["id"], "--pin-file", str(self.pins[pin]))
            self.assertEqual(run.returncode, 1, run)
            self.assertIn("not as the agent wrote it", run.stderr)

    def test_whoever_puts_an_old_sealed_key_back_is_seen_by_the_first_doctor(self):
        agent = Agent(self.folder)
        self.addCleanup(agent.stop)
        with sqlite3.connect(self.folder / "state" / "agent.db", timeout=30) as database:
            ((identifier, old),) = database.execute("SELECT id, sealed_key FROM enrollment").fetchall()
        changed = agent.ctl("pin change", identifier, "--pin-file", str(self.pins["right"]), "--new-pin-file",
                            str(self.pins["wrong"]))
        self.assertEqual(changed.returncode, 0, changed)
        with database:
            database.execute("UPDATE enrollment SET sealed_key = ?", (old,))
        database.close()
        said = [each["id"] for each in agent.json("doctor") if each.get("enrollment") == identifier]
        self.assertEqual(said, ["enrollmentDamaged"])


class WriteAccessToTheDatabase(unittest.TestCase):
    """Without the secret: an agent that starts on what was written uses nothing of that row, and says so."""

    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.issuer = self.enterContext(Issuer())
        agent = Agent(self.folder)
        agent.json("enroll", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code(), "--authn-type",
                   "presence", "--name", "victim")
        (self.enrolled,) = self.issuer.authenticators.values()
        self.request = self.issuer.ask(self.enrolled.id, self.issuer.transaction())
        agent.ctl("fetch")
        (self.pending,) = agent.json("list")
        agent.stop()

    def agent_after(self, change: str) -> Agent:
        with sqlite3.connect(self.folder / "state" / "agent.db", timeout=30) as database:
            database.execute(f"UPDATE enrollment SET {change}")
        database.close()
        agent = Agent(self.folder)
        self.addCleanup(agent.stop)
        return agent

    def expect_said(self, agent: Agent):
        status = agent.json("status")
        self.assertEqual(status["state"], "degraded")
        self.assertIn("not as the agent wrote it", " ".join(status["reasons"]))
        self.assertIn("enrollmentDamaged", agent.ctl("doctor", "--json").stdout)
        self.assertEqual(agent.ctl("audit verify").returncode, 1)

    def test_with_another_issuer_in_it_the_token_goes_nowhere(self):
        with socket.create_server(("localhost", 0)) as thief:
            agent = self.agent_after(f"issuer = 'http://localhost:{thief.getsockname()[1]}'")
            agent.ctl("fetch")
            for decision in ["approve", "deny"]:
                self.assertEqual(agent.ctl(decision, self.pending["id"]).returncode, 1)
            self.assertNotEqual(agent.ctl("unenroll", self.pending["enrollmentId"]).returncode, 0)
            self.expect_said(agent)
            thief.setblocking(False)
            with self.assertRaises(BlockingIOError):
                thief.accept()
        self.assertIsNone(self.request.decision)

    def test_with_another_authn_type_no_user_verification_is_claimed(self):
        agent = self.agent_after("authn_type = 'test'")
        run = agent.ctl("approve", self.pending["id"])
        self.assertEqual(run.returncode, 1)
        self.assertIn("not as the agent wrote it", run.stderr)
        self.assertIsNone(self.request.decision)
        self.expect_said(agent)


class TheControlSocket(unittest.TestCase):
    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_where_its_mode_was_widened_it_still_serves_no_other_user(self):
        folder = temporary_folder(type(self))
        agent = started(type(self), Agent(folder))
        folder.chmod(0o755)
        agent.socket.chmod(0o777)
        self.assertEqual(self.requests(agent), [])
        os.seteuid(NOBODY)
        try:
            for _ in range(300):  # More than there are places for.
                self.assertEqual(self.requests(agent)["code"], "access_denied")
        finally:
            os.seteuid(0)
        self.assertEqual(self.requests(agent), [])
        refusals = [line for line in agent.log.read_text().splitlines() if "its user may not do it" in line]
        self.assertEqual(len(refusals), 1, "one line for a user and minute")

    def requests(self, agent: Agent):
        """The answer to `GET /v1/requests` on the socket."""
        connection = http.client.HTTPConnection("agent", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(agent.socket))
        connection.request("GET", "/v1/requests")
        with contextlib.closing(connection):
            return json.load(connection.getresponse())


if __name__ == "__main__":
    unittest.main()
