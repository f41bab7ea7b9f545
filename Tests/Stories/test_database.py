"""An agent whose database is in trouble: a full disk, a lock, a read-only file, a failing disk, damage, another version.

Run with `.venv/bin/python Tests/Stories/test_database.py`; OOB_BIN_DIR names the programs' directory. What needs mounts
or another process's system calls is run as root alone, and skipped with a word elsewhere.
"""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest
import uuid
from pathlib import Path

from failing import Failing
from issuer import EXAMPLE_TRANSACTION
from programs import BIN_DIR, Agent, Sandbox, started, temporary_folder
from software_authenticator import call
from supervision import Manager

WITHIN = 60
IS_ROOT = os.geteuid() == 0
as_root = unittest.skipUnless(IS_ROOT, "mounts, and watching another process's system calls, need root")
with_strace = unittest.skipUnless(IS_ROOT and shutil.which("strace"), "needs root and strace")


class DatabaseCase(unittest.TestCase):
    """One agent with one enrollment, in a folder of its own."""

    def setUp(self):
        self.folder = Path(temporary_folder(self))
        self.state = self.folder / "state"
        self.database = self.state / "agent.db"

    # As unittest's own, so that the harness ends what a test has started when the test is over.
    addClassCleanup = unittest.TestCase.addCleanup

    def begin(self) -> str:
        """Starts issuer and agent, enrolls, buys: the acsTransId of a request that is pending."""
        self.sandbox = started(self, Sandbox(self.folder))
        self.agent = started(self, Agent(self.folder))
        enrollment = self.agent.json("enroll", self.post("/sandbox/enrollment-codes", {})["link"])
        self.authenticator_id = enrollment["authenticatorId"]
        return self.received(self.purchase())

    def post(self, path: str, body: dict) -> dict:
        status, answer = call("POST", self.sandbox.origin + path, body)
        self.assertIn(status, (200, 201), answer)
        return answer

    def purchase(self) -> str:
        order = {"authenticatorId": self.authenticator_id, "acsTransId": str(uuid.uuid4())}
        return self.post("/sandbox/purchases", {**EXAMPLE_TRANSACTION, **order})["acsTransId"]

    def story(self, acs_trans_id: str) -> dict:
        return call("GET", f"{self.sandbox.origin}/sandbox/purchases/{acs_trans_id}")[1]

    def until(self, what: str, look):
        deadline = time.monotonic() + WITHIN
        while not (found := look()):
            self.assertLess(time.monotonic(), deadline, f"{what} did not come:\n{self.agent.tail()}")
            time.sleep(0.05)  # Looks again; nothing depends on how long.
        return found

    def received(self, acs_trans_id: str) -> str:
        self.until("the request", lambda: self.agent.ctl("show", acs_trans_id).returncode == 0)
        return acs_trans_id

    def expect_failure(self, acs_trans_id: str, *words: str):
        """Deciding fails with these words, and nothing has left; 11 says that the result is not known."""
        run = self.agent.ctl("approve", acs_trans_id, "--json")
        in_doubt = "it is not known whether this was kept" in words
        self.assertEqual(run.returncode, 11 if in_doubt else 1, run)
        self.assertEqual(run.stdout, "")
        error = json.loads(run.stderr)["error"]
        self.assertEqual((error["code"], error["name"]), (20001, "core"))
        for word in words:
            self.assertIn(word, error["message"])
        self.assertEqual(self.story(acs_trans_id)["status"], "pending")

    def expect_degraded(self, *words: str):
        def look():
            status = self.agent.json("status")
            return status["state"] == "degraded" and status["reasons"]
        reasons = " ".join(self.until("a degraded state", look))
        for word in (*words, str(self.database)):
            self.assertIn(word, reasons)

    def expect_recovery(self, *acs_trans_ids: str):
        """The agent is ready again by itself, has all requests, and approvals go through."""
        self.until("readiness", lambda: self.agent.json("status")["state"] == "ready")
        for acs_trans_id in acs_trans_ids:
            self.expect_approval(self.received(acs_trans_id))

    def expect_approval(self, acs_trans_id: str):
        run = self.agent.ctl("approve", acs_trans_id)
        self.assertEqual(run.returncode, 0, run)
        self.assertEqual(self.story(acs_trans_id)["status"], "authenticated")

    def lines_of_trouble(self) -> list[str]:
        return re.findall(r"error the database is in trouble.*", self.agent.log.read_text())

    def start_in_vain(self, *through: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [*through, BIN_DIR / "oob-agent", "--state-dir", self.state, "--socket", self.folder / "vain.sock"],
            capture_output=True, text=True, timeout=60)

    def expect_no_start(self, status: int, *words: str, through: tuple[str, ...] = ()):
        run = self.start_in_vain(*through)
        self.assertEqual(run.returncode, status, run)
        last = run.stderr.splitlines()[-1]
        self.assertTrue(last.startswith("Error: "), run.stderr)
        for word in (*words, str(self.database)):
            self.assertIn(word, last)

    def mount_small_disk(self, size: str = "2m"):
        self.state.mkdir(mode=0o700)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "oob-test", self.state], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.state], check=True)

    def fill_disk(self, name: str = "filler") -> Path:
        """Takes all room, in which the agent gives up none: it stands still meanwhile."""
        filler = self.state / name
        running = self.agent.process.poll() is None
        if running:
            self.agent.process.send_signal(signal.SIGSTOP)
        try:
            with self.assertRaises(OSError), open(filler, "wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 4096)
        finally:
            if running:
                self.agent.process.send_signal(signal.SIGCONT)
        return filler

    @property
    def reserve(self) -> Path:
        return self.state / "agent.db-reserve"

    def damage(self, name: str):
        """Writes over the first page of a table or an index."""
        with sqlite3.connect(self.database) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            size = database.execute("PRAGMA page_size").fetchone()[0]
            (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
        database.close()
        with open(self.database, "r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\xa5" * size)


class WhileItRuns(DatabaseCase):
    @as_root
    def test_a_full_disk(self):
        """Its reserve is for what is pending; nothing new is taken in until there is room for a reserve again."""
        self.mount_small_disk("64m")
        pending = [self.begin(), *[self.received(self.purchase()) for _ in range(9)]]
        self.until("the reserve", self.reserve.exists)
        filler = self.fill_disk()
        for acs_trans_id in pending[:-1]:
            self.expect_approval(acs_trans_id)
        self.expect_degraded("its disk is full", "goes on by itself")
        self.assertFalse(self.reserve.exists())
        while_full = self.purchase()
        run = self.agent.ctl("enroll", self.post("/sandbox/enrollment-codes", {})["link"])
        self.assertEqual(run.returncode, 1, run)
        self.assertIn("its disk is full", run.stderr)
        self.agent.ctl("fetch")
        self.assertEqual(self.agent.ctl("show", while_full).returncode, 3)
        self.expect_approval(pending[-1])
        filler.unlink()
        self.expect_recovery(while_full)
        self.assertTrue(self.reserve.exists())
        self.assertEqual(len(self.lines_of_trouble()), 1, self.agent.tail())

    @as_root
    def test_a_full_disk_whose_reserve_is_used_up(self):
        self.mount_small_disk("64m")
        pending = self.begin()
        self.until("the reserve", self.reserve.exists)
        fillers = [self.fill_disk()]
        while_full = self.purchase()
        self.expect_degraded("its disk is full", "goes on by itself")
        fillers.append(self.fill_disk("another filler"))
        self.expect_failure(pending, "nothing was changed", "its disk is full", "make room")
        self.expect_failure(pending, "its disk is full")
        for filler in fillers:
            filler.unlink()
        self.expect_recovery(pending, while_full)
        self.assertEqual(len(self.lines_of_trouble()), 1, self.agent.tail())

    @as_root
    def test_a_disk_that_is_nearly_full_is_said(self):
        self.mount_small_disk()
        self.begin()
        self.assertNotIn("diskLow", [finding["id"] for finding in self.agent.json("doctor")])
        filler = self.fill_disk()
        self.assertIn("diskLow", [finding["id"] for finding in self.agent.json("doctor")])
        filler.unlink()
        self.assertNotIn("diskLow", [finding["id"] for finding in self.agent.json("doctor")])

    def test_a_lock_of_another_process(self):
        pending = self.begin()
        other = sqlite3.connect(self.database, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN EXCLUSIVE")
        self.expect_failure(pending, "nothing was changed", "locked by another process")
        meanwhile = self.purchase()
        self.expect_degraded("locked by another process", "fuser")
        other.execute("ROLLBACK")
        self.expect_recovery(pending, meanwhile)
        self.assertEqual(len(self.lines_of_trouble()), 1, self.agent.tail())

    @with_strace
    def test_a_commit_whose_fsync_failed_once_does_not_come_up_after_a_crash(self):
        """SQLite rolls it back, and leaves it whole in the log: recovery would find it there."""
        pending = self.begin()
        with self.failing("fdatasync:error=EIO:when=1"):
            self.expect_failure(pending, "nothing was changed", "fails")
            self.crash()
        self.expect_pending_and_recovery(pending)

    @with_strace
    def test_a_commit_whose_fsync_fails_again_and_again_is_said_to_be_in_doubt(self):
        """It is written over all the same, but whether the disk has the one or the other only the disk knows."""
        pending = self.begin()
        with self.failing("fdatasync:error=EIO"):
            self.expect_failure(pending, "it is not known whether this was kept", "look before you do it again")
            self.expect_degraded("fails", "kernel's log")
            self.crash()
        self.expect_pending_and_recovery(pending)

    def crash(self):
        self.agent.process.kill()
        self.agent.process.wait()

    def expect_pending_and_recovery(self, acs_trans_id: str):
        self.agent = started(self, Agent(self.folder))
        self.assertEqual(self.agent.json("show", acs_trans_id)["state"], "pending")
        self.expect_recovery(acs_trans_id)
        self.assertEqual([each["signCount"] for each in self.agent.json("enrollments")], [1])

    @with_strace
    def test_a_disk_that_fails_for_a_while(self):
        pending = self.begin()
        with self.failing("fdatasync:error=EIO"):
            self.expect_failure(pending, "it is not known whether this was kept")
            self.expect_failure(pending, "it is not known whether this was kept")
            meanwhile = self.purchase()
            self.expect_degraded("fails")
        self.expect_recovery(pending, meanwhile)
        self.assertEqual([entry["signCount"] for entry in self.agent.json("enrollments")], [2])

    def test_a_damaged_page(self):
        pending = self.begin()
        self.agent.stop()
        # One that is not read at start.
        self.damage("request_by_jti")
        self.agent = started(self, Agent(self.folder))
        self.assertEqual(self.agent.ctl("show", pending).returncode, 1)
        self.expect_degraded("is damaged", "restore a backup")
        run = self.agent.ctl("approve", "--next")
        self.assertEqual(run.returncode, 1, run)
        self.assertIn("is damaged", run.stderr)
        # What still can be read is no reason to decide on it.
        self.assertEqual(self.agent.ctl("enroll", self.post("/sandbox/enrollment-codes", {})["link"]).returncode, 1)
        self.assertEqual([request["acsTransId"] for request in self.agent.json("list")], [pending])
        self.assertEqual(self.story(pending)["status"], "pending")
        self.assertEqual(len(self.lines_of_trouble()), 1, self.agent.tail())

    def failing(self, fault: str):
        return Failing(self.agent.process.pid, self.database.with_name("agent.db-wal"), fault)


class AtStart(DatabaseCase):
    def begin_and_stop(self):
        self.begin()
        self.agent.stop()

    def test_a_schema_of_a_newer_version(self):
        self.begin_and_stop()
        with sqlite3.connect(self.database) as database:
            database.execute("UPDATE oob_agent_store SET form = 99, least_form = 98")
        database.close()
        self.expect_no_start(78, "newer version", "form 99")

    def test_a_database_of_an_unreleased_version(self):
        self.begin_and_stop()
        with sqlite3.connect(self.database) as database:
            database.execute("ALTER TABLE oob_agent_store RENAME TO grdb_migrations")
        database.close()
        before = self.contents()
        self.expect_no_start(78, "made by an unreleased version", "enroll anew")
        self.assertEqual(self.contents(), before)
        (self.state / "secret").unlink()
        before = self.contents()
        self.expect_no_start(78, "there is no secret", str(self.database))
        self.assertEqual(self.contents(), before)

    def test_a_database_without_its_secret(self):
        self.begin_and_stop()
        secret = self.state / "secret"
        kept = secret.rename(self.folder / "kept")
        before = self.contents()
        self.expect_no_start(78, f"there is no secret {secret}", str(self.database), "--secret-file")
        self.assertEqual(self.contents(), before)
        kept.rename(secret)
        self.agent = started(self, Agent(self.folder))

    def test_key_files_of_an_unreleased_version_without_a_database(self):
        keys = self.state / "keys"
        keys.mkdir(parents=True)
        self.state.chmod(0o700)
        (keys / "0123456789abcdef0123.key").write_bytes(b"sealed")
        (self.state / "secret").write_bytes(bytes(32))
        (self.state / "secret").chmod(0o600)
        before = self.contents()
        run = self.start_in_vain()
        self.assertEqual(run.returncode, 78, run)
        for words in (str(self.state), "made by an unreleased version", "enroll anew"):
            self.assertIn(words, run.stderr.splitlines()[-1])
        self.assertEqual(self.contents(), before)

    def contents(self) -> dict[str, bytes]:
        """The files of the state, but the lock, which names its process."""
        return {str(path): path.read_bytes() for path in self.state.rglob("*")
                if path.is_file() and path.name != "agent.lock"}

    def test_a_file_that_is_no_database(self):
        self.begin_and_stop()
        self.database.write_bytes(b"x" * 8192)
        self.expect_no_start(65, "is damaged", "restore a backup")

    def test_a_damaged_page(self):
        self.begin_and_stop()
        self.damage("request")
        self.expect_no_start(65, "is damaged", "restore a backup")

    def test_a_lock_of_another_process(self):
        self.begin_and_stop()
        other = sqlite3.connect(self.database, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN EXCLUSIVE")
        self.expect_no_start(69, "locked by another process")

    @as_root
    def test_a_read_only_file(self):
        self.begin_and_stop()
        subprocess.run(["mount", "--bind", self.database, self.database], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.database], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", self.database], check=True)
        self.expect_no_start(77, "read-only")

    def test_a_file_without_the_mode_for_writing(self):
        self.begin_and_stop()
        self.database.chmod(0o400)
        # Root may write whatever the mode, unless it has lost its capabilities.
        through = ("setpriv", "--bounding-set=-all") if IS_ROOT else ()
        self.expect_no_start(77, "not this user's to change", through=through)

    @as_root
    def test_a_file_of_another_user(self):
        self.begin_and_stop()
        os.chown(self.database, 65534, 65534)
        self.expect_no_start(77, "belongs to uid 65534")

    @as_root
    def test_a_full_disk(self):
        """The agent starts in the room of its reserve, and not at all without one."""
        self.mount_small_disk("64m")
        pending = self.begin()
        self.until("the reserve", self.reserve.exists)
        self.agent.stop()
        fillers = [self.fill_disk()]
        self.agent = started(self, Agent(self.folder))
        self.expect_degraded("its disk is full")
        self.expect_approval(pending)
        self.agent.stop()
        fillers.append(self.fill_disk("another filler"))
        run = self.start_in_vain()
        self.assertEqual(run.returncode, 74, run)
        self.assertIn("full", run.stderr.splitlines()[-1])

    @as_root
    def test_a_disk_without_room_for_the_first_files(self):
        # Its own inode, and then the lock's.
        for inodes, words in [(1, "agent.lock"), (2, "the secret could not be made")]:
            self.state.mkdir(mode=0o700, exist_ok=True)
            subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"nr_inodes={inodes},mode=0700", "oob-test", self.state], check=True)
            self.addCleanup(subprocess.run, ["umount", "--lazy", self.state], check=True)
            with self.subTest(words):
                run = self.start_in_vain()
                self.assertEqual(run.returncode, 74, run)
                (line,) = run.stderr.splitlines()
                self.assertIn(words, line)
                self.assertIn("No space left on device", line)

    def test_what_nobody_foresaw_is_one_line_and_a_status(self):
        """Here a table without a column."""
        self.begin_and_stop()
        with sqlite3.connect(self.database) as database:
            database.execute("ALTER TABLE journal RENAME COLUMN seq TO number")
        database.close()
        manager = self.enterContext(Manager(self.folder / "notify"))
        run = self.start_in_vain("env", f"NOTIFY_SOCKET={manager.place}")
        self.assertEqual(run.returncode, 70, run)
        last = run.stderr.splitlines()[-1]
        self.assertTrue(last.startswith("Error: internal error, or another program wrote to the database"), run)
        manager.until_status("Not started: internal error")


if __name__ == "__main__":
    unittest.main()
