"""What the sandbox pushes, taken by a receiver made of http_ece and py_vapid, over http and https.

Run with `.venv/bin/python Tests/Counterparts/test_push_sent.py`; OOB_BIN_DIR names the programs' directory.
"""

import subprocess
import unittest

from programs import BIN_DIR, Sandbox, started, temporary_folder
from push_receiver import PushReceiver
from road import Authority, server_side
from software_authenticator import MODEL, Enrolled, call


class WhatTheSandboxPushes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.authority = Authority(cls.folder)
        cls.sandbox = started(cls, Sandbox(cls.folder, "--push-ca-file", str(cls.authority.certificate)))
        cls.vapid = cls.call("GET", "/.well-known/oob-authenticator")["vapidPublicKey"]

    @classmethod
    def call(cls, method: str, path: str, body: dict | None = None) -> dict:
        status, answer = call(method, cls.sandbox.origin + path, body)
        assert status in (200, 201), answer
        return answer

    def subscribed(self, receiver: PushReceiver) -> Enrolled:
        code = self.call("POST", "/sandbox/enrollment-codes", {})["code"]
        enrolled = Enrolled(self.sandbox.origin, code, aaguid=MODEL)
        status, _ = call("PUT", f"{self.sandbox.origin}/v1/authenticator/push-subscription", receiver.subscription,
                         enrolled.token)
        self.assertEqual(status, 204)
        return enrolled

    def purchase(self, enrolled: Enrolled, push: str) -> dict:
        return self.call("POST", "/sandbox/purchases", {"authenticatorId": enrolled.id, "push": push})

    def ended(self, purchase: dict) -> dict:
        """The one push of a purchase, when its first try is over."""
        while True:  # Asks again; nothing depends on how long.
            (request,) = self.call("GET", f"/sandbox/purchases/{purchase['acsTransId']}")["requests"]
            (push,) = request["pushes"]
            if push["state"] != "sending" and push["tries"] > 0:
                return push

    def test_a_request_reads_the_same_over_http_and_https(self):
        for tls in [None, server_side(self.authority.issue("localhost"))]:
            with self.subTest(tls), PushReceiver(tls) as receiver:
                enrolled = self.subscribed(receiver)
                purchase = self.purchase(enrolled, "only")
                push = receiver.next()
                message = receiver.message(push, self.vapid).decode()
                self.assertEqual(message, purchase["requests"][0]["jws"])
                self.assertIn(int(push.headers["ttl"]), range(540, 601))
                self.assertEqual(enrolled.fetch()[1]["requests"], [])
                self.assertEqual((self.ended(purchase)["state"], self.ended(purchase)["status"]), ("delivered", 201))

    def test_a_hint_is_no_message_and_the_list_has_it(self):
        with PushReceiver() as receiver:
            enrolled = self.subscribed(receiver)
            purchase = self.purchase(enrolled, "hint")
            self.assertEqual(receiver.message(receiver.next(), self.vapid), b"fetch")
            self.assertEqual(enrolled.fetch()[1]["requests"], [purchase["requests"][0]["jws"]])

    def test_a_certificate_of_nobody_it_trusts_gets_nothing(self):
        for pair in [self.authority.self_signed("localhost"), self.authority.issue("other.example"),
                     Authority(self.folder).issue("localhost")]:
            with self.subTest(pair), PushReceiver(server_side(pair)) as receiver:
                push = self.ended(self.purchase(self.subscribed(receiver), "both"))
                self.assertEqual((push["state"], push.get("status")), ("waiting", None))
                self.assertTrue(receiver.came.empty())

    def test_a_name_in_cn_alone_gets_nothing_and_is_said(self):
        pair = self.authority.issue("localhost", in_cn_alone=True)
        with PushReceiver(server_side(pair)) as receiver:
            push = self.ended(self.purchase(self.subscribed(receiver), "both"))
            self.assertEqual((push["state"], push["problem"]), ("failed", "noSubjectAltName"))
            self.assertTrue(receiver.came.empty())

    def test_the_command_pushes_and_tells_of_it(self):
        with PushReceiver() as receiver:
            enrolled = self.subscribed(receiver)
            command = [BIN_DIR / "oob-issuer", "purchase", "--issuer", self.sandbox.origin, "--amount", "100",
                       "--currency", "840", "--exponent", "2", "--merchant", "Shop", "--push", "only",
                       "--expires-in", "15", "--authenticator-id", enrolled.id, "--wait"]
            run = subprocess.run(command, capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn("push: message=request form=jws state=delivered tries=1", run.stdout)
            self.assertIn(b".", receiver.message(receiver.next(), self.vapid))


if __name__ == "__main__":
    unittest.main()
