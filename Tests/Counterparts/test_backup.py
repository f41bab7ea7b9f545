"""Backups read with Python's sqlite3 and hashlib; what a client gets of one that is cut off; an erasure.

Run with `.venv/bin/python Tests/Counterparts/test_backup.py`; OOB_BIN_DIR names the programs' directory.
"""

import contextlib
import hashlib
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
import unittest
from pathlib import Path

from issuer import Issuer
from programs import BIN_DIR, IS_SANITIZED, Agent, started, temporary_folder

MERCHANT = "ERASED shop"


def database(folder) -> sqlite3.Connection:
    """The agent's database, while no agent runs on it."""
    return contextlib.closing(sqlite3.connect(folder / "state" / "agent.db", isolation_level=None))


def fill(folder, rows: int, bytes: int):
    """Makes the database that large, while no agent runs on it."""
    with database(folder) as connection:
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO message (enrollment_id, jti, payload_digest, seen_at) "
            "SELECT id, ?, zeroblob(?), unixepoch() FROM enrollment", [(f"j{number}", bytes) for number in range(rows)])
        connection.execute("COMMIT")


def data_key(connection: sqlite3.Connection, enrollment: str) -> bytes:
    """As the database has it, under the agent's secret."""
    ((sealed,),) = connection.execute("SELECT sealed FROM data_key WHERE enrollment_id = ?", (enrollment,)).fetchall()
    return sealed


def enrolled(test, issuer: Issuer, agent: Agent) -> str:
    """An enrollment that has approved a request."""
    code = issuer.enrollment_code()
    enrollment = agent.json("enroll", "--issuer", issuer.origin, "--code", code, "--authn-type", "presence")
    authenticator = next(iter(issuer.authenticators))
    request = issuer.ask(authenticator, issuer.transaction(merchantName=MERCHANT))
    test.assertEqual(agent.ctl("approve", request.jti, "--wait", "60").returncode, 0, agent.tail())
    return enrollment["id"]


def value(content) -> bytes:
    """A value as the digest of a backup has it: type, length, content."""
    kind, content = {
        type(None): lambda: (0, b""), int: lambda: (1, content.to_bytes(8, "big", signed=True)),
        str: lambda: (2, content.encode()), bytes: lambda: (3, content),
    }[type(content)]()
    return bytes([kind]) + len(content).to_bytes(8, "big") + content


def digest(path) -> str:
    """The digest of a backup's rows, as docs/reference/backups.md defines it."""
    digest = hashlib.sha256()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
        for (table,) in tables:
            digest.update(b"T" + value(table))
            columns = connection.execute("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", [table]).fetchall()
            key = [f'"{name}"' for _, name in sorted((place, name) for name, place in columns if place)]
            names = [f'"{name}"' for name, _ in columns]
            others = " WHERE name <> 'digest'" if table == "manifest" else ""
            for row in connection.execute(
                    f"SELECT {', '.join(names)} FROM {table}{others} ORDER BY {', '.join(key or names)}"):
                digest.update(b"R" + b"".join(map(value, row)))
    return digest.hexdigest()


def eventually(test, holds, what: str):
    deadline = time.monotonic() + 120
    while not holds():
        test.assertLess(time.monotonic(), deadline, what)
        time.sleep(0.05)  # Looks again; nothing depends on how long.


