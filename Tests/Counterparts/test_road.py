"""The road from the agent to its issuers: TLS, client certificates, an HTTP proxy, as a person sets them up.

Run with `.venv/bin/python Tests/Counterparts/test_road.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import signal
import ssl
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from issuer import Issuer
from programs import BIN_DIR, READY_WITHIN, Agent, Sandbox, started, temporary_folder
from road import Authority, Front, Proxy, openssl, server_side
from software_authenticator import call

WAIT = ("--wait", "60")
SYSTEM_ROOTS = "/etc/ssl/certs/ca-certificates.crt"
NOT_TRUSTED = "the issuer's certificate does not lead to a trusted root, or is not valid now"


class Road(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.authority = Authority(cls.folder)
        cls.localhost = cls.authority.issue("localhost")

    def agent(self, *arguments: str, **how) -> Agent:
        agent = Agent(Path(tempfile.mkdtemp(dir=self.folder)), *arguments, **how)
        self.addCleanup(agent.stop)
        return agent

    def issuer(self, front: Front, origin: str | None = None) -> Issuer:
        """An issuer behind that front."""
        issuer = self.enterContext(Issuer(origin=origin or front.origin))
        front.target = issuer.http.server_address[1]
        return issuer

    def enroll(self, agent: Agent, origin: str, code: str, roots: Path | None):
        files = () if roots is None else ("--ca-file", str(roots))
        return agent.ctl("enroll", "--issuer", origin, "--code", code, "--authn-type", "presence", "--json", *files)

    def works(self, agent: Agent, issuer: Issuer, roots: Path | None):
        """An enrollment, a request, an approval."""
        run = self.enroll(agent, issuer.origin, issuer.enrollment_code(), roots)
        self.assertEqual(run.returncode, 0, run.stderr)
        request = issuer.ask(json.loads(run.stdout)["authenticatorId"], issuer.transaction())
        shown = agent.json("approve", request.transaction["acsTransId"], *WAIT)
        self.assertEqual(shown["transStatus"], "Y")

    def fails(self, agent: Agent, origin: str, roots: Path | None, sentence: str):
        run = self.enroll(agent, origin, "ABCD-EFGH", roots)
        self.assertEqual(run.returncode, 1, run.stderr)
        message = json.loads(run.stderr)["error"]["message"]
        self.assertIn(sentence, message)
        self.assertEqual(len(message.splitlines()), 1, message)


class Certificates(Road):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = started(cls, Agent(temporary_folder(cls)))

    def test_an_issuer_under_given_roots_with_each_version_of_tls(self):
        for version in [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]:
            with self.subTest(version), Front(server_side(self.localhost, versions=(version, version))) as front:
                self.works(self.shared, self.issuer(front), self.authority.certificate)

    def test_a_certificate_that_proves_nothing_is_refused_in_one_sentence(self):
        own, other = self.authority.certificate, Authority(self.folder).certificate
        self_signed = self.authority.self_signed("localhost")
        cases = {
            "another authority of the same name": (self.localhost, other, NOT_TRUSTED),
            "an own authority, and the system's roots": (self.localhost, None, NOT_TRUSTED),
            "self-signed": (self_signed, own, NOT_TRUSTED),
            "expired": (self.authority.issue("localhost", days=-1), own, NOT_TRUSTED),
            "another host": (self.authority.issue("issuer.example"), own,
                             "the issuer's certificate is not for localhost"),
        }
        for name, (pair, roots, sentence) in cases.items():
            with self.subTest(name), Front(server_side(pair)) as front:
                self.fails(self.shared, front.origin, roots, sentence)

    def test_a_server_that_speaks_tls_1_1_at_most_is_refused(self):
        versions = (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1)
        with Front(server_side(self.localhost, versions=versions)) as front, Issuer() as issuer:
            front.target = issuer.http.server_address[1]
            said = subprocess.run(
                ["openssl", "s_client", "-tls1_1", "-cipher", "ALL:@SECLEVEL=0", "-connect", f"localhost:{front.port}"],
                input="", capture_output=True, text=True, timeout=60).stdout
            self.assertRegex(said, r"Protocol *: TLSv1\.1", "the server does not speak TLS 1.1 as the test wants it to")
            self.fails(self.shared, front.origin, self.authority.certificate,
                       "the issuer speaks neither TLS 1.2 nor TLS 1.3")

    def test_a_server_without_tls_is_told_from_one_that_has_it(self):
        with Issuer() as issuer:
            origin = issuer.origin.replace("http:", "https:")
            self.fails(self.shared, origin, self.authority.certificate, "does not speak TLS")

    def test_without_given_roots_the_systems_are_trusted(self):
        """The machine's file of roots is another one for this agent alone, in a mount namespace of its own."""
        if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
            self.skipTest("this machine allows no mount namespace here")
        mount = f'mount --bind "{self.authority.certificate}" {SYSTEM_ROOTS} && exec "$@"'
        agent = self.agent(through=("unshare", "-rm", "sh", "-c", mount, "sh"))
        with Front(server_side(self.localhost)) as front:
            self.works(agent, self.issuer(front), None)


