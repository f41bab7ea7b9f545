"""The journal: recomputed with libraries that share no code with the agent, tampered with by SQLite's own tools, and
read as events by a client that comes and goes.

Run with `.venv/bin/python Tests/Counterparts/test_audit.py`; OOB_BIN_DIR names the programs' directory.
"""

import base64
import hashlib
import json
import re
import select
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
import unittest

import rfc8785
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import row_sums
from citations import page
from issuer import Issuer
from programs import BIN_DIR, Agent, temporary_folder
from sealed import opened_by

PAGE = page("audit.md")


class WithAnAgent(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.issuer = self.enterContext(Issuer())
        self.start()
        self.agent.json("enroll", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code(),
                        "--authn-type", "presence", "--name", "card")

    def start(self, *options: str):
        self.agent = Agent(self.folder, *options)
        self.addCleanup(lambda agent: agent.process.poll() is None and agent.stop(), self.agent)

    def restart(self):
        self.agent.stop()
        self.start()

    def decide(self, decision: str):
        """Asks the agent for one decision, and returns the request."""
        (enrollment,) = self.agent.json("enrollments")
        request = self.issuer.ask(enrollment["authenticatorId"], self.issuer.transaction())
        return self.agent.json(decision, request.transaction["acsTransId"], "--wait", "60")

    def export(self) -> list[bytes]:
        run = subprocess.run(
            [BIN_DIR / "oobctl", "audit", "export", "--socket", str(self.agent.socket)], capture_output=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.splitlines()

    def verify(self) -> dict:
        return json.loads(self.agent.ctl("audit verify", "--json").stdout)


class TheChain(WithAnAgent):
    def test_it_is_what_hashlib_and_rfc8785_make_of_the_export(self):
        approved = self.decide("approve")
        self.decide("deny")
        verdict, lines = self.verify(), self.export()
        entries = [json.loads(line) for line in lines]
        self.assertEqual([rfc8785.dumps(entry) for entry in entries], lines)
        self.assertEqual([entry["seq"] for entry in entries], list(range(1, len(entries) + 1)))
        digests = ["0" * 64] + [hashlib.sha256(line).hexdigest() for line in lines]
        self.assertEqual([entry["previous"] for entry in entries], digests[:-1])
        self.assertEqual((verdict["whole"], verdict["entries"]), (True, len(entries)))
        self.assertEqual((verdict["head"]["seq"], verdict["head"]["digest"]), (len(entries), digests[-1]))
        key = serialization.load_pem_public_key(self.agent.ctl("audit key").stdout.encode())
        key.verify(base64.b64decode(verdict["head"]["signature"]), verdict["head"]["statement"].encode(),
                   ec.ECDSA(hashes.SHA256()))
        about = [entry["entry"] for entry in entries if entry.get("request") == approved["id"]]
        self.assertEqual(about, ["presented", "decided", "answered"])

    def test_its_head_has_the_sum_of_all_rows_as_hmac_and_cryptography_make_it_anew(self):
        for decision in ["approve", "deny"]:
            self.decide(decision)
            self.agent.stop()
            with sqlite3.connect(self.folder / "state" / "agent.db") as database:
                found, told = row_sums.of_file(database, (self.folder / "state" / "secret").read_bytes())
            database.close()
            self.assertEqual(found, told)
            self.start()

    def test_it_says_who_decided_and_that_nobody_was_shown_anything(self):
        request = self.decide("approve")
        (decided,) = [json.loads(line) for line in self.export() if b'"decided"' in line]
        self.assertEqual((decided["by"], decided["process"], decided["shown"]), ("command", "oobctl", "nothing"))
        self.assertEqual(decided["text"], request["textDigest"])
        self.assertEqual(decided["text"], base64.urlsafe_b64encode(
            hashlib.sha256(request["text"].encode()).digest()).decode().rstrip("="))

    def test_the_commands_of_the_page_check_it_by_hand(self):
        self.decide("approve")
        text = PAGE.read_text(encoding="utf-8")
        ((commands,), (program,)) = (re.findall(rf"^```{name}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
                                     for name in ["sh", "python"])
        (self.folder / "check.py").write_text(program)
        environment = {"PATH": f"{BIN_DIR}:/usr/bin:/bin", "OOB_AGENT_SOCKET": str(self.agent.socket)}

        def run(script: str):
            return subprocess.run(["sh", "-ec", script], cwd=self.folder, env=environment, capture_output=True, text=True)

        good = run(commands)
        self.assertEqual((good.returncode, good.stdout), (0, "Verified OK\n"), good.stderr)
        journal = self.folder / "journal.jsonl"
        journal.write_bytes(journal.read_bytes().replace(b'"approve"', b'"deny"', 1))
        self.assertNotEqual(run("python3 check.py").returncode, 0)


class OfMany(WithAnAgent):
    """A long journal without checkpoints."""

    ENTRIES = 12_000
    TRIES = 6_000

    def rows(self, sql: str) -> list[tuple]:
        database = sqlite3.connect(f"file:{self.folder / 'state' / 'agent.db'}?mode=ro", timeout=30, uri=True)
        self.addCleanup(database.close)
        return database.execute(sql).fetchall()

    def until(self, sql: str):
        for _ in range(self.TRIES):
            if self.rows(sql)[0][0]:
                return
            time.sleep(0.01)  # Looks again; nothing depends on how long.
        self.fail(sql)

    def lengthen(self):
        """Adds entries that the audit key vouches for; the agent must not run."""
        database = sqlite3.connect(self.folder / "state" / "agent.db")
        (text,), = database.execute("SELECT entry FROM journal ORDER BY seq DESC LIMIT 1").fetchall()
        with database:
            for _ in range(self.ENTRIES):
                last = json.loads(text)
                entry = {**last, "seq": last["seq"] + 1, "previous": hashlib.sha256(text.encode()).hexdigest()}
                text = rfc8785.dumps(entry).decode()
                database.execute("INSERT INTO journal VALUES (?, ?)", (entry["seq"], text))
            digest = hashlib.sha256(text.encode())
            (sealed,), = database.execute("SELECT sealed FROM audit_key").fetchall()
            key = serialization.load_der_private_key(opened_by(
                (self.folder / "state" / "secret").read_bytes(), sealed, "audit key"), None)
            statement = f"oob-agent journal head 1\n{entry['seq']}\n{digest.hexdigest()}\n"
            database.execute("UPDATE journal_mark SET seq = ?, digest = ?, signature = ? WHERE name = 'head'",
                             (entry["seq"], digest.digest(), key.sign(statement.encode(), ec.ECDSA(hashes.SHA256()))))
            row_sums.vouch(database, (self.folder / "state" / "secret").read_bytes())
        database.close()

    def test_it_gets_its_checkpoints_though_the_agent_is_killed_meanwhile_and_each_is_signed(self):
        request = self.decide("approve")
        self.agent.stop()
        self.lengthen()
        for blocks in [3, 9]:
            self.start()
            self.until(f"SELECT count(*) >= {blocks} FROM journal_checkpoint")
            self.agent.process.kill()
            self.agent.process.wait()
        self.start()
        self.until("SELECT count(*) >= (SELECT max(seq) / 256 FROM journal) FROM journal_checkpoint")
        verdict, lines = self.verify(), self.export()
        self.assertEqual((verdict["whole"], verdict["entries"]), (True, len(lines)))
        digests = [hashlib.sha256(line).digest() for line in lines]
        self.assertEqual([json.loads(line)["previous"] for line in lines], ["0" * 64] + [one.hex() for one in digests[:-1]])
        key = serialization.load_pem_public_key(self.agent.ctl("audit key").stdout.encode())
        checkpoints = self.rows("SELECT seq, digest, earlier, signature FROM journal_checkpoint ORDER BY seq")
        self.assertEqual([last for last, *_ in checkpoints], list(range(256, 256 * len(checkpoints) + 1, 256)))
        for last, digest, earlier, signature in checkpoints:
            points = [(last, digest)] + [(int.from_bytes(earlier[place:place + 8], "big"), earlier[place + 8:place + 40])
                                         for place in range(0, len(earlier), 40)]
            self.assertEqual([digests[sequence - 1] for sequence, _ in points], [digest for _, digest in points])
            said = "".join(f"{sequence} {digest.hex()}\n" for sequence, digest in points)
            key.verify(signature, f"oob-agent journal checkpoint 1\n{said}".encode(), ec.ECDSA(hashes.SHA256()))
        evidence = self.folder / "evidence"
        self.assertEqual(self.agent.ctl("evidence", request["id"], "-o", str(evidence)).returncode, 0)
        about = [json.loads(line)["entry"] for line in (evidence / "journal.jsonl").read_bytes().splitlines()]
        self.assertEqual(about[:3], ["presented", "decided", "answered"])


class WhoeverCanWriteTheFile(WithAnAgent):
    def setUp(self):
        super().setUp()
        for _ in range(3):
            self.decide("approve")
        self.file = self.folder / "state" / "agent.db"

    def execute(self, *statements: str):
        with sqlite3.connect(self.file, timeout=30) as database:
            for statement in statements:
                database.execute(statement)
        database.close()

    def fault_after(self, *statements: str) -> int | None:
        """The entry that is named after these statements; the file is put back."""
        with sqlite3.connect(self.file, timeout=30) as database:
            tables = {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in ["journal", "journal_mark"]}
        database.close()
        self.execute(*statements)
        run = self.agent.ctl("audit verify")
        found = re.search(r"entry (\d+)", run.stderr)
        self.assertEqual(run.returncode, 1 if found else 0, run.stderr)
        self.assertEqual(run.stdout == "", found is not None)
        with sqlite3.connect(self.file, timeout=30) as database:
            for name, rows in tables.items():
                database.execute(f"DELETE FROM {name}")
                marks = ", ".join("?" * len(rows[0]))
                database.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
        database.close()
        return int(found[1]) if found else None

    def test_whatever_is_done_to_the_file_is_found(self):
        last = len(self.export())
        exchange = ["UPDATE journal SET seq = -1 WHERE seq = 7", "UPDATE journal SET seq = 7 WHERE seq = 8",
                    "UPDATE journal SET seq = 8 WHERE seq = -1"]
        for statements, named in [
            ([], None),
            (["UPDATE journal SET entry = replace(entry, '\"at\":\"2', '\"at\":\"1') WHERE seq = 7"], 7),
            (["UPDATE journal SET entry = replace(entry, '\"at\":\"2', '\"at\":\"1') WHERE seq = 1"], 1),
            ([f"UPDATE journal SET entry = replace(entry, '\"at\":\"2', '\"at\":\"1') WHERE seq = {last}"], last),
            (["DELETE FROM journal WHERE seq = 9"], 9),
            (["DELETE FROM journal WHERE seq = 1"], 1),
            (["DELETE FROM journal WHERE seq <= 5"], 1),
            (exchange, 7),
            ([f"DELETE FROM journal WHERE seq > {last - 3}"], last - 2),
            ([f"DELETE FROM journal WHERE seq > {last - 3}", "DELETE FROM journal_mark"], 1),
            ([f"DELETE FROM journal WHERE seq > {last - 3}",
              f"UPDATE journal_mark SET seq = {last - 3}, digest = zeroblob(32)"], last - 3),
            (["DELETE FROM journal", "DELETE FROM journal_mark"], 1),
            ([f"INSERT INTO journal VALUES ({last + 1}, '{{}}')"], last + 1),
            (["INSERT INTO journal_mark SELECT 'floor', 5, zeroblob(32), signature, NULL FROM journal_mark",
              "DELETE FROM journal WHERE seq <= 5"], 5),
        ]:
            with self.subTest(statements):
                self.assertEqual(self.fault_after(*statements), named)

    def expect_refused(self, *words: str):
        """The agent says what is wrong, and decides nothing: neither an approval nor a denial leaves."""
        status = self.agent.json("status")
        self.assertEqual(status["state"], "degraded")
        findings = self.agent.ctl("doctor", "--json").stdout
        for word in words:
            self.assertIn(word, " ".join(status["reasons"]))
            self.assertIn(word, findings)
        self.assertIn("kind=forged", self.agent.log.read_text())
        (pending,) = self.agent.json("list")
        for decision in ["approve", "deny"]:
            run = self.agent.ctl(decision, pending["id"])
            self.assertEqual(run.returncode, 1, run.stdout)
            self.assertIn("nothing was changed", run.stderr)
        self.assertEqual(self.agent.json("list")[0]["state"], "pending")

    def leave_one_pending(self):
        (enrollment,) = self.agent.json("enrollments")
        request = self.issuer.ask(enrollment["authenticatorId"], self.issuer.transaction())
        self.assertEqual(self.agent.ctl("fetch").returncode, 0)
        self.agent.json("show", request.transaction["acsTransId"])

    def test_a_journal_that_was_cut_off_while_the_agent_was_away_is_found(self):
        self.leave_one_pending()
        self.agent.stop()
        self.execute("DELETE FROM journal WHERE seq > 6")
        self.start()
        run = self.agent.ctl("audit verify")
        self.assertEqual(run.returncode, 1)
        self.assertIn("entry 7 is missing", run.stderr)
        self.expect_refused("its newest entry", "is missing", "restore a backup")

    def test_no_new_key_is_made_for_an_old_journal(self):
        self.leave_one_pending()
        self.agent.stop()
        self.execute("DELETE FROM audit_key", "DELETE FROM journal_mark")
        self.start()
        self.assertEqual(self.agent.ctl("audit verify").returncode, 1)
        self.expect_refused("its audit key is gone")
        with sqlite3.connect(self.file) as database:
            self.assertEqual(database.execute("SELECT count(*) FROM audit_key").fetchone(), (0,))
        database.close()

    def test_a_head_without_a_signature_is_never_signed_and_nothing_is_decided(self):
        self.leave_one_pending()
        self.agent.stop()
        # From the first approval on a chain that fits, and says that it was denied.
        with sqlite3.connect(self.file) as database:
            rows = database.execute("SELECT seq, entry FROM journal ORDER BY seq").fetchall()
            start = next(place for place, (_, entry) in enumerate(rows) if '"entry":"decided"' in entry)
            last = json.loads(rows[start][1])["previous"]
            for sequence, text in rows[start:]:
                entry = {**json.loads(text), "previous": last}
                if sequence == rows[start][0]:
                    entry["decision"] = "deny"
                bytes = rfc8785.dumps(entry)
                last = hashlib.sha256(bytes).hexdigest()
                database.execute("UPDATE journal SET entry = ? WHERE seq = ?", (bytes.decode(), sequence))
            database.execute("UPDATE journal_mark SET digest = ?, signature = NULL", (bytes.fromhex(last),))
        database.close()
        self.start()
        self.assertEqual(self.agent.ctl("audit verify").returncode, 1)
        self.expect_refused("the audit key has not signed its head")
        with sqlite3.connect(self.file) as database:
            self.assertEqual(database.execute("SELECT signature FROM journal_mark").fetchall(), [(None,)])
        database.close()

    def test_an_older_copy_of_the_whole_state_is_whole(self):
        self.agent.stop()
        copy = self.folder / "copy"
        shutil.copytree(self.folder / "state", copy)
        self.start()
        self.decide("approve")
        self.agent.stop()
        shutil.rmtree(self.folder / "state")
        copy.rename(self.folder / "state")
        self.start()
        self.assertTrue(self.verify()["whole"])


class Watching:
    """`oobctl watch --json`, whose lines are read as they come."""

    def __init__(self, agent: Agent, *arguments: str):
        self.process = subprocess.Popen(
            [BIN_DIR / "oobctl", "watch", "--json", "--socket", str(agent.socket), *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.watchdog = threading.Timer(300, self.process.kill)
        self.watchdog.start()

    def until(self, event: str, request: str) -> list[dict]:
        """The events up to this one of this acsTransId."""
        events = []
        for line in self.process.stdout:
            events.append(json.loads(line))
            about = events[-1].get("request", {})
            if events[-1]["event"] == event and about.get("acsTransId") == request:
                return events
        raise AssertionError(f"it ended, after {events}: {self.process.stderr.read()}")

    def kill(self) -> str:
        """Ends it, and returns what it said to people."""
        self.process.kill()
        self.watchdog.cancel()
        return self.process.communicate()[1]


class TheEvents(WithAnAgent):
    def watch(self, *arguments: str) -> Watching:
        reader = Watching(self.agent, *arguments)
        self.addCleanup(reader.kill)
        return reader

    def test_nothing_is_missed_or_told_twice_across_restarts_of_reader_and_agent(self):
        first = self.decide("approve")
        reader = self.watch("--since", "0")
        seen = reader.until("requestDelivered", first["acsTransId"])
        self.restart()
        second = self.decide("deny")
        seen += reader.until("requestDelivered", second["acsTransId"])
        self.assertIn("The agent is away", reader.kill())
        third = self.decide("approve")
        self.agent.process.kill()
        self.agent.process.communicate()
        self.start()
        seen += self.watch("--since", str(seen[-1]["seq"])).until("requestDelivered", third["acsTransId"])
        of_each = ["requestPresented", "requestDecided", "requestDelivered"]
        self.assertEqual([event["event"] for event in seen], ["enrolled"] + 3 * of_each)
        numbers = [event["seq"] for event in seen]
        self.assertEqual(numbers, sorted(set(numbers)))
        states = [event["request"]["state"] for event in seen if event["event"] == "requestDelivered"]
        self.assertEqual(states, ["approved", "denied", "approved"])

    def test_without_since_it_begins_with_what_happens_next(self):
        before = self.decide("approve")
        reader = self.watch()
        # What happens before it listens is not for it: one after another until it is heard.
        for _ in range(60):
            after = self.decide("deny")
            if select.select([reader.process.stdout], [], [], 0.5)[0]:
                break
        event = json.loads(reader.process.stdout.readline())
        self.assertNotEqual(event["request"]["id"], before["id"])
        self.assertLessEqual(event["request"]["receivedAt"], after["receivedAt"])

    def test_a_reader_that_stops_reading_is_cut_and_disturbs_nobody(self):
        (enrollment,) = self.agent.json("enrollments")
        for _ in range(60):
            long = self.issuer.transaction(note="\N{GRINNING FACE}" * 1_000, more="\N{GRINNING FACE}" * 1_000)
            last = self.issuer.ask(enrollment["authenticatorId"], long)
        reader = self.watch("--since", "0")
        events = reader.until("requestPresented", last.transaction["acsTransId"])
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(str(self.agent.socket))
            silent.sendall(b"GET /v1/events?since=0 HTTP/1.1\r\nHost: agent\r\n\r\n")
            hung_up = select.poll()
            hung_up.register(silent, select.POLLRDHUP)
            self.assertTrue(hung_up.poll(120_000), "it is still there")
            kept = b"".join(iter(lambda: silent.recv(65_536), b""))
        self.assertLess(kept.count(b"data: "), len(events))
        request = self.decide("deny")
        self.assertEqual(len(reader.until("requestDelivered", request["acsTransId"])), 3)

    def test_an_enrollment_that_nobody_knows_ends_it(self):
        run = self.agent.ctl("watch", "--enrollment", "ffff")
        self.assertEqual(run.returncode, 3, run.stderr)


if __name__ == "__main__":
    unittest.main()
