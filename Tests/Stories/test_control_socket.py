"""The file of the control socket: removed, replaced, in a directory of somebody else's.

Run with `.venv/bin/python Tests/Stories/test_control_socket.py`; OOB_BIN_DIR names the programs' directory.
"""

import contextlib
import os
import signal
import socket
import stat
import subprocess
import threading
import time
import unittest
from pathlib import Path

from issuer import Issuer
from programs import BIN_DIR, Agent, free_port, temporary_folder
from supervision import Manager

WITHIN = 60
as_root = unittest.skipUnless(os.geteuid() == 0, "only root can give a directory to somebody else")


def refused(folder: Path, path: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [BIN_DIR / "oob-agent", "--state-dir", folder / "other", "--socket", path, *arguments], capture_output=True,
        text=True, timeout=120)


class Removed(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))

    def start(self, *arguments: str, **how) -> Agent:
        self.agent = Agent(self.folder, *arguments, **how)
        self.addCleanup(self.agent.stop)
        return self.agent

    def log_until(self, words: str, count: int = 1) -> str:
        deadline = time.monotonic() + WITHIN
        while (log := self.agent.log.read_text()).count(words) < count:
            self.assertLess(time.monotonic(), deadline, log)
            self.assertIsNone(self.agent.process.poll(), log)
            time.sleep(0.05)  # Looks again; nothing depends on how long.
        return log

    def hang_up(self):
        self.agent.process.send_signal(signal.SIGHUP)

    def test_it_is_made_anew_at_a_hang_up_and_a_call_that_waits_is_answered(self):
        agent = self.start()
        with Issuer() as issuer:
            agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code())
            (authenticator,) = issuer.authenticators
            waiting = subprocess.Popen(
                [BIN_DIR / "oobctl", "approve", "--next", "--wait", "60", "--json", "--socket", agent.socket],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(waiting.kill)
            deadline = time.monotonic() + WITHIN
            while Path("/proc/net/unix").read_text().count(f" {agent.socket}\n") < 2:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)  # Looks again until the client is connected.
            agent.socket.unlink()
            if agent.ctl("status").returncode != 69:
                # It looks at its socket every ten seconds, and may just have done so.
                self.log_until("the control socket was removed, and was made anew")
            self.hang_up()
            self.log_until("the control socket was removed, and was made anew")
            status = agent.socket.lstat()
            self.assertTrue(stat.S_ISSOCK(status.st_mode))
            self.assertEqual(stat.S_IMODE(status.st_mode), 0o600)
            self.assertEqual(agent.json("status")["state"], "ready")
            issuer.ask(authenticator, issuer.transaction())
            output, errors = waiting.communicate(timeout=WITHIN)
            self.assertEqual(waiting.returncode, 0, errors)
            self.assertIn('"delivered"', output)

    def test_it_is_made_anew_without_a_hang_up_too(self):
        agent = self.start()
        agent.socket.unlink()
        Path(f"{agent.socket}.lock").unlink()
        self.log_until("the control socket was removed, and was made anew")
        self.assertEqual(agent.json("status")["state"], "ready")
        second = refused(self.folder, agent.socket)
        self.assertEqual(second.returncode, 69, second.stderr)

    def test_a_second_agent_does_not_slip_in_while_the_socket_is_gone(self):
        agent = self.start()
        agent.socket.unlink()
        second = refused(self.folder, agent.socket)
        self.assertEqual(second.returncode, 69, second.stderr)
        self.assertIn(f"another process listens on the control socket {agent.socket}", second.stderr)
        self.hang_up()
        self.log_until("was made anew")
        self.assertEqual(agent.json("status")["state"], "ready")

    def test_the_socket_of_another_process_is_said_where_the_operator_looks_and_not_taken(self):
        with Manager(self.folder / "notify") as manager:
            address = f"127.0.0.1:{free_port()}"
            # Half of it is the pause between two calls of its own.
            agent = self.start("--metrics-listen", address, NOTIFY_SOCKET=manager.place, WATCHDOG_USEC="2000000")
            agent.socket.unlink()
            with socket.socket(socket.AF_UNIX) as other:
                other.bind(str(agent.socket))
                other.listen(64)
                self.hang_up()
                log = self.log_until("the control socket was removed or replaced, and nobody can connect")
                self.assertIn(f"another process listens on the control socket {agent.socket}", log)
                manager.until_status(
                    "Degraded: the control socket was removed or replaced: another process listens on the control socket")
                inode = agent.socket.stat().st_ino
                self.hang_up()
                self.log_until("the settings were reloaded", 2)
                self.assertEqual(agent.socket.stat().st_ino, inode)
                run = subprocess.run(
                    ["curl", "--silent", "--max-time", "20", f"http://{address}/metrics"], capture_output=True,
                    text=True, timeout=60)
                self.assertIn('oob_agent_not_ready_reasons{cause="socket"} 1', run.stdout)
                self.assertIn("\noob_agent_ready 0", run.stdout)
            # Nobody listens there any more.
            self.hang_up()
            self.log_until("was made anew")
            self.assertEqual(agent.json("status")["state"], "ready")
            self.assertEqual(agent.json("status")["reasons"], [])

    def test_removed_while_it_starts_it_is_there_soon(self):
        def remove():
            while not done.is_set():
                with contextlib.suppress(FileNotFoundError):
                    (self.folder / "control.sock").unlink()
                    done.set()
        done = threading.Event()
        remover = threading.Thread(target=remove)
        remover.start()
        try:
            self.start()
        finally:
            done.set()
            remover.join()
        self.assertEqual(self.agent.json("status")["state"], "ready")


