"""Metrics as Prometheus' own parser reads them, from the control socket and from a loopback port.

Run with `.venv/bin/python Tests/Counterparts/test_metrics.py`; OOB_BIN_DIR names the programs' directory.
"""

import contextlib
import http.client
import re
import socket
import subprocess
import threading
import time
import unittest

from prometheus_client.parser import text_string_to_metric_families

from issuer import Issuer
from programs import BIN_DIR, READY_WITHIN, Agent, free_port, started, temporary_folder, unpacked
from unix_http import Bridge

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Prometheus: "Metric and label naming".
NAME = re.compile(r"oob_agent_[a-z]+(_[a-z]+)*")
BASE_UNITS = ["seconds"]


def families(text: str) -> dict:
    """By name; a counter's without its `_total`, as the parser has it."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def value(found: dict, name: str, **labels) -> float:
    (sample,) = [each for each in found[name.removesuffix("_total")].samples
                 if each.name == name and each.labels == labels]
    return sample.value


def has_loopback_of_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def without_the_disk(text: str) -> str:
    """Other programs write to it as well."""
    return re.sub(r"^oob_agent_disk_free_bytes .*\n", "", text, flags=re.MULTILINE)


class WithAnAgent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.issuer = cls.enterClassContext(Issuer())
        cls.port = free_port()
        cls.agent = started(cls, Agent(cls.folder, "--metrics-listen", f"127.0.0.1:{cls.port}"))
        cls.bridge = cls.enterClassContext(Bridge(cls.agent.socket))
        cls.enrollment = cls.agent.json(
            "enroll", "--issuer", cls.issuer.origin, "--code", cls.issuer.enrollment_code())

    def ask(self, method: str = "GET", path: str = "/metrics", **headers: str):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()

    def metrics(self) -> dict:
        status, headers, text = self.ask()
        self.assertEqual((status, headers["content-type"]), (200, CONTENT_TYPE))
        return families(text)


class TheText(WithAnAgent):
    def test_the_names_are_as_prometheus_asks(self):
        found = self.metrics()
        self.assertGreater(len(found), 20)
        for family in found.values():
            self.assertRegex(family.name, NAME)
            self.assertNotEqual(family.documentation, "")
            # A unit is a base unit, and at the end.
            self.assertNotRegex(family.name, "_(ms|milliseconds|minutes|hours|bytes_total|percent)")
            for sample in family.samples:
                self.assertEqual(sample.name.endswith("_total"), family.type == "counter")
                self.assertTrue(all(re.fullmatch("[a-z]+(_[a-z]+)*", label) for label in sample.labels))
        for name in ["decision_duration", "delivery_duration"]:
            self.assertEqual(found[f"oob_agent_{name}_seconds"].type, "histogram")

    @unittest.skipUnless(unpacked("promtool"), "there is no promtool here")
    def test_prometheus_has_nothing_to_say_about_names_and_help(self):
        run = subprocess.run([unpacked("promtool"), "check", "metrics"], input=self.ask()[2], capture_output=True,
                             text=True, timeout=60)
        self.assertEqual((run.returncode, run.stdout + run.stderr), (0, ""))

    def test_the_socket_and_the_port_say_the_same(self):
        accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
        def ask() -> str:
            return without_the_disk(self.ask()[2])

        # Where the agent did something meanwhile, such as another poll, the two are not of the same moment.
        before, after = "", ask()
        for _ in range(100):
            connection = http.client.HTTPConnection(*self.bridge.origin.removeprefix("http://").split(":"), timeout=60)
            self.addCleanup(connection.close)
            connection.request("GET", "/v1/metrics", headers={"Accept": accept})
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.headers["content-type"]), (200, CONTENT_TYPE))
            text = without_the_disk(answer.read().decode())
            before, after = after, ask()
            if before == after:
                break
        self.assertEqual(before, after, "it is never at rest")
        self.assertEqual(text, after)

    def test_what_happens_is_counted(self):
        before = self.metrics()
        row = self.purchase()
        pending = self.metrics()
        self.assertEqual(value(pending, "oob_agent_requests_pending"), 1)
        self.assertEqual(value(pending, "oob_agent_ready"), 1)
        self.assertEqual(value(pending, "oob_agent_enrollments", state="active"), 1)
        self.agent.json("approve", row["id"])
        after = self.metrics()

        def gain(name: str, **labels) -> float:
            return value(after, name, **labels) - value(before, name, **labels)

        self.assertEqual(gain("oob_agent_requests_presented_total"), 1)
        self.assertEqual(gain("oob_agent_requests_ended_total", outcome="approved"), 1)
        self.assertEqual(gain("oob_agent_requests_ended_total", outcome="denied"), 0)
        self.assertEqual(gain("oob_agent_messages_total", channel="poll"), 1)
        self.assertEqual(gain("oob_agent_decisions_answered_total", trans_status="Y"), 1)
        self.assertEqual(gain("oob_agent_decisions_answered_total", trans_status="N"), 0)
        for name in ["decision", "delivery"]:
            buckets = [each for each in after[f"oob_agent_{name}_duration_seconds"].samples if "le" in each.labels]
            counts = [each.value for each in buckets]
            self.assertEqual(counts, sorted(counts))
            self.assertEqual(buckets[-1].labels["le"], "+Inf")
        self.assertEqual(value(after, "oob_agent_requests_pending"), 0)
        self.assertEqual(value(
            after, "oob_agent_build_info", version=self.agent.json("status")["version"], personas="true"), 1)

    def test_a_word_that_an_alert_looks_for_has_its_number_before_it_comes(self):
        # A series that begins at 1 has not increased.
        found = self.metrics()
        for name, label, words in [
                ("decisions_failed", "reason", ["expired", "unenrolled", "invalid_assertion"]),
                ("requests_refused", "reason", ["commitment", "rpId", "conflict"]),
                ("messages_dropped", "reason", ["not_authentic"])]:
            for word in words:
                self.assertEqual(value(found, f"oob_agent_{name}_total", **{label: word}), 0)

    def purchase(self) -> dict:
        request = self.issuer.ask(self.enrollment["authenticatorId"], self.issuer.transaction())
        self.agent.json("fetch")
        return self.agent.json("show", request.transaction["acsTransId"])

    def test_no_id_name_or_amount_is_in_it(self):
        row = self.purchase()
        text = self.ask()[2]
        for word in [row["id"], self.enrollment["id"], self.enrollment["authenticatorId"], "CoffeeHouse2"]:
            self.assertNotIn(word, text)
        self.agent.json("deny", row["id"])


class ThePort(WithAnAgent):
    def test_there_is_nothing_else_on_it(self):
        for method, path, status in [
                ("GET", "/", 404), ("GET", "/v1/metrics", 404), ("GET", "/metrics/", 404), ("GET", "/v1/status", 404),
                ("POST", "/metrics", 405), ("DELETE", "/metrics", 405), ("GET", "/metrics?a=b", 200)]:
            with self.subTest(f"{method} {path}"):
                self.assertEqual(self.ask(method, path)[0], status)
        self.assertEqual(self.ask("HEAD")[2], "")
        self.assertEqual(self.ask("POST")[1]["allow"], "GET, HEAD")

    def test_a_page_in_a_browser_that_gave_this_host_a_name_of_its_own_learns_nothing(self):
        status, _, text = self.ask(Host="evil.example")
        self.assertEqual(status, 421)
        self.assertNotIn("oob_agent", text)
        self.assertEqual(self.ask(Host="localhost")[0], 200)

    def test_many_connections_that_say_nothing_do_not_keep_the_agent_from_its_work(self):
        silent = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(64)]
        for each in silent:
            self.addCleanup(each.close)
        self.assertEqual(self.agent.json("status")["state"], "ready")

    def test_clients_that_never_come_to_an_end_do_not_keep_others_out(self):
        over = threading.Event()

        def drip(client: socket.socket):
            with client, contextlib.suppress(OSError):
                client.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
                while not over.wait(0.2):
                    client.sendall(b"a")

        clients = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(16)]
        threads = [threading.Thread(target=drip, args=[each]) for each in clients]
        for thread in threads:
            thread.start()
            self.addCleanup(thread.join)
        self.addCleanup(over.set)
        self.assertEqual(self.ask(Host="localhost")[0], 200)


class TheSetting(unittest.TestCase):
    def refused(self, value: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oob-agent", "--check-config", "--state-dir", "/tmp/none", "--metrics-listen", value],
            capture_output=True, text=True, timeout=60)

    def test_an_address_that_others_reach_is_refused(self):
        for value in ["0.0.0.0:9464", "192.0.2.1:9464", "[::]:9464", "[2001:db8::1]:9464", "9464", "localhost",
                      "evil.example:9464", "127.0.0.1:65536", ""]:
            with self.subTest(value):
                run = self.refused(value)
                self.assertEqual(run.returncode, 64, run.stderr)
                self.assertIn("--metrics-listen: must be ADDRESS:PORT or [ADDRESS]:PORT on loopback", run.stderr)
        for value in ["127.0.0.1:9464", "localhost:0", "[::1]:9464"]:
            self.assertEqual(self.refused(value).returncode, 0)

    def test_it_is_off_unless_it_is_set(self):
        folder = temporary_folder(type(self))
        agent = Agent(folder)
        self.addCleanup(agent.stop)
        listening = subprocess.run(
            ["ss", "-Htlnp"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn(f"pid={agent.process.pid},", listening)

    def test_the_log_says_which_port_the_system_chose_in_the_form_that_the_setting_has(self):
        for host in ["127.0.0.1", *(["[::1]"] if has_loopback_of_ipv6() else [])]:
            agent = Agent(temporary_folder(type(self)), "--metrics-listen", f"{host}:0")
            self.addCleanup(agent.stop)
            deadline = time.monotonic() + READY_WITHIN
            while (said := re.search(r"metrics server listening address=(\S+)\n", agent.log.read_text())) is None:
                self.assertLess(time.monotonic(), deadline, agent.tail())
                time.sleep(0.05)  # Looks again; nothing depends on how long.
            place = said[1]
            self.assertEqual(place.rpartition(":")[0], host)
            connection = http.client.HTTPConnection(place, timeout=60)
            self.addCleanup(connection.close)
            connection.request("GET", "/metrics")
            self.assertEqual(connection.getresponse().status, 200)

    def test_a_port_that_is_taken_is_said_with_its_address(self):
        folder = temporary_folder(type(self))
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            run = subprocess.run(
                [BIN_DIR / "oob-agent", "--state-dir", folder / "state", "--metrics-listen", f"127.0.0.1:{port}"],
                capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 69, run.stderr)
        reason = "Address already in use; choose another with metrics-listen"
        self.assertIn(f"metrics cannot be given on 127.0.0.1 port {port}: {reason}\n", run.stderr)


class InTrouble(unittest.TestCase):
    def test_an_issuer_that_is_gone_shows(self):
        folder = temporary_folder(type(self))
        with Issuer() as issuer:
            agent = Agent(folder)
            try:
                agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code())
            finally:
                agent.stop()
        agent = Agent(folder)
        self.addCleanup(agent.stop)
        with Bridge(agent.socket) as bridge:
            deadline = time.monotonic() + 60
            while True:
                connection = http.client.HTTPConnection(*bridge.origin.removeprefix("http://").split(":"), timeout=60)
                connection.request("GET", "/v1/metrics")
                found = families(connection.getresponse().read().decode())
                connection.close()
                if value(found, "oob_agent_issuers_paused") == 1:
                    break
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)  # Asks again; nothing depends on how long.
        self.assertEqual(value(found, "oob_agent_ready"), 0)
        self.assertEqual(value(found, "oob_agent_enrollments_troubled"), 1)
        # It is the issuer's trouble and nobody's else: this is no reason to wake the one who runs the agent.
        self.assertEqual({sample.labels["cause"]: sample.value
                          for sample in found["oob_agent_not_ready_reasons"].samples},
                         {"starting": 0, "database": 0, "restored": 0, "headMissing": 0, "rowsChanged": 0, "clockAhead": 0, "descriptors": 0, "socket": 0, "key": 0, "issuer": 1, "suspended": 0})
        (pause,) = found["oob_agent_issuer_pause_seconds"].samples
        self.assertEqual(pause.labels, {"issuer": issuer.origin})


if __name__ == "__main__":
    unittest.main()
