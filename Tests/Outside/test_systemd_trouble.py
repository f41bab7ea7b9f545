"""What keeps an agent under a real systemd from starting, and a full disk. See Tests/Systemd/box; it needs root.

Run with `.venv/bin/python Tests/Outside/test_systemd_trouble.py`; OOB_BIN_DIR names the programs' directory.
"""

import unittest

from systemd_box import AGENT, CONFIG, SECRET_FILE, Box, Installed, can_skip


def fails_often(box: Box, status: str):
    """More often than a limit of ten would let it, each time with this status."""
    for times in range(1, 14):
        box.eventually(lambda times=times: int(box.show(AGENT, "NRestarts")) >= times, f"restart {times}")
    # While the next one runs there is none.
    box.eventually(lambda: box.show(AGENT, "ExecMainStatus") == status, f"status {status}")


@can_skip()
class BadInput(Installed):
    """Each ends with a status of sysexits.h and one line that says what to do, in `systemctl status`."""

    def refused(self, status: int, words: str, is_tried_again: bool = False):
        run = self.box.systemctl("start", AGENT, check=False)
        self.assertNotEqual(run.returncode, 0, "it started")
        pid = self.box.show(AGENT, "ExecMainPID")
        self.assertEqual(self.box.show(AGENT, "ExecMainStatus"), str(status), self.box.lines(AGENT))
        lines = [entry["MESSAGE"] for entry in self.box.journal(f"_PID={pid}") if entry["PRIORITY"] == "3"]
        self.assertEqual([words in line for line in lines], [True], lines)
        (line,) = lines
        said = self.box.systemctl("status", AGENT, "--full", check=False).stdout
        # The status is cut where it is long.
        self.assertIn(line[:400].replace("oob-agent: ", 'Status: "Not started: ', 1), said)
        self.assertEqual(self.box.show(AGENT, "ActiveState"), "activating" if is_tried_again else "failed")

    def test_no_credential(self):
        self.box.run("mv", SECRET_FILE, "/host/secret")
        self.addCleanup(self.box.run, "mv", "/host/secret", SECRET_FILE)
        self.refused(
            66, "put it where LoadCredential= of the unit looks for it, which is /etc/credstore/oob-agent.secret")

    def test_a_lock_of_another_user(self):
        self.box.run("sh", "-ec", """
            install -d -m 0700 -o oob-agent -g oob-approvers /var/lib/oob-agent
            install -m 0600 -o bob /dev/null /var/lib/oob-agent/agent.lock""")
        self.refused(77, "open /var/lib/oob-agent/agent.lock: Permission denied; check its owner and mode")

    def test_a_wrong_credential(self):
        self.start()
        self.enroll()
        self.box.systemctl("stop", AGENT)
        self.box.run("sh", "-ec", f"cp {SECRET_FILE} /host/secret; openssl rand -out {SECRET_FILE} 32")
        self.addCleanup(self.box.run, "cp", "/host/secret", SECRET_FILE)
        self.refused(78, "the secret is not the one that this state was made with")

    def test_a_credential_that_is_too_short(self):
        self.box.run("sh", "-ec", f"cp {SECRET_FILE} /host/secret; echo short > {SECRET_FILE}")
        self.addCleanup(self.box.run, "cp", "/host/secret", SECRET_FILE)
        self.refused(78, "it must have 16 to 1024")

    def test_a_config_that_is_not_readable_or_not_in_order(self):
        self.box.run("chmod", "0600", CONFIG)
        self.refused(78, f"{CONFIG}: the config file cannot be read: check the path and its mode")
        self.box.run("chmod", "0644", CONFIG)
        self.box.write(CONFIG, "log-level: info\nlog-colour: red\n")
        self.refused(78, f"{CONFIG}:2: log-colour: there is no such member")

    def test_a_port_that_is_taken(self):
        # 8080 is the issuer's.
        self.box.write(CONFIG, "push-listen: 127.0.0.1:8080\npush-url: http://localhost:8080\n")
        self.refused(
            69, "127.0.0.1 port 8080: Address already in use; choose another with push-listen", is_tried_again=True)

    def test_a_socket_directory_that_is_missing(self):
        self.box.write(CONFIG, "socket: /run/nowhere/control.sock\n")
        self.refused(78, "the control socket /run/nowhere/control.sock cannot be made: No such file or directory; "
                         "make its directory, or choose another path with socket")

    def test_a_port_that_takes_a_privilege(self):
        self.box.write(CONFIG, "push-listen: 127.0.0.1:90\npush-url: http://localhost:90\n")
        self.refused(77, "127.0.0.1 port 90: Permission denied; choose another with push-listen, or add the drop-in "
                         "low-port.conf to the unit")

    def test_a_state_directory_of_another_user(self):
        self.box.run("install", "-d", "-m", "0700", "-o", "bob", "/var/lib/oob-agent-bob")
        self.box.write(CONFIG, "state-dir: /var/lib/oob-agent-bob\n")
        self.box.drop_in(AGENT, "bob", "[Service]\nReadWritePaths=/var/lib/oob-agent-bob\n")
        self.refused(77, "the state directory /var/lib/oob-agent-bob: open: Permission denied; check the owner and the "
                         "mode of the file and of the directories above it")

    def test_a_state_of_a_newer_version(self):
        self.start()
        self.box.systemctl("stop", AGENT)
        self.box.run("python3", "-c", (
            "import sqlite3; b = sqlite3.connect('/var/lib/oob-agent/agent.db');"
            "b.execute(\"insert into grdb_migrations values ('9999 from tomorrow')\"); b.commit()"))
        self.refused(65, "was written by a newer version of the agent")