class ClientCertificates(Road):
    def shown(self, authority: Authority) -> tuple[str, ...]:
        certificate, key = authority.issue("agent")
        return "--client-cert", str(certificate), "--client-key", str(key)

    def test_an_issuer_that_asks_for_a_client_certificate(self):
        agent = self.agent(*self.shown(self.authority))
        with Front(server_side(self.localhost, clients=self.authority)) as front:
            self.works(agent, self.issuer(front), self.authority.certificate)

    def test_without_one_and_with_another_authoritys_the_failure_says_so(self):
        for arguments, sentence in [
            ((), "the issuer asks for a client certificate: set client-cert and client-key"),
            (self.shown(Authority(self.folder)), "the issuer refused the client certificate"),
        ]:
            agent = self.agent(*arguments)
            with self.subTest(sentence), Front(server_side(self.localhost, clients=self.authority)) as front:
                self.fails(agent, front.origin, self.authority.certificate, sentence)


    def test_a_renewed_one_is_shown_after_a_reload_and_a_pair_that_does_not_match_changes_nothing(self):
        certificate, key = self.folder / "renewed.pem", self.folder / "renewed.key"

        def install(new_certificate: Path, new_key: Path):
            certificate.write_bytes(new_certificate.read_bytes())
            key.write_bytes(new_key.read_bytes())
            key.chmod(0o600)

        install(*Authority(self.folder).issue("agent"))
        agent = self.agent("--client-cert", str(certificate), "--client-key", str(key))
        with Front(server_side(self.localhost, clients=self.authority)) as front:
            issuer = self.issuer(front)
            refused = "the issuer refused the client certificate"
            self.fails(agent, front.origin, self.authority.certificate, refused)
            good = self.authority.issue("agent")
            install(good[0], self.authority.issue("agent")[1])
            self.reload(agent, "the settings were not reloaded")
            self.fails(agent, front.origin, self.authority.certificate, refused)
            install(*good)
            self.reload(agent, "the settings were reloaded")
            self.works(agent, issuer, self.authority.certificate)

    def reload(self, agent: Agent, words: str):
        agent.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + READY_WITHIN
        while words not in agent.log.read_text():
            self.assertLess(time.monotonic(), deadline, agent.tail())
            time.sleep(0.05)  # Looks again; nothing depends on how long.


