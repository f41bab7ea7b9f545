"""Agents of several hosts on one PostgreSQL: what one does the others know, and any of them may be killed."""

import hashlib
import json
import os
import random
import re
import secrets
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from postgres_proxy import PostgresProxy
from postgres_server import PROGRAMS, PostgresServer, needs_postgres
from programs import BIN_DIR, Agent, Sandbox, temporary_folder
from sealed import derived, opened_by, spellings
from test_operations import metrics
from wall_clock import WallClock, build

WITHIN = 60


class Hosts(unittest.TestCase):
    """A sandbox, a server, and what makes agents of hosts that share a database."""

    SERVER_OPTIONS: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls):
        needs_postgres()
        cls.folder = temporary_folder(cls)
        cls.server = PostgresServer(*cls.SERVER_OPTIONS)
        cls.addClassCleanup(cls.server.remove)
        cls.sandbox = Sandbox(cls.folder)
        cls.addClassCleanup(cls.sandbox.stop)
        cls.secret = cls.folder / "secret"
        cls.secret.write_bytes(secrets.token_bytes(32))
        cls.secret.chmod(0o600)

    def setUp(self):
        self.name = f"d{secrets.token_hex(6)}"
        self.url = self.server.create(self.name)

    def options(self, host: str, **given: str) -> list[str]:
        settings = {"database": self.url, "host-name": host, "secret-file": str(self.secret), **given}
        return [word for name, value in settings.items() for word in (f"--{name}", value)]

    def place(self) -> Path:
        """A host's directory; short, for a socket's path has 107 bytes at most."""
        return Path(tempfile.mkdtemp(dir=self.folder))

    def host(self, name: str, place: Path | None = None) -> Agent:
        agent = Agent(place or self.place(), *self.options(name))
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop())
        return agent

    def refused(self, *options: str, **variables: str) -> subprocess.CompletedProcess:
        """A start that must fail."""
        return subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", str(self.place() / "state"), *options],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WITHIN, env={**os.environ, **variables})

    def clock(self, off: int = 0) -> WallClock:
        """A wall clock that is set apart from the machine's."""
        folder = self.place()
        return WallClock(build(folder), folder / "clock", off)

    def enroll(self, agent: Agent, *options: str) -> str:
        code = subprocess.run(
            [BIN_DIR / "oob-issuer", "code", "--issuer", self.sandbox.origin], check=True,
            capture_output=True, text=True, timeout=WITHIN).stdout.splitlines()[-1]
        return agent.json("enroll", code, *options)["id"]

    def buy(self, merchant: str, *options: str) -> str:
        return subprocess.run(
            [BIN_DIR / "oob-issuer", "purchase", "--issuer", self.sandbox.origin, "--amount", "100", "--currency", "840",
             "--exponent", "2", "--merchant", merchant, *options], check=True, capture_output=True, text=True,
            timeout=WITHIN).stdout.splitlines()[-1]

    def waits(self, agent: Agent, acs_trans_id: str):
        """The host shows a request, whichever host has fetched it."""
        self.until(lambda: agent.ctl("show", acs_trans_id).returncode == 0, f"{acs_trans_id}:\n{agent.tail()}")

    def leases(self) -> dict[str, int]:
        return {host: int(count) for host, count in self.server.sql(
            "SELECT host, count(*) FROM lease WHERE valid_until > now() GROUP BY host", self.name)}

    def until(self, holds, what: str):
        deadline = time.monotonic() + WITHIN
        while not holds():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.1)  # Asks again; nothing depends on how long.


class SharedWorkTests(Hosts):
    def test_what_one_host_fetched_the_other_shows_and_decides_and_the_issuer_hears_it_once(self):
        alpha, beta = self.host("alpha"), self.host("beta")
        self.enroll(alpha)
        request = self.buy("CoffeeHouse2")
        for host in [alpha, beta]:
            self.waits(host, request)
        denied = beta.json("deny", request)
        self.assertEqual(denied["state"], "denied")
        self.until(lambda: alpha.json("show", request)["delivery"] == "delivered", "not delivered")
        again = alpha.ctl("approve", request)
        self.assertNotEqual(again.returncode, 0)
        counts = self.server.sql("SELECT host, count(*) FROM journal GROUP BY host ORDER BY host", self.name)
        self.assertEqual([host for host, _ in counts], ["alpha", "beta"])
        for host in [alpha, beta]:
            self.assertEqual(host.ctl("audit verify").returncode, 0)

    def test_a_host_that_is_killed_leaves_its_work_to_the_other_and_takes_its_part_when_it_is_back(self):
        place = self.place()
        alpha, beta = self.host("alpha", place), self.host("beta")
        self.enroll(alpha)
        parts = {}

        def are_shared() -> bool:
            parts.clear()
            parts.update(self.leases())
            return set(parts) == {"alpha", "beta"} and sum(parts.values()) == 256

        self.until(are_shared, "both have a part")
        alpha.process.send_signal(signal.SIGKILL)
        alpha.process.wait(WITHIN)
        alpha.process.stdout.close()
        self.until(lambda: self.leases() == {"beta": 256}, "the other takes all")
        request = self.buy("After the kill")
        self.waits(beta, request)
        self.assertEqual(beta.json("deny", request)["state"], "denied")
        alpha = self.host("alpha", place)
        self.until(lambda: self.leases() == parts, "each has its part again")
        self.waits(alpha, request)

    def test_a_database_that_restarts_is_waited_for_and_nothing_is_lost(self):
        alpha = self.host("alpha")
        self.enroll(alpha)
        first = self.buy("Before")
        self.waits(alpha, first)
        self.server.stop()
        failed = alpha.ctl("deny", first)
        self.assertNotEqual(failed.returncode, 0)
        self.server.start()
        self.until(lambda: alpha.ctl("deny", first).returncode == 0, alpha.tail())
        second = self.buy("After")
        self.waits(alpha, second)


