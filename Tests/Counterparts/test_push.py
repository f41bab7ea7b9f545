"""Pushes that an outside library encrypts, signs and sends to the agent as it was built.

Run with `.venv/bin/python Tests/Counterparts/test_push.py`; OOB_BIN_DIR names the programs' directory.
"""

import contextlib
import json
import os
import re
import select
import socket
import subprocess
import threading
import unittest
import uuid
from concurrent.futures import ThreadPoolExecutor
from unittest import mock
from urllib.parse import urlsplit

import requests
from jwcrypto.jwk import JWK
from py_vapid import Vapid02

import push_campaign
from issuer import EXAMPLE_TRANSACTION
from programs import BIN_DIR, Agent, Sandbox, free_port, started, temporary_folder
from pushing import PushingIssuer
from road import Authority

WAIT = ("--wait", "60")


class WithPush(unittest.TestCase):
    """One agent that takes pushes, with an enrollment at an issuer that pushes."""

    @classmethod
    def setUpClass(cls):
        cls.agent = started(cls, push_campaign.receiving(temporary_folder(cls)))
        cls.issuer = cls.enterClassContext(PushingIssuer())
        cls.issuer.holds_polls = True

    def enrolled(self, *options: str) -> dict:
        return push_campaign.enrolled(self.agent, self.issuer, *options)

    def subscription(self, card: dict) -> dict:
        return self.issuer.subscriptions[card["authenticatorId"]]

    def ask(self, card: dict):
        return self.issuer.ask(card["authenticatorId"], self.issuer.transaction())

    def approve(self, request):
        shown = self.agent.json("approve", request.transaction["acsTransId"], *WAIT)
        self.assertEqual((shown["state"], shown["delivery"], shown["transStatus"]), ("approved", "delivered", "Y"))

    def facts(self, card: dict) -> dict:
        (row,) = [row for row in self.agent.json("enrollments") if row["id"] == card["id"]]
        return row["push"]


class Delivery(WithPush):
    def test_what_pywebpush_sends_is_presented_and_approved(self):
        card = self.enrolled()
        request = self.ask(card)
        answer = self.issuer.push_request(request)
        self.assertEqual(answer.status_code, 201, answer.text)
        self.assertTrue(answer.headers["Location"].startswith(self.subscription(card)["endpoint"].split("/push/")[0]))
        self.approve(request)
        facts = self.facts(card)
        self.assertEqual((facts["works"], facts["firstByPush"], facts["firstByPoll"]), (True, 1, 0))
        self.assertLessEqual(facts["latency"], 30)

    def test_a_person_reads_of_each_enrollment_how_its_pushes_come(self):
        quiet, pushed = self.enrolled(), self.enrolled()
        request = self.ask(pushed)
        for _ in range(2):
            self.assertEqual(self.issuer.push_request(request).status_code, 201)
        unpushed = self.enrolled("--no-push")
        for command in ["status", "enrollments"]:
            table = self.agent.ctl(command).stdout.split("\n\n")[-1].splitlines()
            self.assertEqual(re.split("  +", table[0]), [
                "PUSH TO", "POLLS", "PUSHED", "POLLED", "BY PUSH", "BY POLL", "TWICE", "DELAY"])
            self.assertLessEqual(max(map(len, table)), 80)
            rows = {row[0]: row[1:] for row in map(str.split, table[1:])}
            self.assertNotIn(unpushed["id"], rows)
            self.assertEqual(rows[quiet["id"]][:2], ["fast", "never"])
            self.assertRegex(" ".join(rows[pushed["id"]]), r"^slow \d+[sm] ago (never|\d+[sm] ago) 1 0 1 \d+s$")

    def test_anything_else_is_a_reason_to_fetch(self):
        card = self.enrolled()
        request = self.ask(card)
        answer = self.issuer.push(self.subscription(card), b'{"hint": true}')
        self.assertEqual(answer.status_code, 201, answer.text)
        self.approve(request)

    def test_each_of_many_is_presented_once_whatever_comes_twice(self):
        push_campaign.each_once(self.agent, self.issuer, [self.enrolled()], 50)

    def test_without_push_there_is_no_subscription(self):
        card = self.enrolled("--no-push")
        self.assertNotIn(card["authenticatorId"], self.issuer.subscriptions)
        self.assertNotIn("push", card)
        rotation = self.agent.ctl("push rotate", card["id"])
        self.assertEqual((rotation.returncode, rotation.stdout), (64, ""), rotation.stderr)
        self.assertIn("nothing to rotate", rotation.stderr)


