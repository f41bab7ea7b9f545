"""What keeps an agent under a real systemd from starting. See Tests/Hosts/box; it needs root.

Run with `.venv/bin/python Tests/Hosts/test_systemd_trouble.py`; OOB_BIN_DIR names the programs' directory.
"""

import unittest

from systemd_box import AGENT, CONFIG, SECRET_FILE, Installed, can_skip


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
        self.assertIn(line[:400].replace("Error: ", 'Status: "Not started: ', 1), said)
        self.assertEqual(self.box.show(AGENT, "ActiveState"), "activating" if is_tried_again else "failed")

    def test_no_credential(self):
        self.box.run("mv", SECRET_FILE, "/host/secret")
        self.addCleanup(self.box.run, "mv", "/host/secret", SECRET_FILE)
        self.refused(
            66, "put it where LoadCredential= of the unit looks for it, by default /etc/credstore/oob-agent.secret")

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
        self.refused(78, f"{CONFIG}: Permission denied")
        self.box.run("chmod", "0644", CONFIG)
        self.box.write(CONFIG, "log-level: info\nlog-colour: red\n")
        self.refused(78, f"{CONFIG}:2: log-colour: no such setting")

    def test_a_port_that_is_taken(self):
        # 8080 is the issuer's.
        self.box.write(CONFIG, "push-listen: 127.0.0.1:8080\npush-url: http://localhost:8080\n")
        self.refused(
            69, "127.0.0.1 port 8080: Address already in use; choose another with push-listen", is_tried_again=True)

    def test_a_socket_directory_that_is_missing(self):
        self.box.write(CONFIG, "socket: /run/nowhere/control.sock\n")
        self.refused(78, "the control socket /run/nowhere/control.sock cannot be made: open /run/nowhere/: No such file or directory; "
                         "make its directory, or choose another path with socket")

    def test_a_port_that_takes_a_privilege(self):
        self.box.write(CONFIG, "push-listen: 127.0.0.1:90\npush-url: http://localhost:90\n")
        self.refused(77, "127.0.0.1 port 90: Permission denied; choose another with push-listen, or add the drop-in "
                         "low-port.conf to the unit")
        self.box.write(CONFIG, "metrics-listen: 127.0.0.1:90\n")
        self.refused(77, "metrics cannot be given on 127.0.0.1 port 90: Permission denied; choose another with "
                         "metrics-listen")

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
            "b.execute(\"update oob_agent_store set form = 99, least_form = 98\"); b.commit()"))
        self.refused(78, "was made by a newer version of the agent")


@can_skip()
class NoKey(Installed):
    def test_without_a_key_that_can_be_used_a_start_is_in_vain_and_tried_again_until_there_is_one(self):
        self.start()
        key = "/var/lib/oob-agent/card.pem"
        self.box.run("sh", "-ec", f"""
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out {key}
            chmod 0600 {key}; chown oob-agent {key}""")
        self.enroll("--key-uri", f"file:{key}")
        self.box.systemctl("stop", AGENT)
        self.box.drop_in(AGENT, "timeout", "[Service]\nTimeoutStartSec=5s\nRestartSec=10ms\n")
        self.box.run("mv", key, f"{key}.away")
        self.assertNotEqual(self.box.systemctl("start", AGENT, check=False).returncode, 0)
        self.assertIn("start operation timed out", self.box.lines(AGENT))
        self.box.eventually(lambda: self.box.show(AGENT, "StatusText").startswith(
            "Waiting for a key that can be used: enrollment "), "the reason")
        self.box.eventually(lambda: '"state":"degraded"' in self.ctl("status", "--json", check=False).stdout,
                            "an answer at the control socket meanwhile")
        self.box.run("mv", f"{key}.away", key)
        self.box.eventually(lambda: self.box.show(AGENT, "SubState") == "running", "the agent")
        self.approve(self.purchase())


if __name__ == "__main__":
    unittest.main()