class Watching:
    """`oobctl watch --json` at a host, whose lines are read as they come."""

    def __init__(self, test: Hosts, agent: Agent, *arguments: str):
        self.process = subprocess.Popen(
            [BIN_DIR / "oobctl", "watch", "--json", "--socket", str(agent.socket), *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # While it watches, a test decides several requests.
        self.watchdog = threading.Timer(5 * WITHIN, self.process.kill)
        self.watchdog.start()
        test.addCleanup(self.end)

    def until(self, *acs_trans_ids: str) -> list[dict]:
        """The events up to those that these were presented and decided; hosts' events come in any order."""
        events, missing = [], {(event, each) for each in acs_trans_ids for event in ("requestPresented", "requestDecided")}
        for line in self.process.stdout:
            events.append(json.loads(line))
            missing.discard((events[-1]["event"], events[-1].get("request", {}).get("acsTransId")))
            if not missing:
                return events
        raise AssertionError(f"it ended without {missing}, after {events}: {self.process.stderr.read()}")

    def end(self):
        self.process.kill()
        self.watchdog.cancel()
        self.process.communicate()


class ExportTests(Hosts):
    """The chains of all hosts are exported by each of them, and checked without the agent."""

    def two(self) -> tuple[Agent, Agent]:
        """Two hosts that have decided something, and have certified each other's keys."""
        place = self.place()
        alpha, beta = self.host("alpha", place), self.host("beta")
        self.enroll(alpha)
        self.request = self.buy("CoffeeHouse2")
        self.waits(beta, self.request)
        self.assertEqual(beta.json("deny", self.request)["state"], "denied")
        self.until(lambda: alpha.json("show", self.request)["delivery"] == "delivered", "not delivered")
        # When it stops and when it starts, a host certifies the others' keys; else it would be within a minute.
        alpha.stop()
        return self.host("alpha", place), beta

    def exported(self, agent: Agent, *arguments: str) -> list[str]:
        run = agent.ctl("audit export", *arguments)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.splitlines()

    def test_each_host_exports_the_chains_of_all_and_any_one_alone(self):
        alpha, beta = self.two()
        for asked in [alpha, beta]:
            lines = self.exported(asked)
            self.assertEqual(sorted(lines, key=lambda line: json.loads(line)["chain"]), lines)
            for name in ["alpha", "beta"]:
                start = f'{{"chain":"{name}",'
                chain = ["{" + line.removeprefix(start) for line in lines if line.startswith(start)]
                self.assertEqual(self.exported(asked, "--host", name)[:len(chain)], chain)
                self.assertEqual([json.loads(line)["seq"] for line in chain], list(range(1, len(chain) + 1)))
        for name, own in [("alpha", alpha), ("beta", beta)]:
            key = own.ctl("audit key").stdout
            self.assertTrue(key.startswith("-----BEGIN PUBLIC KEY-----"))
            for asked in [alpha, beta]:
                self.assertEqual(asked.ctl("audit key", "--host", name).stdout, key)
        unknown = alpha.ctl("audit key", "--host", "gamma")
        self.assertEqual(unknown.returncode, 3)
        self.assertIn("no chain of a host with the name gamma", unknown.stderr)

    def test_an_export_goes_on_behind_a_place_in_each_chain(self):
        alpha, beta = self.two()
        for asked in [alpha, beta]:
            found = [json.loads(line) for line in self.exported(asked, "--after", "alpha:2,beta:3")]
            for name, first in [("alpha", 3), ("beta", 4)]:
                self.assertEqual(next(each["seq"] for each in found if each["chain"] == name), first)
            self.assertEqual(json.loads(self.exported(asked, "--after", "2", "--host", "beta")[0])["seq"], 3)
            self.assertEqual(json.loads(self.exported(asked, "--after", "beta:2")[0])["seq"], 1)
        for arguments, status, text in [
                (("--after", "17"), 64, "give it with its host, such as alpha:17"),
                (("--after", "gamma:1"), 3, "no chain of a host with the name gamma"),
                (("--host", "gamma"), 3, "no chain of a host with the name gamma")]:
            run = alpha.ctl("audit export", *arguments)
            self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)
            self.assertIn(text, run.stderr)

    def test_the_lines_of_one_host_alone_name_no_chain(self):
        alpha = self.host("alpha")
        lines = self.exported(alpha)
        self.assertEqual(self.exported(alpha, "--host", "alpha")[:len(lines)], lines)
        self.assertFalse(any("chain" in json.loads(line) for line in lines))

    def test_the_commands_of_the_page_check_the_chains_of_all_hosts_by_hand(self):
        alpha, _ = self.two()
        folder = self.place()
        page = (Path(__file__).parents[2] / "docs/reference/audit.md").read_text(encoding="utf-8")
        ((commands,), (program,)) = (re.findall(rf"^```{name}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
                                     for name in ["sh", "python"])
        (folder / "check.py").write_text(program)
        environment = {"PATH": f"{BIN_DIR}:/usr/bin:/bin", "OOB_AGENT_SOCKET": str(alpha.socket)}

        def run(script: str):
            return subprocess.run(
                ["sh", "-ec", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=WITHIN)

        good = run(commands)
        self.assertEqual((good.returncode, good.stdout), (0, "Verified OK\n" * 2), good.stderr)
        journal, verify = folder / "journal.jsonl", folder / "verify.json"
        lines, told = journal.read_bytes(), json.loads(verify.read_bytes())
        told["hosts"][1]["publicKey"] = told["hosts"][0]["publicKey"]
        last = max(place for place, line in enumerate(lines.splitlines()) if b'"entry":"hostsSeen"' in line)
        for changed, answer, text in [
                (lines.replace(b'"entry":"presented"', b'"entry":"cancelled"', 1), None, "does not follow"),
                (b"\n".join(lines.splitlines()[:last]), None, "the head is of another journal"),
                (lines.replace(b'"chain":"beta"', b'"chain":"alpha"'), None, "does not follow"),
                (lines, told, "has certified another key")]:
            with self.subTest(text):
                journal.write_bytes(changed)
                if answer:
                    verify.write_text(json.dumps(answer))
                bad = run("python3 check.py")
                self.assertNotEqual(bad.returncode, 0)
                self.assertIn(text, bad.stderr)

    def test_what_evidence_names_is_in_the_export_of_any_host(self):
        alpha, beta = self.two()
        for asked in [alpha, beta]:
            folder = self.place() / "evidence"
            run = asked.ctl("evidence", self.request, "-o", str(folder))
            self.assertEqual(run.returncode, 0, run.stderr)
            (_, head, *named) = (folder / "journal.txt").read_text().splitlines()
            key = (folder / "audit.pem").read_text()
            self.assertGreater(len(named), 2)
            for other in [alpha, beta]:
                found = {}
                for line in self.exported(other):
                    chain = json.loads(line)["chain"]
                    entry = "{" + line.removeprefix(f'{{"chain":"{chain}",')
                    digest = hashlib.sha256(entry.encode()).hexdigest()
                    found.setdefault(chain, set()).add(f"{json.loads(entry)['seq']} {digest}")
                self.assertLessEqual(set(named), set().union(*found.values()))
                (signing,) = [name for name in found if other.ctl("audit key", "--host", name).stdout == key]
                self.assertIn(head, found[signing])

    def test_a_line_of_watch_says_on_which_host_it_was(self):
        alpha, _ = self.two()
        watch = subprocess.Popen(
            [BIN_DIR / "oobctl", "watch", "--since", "0", "--socket", str(alpha.socket)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True)
        watchdog = threading.Timer(WITHIN, watch.kill)
        watchdog.start()
        try:
            decided = next(line for line in watch.stdout if "requestDecided" in line)
            self.assertTrue(decided.endswith("  on beta\n"), decided)
        finally:
            watchdog.cancel()
            watch.kill()
            watch.communicate()


class EventTests(Hosts):
    """Events of all hosts, at each of them."""

    def decide(self, agent: Agent, merchant: str) -> str:
        request = self.buy(merchant)
        self.waits(agent, request)
        self.assertEqual(agent.ctl("deny", request).returncode, 0, agent.tail())
        return request

    def expect_once(self, events: list[dict], requests: list[str]):
        """Each was presented once and decided once, and no event was told twice."""
        places = [(each["host"], each["seq"]) for each in events]
        self.assertEqual(len(places), len(set(places)), "told twice")
        for event in ["requestPresented", "requestDecided"]:
            told = [each["request"]["acsTransId"] for each in events if each["event"] == event]
            self.assertEqual(sorted(told), sorted(requests))

    def test_a_reader_at_one_host_is_told_what_all_do_and_goes_on_at_the_other_with_its_cursor(self):
        alpha, beta = self.host("alpha"), self.host("beta")
        self.enroll(alpha)
        reader = Watching(self, alpha, "--since", "0")
        first = [self.decide(beta, "One"), self.decide(beta, "Two")]
        seen = reader.until(*first)
        self.assertEqual({each["host"] for each in seen if each["event"] == "requestDecided"}, {"beta"})
        reader.end()
        meanwhile = [self.decide(alpha, "Three"), self.decide(beta, "Four")]
        reader = Watching(self, beta, "--since", seen[-1]["cursor"])
        seen += reader.until(*meanwhile)
        last = self.decide(alpha, "Five")
        seen += reader.until(last)
        self.expect_once(seen, [*first, *meanwhile, last])
        for host in ["alpha", "beta"]:
            numbers = [each["seq"] for each in seen if each["host"] == host]
            self.assertEqual(numbers, sorted(numbers))

    def test_a_watch_goes_on_over_the_restart_of_its_host_and_misses_nothing(self):
        place = self.place()
        alpha, beta = self.host("alpha", place), self.host("beta")
        self.enroll(beta)
        reader = Watching(self, alpha, "--since", "0")
        first = self.decide(beta, "Before")
        seen = reader.until(first)
        alpha.stop()
        second = self.decide(beta, "Meanwhile")
        self.host("alpha", place)
        seen += reader.until(second)
        self.expect_once(seen, [first, second])

    def test_with_one_host_places_are_numbers_and_a_reader_that_has_one_goes_on_when_there_are_two(self):
        alpha = self.host("alpha")
        self.enroll(alpha)
        before = [self.decide(alpha, f"Shop {number}") for number in range(4)]
        seen = Watching(self, alpha, "--since", "0").until(*before)
        self.assertEqual([each for each in seen if {"host", "cursor"} & set(each)], [])
        beta = self.host("beta")
        after = self.decide(beta, "Both")
        more = Watching(self, beta, "--since", str(seen[-1]["seq"])).until(after)
        self.assertEqual({each["request"]["acsTransId"] for each in more if "request" in each} - {after, before[-1]}, set())
        refused = beta.ctl("watch", "--since", "1")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("beta:1", refused.stderr)


class MetricsTests(Hosts):
    def test_it_has_the_metrics_that_the_page_names_for_several_hosts_besides_those_of_every_agent(self):
        alpha = self.host("alpha")
        run = subprocess.run(["curl", "-sS", "--unix-socket", alpha.socket, "http://localhost/v1/metrics"],
                             capture_output=True, text=True, timeout=60)
        found = dict(re.findall(r"^# HELP (\S+) (.*)$", run.stdout, re.MULTILINE))
        self.assertEqual(found, metrics(of_several_hosts=True) | metrics(of_several_hosts=False))

    def test_a_backup_is_not_made_and_the_tools_of_the_database_are_named(self):
        run = self.host("alpha").ctl("backup", "-")
        self.assertEqual((run.returncode, run.stdout), (64, ""))
        self.assertIn("its own tools, such as pgBackRest or pg_dump", run.stderr)


class StandbyTests(Hosts):
    def finding(self, agent: Agent) -> str | None:
        found = {each["id"]: each["message"] for each in agent.json("doctor")}
        return found.get("databaseAlone")

    def test_a_database_without_a_synchronous_standby_is_told_by_doctor(self):
        alpha = self.host("alpha")
        self.assertIn("synchronous_standby_names is empty", self.finding(alpha))
        self.assertIn("databaseAlone", alpha.tail())
        # Nobody is there by that name, so no write ends as long as it is set.
        self.server.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'", "postgres")
        self.addCleanup(self.server.sql, "SELECT pg_reload_conf()", "postgres")
        self.addCleanup(self.server.sql, "ALTER SYSTEM RESET synchronous_standby_names", "postgres")
        self.server.sql("SELECT pg_reload_conf()", "postgres")
        self.until(lambda: self.finding(alpha) is None, "it is seen")


class SharedKeyTests(Hosts):
    """Keys that the agents make are in the database, under the secret that all have."""

    def approves(self, agent: Agent, merchant: str):
        request = self.buy(merchant)
        self.waits(agent, request)
        self.assertEqual(agent.json("approve", request)["state"], "approved", agent.tail())

    def secret_file(self) -> str:
        path = self.place() / "secret"
        path.write_bytes(secrets.token_bytes(32))
        path.chmod(0o600)
        return str(path)

    def test_a_key_that_one_host_made_approves_on_another(self):
        places = [self.place(), self.place()]
        alpha, beta = self.host("alpha", places[0]), self.host("beta", places[1])
        enrollment = self.enroll(alpha)
        for number, agent in enumerate([beta, alpha, beta]):
            self.approves(agent, f"Shop {number}")
        self.assertEqual(self.server.sql("SELECT sign_count FROM enrollment", self.name), [["3"]])
        key = beta.json("enrollments")[0]
        self.assertEqual((key["keyUri"], key["key"]["kind"]), (f"store:{enrollment}", "store"))
        described = yaml.safe_load((Path(__file__).parents[2] / "openapi" / "agent.yaml").read_text())
        members = described["components"]["schemas"]["Enrollment"]["properties"]
        self.assertIn("store", members["key"]["properties"]["kind"]["enum"])
        said = beta.ctl("doctor").stdout
        self.assertIn("RTS Article 7", said)

    def both(self, new: str) -> dict[str, str]:
        return {"secret-file": new, "previous-secret-file": str(self.secret)}

    def again(self, agent: Agent, place: Path, host: str, **given: str) -> Agent:
        """The same host, started again."""
        agent.stop()
        agent = Agent(place, *self.options(host, **given))
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop())
        return agent

    def test_the_secret_is_changed_while_hosts_run_and_start_again_one_by_one(self):
        places = self.place(), self.place()
        alpha, beta = self.host("alpha", places[0]), self.host("beta", places[1])
        self.enroll(alpha)
        new = self.secret_file()
        alpha = self.again(alpha, places[0], "alpha", **self.both(new))
        self.assertIn("beta", alpha.logged("the previous secret stays in use until other hosts have the present one"))
        for host in [beta, alpha, beta]:
            self.approves(host, "Before")
        # All have the new one now: it seals from here on, and who has one secret alone does not get in.
        beta = self.again(beta, places[1], "beta", **self.both(new))
        self.assertIn("alpha", beta.logged("the secret is changed once other hosts have started again"))
        for host in [beta, alpha, beta]:
            self.approves(host, "Meanwhile")
        failed = self.refused(*self.options("gamma"))
        self.assertEqual(failed.returncode, 78, failed.stderr)
        self.assertIn("host beta is changing the secret", failed.stderr)
        failed = self.refused(*self.options("gamma", **{"secret-file": new}))
        self.assertEqual(failed.returncode, 78, failed.stderr)
        failed = self.refused(*self.options("gamma", **self.both(self.secret_file())))
        self.assertEqual(failed.returncode, 78, failed.stderr)
        alpha = self.again(alpha, places[0], "alpha", **self.both(new))
        for host in [alpha, beta]:
            self.approves(host, "At last")
            host.logged("the secret was changed")
        self.assertEqual(self.server.sql("SELECT host FROM secret_change", self.name), [])
        # The old secret starts no host any more, and the new one each.
        failed = self.refused(*self.options("gamma"))
        self.assertEqual(failed.returncode, 78, failed.stderr)
        self.assertIn("not the one that the other hosts have", failed.stderr)
        alpha = self.again(alpha, places[0], "alpha", **{"secret-file": new})
        beta = self.again(beta, places[1], "beta", **{"secret-file": new})
        for host in [alpha, beta]:
            self.approves(host, "After")
            self.assertEqual(host.ctl("audit verify").returncode, 0)
        for (sealed,) in self.server.sql("SELECT encode(sealed_key, 'hex') FROM enrollment", self.name):
            card, = self.server.sql("SELECT id FROM enrollment", self.name)[0]
            opened_by(Path(new).read_bytes(), bytes.fromhex(sealed), f"credential key {card}")

    def test_a_frozen_host_without_the_new_secret_writes_nothing_when_it_wakes(self):
        beta = self.host("beta")
        self.enroll(beta)
        request = self.buy("Frozen")
        self.waits(beta, request)
        # It counts as gone.
        beta.process.send_signal(signal.SIGSTOP)
        self.server.sql("UPDATE host SET alive_until = now()", self.name)
        gamma = Agent(self.place(), *self.options("gamma", **self.both(self.secret_file())))
        self.addCleanup(lambda: gamma.process.poll() is None and gamma.stop())
        gamma.logged("the secret was changed")
        beta.process.send_signal(signal.SIGCONT)
        woken = beta.ctl("approve", request)
        self.assertNotEqual(woken.returncode, 0)
        self.assertEqual(gamma.json("show", request)["state"], "pending", woken.stderr)
        self.assertEqual(gamma.json("approve", request)["state"], "approved")
        self.ends_shut_out(beta, "beta")

    def test_a_frozen_host_without_the_new_secret_is_shut_out_as_soon_as_another_seals_under_it(self):
        places = [self.place() for _ in range(3)]
        alpha, beta, gamma = (self.host(name, place) for name, place in zip(["alpha", "beta", "gamma"], places))
        self.enroll(alpha)
        request = self.buy("Frozen")
        self.waits(gamma, request)
        new = self.secret_file()
        alpha = self.again(alpha, places[0], "alpha", **self.both(new))
        gamma.process.send_signal(signal.SIGSTOP)
        self.server.sql("UPDATE host SET alive_until = now() WHERE name = 'gamma'", self.name)
        beta = self.again(beta, places[1], "beta", **self.both(new))
        beta.logged("the secret is changed once other hosts have started again")
        gamma.process.send_signal(signal.SIGCONT)
        self.assertNotEqual(gamma.ctl("approve", request).returncode, 0)
        self.assertEqual(alpha.json("approve", request)["state"], "approved")
        self.ends_shut_out(gamma, "gamma")
        self.assertEqual(self.refused(*self.options("gamma")).returncode, 78)
        gamma = Agent(self.place(), *self.options("gamma", **self.both(new)))
        gamma.stop()

    def ends_shut_out(self, agent: Agent, name: str):
        """So that its service manager starts it again."""
        self.assertEqual(agent.process.wait(WITHIN), 69)
        self.assertIn(f"the secret was changed, or the state moved, while host {name} was silent", agent.log.read_text(encoding="utf-8"))

    def test_a_host_makes_a_secret_only_if_the_database_has_none(self):
        def without(host: str) -> list[str]:
            return ["--database", self.url, "--host-name", host]

        place = self.place()
        Agent(place, *without("alpha")).stop()
        made = (place / "state" / "secret").read_bytes()
        Agent(place, *without("alpha")).stop()
        self.assertEqual((place / "state" / "secret").read_bytes(), made)
        state = self.place() / "state"
        failed = subprocess.run(
            [BIN_DIR / "oob-agent", "--state-dir", state, *without("beta")], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=WITHIN)
        self.assertEqual(failed.returncode, 78, failed.stderr)
        self.assertIn(f"there is no secret {state}/secret, and the state in the database was made with one", failed.stderr)
        self.assertFalse((state / "secret").exists())
        self.assertEqual(self.server.sql("SELECT name FROM host", self.name), [["alpha"]])

    def test_a_change_of_the_secret_that_was_cut_short_is_finished_by_a_host_with_both(self):
        alpha = self.host("alpha")
        self.enroll(alpha)
        alpha.stop()
        new = self.secret_file()
        marks = [derived(Path(secret).read_bytes(), "fingerprint", "").hex() for secret in [new, self.secret]]
        self.server.sql(
            f"INSERT INTO secret_change VALUES (1, 'alpha', '\\x{marks[0]}', '\\x{marks[1]}')", self.name)
        failed = self.refused(*self.options("beta"))
        self.assertEqual(failed.returncode, 78, failed.stderr)
        self.assertIn("alpha is changing the secret", failed.stderr)
        agent = Agent(self.place(), *self.options("beta", **self.both(new)))
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop())
        agent.logged("the secret was changed")
        self.assertEqual(self.server.sql("SELECT host FROM secret_change", self.name), [])
        self.approves(agent, "After")

    def test_a_change_that_changes_nothing_leaves_the_hosts_as_they_were(self):
        alpha = self.host("alpha")
        self.enroll(alpha)
        alpha.stop()
        self.server.sql("UPDATE enrollment SET sealed_key = '\\x00'", self.name)
        failed = self.refused(*self.options("alpha", **self.both(self.secret_file())))
        self.assertEqual(failed.returncode, 78, failed.stderr)
        self.assertIn("nothing was", failed.stderr)
        self.assertEqual(self.server.sql("SELECT host FROM secret_change", self.name), [])


class PersonalDataTests(Hosts):
    """What is personal is under a data key of its enrollment, which is under the secret and goes with an erasure."""

    SHOP, APP = "Kranichladen", "https://kranich-app.example/return"

    def setUp(self):
        super().setUp()
        self.agent = self.host("alpha")
        self.enroll(self.agent, "--name", "Other")
        # A name is in clear, which shows that what is in clear is found. The newest one is whom a purchase is for.
        self.card = self.enroll(self.agent, "--name", "Clearname")
        self.request = self.buy(self.SHOP, "--app-url", self.APP)
        self.waits(self.agent, self.request)
        approved = self.agent.json("approve", self.request)
        self.assertEqual(approved["state"], "approved", self.agent.tail())
        folder = self.place() / "evidence"
        self.assertEqual(self.agent.ctl("evidence", self.request, "-o", str(folder)).returncode, 0)
        self.evidence = {path.name: path.read_bytes() for path in folder.iterdir()}

    def dump(self, name: str) -> bytes:
        return subprocess.run(
            [PROGRAMS / "pg_dump", "-h", self.server.folder, "-U", "oob", name], capture_output=True, check=True,
            timeout=WITHIN).stdout

    def restored(self, dump: bytes) -> str:
        """The URL of another database with what a dump has."""
        name = f"d{secrets.token_hex(6)}"
        url = self.server.create(name)
        subprocess.run(
            [PROGRAMS / "psql", "-XAtq", "-h", self.server.folder, "-U", "oob", "-d", name, "-v", "ON_ERROR_STOP=1"],
            input=dump, check=True, capture_output=True, timeout=WITHIN)
        self.server.sql("UPDATE host SET alive_until = now()", name)
        return url

    def new_secret(self) -> Path:
        path = self.place() / "secret"
        path.write_bytes(secrets.token_bytes(32))
        path.chmod(0o600)
        return path

    def test_neither_the_database_nor_its_logs_have_merchant_return_url_text_or_assertion_in_clear(self):
        message = self.evidence["request.jws"].strip()
        secret = [
            self.SHOP.encode(), b"Clearname", b"kranich-app", message[-60:], message.split(b".")[1][40:120],
            self.evidence["nonce.bin"], self.evidence["signature"], self.evidence["clientDataJSON"][:120], self.evidence["decision.json"][-80:],
            *(line for line in self.evidence["text.txt"].splitlines() if b"1.00" in line),
        ]
        self.server.sql("CHECKPOINT", "postgres")
        places = {"the dump": self.dump(self.name)}
        # All of the cluster, with its write-ahead log, which a standby gets and an archive keeps.
        for path in (self.server.folder / "data").rglob("*"):
            if path.is_file():
                places[str(path)] = path.read_bytes()
        self.assertTrue(any("pg_wal" in place for place in places))
        # What is in clear is found by the same way of looking.
        found = {place for place, content in places.items() if self.card.encode() in content}
        self.assertIn("the dump", found)
        self.assertTrue(any("pg_wal" in place for place in found), found)
        for text in secret:
            for spelling in spellings(text):
                for place, content in places.items():
                    self.assertNotIn(spelling, content, f"{text!r} in {place}")

    def test_a_dump_from_before_an_erasure_opens_with_the_secret_of_then_alone(self):
        dump = self.dump(self.name)
        (cell, request), = self.server.sql(
            "SELECT encode(bytes, 'hex'), id FROM request JOIN evidence ON piece = text_piece "
            f"WHERE enrollment_id = '{self.card}'", self.name)
        sealed, = self.server.sql(
            f"SELECT encode(sealed, 'hex') FROM data_key WHERE enrollment_id = '{self.card}'", self.name)[0]
        erased = self.agent.ctl("unenroll", self.card, "--local", "--erase")
        self.assertEqual(erased.returncode, 0, erased.stderr)
        self.assertEqual(
            self.server.sql(f"SELECT * FROM data_key WHERE enrollment_id = '{self.card}'", self.name), [])
        self.assertEqual(self.agent.json("show", self.request)["state"], "approved", "what is left is shown")
        self.agent.stop()
        new = self.new_secret()
        agent = Agent(self.place(), *self.options(
            "beta", **{"secret-file": str(new), "previous-secret-file": str(self.secret)}))
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop())
        agent.logged("the secret was changed")
        agent.stop()
        # What is in the dump opens by way of the secret of then, and not of the new one.
        label, place = f"data key {self.card}", f"evidence {self.card} {request} text bytes"
        sealed, cell = bytes.fromhex(sealed), bytes.fromhex(cell)
        opened = AESGCM(opened_by(self.secret.read_bytes(), sealed, label)).decrypt(cell[1:13], cell[13:], place.encode())
        self.assertIn(self.SHOP.encode(), opened)
        with self.assertRaises(InvalidTag):
            opened_by(new.read_bytes(), sealed, label)
        for (kept,) in self.server.sql("SELECT encode(sealed, 'hex') FROM data_key", self.name):
            for secret in [self.secret, new]:
                with self.assertRaises(InvalidTag):
                    opened_by(secret.read_bytes(), bytes.fromhex(kept), label)
        # The same by the agent: with the old secret the dump is all there, and with the new one nobody gets in.
        url = self.restored(dump)
        failed = self.refused(*self.options("gamma", database=url, **{"secret-file": str(new)}))
        self.assertEqual(failed.returncode, 78, failed.stderr)
        agent = Agent(self.place(), *self.options("gamma", database=url))
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop())
        self.assertIn(self.SHOP, json.dumps(agent.json("show", self.request)))