def digest(subscription: dict) -> str:
    """As the journal names an endpoint, by the command of `docs/how-to/push.md`."""
    run = subprocess.run(
        'printf %s "$ENDPOINT" | openssl dgst -sha256 -binary | basenc --base64url', shell=True, check=True, text=True,
        stdout=subprocess.PIPE, env={**os.environ, "ENDPOINT": subscription["endpoint"]}, timeout=60)
    return run.stdout.strip().rstrip("=")


class Life(WithPush):
    def journaled(self, card: dict) -> list[tuple[str, str]]:
        """What the journal tells of an enrollment's endpoints."""
        self.assertEqual(self.agent.ctl("audit verify").returncode, 0)
        entries = map(json.loads, self.agent.ctl("audit export").stdout.splitlines())
        return [(entry["entry"], entry["endpoint"]) for entry in entries
                if entry.get("enrollment") == card["id"] and "endpoint" in entry]

    def test_a_rotation_ends_the_old_address_once_the_issuer_has_the_new_one(self):
        card = self.enrolled()
        old = self.subscription(card)
        self.assertEqual(self.agent.json("push rotate", card["id"]), {"open": []})
        new = self.subscription(card)
        self.assertNotEqual(old["endpoint"], new["endpoint"])
        self.assertNotEqual(old["keys"], new["keys"])
        self.assertEqual(self.issuer.push(old, b"hint").status_code, 404)
        self.assertEqual(self.issuer.push(new, b"hint").status_code, 201)
        self.assertEqual(self.journaled(card), [
            ("pushMade", digest(old)), ("pushRegistered", digest(old)), ("pushMade", digest(new)),
            ("pushRegistered", digest(new)), ("pushRemoved", digest(old))])

    def test_after_an_unenrollment_nothing_is_taken(self):
        card = self.enrolled()
        subscription = self.subscription(card)
        self.assertEqual(self.issuer.push(subscription, b"hint").status_code, 201)
        self.assertEqual(self.agent.ctl("unenroll", card["id"]).returncode, 0)
        self.assertEqual(self.issuer.push(subscription, b"hint").status_code, 404)
        self.assertEqual(self.journaled(card)[-1], ("pushRemoved", digest(subscription)))