class Proxies(Road):
    def test_an_issuer_is_reached_through_the_proxy_which_alone_knows_its_address(self):
        context = server_side(self.authority.issue("issuer.example"))
        with Proxy() as proxy, Front(context) as front:
            proxy.target = front.port
            agent = self.agent("--proxy", f"http://127.0.0.1:{proxy.port}")
            self.works(agent, self.issuer(front, "https://issuer.example"), self.authority.certificate)
            self.assertEqual(set(proxy.requests), {"CONNECT issuer.example:443 HTTP/1.1"})

    def test_an_issuer_on_loopback_is_reached_without_it(self):
        with Proxy() as proxy, Front(server_side(self.localhost)) as front, Issuer() as plain:
            agent = self.agent("--proxy", f"http://127.0.0.1:{proxy.port}")
            self.works(agent, plain, None)
            self.works(agent, self.issuer(front), self.authority.certificate)
            self.assertEqual(proxy.requests, [])

    def test_the_environment_variables_of_other_programs_mean_nothing(self):
        with Proxy() as proxy, Issuer() as plain:
            url = f"http://127.0.0.1:{proxy.port}"
            variables = {name: url for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"]}
            agent = self.agent(**variables)
            self.works(agent, plain, None)
            self.fails(agent, "https://nobody.invalid", None, "the host name of the issuer was not found")
            self.assertEqual(proxy.requests, [])

    def test_a_proxy_that_is_not_there_is_named(self):
        with Proxy() as proxy:
            port = proxy.port
        agent = self.agent("--proxy", f"http://127.0.0.1:{port}")
        self.fails(agent, "https://issuer.example", None, f"the proxy 127.0.0.1:{port} refused the connection")


class Settings(Road):
    """What is wrong is said at start, with its place, before anything else happens."""

    def refused(self, status: int, *words: str, flags: tuple[str, ...] = (), config: str | None = None, **variables):
        state = Path(tempfile.mkdtemp(dir=self.folder))
        arguments = ["--state-dir", str(state / "state"), *flags]
        if config is not None:
            (state / "agent.yaml").write_text(config)
            arguments += ["--config", str(state / "agent.yaml")]
        for check in [("--check-config",), ()]:
            run = subprocess.run([BIN_DIR / "oob-agent", *arguments, *check], capture_output=True, text=True,
                                 timeout=60, env={**os.environ, **variables})
            self.assertEqual(run.returncode, status, run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
            for word in words:
                self.assertIn(word, run.stderr)
        self.assertFalse((state / "state").exists())

    def test_client_certificates(self):
        certificate, key = (str(path) for path in self.authority.issue("agent"))
        _, other = (str(path) for path in self.authority.issue("agent"))
        encrypted, open_to_all, text = (self.folder / name for name in ["encrypted.key", "open.key", "text"])
        openssl("pkcs8", "-topk8", "-in", key, "-out", encrypted, "-passout", "pass:secret")
        open_to_all.write_bytes(Path(key).read_bytes())
        open_to_all.chmod(0o644)
        text.write_text("no PEM\n")
        text.chmod(0o600)
        for cert, private, words in [
            (certificate, None, ["--client-cert: goes with client-key"]),
            (None, key, ["--client-key: goes with client-cert"]),
            ("/nowhere", key, ["--client-cert: /nowhere", "the file is missing"]),
            (certificate, "/nowhere", ["--client-key: /nowhere", "no such file"]),
            (text, key, [f"--client-cert: {text}", "no certificate in PEM"]),
            (certificate, text, [f"--client-key: {text}", "no private key in PEM"]),
            (certificate, encrypted, [f"--client-key: {encrypted}", "not encrypted"]),
            (certificate, open_to_all, [f"--client-key: {open_to_all}", "0600"]),
            (certificate, other, [f"--client-key: {other}", "not the private key of the client certificate"]),
        ]:
            with self.subTest(words):
                named = {"client-cert": cert, "client-key": private}
                flags = tuple(f"--{name}={path}" for name, path in named.items() if path is not None)
                self.refused(64 if len(flags) == 1 else 78, *words, flags=flags)

    def test_a_proxy(self):
        bad = "https://proxy.example:3128"
        self.refused(64, "--proxy: must be http://HOST:PORT", flags=("--proxy", bad))
        self.refused(78, "OOB_AGENT_PROXY: must be http://HOST:PORT", OOB_AGENT_PROXY=bad)
        self.refused(78, "agent.yaml:2: proxy: must be http://HOST:PORT", config=f"log-level: info\nproxy: {bad}\n")
        self.refused(78, "a user and password are not supported", config="proxy: http://me:secret@proxy.example:1\n")

    def test_settings_in_the_config_file(self):
        certificate, key = self.authority.issue("agent")
        self.refused(78, "agent.yaml:1: client-cert: goes with client-key", config=f"client-cert: {certificate}\n")
        agent = self.folder / "agent.yaml"
        agent.write_text(f"client-cert: {certificate}\nclient-key: {key}\nproxy: http://proxy.example:3128\n")
        run = subprocess.run(
            [BIN_DIR / "oob-agent", "--check-config", "--config", agent, "--state-dir", self.folder / "state"],
            capture_output=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, b""))


class TraceContext(Road):
    def test_a_requests_traceparent_comes_back_with_its_decision_where_it_is_one(self):
        sandbox, agent = Sandbox(Path(tempfile.mkdtemp(dir=self.folder))), self.agent()
        self.addCleanup(sandbox.stop)
        _, code = call("POST", f"{sandbox.origin}/sandbox/enrollment-codes", {})
        run = self.enroll(agent, sandbox.origin, code["code"], None)
        self.assertEqual(run.returncode, 0, run.stderr)
        good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        for claim, header in [(good, good), (good.upper(), None), ("not one", None), (None, None)]:
            with self.subTest(claim):
                members = {} if claim is None else {"traceparent": claim}
                _, purchase = call("POST", f"{sandbox.origin}/sandbox/purchases", members)
                agent.json("approve", purchase["acsTransId"], *WAIT)
                _, story = call("GET", f"{sandbox.origin}/sandbox/purchases/{purchase['acsTransId']}")
                self.assertEqual(story["decision"].get("traceparent"), header)


if __name__ == "__main__":
    unittest.main()