class OneHost(Hosts):
    """One host with a request, and a way to its database that knows what goes over it."""

    def setUp(self):
        super().setUp()
        self.way = PostgresProxy(self.server.folder)
        self.addCleanup(self.way.remove)
        self.url = self.url.replace(str(self.server.folder), str(self.way.folder))
        self.agent = self.host("alpha")
        self.enroll(self.agent)
        self.request = self.buy("CoffeeHouse2")
        self.waits(self.agent, self.request)

    def state(self) -> tuple[str, str]:
        shown = self.agent.json("show", self.request)
        return shown["state"], shown["delivery"]


class RoundTripTests(OneHost):
    def test_an_approval_waits_three_times_for_the_database_and_commits_once(self):
        done = len(self.way.ended)
        self.assertEqual(self.agent.ctl("approve", self.request).returncode, 0, self.agent.tail())
        decisions = [(count, statements) for count, statements in self.way.ended[done:]
                     if any(b"INSERT INTO evidence" in statement for statement in statements)]
        self.assertEqual(len(decisions), 1)
        count, statements = decisions[0]
        self.assertLessEqual(count, 3, statements)
        self.assertEqual(statements.count(b"COMMIT"), 1)


class LostAnswerTests(OneHost):
    """The connection is lost while a decision is committed."""

    def test_a_commit_that_was_made_is_found_and_the_decision_is_told_as_made(self):
        self.way.arm("INSERT INTO evidence", "after")
        denied = self.agent.ctl("deny", self.request)
        self.assertTrue(self.way.was_cut.is_set())
        self.assertEqual(denied.returncode, 0, denied.stderr)
        self.until(lambda: self.state() == ("denied", "delivered"), "not delivered")

    def test_a_commit_that_the_server_never_got_is_told_as_not_made_and_can_be_made_again(self):
        self.way.arm("INSERT INTO evidence", "before")
        denied = self.agent.ctl("deny", self.request)
        self.assertTrue(self.way.was_cut.is_set())
        self.assertNotEqual(denied.returncode, 0)
        self.assertEqual(self.state(), ("pending", "none"))
        self.until(lambda: self.agent.ctl("deny", self.request).returncode == 0, denied.stderr)
        self.until(lambda: self.state() == ("denied", "delivered"), "not delivered")

    def test_a_commit_that_nobody_can_ask_for_is_told_as_in_doubt_and_is_settled_later(self):
        self.way.arm("INSERT INTO evidence", "after", closes=True)
        denied = self.agent.ctl("deny", self.request)
        self.assertTrue(self.way.was_cut.is_set())
        self.assertEqual(denied.returncode, 11, denied.stderr)
        self.way.is_closed = False
        self.until(lambda: self.agent.ctl("show", self.request).returncode == 0, "the store is back")
        self.until(lambda: self.state() == ("denied", "delivered"), self.agent.tail())
        self.assertEqual(self.agent.ctl("audit verify").returncode, 0)


