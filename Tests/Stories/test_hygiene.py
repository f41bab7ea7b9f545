"""What is weak in a set-up, and what a run leaves behind: the doctor against a real debugger, clock and limits; every
file, log, core and socket of a run searched for what must not be there.

Run with `.venv/bin/python Tests/Stories/test_hygiene.py`; OOB_BIN_DIR names the programs' directory.
"""

import contextlib
import ctypes
import mmap
import os
import pwd
import resource
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from cryptography.hazmat.primitives import serialization

from issuer import Issuer
from programs import BIN_DIR, IS_SANITIZED, Agent, started, temporary_folder
from sealed import opened_by, spellings

IS_ROOT = os.geteuid() == 0
NOBODY = 65_534
AS_NOBODY = ("setpriv", "--reuid", str(NOBODY), "--clear-groups")
SECRET = os.urandom(32)
# Starts a command that may leave a core as large as this user may allow it.
MOST_CORE = resource.getrlimit(resource.RLIMIT_CORE)[1]
WITH_CORE = ("prlimit", f"--core={MOST_CORE}:{MOST_CORE}")
PASSED_ON = "passed-on-by-the-shell-4711"
PIN = "7391-Zq-Brückenbogen"


def eventually(test, look, what: str):
    """Looks until there is something; nothing depends on how long it takes."""
    deadline = time.monotonic() + 60
    while not (found := look()):
        test.assertLess(time.monotonic(), deadline, what)
        time.sleep(0.05)
    return found


def secret_file(folder: Path) -> Path:
    path = folder / "secret"
    path.write_bytes(SECRET)
    path.chmod(0o600)
    return path


def agent_of_nobody(test, *limits: str) -> Agent:
    """An agent that runs as another user than root, and whom oobctl believes."""
    folder = temporary_folder(test)
    os.chown(folder, NOBODY, NOBODY)
    test.enterClassContext(mock.patch.dict(os.environ, OOB_AGENT_USER=pwd.getpwuid(NOBODY).pw_name))
    return started(test, Agent(folder, through=(*AS_NOBODY, *limits)))


class TheDoctor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.issuer = cls.enterClassContext(Issuer())
        cls.agent = started(cls, Agent(cls.folder))

    def said(self, agent: Agent | None = None) -> dict[str, dict]:
        return {each["id"]: each for each in (agent or self.agent).json("doctor")}

    def test_the_clock_is_as_the_kernel_says(self):
        answer = (ctypes.c_long * 64)()  # struct timex, of which `status` is the sixth word.
        ctypes.CDLL(None).adjtimex(answer)
        is_unsynchronised = bool(answer[5] & 0x40)
        self.assertEqual("clockUnsynchronised" in self.said(), is_unsynchronised)

    @unittest.skipUnless(IS_ROOT, "only root can trace the agent")
    def test_a_debugger(self):
        self.assertNotIn("debuggerAttached", self.said())
        with subprocess.Popen(
                ["strace", "-f", "-o", "/dev/null", "-p", str(self.agent.process.pid)], stderr=subprocess.DEVNULL) as tracer:
            try:
                found = eventually(self, lambda: self.said().get("debuggerAttached"), "strace is attached")
                self.assertEqual(found["severity"], "high")
                self.assertIn(f"process {tracer.pid} traces the agent", found["message"])
            finally:
                tracer.terminate()
        self.assertNotIn("debuggerAttached", self.said())

    @unittest.skipUnless(IS_ROOT and shutil.which("gdb"), "only root can change the agent, with gdb")
    def test_an_agent_that_a_debugger_made_dumpable_again(self):
        self.assertNotIn("coreDumps", self.said())

        def set_dumpable(value: int):  # PR_SET_DUMPABLE is 4.
            call = f"call (int) prctl(4, {value}, 0, 0, 0)"
            subprocess.run(["gdb", "-nx", "-batch", "-p", str(self.agent.process.pid), "-ex", call], check=True,
                           capture_output=True, timeout=120)

        set_dumpable(1)
        self.addCleanup(set_dumpable, 0)
        self.assertEqual(self.said()["coreDumps"]["severity"], "medium")

    @unittest.skipUnless(IS_ROOT, "only root can become another user")
    def test_memory_that_may_not_be_locked_is_said_and_all_works(self):
        agent = agent_of_nobody(type(self), "prlimit", "--memlock=0:0")
        self.assertEqual(self.said(agent)["memoryNotLocked"]["severity"], "medium")
        self.assertNotIn("memoryNotLocked", self.said())
        agent.json("enroll", "--issuer", self.issuer.origin, "--code", self.issuer.enrollment_code(), "--authn-type",
                   "presence")