@can_skip()
class Passing(Installed):
    """Faults that pass, and starts by hand: there is no limit."""

    def setUp(self):
        super().setUp()
        self.box.drop_in(AGENT, "fast", "[Service]\nRestartSec=10ms\n")

    def test_a_fault_that_passes_is_outlasted_however_often_it_failed(self):
        # 8080 is the issuer's, until it is stopped.
        self.box.write(CONFIG, "push-listen: 127.0.0.1:8080\npush-url: http://localhost:8080\n")
        self.box.systemctl("start", "--no-block", AGENT)
        fails_often(self.box, "69")
        self.addCleanup(self.box.systemctl, "start", "oob-issuer.service")
        self.box.systemctl("stop", "oob-issuer.service")
        self.box.eventually(lambda: self.box.show(AGENT, "ActiveState") == "active", "the agent")

    def test_starts_by_hand_are_not_counted(self):
        for _ in range(12):
            self.box.systemctl("restart", AGENT)
        self.assertEqual(self.json("status")["state"], "ready")


@can_skip()
class FullDisk(Installed):
    def setUp(self):
        super().setUp()
        self.box.run("sh", "-ec", """
            mkdir -p /var/lib/oob-agent && mount -t tmpfs -o size=4m,mode=0700 small /var/lib/oob-agent""")
        self.addCleanup(self.box.run, "sh", "-c", "systemctl stop oob-agent; umount /var/lib/oob-agent")

    def fill(self):
        self.box.run("sh", "-c", "cat /dev/zero > /var/lib/oob-agent/ballast 2>/dev/null || true")

    def sign_of_life(self) -> int:
        return int(self.box.show(AGENT, "WatchdogTimestampMonotonic"))

    def test_a_full_disk_is_told_loses_nothing_and_is_recovered_from(self):
        self.box.drop_in(AGENT, "watchdog", "[Service]\nWatchdogSec=10s\n")
        self.start()
        self.enroll()
        purchase = self.purchase()
        self.fill()
        refused = self.ctl("approve", purchase, "--json", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("full", refused.stderr)
        self.box.eventually(lambda: self.box.show(AGENT, "StatusText").startswith("Degraded: "), "the trouble")
        self.assertIn("full", self.box.show(AGENT, "StatusText"))
        # It is no reason to be killed: signs of life go on coming.
        for _ in range(3):
            before = self.sign_of_life()
            self.box.eventually(lambda before=before: self.sign_of_life() > before, "a sign of life")
        self.assertEqual(self.box.show(AGENT, "NRestarts"), "0")
        self.box.run("rm", "/var/lib/oob-agent/ballast")
        self.box.eventually(lambda: self.json("status")["state"] == "ready", "the recovery")
        self.approve(purchase)
        self.assertEqual(self.box.show(AGENT, "NRestarts"), "0")

    def test_an_agent_that_is_killed_on_a_full_disk_comes_back_once_there_is_room(self):
        self.box.drop_in(AGENT, "fast", "[Service]\nRestartSec=10ms\n")
        self.start()
        self.enroll()
        purchase = self.purchase()
        self.fill()
        self.box.run("kill", "-KILL", self.box.show(AGENT, "MainPID"))
        fails_often(self.box, "74")
        self.box.run("rm", "/var/lib/oob-agent/ballast")
        self.box.eventually(lambda: self.box.show(AGENT, "ActiveState") == "active", "the agent")
        self.approve(purchase)


if __name__ == "__main__":
    unittest.main()