class Answers(WithPush):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.card = cls.enrolled(cls)
        cls.to = cls.issuer.subscriptions[cls.card["authenticatorId"]]

    def answer(self, body: bytes | None = None, to: dict | None = None, **headers: str | None) -> requests.Response:
        body = self.issuer.encrypted(self.to, b"hint") if body is None else body
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.issuer.post(to or self.to, body, fields)

    def assert_answer(self, answer: requests.Response, status: int, code: str):
        self.assertEqual((answer.status_code, answer.json()["code"]), (status, code), answer.text)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")

    def test_what_is_in_order_is_taken(self):
        self.assertEqual(self.answer(Topic="a", Urgency="high", TTL="0").status_code, 201)

    def test_an_unknown_endpoint_is_not_found_whatever_else_is_wrong(self):
        elsewhere = {**self.to, "endpoint": self.to["endpoint"][:-1] + ("A" if self.to["endpoint"][-1] != "A" else "B")}
        for headers in [{}, {"Authorization": None}, {"TTL": None}]:
            self.assert_answer(self.answer(to=elsewhere, **headers), 404, "unknown_endpoint")
        self.assert_answer(self.answer(b"x" * 5_000, to=elsewhere), 404, "unknown_endpoint")
        url = urlsplit(self.to["endpoint"])
        for path in ["/", "/push/", "/push", "/message/1"]:
            self.assertEqual(requests.post(f"{url.scheme}://{url.netloc}{path}", timeout=60).status_code, 404)

    def test_a_push_without_vapid_is_401_and_with_anothers_403(self):
        answer = self.answer(Authorization=None)
        self.assert_answer(answer, 401, "vapid_required")
        self.assertEqual(answer.headers["WWW-Authenticate"], "vapid")
        other = Vapid02()
        other.generate_keys()
        self.assert_answer(self.answer(**self.issuer.authorization(self.to, other)), 403, "invalid_vapid")
        elsewhere = self.issuer.authorization(self.to, aud="https://elsewhere.example")
        self.assert_answer(self.answer(**elsewhere), 403, "invalid_vapid")
        stale = self.issuer.authorization(self.to, exp=1_700_000_000)
        self.assert_answer(self.answer(**stale), 403, "invalid_vapid")

    def test_bad_header_fields_and_ciphertext_are_400(self):
        for headers in [{"TTL": None}, {"TTL": "-1"}, {"Content_Encoding": "aesgcm"}, {"Content_Encoding": None},
                        {"Topic": "x" * 33}, {"Urgency": "urgent"}]:
            self.assert_answer(self.answer(**headers), 400, "invalid_push")
        body = self.issuer.encrypted(self.to, b"hint")
        for wrong in [b"", body[:-1], body[:100], body[:-1] + bytes([body[-1] ^ 1]), b"x" * 4_096]:
            self.assert_answer(self.answer(wrong), 400, "invalid_push")

    def test_4096_bytes_are_taken_and_one_more_is_413(self):
        body = self.issuer.encrypted(self.to, b"x" * 3_993)
        self.assertEqual(len(body), 4_096)
        self.assertEqual(self.answer(body).status_code, 201)
        self.assert_answer(self.answer(body + b"x"), 413, "too_large")
        chunked = (piece for piece in [body, b"x"])
        self.assert_answer(self.answer(chunked), 413, "too_large")

    def test_another_method_is_not_allowed(self):
        answer = requests.get(self.to["endpoint"], timeout=60)
        self.assertEqual((answer.status_code, answer.headers["Allow"]), (405, "POST"))

    def test_good_pushes_are_answered_amid_garbage(self):
        cards = [self.enrolled(), self.enrolled()]  # What is attacked may be over its rate afterwards.
        push_campaign.amid_garbage(self.agent, self.issuer, cards, seconds=2, seed=1)


class CrowdedSenders(WithPush):
    PLACES = 256

    def test_a_push_that_came_whole_keeps_its_place_among_those_that_did_not(self):
        card = self.enrolled()
        # Its first key is known since the enrollment.
        self.issuer.key = JWK.generate(kty="EC", crv="P-256", kid="outside-2", alg="ES256", use="sig")
        request = self.ask(card)
        asked, answers, route = threading.Event(), threading.Event(), self.issuer.route

        def slow(method, target, *rest):
            if target == "/jwks.json":
                asked.set()
                answers.wait(20)
            return route(method, target, *rest)

        url = urlsplit(self.issuer.subscriptions[request.authenticator_id]["endpoint"])
        with (mock.patch.object(self.issuer, "route", slow), ThreadPoolExecutor() as pool,
              contextlib.ExitStack() as crowd):
            whole = pool.submit(self.issuer.push_request, request)
            self.assertTrue(asked.wait(30), "the agent waits for the issuer's keys")
            peers = [crowd.enter_context(socket.create_connection((url.hostname, url.port), 30))
                     for _ in range(self.PLACES + 1)]
            # One place less is for these beside the whole one: two of them make room, in whatever order they came.
            for _ in range(2):
                (cut, *_), _, _ = select.select(peers, [], [], 60)
                self.assertEqual(cut.recv(1), b"")
                peers.remove(cut)
            answers.set()
            self.assertEqual(whole.result().status_code, 201)


