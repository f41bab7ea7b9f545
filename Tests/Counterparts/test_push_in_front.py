"""What may stand between an issuer and an agent that takes pushes: nginx, Caddy, and a push service.

Run with `.venv/bin/python Tests/Counterparts/test_push_in_front.py`; OOB_BIN_DIR names the programs' directory.
"""

import os
import re
import subprocess
import unittest
from pathlib import Path

import requests
from py_vapid import Vapid02

from citations import page
from programs import ENDED_WITHIN, Agent, free_port, started, temporary_folder, unpacked
from push_service import PushService
from pushing import PushingIssuer
from road import Authority
from test_push import WAIT

PAGE = page("push.md").read_text()
NGINX, CADDY = map(unpacked, ["nginx", "caddy"])


class WithIssuer(unittest.TestCase):
    def setUp(self):
        self.issuer = self.enterContext(PushingIssuer())
        self.issuer.holds_polls = True

    def enrolled(self, agent: Agent) -> dict:
        return agent.json("enroll", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code(),
                          "--authn-type", "presence")

    def assert_arrives(self, agent: Agent, card: dict, session: requests.Session | None = None):
        request = self.issuer.ask(card["authenticatorId"], self.issuer.transaction())
        answer = self.issuer.push_request(request, session)
        self.assertEqual(answer.status_code, 201, answer.text)
        shown = agent.json("approve", request.transaction["acsTransId"], *WAIT)
        self.assertEqual((shown["state"], shown["transStatus"]), ("approved", "Y"))