class Places(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))

    def test_a_symbolic_link_in_its_place_is_refused_and_what_it_leads_to_stays(self):
        precious = self.folder / "precious"
        precious.touch(mode=0o400)
        link = self.folder / "link.sock"
        for target in [precious, self.folder / "nothing"]:
            link.symlink_to(target)
            run = refused(self.folder, link)
            self.assertEqual(run.returncode, 78, run.stderr)
            self.assertIn("something that is not a socket stands there", run.stderr)
            link.unlink()
        self.assertEqual(stat.S_IMODE(precious.stat().st_mode), 0o400)

    @as_root
    def test_root_makes_no_socket_in_a_directory_that_others_control(self):
        for owner, mode, words in [(40_001, 0o700, "belongs to uid 40001"), (0, 0o777, "can be written to by others"),
                                   (0, 0o775, "can be written to by others")]:
            with self.subTest(owner=owner, mode=oct(mode)):
                place = self.folder / f"{owner}-{mode:o}"
                place.mkdir()
                place.chmod(mode)
                os.chown(place, owner, owner)
                run = refused(self.folder, place / "a.sock")
                self.assertEqual(run.returncode, 77, run.stderr)
                self.assertIn(words, run.stderr)
                checked = refused(self.folder, place / "a.sock", "--check-config")
                self.assertEqual(checked.returncode, 78, checked.stderr)
                self.assertIn(words, checked.stderr)
                self.assertEqual(list(place.iterdir()), [])

    @as_root
    def test_another_user_may_use_a_directory_that_others_write_to(self):
        place = self.folder / "shared"
        place.mkdir()
        place.chmod(0o777)
        self.folder.chmod(0o711)
        state = self.folder / "state-of-another"
        state.mkdir()
        os.chown(state, 40_001, 40_001)
        state.chmod(0o700)
        agent = subprocess.Popen(
            [BIN_DIR / "oob-agent", "--state-dir", state, "--socket", place / "a.sock"], user=40_001, group=40_001,
            extra_groups=[], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/")
        self.addCleanup(agent.kill)
        self.assertEqual(agent.stdout.readline(), f"listening on {place / 'a.sock'}\n")
        self.assertEqual(stat.S_IMODE((place / "a.sock").stat().st_mode), 0o600)
        agent.terminate()
        agent.communicate(timeout=WITHIN)
        self.assertEqual(agent.returncode, 0)

    @as_root
    def test_on_a_full_disk_the_start_says_so(self):
        disk = self.folder / "disk"
        disk.mkdir()
        # In a mount namespace of its own, so that nothing is mounted for anybody else.
        script = ('mount -t tmpfs -o size=64k,mode=0700 oob "$1" || exit 200; cat /dev/zero > "$1/filler" 2> /dev/null; '
                  'exec "$2" --state-dir "$3" --socket "$1/a.sock"')
        run = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", disk, BIN_DIR / "oob-agent", self.folder / "other"],
            capture_output=True, text=True, timeout=120)
        if run.returncode in (1, 200):
            self.skipTest(f"nothing may be mounted here: {run.stderr}")
        self.assertEqual(run.returncode, 69, run.stderr)
        self.assertIn("No space left on device", run.stderr)


if __name__ == "__main__":
    unittest.main()
