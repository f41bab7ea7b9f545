"""The agent under a service manager: what it says of itself, and what a hang-up signal lets it read anew.

Run with `.venv/bin/python Tests/Stories/test_supervised.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
import unittest
import uuid
from pathlib import Path

from issuer import Issuer
from programs import READY_WITHIN, Agent, Program, free_port, journal_stream, temporary_folder
from road import Authority
from supervision import Manager


class Supervised(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)
        self.manager = self.enterContext(Manager(self.folder / "notify"))

    def agent(self, *arguments: str, **variables: str) -> Agent:
        agent = Agent(self.folder, *arguments, NOTIFY_SOCKET=self.manager.place, **variables)
        self.addCleanup(agent.stop)
        return agent

    def start_in_vain(self, *arguments: str, **variables: str) -> tuple[int, str]:
        """What an agent exits with that does not start, and what it says."""
        program = Program(self.folder, "oob-agent", *arguments, HOME=str(self.folder), **variables)
        with program.process.stdout:
            return program.process.wait(READY_WITHIN), program.log.read_text()

    def is_ready(self, news: dict) -> bool:
        return news.get("READY") == "1"


class News(Supervised):
    def test_it_is_ready_once_it_listens_for_clients_for_pushes_and_for_metrics(self):
        port, metrics = free_port(), free_port()
        program = Program(
            self.folder, "oob-agent", "--state-dir", str(self.folder / "state"), "--socket",
            str(self.folder / "control.sock"), "--push-listen", f"127.0.0.1:{port}", "--push-url",
            f"http://localhost:{port}", "--metrics-listen", f"127.0.0.1:{metrics}", NOTIFY_SOCKET=self.manager.place)
        self.addCleanup(program.stop)
        self.manager.until(self.is_ready, "ready")
        control = str(self.folder / "control.sock")
        for family, place in [
                (socket.AF_UNIX, control), (socket.AF_INET, ("127.0.0.1", port)),
                (socket.AF_INET, ("127.0.0.1", metrics))]:
            with socket.socket(family) as client:
                client.connect(place)  # At once, and not after a second try.
        ready = next(news for news in self.manager.told if self.is_ready(news))
        self.assertEqual(ready, {"READY": "1", "STATUS": "Ready: 0 enrollments, 0 pending"})
        self.assertEqual(self.manager.told[0], {"STATUS": "Starting"})
        self.assertEqual(program.log.read_text().count("notice ready"), 1)

    def test_where_a_port_is_taken_it_is_not_ready_and_tells_nobody_to_come(self):
        for form in ["--metrics-listen", "--push-listen"]:
            with self.subTest(form), socket.create_server(("127.0.0.1", 0)) as taken:
                port, place = taken.getsockname()[1], len(self.manager.told)
                more = ["--push-url", f"http://localhost:{port}"] if "push" in form else []
                program = Program(
                    temporary_folder(self), "oob-agent", "--state-dir", str(self.folder / f"state{form}"), form,
                    f"127.0.0.1:{port}", *more, NOTIFY_SOCKET=self.manager.place)
                self.assertEqual(program.process.wait(READY_WITHIN), 69, program.tail())
                with program.process.stdout:
                    self.assertEqual(program.process.stdout.read(), "")
                self.assertNotIn("notice ready", program.log.read_text())
                self.manager.until_status("Not started: ", place)
                self.assertFalse(any(map(self.is_ready, self.manager.told)))

    def test_its_status_is_that_of_its_enrollments_and_requests(self):
        agent = self.agent(WATCHDOG_USEC="2000000")
        issuer = self.enterContext(Issuer())
        card = agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(),
                          "--authn-type", "presence")
        self.manager.until_status("Ready: 1 enrollment, 0 pending")
        request = issuer.ask(card["authenticatorId"], issuer.transaction())
        place = self.manager.until_status("Ready: 1 enrollment, 1 pending")
        agent.json("approve", request.transaction["acsTransId"], "--wait", "60")
        place = self.manager.until_status("Ready: 1 enrollment, 0 pending", place)
        issuer.authenticators.clear()
        agent.ctl("fetch")
        self.manager.until_status(
            f"Degraded: 1 enrollment, 0 pending; enrollment {card['id']}: {issuer.origin} ", place)

    def test_of_very_many_enrollments_in_trouble_some_are_named_and_the_others_counted(self):
        agent, issuer = self.agent(), self.enterContext(Issuer())
        for _ in range(22):
            agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(),
                       "--authn-type", "presence")
        issuer.authenticators.clear()
        agent.ctl("fetch")
        is_said = lambda news: news.get("STATUS", "").endswith(" (and many more)")  # noqa: E731
        place = self.manager.until(is_said, "many in trouble")
        self.assertRegex(self.manager.told[place - 1]["STATUS"], "^Degraded: 22 enrollments, 0 pending; enrollment ")
        deadline = time.monotonic() + READY_WITHIN
        while (reasons := agent.json("status")["reasons"])[-1] != "2 more enrollments are in trouble":
            self.assertLess(time.monotonic(), deadline, reasons)
            time.sleep(0.05)  # Looks again; nothing depends on how long.
        self.assertEqual(len(reasons), 21)

    def test_while_no_key_can_be_used_it_is_not_ready_and_says_why(self):
        issuer = self.enterContext(Issuer())
        enroll = lambda agent, *more: agent.json(  # noqa: E731
            "enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(), "--authn-type", "presence", *more)
        first, key = Agent(self.folder), self.folder / "own.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key],
                       check=True, capture_output=True)
        key.chmod(0o600)
        card = enroll(first, "--key-uri", f"file:{key}")
        first.stop()
        key.rename(self.folder / "kept.key")
        agent = self.agent()
        place = self.manager.until_status(f"Waiting for a key that can be used: enrollment {card['id']}: ")
        self.assertEqual(list(self.manager.told[place - 1]), ["STATUS"], "it does not ask for more time")
        status = agent.json("status")
        self.assertEqual(status["state"], "degraded")
        self.assertIn(str(key), status["reasons"][0])
        self.assertFalse(any(map(self.is_ready, self.manager.told)))
        enroll(agent)  # Another key, and that can be used.
        # At once, or where that came too soon after a look at the keys, with the next one.
        ready = self.manager.until(self.is_ready, "ready", place, seconds=150)
        self.assertTrue(self.manager.told[ready - 1]["STATUS"].startswith("Degraded: 2 enrollments, "))

    def test_the_start_after_a_change_of_the_secret_asks_for_the_time_that_it_takes(self):
        old, new = self.folder / "old", self.folder / "new"
        for path in [old, new]:
            path.touch(0o600)
            path.write_bytes(uuid.uuid4().bytes * 2)
        Agent(self.folder, "--secret-file", str(old)).stop()
        both = Agent(self.folder, "--secret-file", str(new), "--previous-secret-file", str(old))
        both.logged("the secret was changed")
        both.stop()
        self.agent("--secret-file", str(new))
        self.manager.until(self.is_ready, "ready")
        asked = [news for news in self.manager.told if "EXTEND_TIMEOUT_USEC" in news]
        self.assertEqual([news["EXTEND_TIMEOUT_USEC"] for news in asked], ["1800000000", "120000000"])
        self.assertEqual([news["STATUS"] for news in asked], [
            "Removing from the database what the change of the secret has written over", "Starting"])

    def test_signs_of_life_come_in_half_the_time_and_none_for_another_process(self):
        self.agent(WATCHDOG_USEC="2000000")
        is_alive = lambda news: news.get("WATCHDOG") == "1"  # noqa: E731
        place = 0
        for _ in range(3):
            place = self.manager.until(is_alive, "a sign of life", place)
        other = self.enterContext(Manager(f"@oob-{uuid.uuid4()}"))
        agent = Agent(temporary_folder(self), NOTIFY_SOCKET=other.place, WATCHDOG_USEC="2000000", WATCHDOG_PID="1")
        other.until(self.is_ready, "ready")
        agent.stop()
        self.assertEqual([news for news in other.told if is_alive(news)], [])

    def test_ready_is_told_once_however_often_it_gives_a_sign_of_life(self):
        self.agent(WATCHDOG_USEC="2000000")
        place = self.manager.until(self.is_ready, "ready")
        for _ in range(2):
            place = self.manager.until(lambda news: news.get("WATCHDOG") == "1", "a sign of life", place)
        self.assertEqual(sum(map(self.is_ready, self.manager.told)), 1)

    def test_an_agent_that_no_client_reaches_gives_no_sign_of_life(self):
        agent = self.agent(WATCHDOG_USEC="1000000")
        self.manager.until(self.is_ready, "ready")
        agent.socket.unlink()
        words = "the agent does not answer itself"
        agent.logged(words)
        place = len(self.manager.told)
        agent.logged(words, times=4)
        self.assertEqual(self.manager.told[place:], [])

    def test_one_look_that_has_no_answer_in_time_is_not_the_end(self):
        seconds = 36
        agent, issuer = self.agent(WATCHDOG_USEC=f"{seconds}000000"), self.enterContext(Issuer())
        self.manager.until(self.is_ready, "ready")
        path, aside = agent.socket, self.folder / "aside.sock"
        path.rename(aside)
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(str(path))
            silent.listen()
            silent.settimeout(READY_WITHIN)
            place = len(self.manager.told)
            # News, for which it looks at once: ten seconds after its start it would see that the socket is another's.
            agent.socket = aside
            agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(), "--authn-type", "presence")
            agent.socket = path
            with silent.accept()[0]:
                aside.replace(path)
                # Half of the manager's patience is over.
                self.manager.until(
                    lambda news: news.get("WATCHDOG") == "1", "a sign of life", place, seconds=seconds / 2)
        agent.logged("the agent does not answer itself")

    def test_its_stop_is_told_before_it_has_stopped(self):
        agent = self.agent()
        self.manager.until(self.is_ready, "ready")
        agent.stop()
        self.assertEqual(agent.process.returncode, 0)
        self.manager.until(lambda news: news == {"STOPPING": "1", "STATUS": "Stopping"}, "the stop")

    def test_why_it_does_not_start_is_its_status(self):
        status, _ = self.start_in_vain("--log-level", "loud", NOTIFY_SOCKET=self.manager.place)
        self.assertEqual(status, 64)
        self.manager.until_status("Not started: --log-level: must be one of debug, ")


class Reloads(Supervised):
    def setUp(self):
        super().setUp()
        self.config = self.folder / "agent.yaml"

    def reload(self, agent: Agent, config: str | None = None):
        """Sends the signal, and returns what was told of it."""
        if config is not None:
            self.config.write_text(config)
        place = len(self.manager.told)
        agent.process.send_signal(signal.SIGHUP)
        begun = self.manager.until(lambda news: "RELOADING" in news, "a reload", place)
        self.manager.until(self.is_ready, "the end of a reload", begun)
        return self.manager.told[begun - 1]

    def test_the_log_level_and_form_change_while_it_runs(self):
        self.config.write_text("log-level: warning\n")
        agent = self.agent("--config", str(self.config))
        self.manager.until(self.is_ready, "ready")
        self.assertNotIn("ready", agent.log.read_text())
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        told = self.reload(agent, "log-level: info\n")
        self.assertLess(before, int(told["MONOTONIC_USEC"]))
        self.assertRegex(agent.logged("the settings were reloaded"), r"^\S+ notice ")
        self.reload(agent, "log-level: info\nlog-format: json\n")
        self.assertRegex(agent.logged("the settings were reloaded", 2), r'^\{"time":".*"level":"notice"')
        self.reload(agent, "log-level: error\n")
        self.assertEqual(agent.log.read_text().count("the settings were reloaded"), 2)

    def test_a_config_that_is_not_in_order_leaves_all_as_it_was(self):
        self.config.write_text("log-level: info\n")
        agent = self.agent("--config", str(self.config))
        self.manager.until(self.is_ready, "ready")
        for wrong, words in [("log-level: error\nlog-colour: red\n", ":2: log-colour"), ("log-level: [\n", ":2:")]:
            self.reload(agent, wrong)
            line = agent.logged(f"{self.config}{words}")
            self.assertRegex(line, r"^\S+ error the settings were not reloaded reason=")
        self.config.unlink()
        self.reload(agent)
        agent.logged(f"{self.config}: No such file")
        self.reload(agent, "log-level: info\n")
        agent.logged("the settings were reloaded")

    def test_the_issuers_that_enroll_may_name_change_while_it_runs(self):
        with Issuer() as issuer:
            enroll = ["enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code()]
            self.config.write_text("issuers: [https://bank.example]\n")
            agent = self.agent("--config", str(self.config))
            self.manager.until(self.is_ready, "ready")
            for wanted in (enroll, ["enroll", "--issuer", "http://localhost:1", "--code", "x"]):
                run = agent.ctl(*wanted)
                self.assertEqual(run.returncode, 64, run.stderr)
                self.assertIn("its setting issuers allows https://bank.example", run.stderr)
            self.assertNotIn("commanded", agent.log.read_text(), "a refused issuer is asked nothing")
            self.reload(agent, "issuers: []\n")
            self.assertIn(":1: issuers: must be origins", agent.logged("the settings were not reloaded"))
            self.assertEqual(agent.ctl(*enroll).returncode, 64)
            self.reload(agent, f"issuers: https://bank.example, {issuer.origin.upper()}\n")
            agent.logged("the settings were reloaded")
            self.assertEqual(agent.ctl(*enroll).returncode, 0)
            self.reload(agent, "issuers: https://bank.example\n")
            agent.logged("the settings were reloaded", 2)
            (authenticator,) = issuer.authenticators
            issuer.ask(authenticator, issuer.transaction())
            self.assertEqual(agent.json("approve", "--next", "--wait", "60")["delivery"], "delivered")

    def test_what_needs_a_restart_is_named(self):
        self.config.write_text("max-undecided: 10\nretention: 30\nlog-level: info\n")
        agent = self.agent("--config", str(self.config))
        self.manager.until(self.is_ready, "ready")
        self.reload(agent, "max-undecided: 11\nlog-level: debug\n")
        line = agent.logged("settings have changed that need a restart")
        self.assertTrue(line.endswith('settings="max-undecided, retention"'), line)
        self.reload(agent, "max-undecided: 10\nretention: 30\n")
        agent.logged("the settings were reloaded", 2)
        self.assertEqual(agent.log.read_text().count("need a restart"), 1)

    def test_a_refused_reload_is_in_the_status_until_one_goes_well(self):
        self.config.write_text("log-level: info\n")
        agent = self.agent("--config", str(self.config), WATCHDOG_USEC="2000000")
        self.manager.until(self.is_ready, "ready")
        place = len(self.manager.told)
        self.reload(agent, "log-colour: red\n")
        place = self.manager.until_status(f"Reload refused: {self.config}:1: log-colour: ", place)
        place = self.manager.until_status(
            f"Ready: 0 enrollments, 0 pending; reload refused: {self.config}:1: log-colour: ", place)
        self.reload(agent, "log-level: info\n")
        place = self.manager.until(lambda news: news == {"READY": "1", "STATUS": "Reloaded"}, "a reload", place)
        self.manager.until(lambda news: news.get("STATUS") == "Ready: 0 enrollments, 0 pending", "the status", place)

    @unittest.skipUnless(shutil.which("strace"), "there is no strace here")
    def test_a_reload_of_an_agent_that_does_not_answer_yet_says_nothing_of_ready(self):
        """None of its connections comes about, so that it never answers itself."""
        program = Program(
            self.folder, "oob-agent", "--state-dir", str(self.folder / "state"), "--socket",
            str(self.folder / "control.sock"), NOTIFY_SOCKET=self.manager.place,
            through=("strace", "-f", "-o", "/dev/null", "-e", "inject=connect:error=ECONNREFUSED"))
        self.addCleanup(program.stop)
        program.logged("the agent does not answer itself")
        (agent,) = Path(f"/proc/{program.process.pid}/task/{program.process.pid}/children").read_text().split()
        os.kill(int(agent), signal.SIGHUP)
        program.logged("the settings were reloaded")
        os.kill(int(agent), signal.SIGTERM)
        self.manager.until(lambda news: "STOPPING" in news, "the stop")
        self.assertEqual([news for news in self.manager.told if {"READY", "RELOADING"} & set(news)], [])

    @unittest.skipUnless(shutil.which("strace"), "there is no strace here")
    def test_a_hang_up_ends_nothing_from_before_the_settings_are_read_on(self):
        config, trace = self.folder / "config.yaml", self.folder / "trace"
        config.write_text("log-level: info\n")
        program = Program(
            self.folder, "oob-agent", "--state-dir", str(self.folder / "state"), "--socket",
            str(self.folder / "control.sock"), "--config", str(config),
            through=("strace", "-f", "-o", trace, "-e", "trace=openat,rt_sigaction"))
        self.addCleanup(program.stop)
        program.logged("ready")
        (agent,) = Path(f"/proc/{program.process.pid}/task/{program.process.pid}/children").read_text().split()
        os.kill(int(agent), signal.SIGTERM)
        before, _, after = trace.read_text().partition(str(config))
        self.assertIn("rt_sigaction(SIGHUP, {sa_handler=SIG_IGN", before)
        self.assertNotIn("rt_sigaction(SIGHUP, {sa_handler=SIG_DFL", after)

    def test_without_a_config_and_a_manager_a_hang_up_is_harmless(self):
        agent = Agent(self.folder)
        self.addCleanup(agent.stop)
        for times in range(1, 4):
            agent.process.send_signal(signal.SIGHUP)
            agent.logged("the settings were reloaded", times)
        self.assertEqual(agent.ctl("status").returncode, 0)

    def test_the_receiver_of_pushes_shows_a_new_certificate_and_keeps_a_good_one(self):
        authority, port = Authority(self.folder), free_port()
        certificate, key = self.folder / "c.pem", self.folder / "k.pem"
        place = ("--push-listen", f"127.0.0.1:{port}", "--push-url", f"https://localhost:{port}")
        first, second = authority.issue("localhost"), authority.issue("localhost")
        self.install(first, certificate, key)
        agent = self.agent(*place, "--push-tls-cert", str(certificate), "--push-tls-key", str(key))
        self.manager.until(self.is_ready, "ready")
        shown = [self.shown(authority, port)]
        self.install(second, certificate, key)
        shown.append(self.shown(authority, port))
        self.reload(agent)
        shown.append(self.shown(authority, port))
        key.write_text("no key")
        self.reload(agent)
        agent.logged("the settings were not reloaded")
        shown.append(self.shown(authority, port))
        expected = [ssl.PEM_cert_to_DER_cert(pair[0].read_text()) for pair in [first, first, second, second]]
        self.assertEqual(shown, expected)

    def test_a_receiver_of_pushes_begins_to_speak_tls_at_a_start_only(self):
        authority, port = Authority(self.folder), free_port()
        certificate, key = self.folder / "c.pem", self.folder / "k.pem"
        self.install(authority.issue("localhost"), certificate, key)
        plain = f"push-listen: 127.0.0.1:{port}\npush-url: https://localhost:{port}\n"
        self.config.write_text(plain)
        agent = self.agent("--config", str(self.config))
        self.manager.until(self.is_ready, "ready")
        self.reload(agent, f"{plain}push-tls-cert: {certificate}\npush-tls-key: {key}\n")
        line = agent.logged("settings have changed that need a restart")
        self.assertTrue(line.endswith('settings="push-tls-cert, push-tls-key"'), line)

    def install(self, pair, certificate, key):
        certificate.write_bytes(pair[0].read_bytes())
        key.write_bytes(pair[1].read_bytes())
        key.chmod(0o600)

    def shown(self, authority: Authority, port: int) -> bytes:
        context = ssl.create_default_context(cafile=authority.certificate)
        with socket.create_connection(("127.0.0.1", port), 30) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as secured:
                return secured.getpeercert(binary_form=True)


class Journal(Supervised):
    def test_under_the_journal_each_line_has_its_level_in_front(self):
        for form in ["text", "json"]:
            with self.subTest(form):
                folder = temporary_folder(self)
                agent = Agent(folder, "--log-format", form, JOURNAL_STREAM=journal_stream(folder / "oob-agent.log"))
                agent.logged("ready")
                agent.stop()
                lines = agent.log.read_text().splitlines()
                self.assertTrue(lines)
                for line in lines:
                    self.assertRegex(line, r"^<[3-7]>[{a-z]")
                self.assertTrue(any(re.match(r"<5>.*\bready\b", line) for line in lines), lines)

    def test_so_has_the_line_that_says_why_it_does_not_start(self):
        stream = journal_stream(self.folder / "oob-agent.log")
        status, said = self.start_in_vain("--state-dir", "/dev/null", JOURNAL_STREAM=stream)
        self.assertEqual(status, 77)
        self.assertRegex(said, r"^<3>Error: the state directory /dev/null: [^\n]+\n$")

    def test_a_standard_error_that_is_not_the_journals_any_more_has_times_and_no_levels(self):
        """As in a terminal, or with 2>FILE, of a session that systemd began."""
        agent = Agent(self.folder, JOURNAL_STREAM="8:4711")
        agent.stop()
        for line in agent.log.read_text().splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT[0-9:]+Z [a-z]+ ")
        status, said = self.start_in_vain("--state-dir", "/dev/null", JOURNAL_STREAM="8:4711")
        self.assertEqual(status, 77)
        self.assertIn("\nError: the state directory", said)

    def test_in_json_so_is_the_line_that_says_why_it_does_not_start(self):
        config = self.folder / "agent.yaml"
        config.write_text("log-format: json\nstate-dir: /dev/null\n")
        wrong = ("--log-level", "loud")
        for arguments, variables, expected in [
            (("--config", str(config)), {}, 77), (("--config", str(config), *wrong), {}, 64),
            (("--log-format", "json", *wrong), {}, 64), (wrong, {"OOB_AGENT_LOG_FORMAT": "json"}, 64),
            (("--log-format", "json", "--config", "/nowhere"), {}, 78),
        ]:
            folder = self.folder / f"{len(list(self.folder.iterdir()))}"
            folder.mkdir()
            program = Program(folder, "oob-agent", *arguments, HOME=str(folder),
                              JOURNAL_STREAM=journal_stream(folder / "oob-agent.log"), **variables)
            with self.subTest(arguments), program.process.stdout:
                self.assertEqual(program.process.wait(READY_WITHIN), expected)
                (line,) = program.log.read_text().splitlines()
                self.assertEqual(line[:3], "<3>")
                said = json.loads(line[3:])
                self.assertEqual((said["message"], said["status"]), ("ended by an error", str(expected)))
                self.assertTrue(said["reason"])


if __name__ == "__main__":
    unittest.main()
