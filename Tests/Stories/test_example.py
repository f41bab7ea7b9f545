"""examples/issuer.py, as a newcomer starts it, with the agent as it was built.

Run with `.venv/bin/python Tests/Stories/test_example.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import re
import shlex
import subprocess
import sys
import threading
import unittest
import uuid
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec

from programs import ENDED_WITHIN, READY_WITHIN, Agent, started, temporary_folder
from software_authenticator import FLAG, Enrolled, call
from verify import decode

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")
# What the README has the reader send, so that it is known to work.
(BODY,) = re.findall(r"curl \S+ --data '(.*?)'\n", README, re.DOTALL)
TRANSACTION = json.loads(BODY)


class ExampleIssuer:
    """An issuer on a free port, by default `python examples/issuer.py 0`. `command` is the line that it says an agent's
    user is to type."""

    def __init__(self, folder: Path, start: Sequence = (sys.executable, "-B", EXAMPLES / "issuer.py")):
        self.log = folder / "example.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*start, "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        watchdog = threading.Timer(READY_WITHIN, self.process.kill)
        watchdog.start()
        self.command = shlex.split(self.process.stdout.readline())
        watchdog.cancel()
        if self.command[:2] != ["oobctl", "enroll"]:
            raise AssertionError(f"the example did not start:\n{self.log.read_text()}")
        self.origin = self.command[self.command.index("--issuer") + 1]

    def stop(self):
        self.process.terminate()
        self.process.wait(ENDED_WITHIN)
        self.process.stdout.close()


class TheExample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = temporary_folder(cls)
        cls.issuer = started(cls, ExampleIssuer(folder))
        cls.agent = started(cls, Agent(folder))
        cls.enrollment = cls.agent.json(*cls.issuer.command[1:])
        cls.acs = cls.enterClassContext(ThreadPoolExecutor(max_workers=4))

    def challenge(self, transaction: dict) -> tuple[str, Future]:
        """An acsTransId, and the answer that the ACS gets when the payer has decided."""
        acs_trans_id = str(uuid.uuid4())
        body = {**transaction, "acsTransId": acs_trans_id}
        return acs_trans_id, self.acs.submit(call, "POST", f"{self.issuer.origin}/acs/challenges", body)

    def test_an_agent_enrolls_with_the_command_that_the_example_prints(self):
        self.assertEqual((self.enrollment["state"], self.enrollment["issuer"]), ("active", self.issuer.origin))

    def test_the_code_works_once(self):
        run = self.agent.ctl(*self.issuer.command[1:], "--json")
        self.assertEqual((run.returncode, json.loads(run.stderr)["error"]["code"]), (9, 70005))

    def test_an_approval_is_verified_and_answers_the_acs(self):
        for _ in range(2):
            acs_trans_id, answer = self.challenge(TRANSACTION)
            request = self.agent.json("approve", acs_trans_id, "--wait", "60", "--expect-amount", "USD 1.00")
            self.assertEqual((request["state"], request["delivery"], request["transStatus"]),
                             ("approved", "delivered", "Y"))
            self.assertEqual(answer.result(60), (200, {"transStatus": "Y"}))

    def test_a_denial_answers_the_acs(self):
        acs_trans_id, answer = self.challenge(TRANSACTION)
        request = self.agent.json("deny", acs_trans_id, "--wait", "60")
        self.assertEqual((request["state"], request["transStatus"]), ("denied", "N"))
        self.assertEqual(answer.result(60), (200, {"transStatus": "N"}))

    def test_a_transaction_that_breaks_a_rule_is_refused_without_anybody_deciding(self):
        _, answer = self.challenge({**TRANSACTION, "purchaseCurrency": "US$"})
        self.assertEqual(answer.result(60), (200, {"transStatus": "N"}))


class WhatTheExampleRefuses(unittest.TestCase):
    """An example that took anything would teach that; so a software authenticator tries it."""

    @classmethod
    def setUpClass(cls):
        cls.issuer = started(cls, ExampleIssuer(temporary_folder(cls)))
        cls.enrolled = Enrolled(cls.issuer.origin, cls.issuer.command[-1])
        cls.acs = cls.enterClassContext(ThreadPoolExecutor(max_workers=1))

    def refused(self, status: int, code: str, answer: tuple[int, dict]):
        self.assertEqual((answer[0], answer[1].get("code")), (status, code), answer)

    def test_an_assertion_that_does_not_hold(self):
        answer = self.acs.submit(call, "POST", f"{self.issuer.origin}/acs/challenges", TRANSACTION)
        _, listed = self.enrolled.fetch("?wait=30&after=0")
        claims = json.loads(decode(listed["requests"][0].split(".")[1]))
        jti, challenge = claims["jti"], decode(claims["publicKey"]["challenge"])
        for wrong in [
            {"key": ec.generate_private_key(ec.SECP256R1())}, {"origin": "http://localhost:1"},
            {"rp_id_hash": bytes(32)}, {"flags": FLAG(0)}, {"challenge": bytes(32)},
        ]:
            with self.subTest(wrong):
                self.refused(422, "invalid_assertion", self.enrolled.approve(jti, **{"challenge": challenge, **wrong}))
        decision = {"decision": "approve", "credential": self.enrolled.authenticator.sign(challenge)}
        for _ in range(2):
            self.assertEqual(self.enrolled.decide(jti, decision), (200, {"transStatus": "Y"}))
        self.refused(409, "already_decided", self.enrolled.decide(jti, {"decision": "deny", "reason": "policy"}))
        self.assertEqual(answer.result(60), (200, {"transStatus": "Y"}))

    def test_what_nobody_has_asked_for(self):
        self.refused(404, "unknown_request", self.enrolled.decide("none", {"decision": "deny", "reason": "policy"}))
        self.refused(410, "unknown_cursor", self.enrolled.fetch("?after=1000"))
        self.refused(410, "ceremony_expired", self.post("enrollments", {"ceremonyId": "none"}))
        self.refused(403, "invalid_enrollment_code", self.post("enrollment-options", {"enrollmentCode": "DEMO-1"}))
        self.refused(400, "invalid_request", self.post("enrollment-options", {"enrolmentCode": "a typo"}))
        self.refused(401, "invalid_token", call("GET", f"{self.issuer.origin}/v1/authenticator", token="nobody's"))

    def post(self, path: str, body: dict) -> tuple[int, dict]:
        return call("POST", f"{self.issuer.origin}/v1/{path}", body)


class ItsReadme(unittest.TestCase):
    def test_it_has_the_reader_install_what_the_example_imports(self):
        (command,) = re.findall(r"^venv/bin/pip (.*)\nvenv/bin/python examples/issuer\.py$", README, re.MULTILINE)
        imported = re.findall(r"^(?:import|from) (\w+)", (EXAMPLES / "issuer.py").read_text(), re.MULTILINE)
        self.assertEqual(set(command.split("install ", 1)[1].split()), set(imported) - sys.stdlib_module_names)


if __name__ == "__main__":
    unittest.main()