@unittest.skipUnless(IS_ROOT, "only root can become another user")
class TheMemory(unittest.TestCase):
    @unittest.skipIf(IS_SANITIZED, "a sanitizer has an allocator of its own")
    def test_many_threads_share_two_pools_of_memory(self):
        agent = started(self, Agent(temporary_folder(self)))
        for _ in range(20):
            agent.ctl("status")
        self.assertGreater(len(list(Path(f"/proc/{agent.process.pid}/task").iterdir())), 3)
        # Beside the first one, which is the heap of the process, a pool is 64 MiB of addresses, a part of it in use.
        pool, places = 64 << 20, []
        for line in Path(f"/proc/{agent.process.pid}/maps").read_text().splitlines():
            place, rights, _, _, inode, *_ = line.split()
            start, end = (int(side, 16) for side in place.split("-"))
            if inode == "0" and rights == "rw-p" and start % pool == 0:
                places.append((start, end))
            elif places and rights == "---p" and places[-1] == (places[-1][0], start) and end - places[-1][0] == pool:
                places[-1] = (places[-1][0], "whole")
        self.assertLessEqual(sum(end == "whole" for _, end in places), 1)


class OtherProcessesOfTheAgentsUser(unittest.TestCase):
    def test_they_read_neither_its_memory_nor_its_environment(self):
        agent = agent_of_nobody(type(self))
        attempt = (
            "import ctypes, sys\n"
            "assert ctypes.CDLL(None, use_errno=True).ptrace(16, int(sys.argv[1]), 0, 0) == -1  # PTRACE_ATTACH\n"
            "assert ctypes.get_errno() == 1, ctypes.get_errno()\n"
            "for name in ['mem', 'environ', 'maps']:\n"
            "    try: open(f'/proc/{sys.argv[1]}/{name}', 'rb').read(1)\n"
            "    except PermissionError: pass\n"
            "    else: sys.exit(name)\n")
        run = subprocess.run(
            [*AS_NOBODY, "/usr/bin/python3", "-c", attempt, str(agent.process.pid)],
            capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))


class Eavesdropper:
    """Stands between oobctl and the agent's socket, and keeps what either says."""

    def __init__(self, path: Path, agent: Path):
        self.asked, self.answered = bytearray(), bytearray()
        self.agent = agent
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.connect, args=(client,), daemon=True).start()

    def connect(self, client):
        with client, socket.socket(socket.AF_UNIX) as agent:
            agent.connect(str(self.agent))
            back = threading.Thread(target=self.carry, args=(agent, client, self.answered), daemon=True)
            back.start()
            self.carry(client, agent, self.asked)
            back.join()

    def carry(self, source, target, kept: bytearray):
        with contextlib.suppress(ConnectionError, OSError):
            while bytes := source.recv(65_536):
                kept += bytes
                target.sendall(bytes)
            target.shutdown(socket.SHUT_WR)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(10)