class LostNumberTests(OneHost):
    """A server that crashes gives the numbers of transactions again that were not on its disk yet."""

    SERVER_OPTIONS = ("-c", "wal_writer_delay=10s")

    def test_a_commit_that_a_crash_has_undone_is_not_taken_for_another_one_of_the_same_number(self):
        self.way.arm("INSERT INTO evidence", "before", closes=True)
        with ThreadPoolExecutor(1) as callers:
            call = callers.submit(self.agent.ctl, "deny", self.request)
            self.assertTrue(self.way.was_cut.wait(WITHIN))
            self.server.stop()
            self.server.start()
            for _ in range(40):
                self.server.sql("UPDATE oob_agent_store SET form = form", self.name)
            self.way.is_closed = False
            denied = call.result()
        self.assertNotEqual(denied.returncode, 0)
        self.until(lambda: self.agent.ctl("show", self.request).returncode == 0, "the store is back")
        self.assertEqual(self.state(), ("pending", "none"))
        self.until(lambda: self.agent.ctl("deny", self.request).returncode == 0, self.agent.tail())
        self.until(lambda: self.state() == ("denied", "delivered"), self.agent.tail())
        self.assertEqual(self.agent.ctl("audit verify").returncode, 0)


class KilledHostsTests(Hosts):
    """Hosts that are killed while they decide, and a database that dies under them."""

    COUNT = 3
    SEED = 1
    ROUNDS = int(os.environ.get("HOST_KILLS", "25"))

    def setUp(self):
        super().setUp()
        self.chance = random.Random(self.SEED)
        self.places = {f"host-{number}": self.place() for number in range(self.COUNT)}
        self.agents = {name: self.host(name, place) for name, place in self.places.items()}
        self.enroll(self.agents["host-0"])
        self.asked: dict[str, set[str]] = {}
        self.told: dict[str, str] = {}

    def decide(self, agent: Agent, acs_trans_id: str, decision: str):
        """What a client asks for, and what it is told; it knows nothing of a host that dies."""
        self.asked[acs_trans_id].add(decision)
        if agent.ctl(decision, acs_trans_id).returncode == 0:
            self.assertNotIn(acs_trans_id, self.told, "decided twice")
            self.told[acs_trans_id] = decision

    def kill(self, name: str):
        agent = self.agents[name]
        agent.process.send_signal(signal.SIGKILL)
        agent.process.wait(WITHIN)
        agent.process.stdout.close()

    def round(self, number: int):
        acs_trans_id = self.buy(f"Shop {number}")
        self.asked[acs_trans_id] = set()
        for agent in self.agents.values():
            self.waits(agent, acs_trans_id)
        callers = [threading.Thread(target=self.decide, args=[
            self.agents[name], acs_trans_id, self.chance.choice(["approve", "deny"])])
            for name in self.chance.sample(sorted(self.agents), 2)]
        victim = self.chance.choice(sorted(self.agents))
        for caller in callers:
            caller.start()
        # Somewhere in what they do.
        time.sleep(self.chance.uniform(0, 0.08))
        if number % 8 == 7:
            self.server.stop()
            self.server.start()
        else:
            self.kill(victim)
        for caller in callers:
            caller.join(WITHIN)
        if self.agents[victim].process.poll() is not None:
            self.agents[victim] = self.host(victim, self.places[victim])

    def story(self, acs_trans_id: str) -> dict:
        with urllib.request.urlopen(f"{self.sandbox.origin}/sandbox/purchases/{acs_trans_id}", timeout=WITHIN) as answer:
            return json.load(answer)

    def test_nothing_is_lost_and_nothing_is_decided_twice_whichever_host_is_killed_while_it_decides(self):
        for number in range(self.ROUNDS):
            self.round(number)
        last = self.agents["host-0"]
        words = {"approve": ("approved", "authenticated"), "deny": ("denied", "notAuthenticated")}
        for acs_trans_id in self.asked:
            # What nobody has decided is as if nobody had asked.
            if last.json("show", acs_trans_id)["state"] == "pending":
                self.assertNotIn(acs_trans_id, self.told)
                self.decide(last, acs_trans_id, "deny")
            self.until(lambda: last.json("show", acs_trans_id)["delivery"] == "delivered", last.tail())
            state = last.json("show", acs_trans_id)["state"]
            story = self.story(acs_trans_id)
            decisions = [request["decision"] for request in story["requests"] if "decision" in request]
            refused = [request for request in story["requests"] if "refusedAssertions" in request]
            self.assertEqual(len(decisions), 1, story)
            self.assertFalse(decisions[0]["conflicts"], story)
            self.assertEqual(refused, [], story)
            decided = self.told.get(acs_trans_id) or decisions[0]["decision"]
            self.assertIn(decided, self.asked[acs_trans_id])
            self.assertEqual((state, story["status"]), words[decided])
        counts = self.server.sql("SELECT count(*) FROM request WHERE state = 'pending' OR delivery = 'queued'", self.name)
        self.assertEqual(counts, [["0"]])
        for agent in self.agents.values():
            verified = agent.ctl("audit verify")
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)