class FewFiles(unittest.TestCase):
    FILES = 160

    def test_who_holds_many_connections_leaves_files_to_whoever_asks_the_agent(self):
        folder, port = temporary_folder(type(self)), free_port()
        agent = started(type(self), Agent(
            folder, "--push-listen", f"127.0.0.1:{port}", "--push-url", f"http://127.0.0.1:{port}",
            through=("prlimit", f"--nofile={self.FILES}:{self.FILES}")))
        for _ in range(self.FILES + 40):
            peer = self.enterContext(socket.create_connection(("127.0.0.1", port), 30))
            with contextlib.suppress(ConnectionError):  # It may have made room for another already.
                peer.sendall(b"POST /push/x HTTP/1.1\r\nHost: x\r\n")
        for _ in range(8):
            self.assertEqual(agent.json("status")["state"], "ready")


class OverTLS(unittest.TestCase):
    def test_pywebpush_delivers_over_https_to_a_certificate_of_a_test_authority(self):
        folder, port = temporary_folder(type(self)), free_port()
        authority = Authority(folder)
        certificate, key = authority.issue("localhost")
        key.chmod(0o600)
        agent = started(type(self), Agent(
            folder, "--push-listen", f"localhost:{port}", "--push-url", f"https://localhost:{port}",
            "--push-tls-cert", str(certificate), "--push-tls-key", str(key)))
        with PushingIssuer() as issuer, requests.Session() as session:
            issuer.holds_polls = True
            session.trust_env, session.verify = False, str(authority.certificate)
            card = agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(),
                              "--authn-type", "presence")
            request = issuer.ask(card["authenticatorId"], issuer.transaction())
            self.assertEqual(issuer.push_request(request, session).status_code, 201)
            shown = agent.json("approve", request.transaction["acsTransId"], *WAIT)
            self.assertEqual((shown["state"], shown["transStatus"]), ("approved", "Y"))


class FromTheSandbox(unittest.TestCase):
    def test_a_request_that_is_pushed_only_is_approved_and_the_poll_never_saw_it(self):
        folder, port = temporary_folder(type(self)), free_port()
        sandbox = started(type(self), Sandbox(folder))
        agent = started(type(self), Agent(
            folder, "--push-listen", f"localhost:{port}", "--push-url", f"http://localhost:{port}"))
        code = requests.post(f"{sandbox.origin}/sandbox/enrollment-codes", json={}, timeout=60).json()
        card = agent.json("enroll", "--issuer", sandbox.origin, "--code", code["code"],
                          "--authn-type", "presence")
        order = {**EXAMPLE_TRANSACTION, "acsTransId": str(uuid.uuid4()), "push": "only",
                 "authenticatorId": card["authenticatorId"]}
        requests.post(f"{sandbox.origin}/sandbox/purchases", json=order, timeout=60).raise_for_status()
        shown = agent.json("approve", order["acsTransId"], *WAIT)
        self.assertEqual((shown["state"], shown["transStatus"]), ("approved", "Y"))
        (row,) = agent.json("enrollments")
        self.assertEqual((row["push"]["firstByPush"], row["push"]["firstByPoll"]), (1, 0))


class Settings(unittest.TestCase):
    def refused(self, *options: str) -> str:
        folder = temporary_folder(type(self))
        run = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", folder / "state", "--check-config", *options],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertIn(run.returncode, (64, 78), run.stderr)
        return run.stderr

    def test_plain_http_off_loopback_takes_a_declared_proxy(self):
        for address in ["0.0.0.0:8443", "[::]:8443", "[::2]:8443", "192.0.2.127:8443"]:
            said = self.refused("--push-listen", address, "--push-url", "https://push.example")
            self.assertIn("push-behind-proxy", said)

    def test_address_and_url_go_together_and_have_their_form(self):
        self.assertIn("push-url", self.refused("--push-listen", "localhost:1"))
        self.assertIn("push-listen", self.refused("--push-url", "https://push.example"))
        for address in ["localhost", "example.com:1", "127.0.0.1:65536", "::1:1", "[127.0.0.1]:1"]:
            self.assertIn("ADDRESS:PORT", self.refused("--push-listen", address, "--push-url", "https://push.example"))
        for url in ["http://push.example", "https://push.example/?a", "ftp://push.example", "https://"]:
            self.assertIn("--push-url", self.refused("--push-listen", "localhost:1", "--push-url", url))


if __name__ == "__main__":
    unittest.main()