def private_scalar(database: Path, enrollment: str) -> bytes:
    """The number in a sealed key, by the secret and the PIN."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as book:
        ((sealed,),) = book.execute("SELECT sealed_key FROM enrollment WHERE id = ?", (enrollment,))
    inner = opened_by(SECRET, sealed, f"credential key {enrollment}")
    key = serialization.load_der_private_key(inner, PIN.encode())
    return key.private_numbers().private_value.to_bytes(32, "big")


def has_no_core(pid: int) -> bool:
    limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
    (line,) = [line for line in limits if line.startswith("Max core file size")]
    return line.split()[4:6] == ["0", "0"]


class WhatARunLeavesBehind(unittest.TestCase):
    """One run of everything, and then a search."""

    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.issuer = cls.enterClassContext(Issuer())
        path = secret_file(cls.folder)
        cls.pin_file = cls.folder / "pin"
        cls.pin_file.write_text(PIN + "\n", encoding="utf-8")
        cls.pin_file.chmod(0o600)
        cls.agent = started(cls, Agent(
            cls.folder, "--secret-file", str(path), "--log-level", "debug", through=WITH_CORE,
            SOME_SERVICE_TOKEN=PASSED_ON))
        cls.agents_socket = cls.agent.socket
        cls.agent.socket = cls.folder / "between.sock"
        cls.between = Eavesdropper(cls.agent.socket, cls.agents_socket)
        cls.addClassCleanup(cls.between.close)
        cls.use_everything()

    @classmethod
    def use_everything(cls):
        agent, issuer = cls.agent, cls.issuer
        cls.code = issuer.enrollment_code()
        with_pin = ("--pin-file", str(cls.pin_file))
        enrolled = agent.json("enroll", "--issuer", issuer.origin, "--code", cls.code, *with_pin)
        assert enrolled["authnType"] == "pin"
        ((cls.authenticator, known),) = issuer.authenticators.items()
        cls.token = known.token.encode()
        cls.scalar = private_scalar(cls.folder / "state" / "agent.db", enrolled["id"])
        approved, denied = [issuer.ask(cls.authenticator, issuer.transaction()) for _ in range(2)]
        agent.json("approve", approved.transaction["acsTransId"], "--wait", "60", *with_pin)
        agent.json("deny", denied.transaction["acsTransId"], "--wait", "60")
        for command in ["status", "doctor", "enrollments", "fetch", "audit verify", "audit key"]:
            agent.json(command)
        agent.json("list", "--all")
        agent.ctl("audit export")
        agent.ctl("enroll", "--issuer", issuer.origin, "--code", "not-a-code", "--authn-type", "presence")
        assert agent.ctl("backup", str(cls.folder / "backup.db")).returncode == 0

    def never(self) -> dict[str, list[bytes]]:
        """What must be nowhere, in every spelling."""
        return {"the access token": [self.token], "the agent's secret": spellings(SECRET),
                "the private number": spellings(self.scalar), "the PIN": spellings(PIN.encode())}

    def search(self, bytes, where: str, what: dict[str, list[bytes]]):
        self.assertGreater(len(bytes), 0, where)
        for name, spelled in what.items():
            for each in spelled:
                self.assertEqual(bytes.find(each), -1, f"{name} is in {where}")

    def test_no_file_of_the_state_no_log_and_no_backup_has_them(self):
        given = {self.folder / "secret", self.pin_file}
        files = [file for file in self.folder.rglob("*") if file.is_file() and file not in given]
        names = {file.name for file in files}
        self.assertLessEqual({"agent.db", "agent.db-wal", "backup.db", "oob-agent.log", "agent.lock"}, names)
        codes = {"the enrollment code": [self.code.encode()]}
        for file in files:
            if file.stat().st_size > 0 and not file.name.startswith("core."):
                self.search(file.read_bytes(), str(file), self.never() | codes)

    def test_on_the_socket_only_the_pin_and_the_enrollment_code_pass_and_they_never_come_back(self):
        code = {"the enrollment code": [self.code.encode()]}
        asked = bytes(self.between.asked)
        self.search(bytes(self.between.answered), "what the agent answers", self.never() | code)
        self.assertEqual(asked.count(self.code.encode()), 1)
        self.assertEqual(asked.count(PIN.encode()), 2, "to enroll and to approve")
        what = self.never()
        del what["the PIN"]
        self.search(asked, "what clients ask", what)

    def test_its_command_line_and_environment_have_none_and_nothing_that_was_passed_on(self):
        process = Path(f"/proc/{self.agent.process.pid}")
        self.search((process / "cmdline").read_bytes(), "its command line", self.never())
        if IS_ROOT:  # Nobody else may read it.
            environment = (process / "environ").read_bytes()
            self.search(environment, "its environment", self.never() | {"a token of the shell's": [PASSED_ON.encode()]})
            self.assertIn(b"SOME_SERVICE_TOKEN=\0", environment, "it is overwritten in place")

    @unittest.skipUnless(MOST_CORE, "no core may be left here in any case")
    def test_a_killed_agent_leaves_no_core(self):
        self.assertTrue(has_no_core(self.agent.process.pid))

    @unittest.skipUnless(MOST_CORE, "no core may be left here in any case")
    def test_oobctl_which_holds_a_pin_for_a_moment_leaves_none_either(self):
        command = [*WITH_CORE, BIN_DIR / "oobctl", "watch", "--socket", self.agent.socket]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as watch:
            try:
                eventually(self, lambda: has_no_core(watch.pid), "oobctl forbids a core")
            finally:
                watch.terminate()

    @unittest.skipIf(IS_SANITIZED, "the core would hold AddressSanitizer's terabytes")
    @unittest.skipUnless(IS_ROOT and shutil.which("gcore"), "only root can force a core, with gdb's gcore")
    def test_a_core_that_root_forces_has_neither_the_secret_nor_the_private_number(self):
        subprocess.run(["gcore", "-o", self.folder / "core", str(self.agent.process.pid)], check=True,
                       capture_output=True, timeout=560)
        what = self.never()
        # In use: it is in memory as long as the agent fetches.
        del what["the access token"]
        # What came over the socket passes through buffers that nobody wipes.
        del what["the PIN"]
        with open(self.folder / f"core.{self.agent.process.pid}", "rb") as file:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as core:
                self.assertNotEqual(core.find(self.token), -1, "it is the agent's memory")
                self.search(core, "a forced core", what)


if __name__ == "__main__":
    unittest.main()