class AnotherDatabaseTests(Hosts):
    def test_after_a_restore_or_a_fail_over_nothing_is_signed_before_the_issuer_was_asked(self):
        alpha = self.host("alpha", place := self.place())
        self.enroll(alpha)
        request = self.buy("Before")
        self.waits(alpha, request)
        alpha.stop()
        marked = "SELECT count(*) FROM enrollment WHERE refused_sign_count IS NOT NULL"
        self.host("alpha", place).stop()
        self.assertEqual(self.server.sql(marked, self.name), [["0"]])
        # As if another timeline had begun; a real one is in test_hosts_page.py.
        self.server.sql("UPDATE lineage SET line = 'another/00000001'", self.name)
        self.sandbox.process.send_signal(signal.SIGSTOP)
        try:
            alpha = self.host("alpha", place)
            self.assertEqual(self.server.sql(marked, self.name), [["1"]])
            refused = alpha.ctl("approve", request)
            self.assertNotEqual(refused.returncode, 0, refused.stdout)
            self.assertEqual(alpha.json("show", request)["state"], "pending")
        finally:
            self.sandbox.process.send_signal(signal.SIGCONT)
        self.until(lambda: alpha.ctl("approve", request).returncode == 0, alpha.tail())
        self.assertEqual(self.server.sql(marked, self.name), [["0"]])