class BehindAProxy(WithIssuer):
    """With the configurations of `docs/how-to/push.md`, but for names, ports and files."""

    def setUp(self):
        super().setUp()
        self.folder, self.port, self.inside = temporary_folder(type(self)), free_port(), free_port()
        self.authority = Authority(self.folder)
        self.certificate, self.key = self.authority.issue("localhost")

    def session(self) -> requests.Session:
        session = self.enterContext(requests.Session())
        session.trust_env, session.verify = False, str(self.authority.certificate)
        # Until the proxy listens.
        session.mount("https://", requests.adapters.HTTPAdapter(
            max_retries=requests.adapters.Retry(total=20, connect=20, backoff_factor=0.1, allowed_methods=None)))
        return session

    def page(self, heading: str, changes: dict[str, str]) -> str:
        text = re.search(rf"### {heading} in front\n.*?```\w*\n(.*?)```", PAGE, re.DOTALL)[1]
        for old, new in {**changes, "127.0.0.1:8081": f"127.0.0.1:{self.inside}"}.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text

    def run_proxy(self, *command: str | Path):
        proxy = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(self.folder)})
        self.addCleanup(proxy.wait, ENDED_WITHIN)
        self.addCleanup(proxy.terminate)

    def assert_pushes_are_handed_on(self, *options: str):
        agent = started(type(self), Agent(
            temporary_folder(type(self)), "--push-listen", f"127.0.0.1:{self.inside}",
            "--push-url", f"https://localhost:{self.port}", "--push-behind-proxy", "true", *options))
        card, session = self.enrolled(agent), self.session()
        self.assert_arrives(agent, card, session)
        subscription = self.issuer.subscriptions[card["authenticatorId"]]
        fields = {"Content-Encoding": "aes128gcm", "TTL": "60", **self.issuer.authorization(subscription)}
        body = self.issuer.encrypted(subscription, b"x" * 3_993)
        for bytes, status in [(body, 201), (body + b"x", 413)]:
            answer = session.post(subscription["endpoint"], data=bytes, headers=fields, timeout=60)
            self.assertEqual((len(bytes), answer.status_code), (len(bytes), status))

    def run_nginx(self, changes: dict[str, str]):
        server = self.page("nginx", {
            "listen 443 ssl": f"listen 127.0.0.1:{self.port} ssl", "push.bank.example": "localhost",
            "/etc/ssl/push.pem": str(self.certificate), "/etc/ssl/push.key": str(self.key), **changes})
        places = " ".join(f"{name}_temp_path {self.folder}/{name};"
                          for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        configuration = self.folder / "nginx.conf"
        configuration.write_text(f"daemon off; pid {self.folder}/nginx.pid; error_log stderr; events {{}}\n"
                                 f"http {{ access_log off; {places}\n{server} }}")
        self.run_proxy(NGINX, "-e", "stderr", "-c", configuration)

    @unittest.skipIf(NGINX is None, "Debian's nginx is not there")
    def test_nginx_hands_pushes_on(self):
        self.run_nginx({})
        self.assert_pushes_are_handed_on()

    @unittest.skipIf(NGINX is None, "Debian's nginx is not there")
    def test_nginx_takes_vapid_away_where_it_is_looked_at_upstream(self):
        version = "proxy_http_version 1.1;"
        self.run_nginx({version: f'{version} proxy_set_header Authorization "";'})
        self.assert_pushes_are_handed_on("--push-vapid", "upstream")

    @unittest.skipIf(CADDY is None, "Debian's Caddy is not there")
    def test_caddy_hands_pushes_on(self):
        site = self.page("Caddy", {
            "push.bank.example {": f"https://localhost:{self.port} {{\nbind 127.0.0.1\n"
                                   f"tls {self.certificate} {self.key}"})
        configuration = self.folder / "Caddyfile"
        configuration.write_text(f"{{\nadmin off\nauto_https disable_redirects\n}}\n{site}")
        self.run_proxy(CADDY, "run", "--config", configuration, "--adapter", "caddyfile")
        self.assert_pushes_are_handed_on()


class BehindAPushService(WithIssuer):
    """`push-url` is the service's, which forwards what is below it to the receiver."""

    def scene(self, hands_on_vapid: bool, vapid: str) -> tuple[Agent, dict, dict, PushService]:
        port = free_port()
        service = self.enterContext(PushService(f"http://localhost:{port}", hands_on_vapid))
        agent = started(type(self), Agent(
            temporary_folder(type(self)), "--push-listen", f"localhost:{port}", "--push-url", service.url,
            "--push-vapid", vapid))
        card = self.enrolled(agent)
        subscription = self.issuer.subscriptions[card["authenticatorId"]]
        self.assertTrue(subscription["endpoint"].startswith(f"{service.url}/push/"))
        service.senders[subscription["endpoint"]] = self.issuer.discovery()["vapidPublicKey"]
        return agent, card, subscription, service

    def test_what_the_service_lets_through_arrives_whether_vapid_comes_along_or_not(self):
        for hands_on_vapid, vapid in [(False, "upstream"), (True, "upstream"), (True, "required")]:
            with self.subTest(hands_on_vapid=hands_on_vapid, vapid=vapid):
                agent, card, _, _ = self.scene(hands_on_vapid, vapid)
                self.assert_arrives(agent, card)
                (row,) = agent.json("enrollments")
                self.assertEqual((row["push"]["firstByPush"], row["push"]["refused"]), (1, 0))

    def test_another_senders_push_is_refused_by_the_service_and_never_reaches_the_agent(self):
        agent, _, subscription, _ = self.scene(False, "upstream")
        other = Vapid02()
        other.generate_keys()
        body = self.issuer.encrypted(subscription, b"hint")
        wrong = [self.issuer.authorization(subscription, other),
                 self.issuer.authorization(subscription, aud="https://elsewhere.example"),
                 self.issuer.authorization(subscription, exp=1_700_000_000)]
        answers = [self.issuer.post(subscription, body, fields) for fields in [*wrong, {"Authorization": None}]]
        self.assertEqual([answer.status_code for answer in answers], [403, 403, 403, 401])
        (row,) = agent.json("enrollments")
        self.assertEqual((row["push"].get("lastPush"), row["push"]["refused"]), (None, 0))
        self.assertEqual(self.issuer.push(subscription, b"hint").status_code, 201)

    def test_where_the_service_takes_vapid_away_an_agent_that_requires_it_takes_nothing(self):
        agent, _, subscription, _ = self.scene(False, "required")
        self.assertEqual(self.issuer.push(subscription, b"hint").status_code, 401)
        (row,) = agent.json("enrollments")
        self.assertEqual((row["push"]["works"], row["push"]["refused"]), (False, 1))


if __name__ == "__main__":
    unittest.main()