class ABackup(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.issuer = self.enterContext(Issuer())
        self.agent = started(type(self), Agent(self.folder))
        self.enrollment = enrolled(self, self.issuer, self.agent)

    def backup(self) -> bytes:
        run = subprocess.run(
            [BIN_DIR / "oobctl", "backup", "-", "--socket", self.agent.socket], capture_output=True, timeout=120)
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        return run.stdout

    def test_it_is_one_database_whose_manifest_has_the_digest_of_all_its_rows(self):
        bytes = self.backup()
        copy = self.folder / "copy.db"
        copy.write_bytes(bytes)
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            self.assertEqual(connection.execute("SELECT id, state, sealed_key IS NULL FROM enrollment").fetchall(),
                             [(self.enrollment, "active", 0)])
            manifest = dict(connection.execute("SELECT name, value FROM manifest"))
            newest = connection.execute("SELECT seq, lower(hex(digest)) FROM journal_mark WHERE name = 'head'").fetchone()
        self.assertEqual(manifest["digest"], digest(copy))
        self.assertEqual(manifest["form"], "1")
        self.assertEqual((int(manifest["journal_seq"]), manifest["journal_digest"]), newest)
        self.assertNotIn((self.folder / "state" / "secret").read_bytes(), bytes)

    def test_one_that_was_copied_by_hand_is_not_started_on(self):
        state = self.folder / "by-hand"
        state.mkdir(mode=0o700)
        whole = self.backup()
        (state / "agent.db").write_bytes(whole)
        (state / "agent.db").chmod(0o600)
        (state / "secret").write_bytes((self.folder / "state" / "secret").read_bytes())
        (state / "secret").chmod(0o600)
        run = subprocess.run([BIN_DIR / "oob-agent", "--state-dir", state, "--socket", state / "socket"],
                             capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 78, run.stderr)
        self.assertIn("restore it from there with `oob-agent --restore FILE`", run.stderr)
        self.assertEqual((state / "agent.db").read_bytes(), whole)

    def test_one_that_is_none_or_was_altered_is_not_restored(self):
        whole = self.backup()
        altered = self.folder / "altered.db"
        altered.write_bytes(whole)
        with contextlib.closing(sqlite3.connect(altered)) as connection:
            connection.executescript("CREATE TRIGGER reset AFTER UPDATE ON enrollment BEGIN SELECT 1; END")
        for bytes, words in [(b"", "no manifest"), (b"hello", "no SQLite database"), (whole[:-4096], "is not a complete"),
                             (altered.read_bytes(), "trigger reset is not the agent's")]:
            with self.subTest(words=words):
                path, state = self.folder / "tried.db", self.folder / "tried"
                path.write_bytes(bytes)
                run = subprocess.run([BIN_DIR / "oob-agent", "--restore", path, "--state-dir", state],
                                     capture_output=True, text=True, timeout=120)
                self.assertEqual(run.returncode, 65, run.stderr)
                self.assertIn(words, run.stderr)
                self.assertEqual([entry.name for entry in state.iterdir()], ["agent.lock"])

    def test_an_erasure_that_was_only_asked_for_is_finished_at_the_next_start(self):
        self.assertEqual(self.agent.ctl("unenroll", self.enrollment).returncode, 0)
        self.agent.process.kill()
        self.agent.process.wait()
        with database(self.folder) as connection:
            connection.execute("UPDATE enrollment SET erasure = 'wanted'")
            key = data_key(connection, self.enrollment)
        self.assertNotEqual(self.files_with(key), [])
        agent = Agent(self.folder)
        self.addCleanup(agent.stop)
        eventually(self, lambda: agent.json("unenroll", self.enrollment, "--erase")["erased"], "it is not erased")
        self.assertEqual(self.files_with(key), [])

    def test_after_an_erasure_no_file_of_the_state_has_the_data_key(self):
        with database(self.folder) as connection:
            key = data_key(connection, self.enrollment)
            other = data_key(connection, enrolled(self, self.issuer, self.agent))
        self.assertEqual((len(self.files_with(key)), self.files_with(MERCHANT.encode())), (1, []))
        self.assertTrue(self.agent.json("unenroll", self.enrollment, "--local", "--force", "--erase")["erased"])
        self.assertEqual(self.files_with(key), [])
        self.assertNotEqual(self.files_with(other), [])

    def files_with(self, bytes: bytes) -> list[Path]:
        found = []
        for path in (self.folder / "state").iterdir():
            # The agent may have put another in its place since the directory was read.
            with contextlib.suppress(FileNotFoundError):
                if path.is_file() and bytes in path.read_bytes():
                    found.append(path)
        return found


@unittest.skipUnless(shutil.which("strace"), "needs strace")
class TemporaryFiles(unittest.TestCase):
    def test_what_a_change_of_the_secret_writes_anew_is_beside_the_database_whatever_the_environment_says(self):
        folder = temporary_folder(type(self))
        elsewhere, calls = folder / "elsewhere", folder / "calls"
        elsewhere.mkdir()
        with Issuer() as issuer:
            agent = Agent(folder)
            enrolled(self, issuer, agent)
            agent.stop()
            old, new = folder / "old", folder / "new"
            shutil.move(folder / "state" / "secret", old)
            new.touch(0o600)
            new.write_bytes(os.urandom(32))
            # More than SQLite keeps in memory.
            fill(folder, rows=200, bytes=32_768)
            # The tracer is no parent: a signal reaches the agent itself.
            strace = ("strace", "-D", "-f", "-o", str(calls), "-e", "trace=openat,unlink,exit_group")
            agent = Agent(folder, "--secret-file", str(new), "--previous-secret-file", str(old))
            agent.logged("the secret was changed")
            agent.stop()
            agent = Agent(
                folder, "--secret-file", str(new), through=strace, TMPDIR=str(elsewhere),
                SQLITE_TMPDIR=str(elsewhere))
            self.addCleanup(agent.stop)
        agent.process.terminate()
        eventually(self, lambda: "exited with 0" in calls.read_text(), "the tracer has not seen the end")
        opened = re.findall(r'openat\(AT_FDCWD, "(.*)/(etilqs_\w+)", O_RDWR', calls.read_text())
        self.assertEqual({path for path, _ in opened}, {str(folder / "state")})
        for path, name in opened:
            self.assertIn(f'unlink("{path}/{name}")', calls.read_text())


class ABackupThatIsCutOff(unittest.TestCase):
    def serve(self, path, answer: bytes):
        """Something that gives one answer on a Unix socket, and closes it."""
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(path))
        listener.listen()

        def run():
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(answer)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()

    def test_it_leaves_no_file_and_exits_75(self):
        folder = temporary_folder(type(self))
        head = (b"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.sqlite3\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number, body in enumerate([b"", b"400\r\n" + b"x" * 1024 + b"\r\n", b"400\r\n" + b"x" * 1000]):
            with self.subTest(bytes=len(body)):
                path = folder / f"{number}.sock"
                self.serve(path, head + body)
                out = folder / "out"
                out.mkdir(exist_ok=True)
                run = subprocess.run(
                    [BIN_DIR / "oobctl", "backup", out / "backup.db", "--socket", path], capture_output=True,
                    text=True, timeout=120)
                self.assertEqual(run.returncode, 75, run.stderr)
                self.assertIn("cut off", run.stderr)
                self.assertEqual(list(out.iterdir()), [])


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Turns(unittest.TestCase):
    ALICE, BOB, GROUP = 60_003, 60_004, 60_010

    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.folder.chmod(0o711)
        with Issuer() as issuer:
            agent = Agent(self.folder)
            enrolled(self, issuer, agent)
            agent.stop()
        # More than the socket's buffers take while nobody reads.
        fill(self.folder, rows=500, bytes=32_768)
        self.agent = Agent(self.folder, "--socket-group", str(self.GROUP))
        self.addCleanup(self.agent.stop)

    def ctl(self, user: int) -> subprocess.Popen:
        return subprocess.Popen(
            [BIN_DIR / "oobctl", "backup", "-", "--socket", self.agent.socket], user=user, group=user,
            extra_groups=[self.GROUP], cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ended(self, process: subprocess.Popen) -> tuple[int, int, str]:
        """(exit status, bytes, errors)"""
        out, errors = process.communicate(timeout=120)
        return process.returncode, len(out), errors.decode()

    @staticmethod
    def read_slowly(process: subprocess.Popen) -> None:
        """Takes all of it, in two minutes at least: slow, and yet no client that has stopped."""
        while process.stdout.read(16_384):
            time.sleep(0.1)

    def curl(self, option: str) -> str:
        """The answer to a user's call of the path."""
        return subprocess.run(
            ["curl", "--silent", option, "--max-time", "60", "--unix-socket", self.agent.socket, "http://agent/v1/backup"],
            user=self.ALICE, group=self.ALICE, extra_groups=[self.GROUP], cwd="/", capture_output=True, text=True).stdout

    def test_root_takes_the_turn_and_a_user_gets_one_an_hour(self):
        slow = self.ctl(self.ALICE)
        self.assertTrue(slow.stdout.read(16).startswith(b"SQLite format 3"))
        reading = threading.Thread(target=self.read_slowly, args=[slow], daemon=True)
        reading.start()
        status, _, errors = self.ended(self.ctl(self.BOB))
        self.assertEqual((status, "another backup" in errors), (75, True), errors)
        status, count, errors = self.ended(self.ctl(0))
        self.assertEqual((status, count > 500 * 32_768), (0, True), errors)
        errors = slow.stderr.read().decode()
        self.assertEqual((slow.wait(120), "cut off" in errors), (75, True), errors)
        reading.join(120)
        slow.stdout.close()
        slow.stderr.close()
        # Nothing is copied for a HEAD, and no hour is used up.
        head = self.curl("--head")
        self.assertRegex(head, r"(?s)^HTTP/1.1 200 .*application/vnd.sqlite3")
        # It was not that user's fault.
        self.assertEqual(self.ended(self.ctl(self.ALICE))[0], 0)
        status, count, errors = self.ended(self.ctl(self.ALICE))
        self.assertEqual((status, count, "an hour ago, and root and the agent's own user alone may sooner: try again in " in errors), (75, 0, True), errors)
        self.assertRegex(self.curl("--include"), r"(?s)^HTTP/1.1 429 .*Retry-After: 3[0-9]{3}\n")
        self.assertEqual([self.ended(self.ctl(0))[0] for _ in range(2)], [0, 0])


class AClientThatStopsReading(unittest.TestCase):
    ROWS, ROW = 3_000, 32_768

    def test_it_costs_little_memory_and_is_cut_with_its_copy(self):
        folder = temporary_folder(type(self))
        with self.enterContext(Issuer()) as issuer:
            agent = Agent(folder)
            enrolled(self, issuer, agent)
            agent.stop()
            fill(folder, self.ROWS, self.ROW)
            agent = Agent(folder)
            self.addCleanup(agent.stop)
            before = self.resident(agent)
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(agent.socket))
                client.sendall(b"GET /v1/backup HTTP/1.1\r\nHost: agent\r\n\r\n")
                self.assertTrue(client.recv(512).startswith(b"HTTP/1.1 200"))
                if not IS_SANITIZED:
                    self.assertLess(self.resident(agent) - before, 32 << 20, "of a copy of 98 MB")
                self.assertEqual(agent.ctl("status").returncode, 0)
                self.assertEqual(list((folder / "state").glob(".backup-*")), [])
                eventually(self, lambda: not self.unnamed(agent), "the copy is still there")
            self.assertEqual(agent.ctl("backup", str(folder / "backup.db")).returncode, 0, agent.tail())
            self.assertGreater((folder / "backup.db").stat().st_size, self.ROWS * self.ROW)

    def unnamed(self, agent: Agent) -> list[str]:
        """The files without a name that the agent has open, such as a copy on its way."""
        targets = []
        for link in Path(f"/proc/{agent.process.pid}/fd").iterdir():
            # The agent may have closed it since the directory was read.
            with contextlib.suppress(FileNotFoundError):
                targets.append(os.readlink(link))
        return [target for target in targets if "/agent.db (deleted)" in target]

    def resident(self, agent: Agent) -> int:
        """Private memory, in bytes."""
        with open(f"/proc/{agent.process.pid}/status") as status:
            line = next(line for line in status if line.startswith("RssAnon:"))
        return int(line.split()[1]) << 10


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("strace"), "needs root and strace")
class NamesOfFiles(unittest.TestCase):
    """A loss of power may take the name of a file whose directory was not synchronised, whatever is in the file."""

    CALLS = "trace=linkat,renameat,renameat2,fsync"

    def setUp(self):
        self.folder = temporary_folder(type(self))

    def named(self, trace: Path, directory: Path) -> dict[str, bool]:
        """The files that got a name below a directory, and whether the directories were synchronised right after it."""
        threads: dict[str, list[str]] = {}
        for thread, call in re.findall(r"^(\d+) +((?:linkat|renameat|fsync).*)", trace.read_text(), re.MULTILINE):
            threads.setdefault(thread, []).append(call)
        named = {}
        for calls in threads.values():
            for number, call in enumerate(calls, 1):
                found = re.match(r'\w+\(\d+<(.+?)>, ".+?", \d+<(.+?)>, "(.+?)"', call)
                if found and Path(found[2]).is_relative_to(directory):
                    changed = {found[1], found[2]}
                    after = [re.match(r"fsync\(\d+<(.+?)>", each) for each in calls[number:number + len(changed)]]
                    name = str((Path(found[2]) / found[3]).relative_to(directory))
                    named[name] = {each[1] for each in after if each} == changed
        return named

    def test_a_file_that_was_made_has_its_name_on_the_disk_before_anything_else_is_done(self):
        trace = self.folder / "calls"
        # The tracer is no parent: a signal reaches the agent itself.
        strace = ("strace", "-D", "-f", "-y", "-o", str(trace), "-e", self.CALLS)
        Agent(self.folder, through=strace).stop()
        self.assertIs(self.named(trace, self.folder / "state").get("secret"), True)

    def test_files_that_were_renamed_have_their_names_on_the_disk_before_anything_else_is_done(self):
        agent = Agent(self.folder)
        self.addCleanup(agent.stop)
        backup, state, trace = self.folder / "backup.db", self.folder / "restored", self.folder / "calls"
        self.assertEqual(agent.ctl("backup", str(backup)).returncode, 0, agent.tail())
        subprocess.run(
            ["strace", "-f", "-y", "-o", trace, "-e", self.CALLS, BIN_DIR / "oob-agent", "--state-dir", state,
             "--restore", backup], check=True, capture_output=True, timeout=120)
        self.assertEqual(self.named(trace, state), {".restore/head": True, "agent.db": True, "head": True})


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("strace"), "needs root and strace")
class ARestoreThatFails(unittest.TestCase):
    CALLS = ["mkdir", "write", "fsync", "renameat", "unlinkat", "rmdir"]

    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.backup = self.folder / "backup.db"
        with Issuer() as issuer:
            agent = Agent(self.folder)
            enrolled(self, issuer, agent)
            self.assertEqual(agent.ctl("backup", str(self.backup)).returncode, 0, agent.tail())
            agent.stop()
        whole = self.folder / "whole"
        self.assertEqual(self.agent(whole, "--restore", self.backup), 0)
        self.whole = self.files(whole)
        self.assertEqual(sorted(self.whole), ["agent.db", "head"])

    def agent(self, state, *arguments: str, through: tuple[str, ...] = ()) -> int:
        return subprocess.run(
            [*through, BIN_DIR / "oob-agent", "--state-dir", state, *arguments], capture_output=True,
            timeout=120).returncode

    def fails_with(self, what: str, call: str, number: int, state) -> bool:
        strace = ("strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{what}:when={number}")
        return self.agent(state, "--restore", self.backup, through=strace) != 0

    def files(self, state) -> dict[str, bytes]:
        paths = [path for path in state.rglob("*") if path.is_file() and path.name not in ("agent.lock", "secret")]
        # The next start gives the head its name, if it has none yet.
        return {str(path.relative_to(state)).replace(".restore/head", "head"): path.read_bytes() for path in paths}

    def test_a_restore_that_is_killed_anywhere_is_no_state_or_all_of_it(self):
        deaths = 0
        for call in self.CALLS:
            for number in range(1, 30):
                state = self.folder / f"{call}{number}"
                if not self.fails_with("signal=SIGKILL", call, number, state):
                    break
                deaths += 1
                with self.subTest(call=call, number=number):
                    if not (state / "agent.db").exists():
                        if (state / ".restore").exists():
                            self.assertEqual(self.agent(state), 65)
                        self.assertEqual(self.agent(state, "--restore", self.backup), 0)
                    self.assertEqual(self.files(state), self.whole)
        self.assertGreater(deaths, 10)

    def test_a_restore_that_says_that_it_failed_leaves_no_state(self):
        for call in "fsync", "renameat":
            for number in range(1, 30):
                state = self.folder / f"failed{call}{number}"
                if not self.fails_with("error=EIO", call, number, state):
                    break
                with self.subTest(call=call, number=number):
                    self.assertEqual(self.files(state), {})
                    self.assertEqual(self.agent(state, "--restore", self.backup), 0)
                    self.assertEqual(self.files(state), self.whole)
            self.assertGreater(number, 1)


if __name__ == "__main__":
    unittest.main()