class UpgradeTests(Hosts):
    """Hosts of two versions at once: what a later one adds is played by statements that it would make."""

    def decided(self, agent: Agent, merchant: str):
        request = self.buy(merchant)
        self.waits(agent, request)
        self.assertEqual(agent.ctl("deny", request).returncode, 0, agent.tail())
        self.until(lambda: agent.json("show", request)["delivery"] == "delivered", agent.tail())

    def test_hosts_that_start_at_once_on_an_empty_database_all_come_up(self):
        places = {name: self.place() for name in ["alpha", "beta", "gamma"]}
        with ThreadPoolExecutor() as threads:
            agents = list(threads.map(lambda each: self.host(*each), places.items()))
        self.assertEqual(self.server.sql("SELECT count(*) FROM oob_agent_store", self.name), [["1"]])
        self.enroll(agents[0])
        self.decided(agents[2], "After the start")

    def test_an_agent_of_the_version_before_works_and_starts_beside_what_a_newer_one_has_added(self):
        place = self.place()
        alpha = self.host("alpha", place)
        self.enroll(alpha)
        for statement in [
            "ALTER TABLE enrollment ADD COLUMN colour TEXT NOT NULL DEFAULT 'none'",
            "ALTER TABLE request ADD COLUMN colour TEXT, ADD COLUMN weight BIGINT NOT NULL DEFAULT 1",
            "ALTER TABLE message ADD COLUMN colour TEXT", "CREATE INDEX request_by_colour ON request (colour)",
            "CREATE TABLE colour (enrollment_id TEXT REFERENCES enrollment (id) ON DELETE CASCADE)",
            "UPDATE oob_agent_store SET form = 2",
        ]:
            self.server.sql(statement, self.name)
        self.decided(alpha, "While it runs")
        alpha.stop()
        self.decided(self.host("alpha", place), "After its restart")


class WrongClockTests(Hosts):
    """A host whose clock is set an hour off while it runs."""

    def test_it_writes_nothing_says_so_and_goes_on_when_its_clock_is_right_again(self):
        clock = self.clock()
        alpha = Agent(self.place(), *self.options("alpha", **{"host-lease": "1000"}), **clock.variables)
        self.addCleanup(lambda: alpha.process.poll() is None and alpha.stop())
        self.enroll(alpha)
        first, second = self.buy("Before"), self.buy("Meanwhile")
        for request in [first, second]:
            self.waits(alpha, request)
        clock.set(3_600)
        self.until(lambda: "this host's clock is not the one" in alpha.ctl("deny", first).stderr, alpha.tail())
        self.assertIn("this host's clock is not the one", alpha.ctl("status").stdout)
        # What would have expired by its clock is still there for others, and all the work is theirs.
        beta = Agent(self.place(), *self.options("beta", **{"host-lease": "1000"}))
        self.addCleanup(beta.stop)
        self.until(lambda: self.leases() == {"beta": 256}, "the other takes all")
        self.assertEqual(beta.json("show", first)["state"], "pending")
        clock.set(0)
        self.until(lambda: set(self.leases()) == {"alpha", "beta"}, "it takes its part again")
        self.until(lambda: alpha.ctl("deny", first).returncode == 0, alpha.tail())
        self.assertEqual(beta.json("deny", second)["state"], "denied")


class BadSettingsTests(Hosts):
    """A start that is refused says why, and leaves the database as it was."""

    def expect(self, status: int, *sentences: str, host: str = "gamma", variables: dict[str, str] = {}, **given: str):
        before = self.dump()
        run = self.refused(*self.options(host, **given), **variables)
        self.assertEqual(run.returncode, status, run.stderr)
        for sentence in sentences:
            self.assertIn(sentence, run.stderr)
        self.assertEqual(self.dump(), before)

    def dump(self) -> list[str]:
        """All of the database, without what is random in a dump of it."""
        run = subprocess.run(
            [PROGRAMS / "pg_dump", "-h", self.server.folder, "-U", "oob", self.name], check=True, capture_output=True,
            text=True, timeout=WITHIN)
        return [line for line in run.stdout.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))]

    def test_a_url_with_a_password_or_without_its_parts_is_refused(self):
        self.expect(64, "--database", "must have no password", database="postgres://oob:hunter2@db.example/oob")
        self.expect(64, "must begin with postgres://", database="mysql://oob@db.example/oob")
        self.expect(64, "must say which CA", database="postgres://oob@db.example/oob")
        run = self.refused(*self.options("gamma", database="postgres://oob:hunter2@db.example/oob"))
        self.assertNotIn("hunter2", run.stderr)

    def test_a_host_needs_a_name_that_the_journal_can_have(self):
        self.expect(64, "--host-name", "lower-case letters", **{"host-name": "Gamma 1"})
        run = self.refused("--database", self.url)
        self.assertEqual(run.returncode, 64, run.stderr)
        self.assertIn("goes with host-name, which is not set", run.stderr)

    def test_a_second_machine_under_a_name_that_is_in_use_is_refused(self):
        alpha = self.host("alpha")
        hosts = self.server.sql("SELECT name, identity, incarnation FROM host", self.name)
        run = self.refused(*self.options("alpha"))
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("an agent on another machine runs as host alpha", run.stderr)
        self.assertEqual(self.server.sql("SELECT name, identity, incarnation FROM host", self.name), hosts)
        self.enroll(alpha)

    def test_a_database_that_another_program_uses_is_left_alone(self):
        self.server.sql("CREATE TABLE payroll (id INT)", self.name)
        self.expect(78, "by another program (it has a table payroll)")
        self.assertEqual(self.server.sql("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace",
                                         self.name), [["payroll"]])

    def test_a_database_of_a_newer_schema_is_left_alone(self):
        self.host("alpha").stop()
        self.server.sql("UPDATE oob_agent_store SET form = 99, least_form = 98", self.name)
        self.expect(78, "was made by a newer version", "form 99")

    def test_a_user_without_rights_is_told_so_and_nothing_is_made(self):
        self.server.sql("DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'guest') THEN "
                        "CREATE ROLE guest LOGIN; END IF; END $$", "postgres")
        guest = self.url.replace("oob@", "guest@")
        self.expect(77, "permission denied", database=guest)
        # The same where the tables are there.
        self.host("alpha").stop()
        self.expect(77, "permission denied", database=guest)

    def test_a_server_that_could_lose_what_was_acknowledged_is_refused(self):
        for value in ["off", "local"]:
            with self.subTest(value):
                self.server.sql(f"ALTER DATABASE {self.name} SET synchronous_commit = {value}", "postgres")
                self.expect(70, f"synchronous_commit is {value} there")

    def test_a_secret_that_is_not_the_other_hosts_is_refused(self):
        alpha = self.host("alpha")
        self.enroll(alpha)
        alpha.stop()
        other = self.place() / "secret"
        other.write_bytes(secrets.token_bytes(32))
        other.chmod(0o600)
        for host in ["gamma", "alpha"]:
            self.expect(78, "the secret is not the one that the other hosts have", host=host,
                        **{"secret-file": str(other)})

    def test_a_host_whose_clock_is_an_hour_off_does_not_start(self):
        for is_new in [True, False]:
            for off, words in [(3_600, "s ahead"), (-3_600, "s behind")]:
                self.expect(69, "this host's clock is not the one of the database", f"{words}, at most 30 are allowed",
                            variables=self.clock(off).variables)
            if is_new:
                self.host("alpha").stop()

    def test_a_lease_is_bounded_and_goes_with_a_database(self):
        self.expect(64, "--host-lease", "300 to 60000", **{"host-lease": "299"})
        run = self.refused("--host-lease", "1000")
        self.assertEqual(run.returncode, 64, run.stderr)
        self.assertIn("goes with database, which is not set", run.stderr)

    def test_a_server_that_is_not_there_is_named(self):
        self.expect(69, "cannot be reached", database="postgres://oob@/oob?host=/nonexistent")


if __name__ == "__main__":
    unittest.main()
