"""The config of the service, in a real systemd: whose socket it is, and what root keeps to itself. See Tests/Hosts/box.

Run as root with `.venv/bin/python Tests/Hosts/test_service_settings.py`; OOB_BIN_DIR names the programs' directory.
"""

import unittest

from systemd_box import AGENT, CONFIG, UNITS, Pasted, can_skip

STATE = "/var/lib/oob-agent"


@can_skip()
class Settings(Pasted):
    def refused(self, words: str, status: str = "78"):
        run = self.box.systemctl("start", AGENT, check=False)
        self.assertNotEqual(run.returncode, 0, "it started")
        self.assertEqual(self.box.show(AGENT, "ExecMainStatus"), status, self.box.lines(AGENT))
        self.assertIn(words, self.box.show(AGENT, "StatusText"))

    def test_another_group_is_in_config_and_drop_in_or_the_start_says_so(self):
        self.box.write(CONFIG, "socket-group: payments\n")
        self.refused('config.yaml:1: socket-group: there is no group "payments" on this host')
        self.box.run("groupadd", "payments")
        self.addCleanup(self.box.run, "groupdel", "payments")
        self.refused("config.yaml:1: socket-group: the agent's user is not of this group")
        self.box.drop_in(AGENT, "more", "[Service]\nSupplementaryGroups=payments\n")
        self.refused("config.yaml:1: socket-group: this process may give its socket only to its own group: "
                     "set Group= in a drop-in of the unit")
        self.box.drop_in(AGENT, "group", (UNITS / "drop-ins" / "group.conf").read_text())
        self.start()
        self.assertEqual(self.box.run("stat", "-c", "%G %a", "/run/oob-agent/control.sock").stdout, "payments 660\n")
        self.assertNotEqual(self.ctl("status", user="alice", check=False).returncode, 0)

    def test_who_of_the_group_may_decide_can_be_said_in_the_config_as_it_comes(self):
        self.box.run("sh", "-c", f"echo 'may-decide: bob' >> {CONFIG}")
        self.paste("Install by hand", 4)
        self.start()
        self.assertEqual(self.json("status", user="alice")["state"], "ready")

    def test_a_state_that_is_roots_is_given_to_the_service(self):
        self.start()
        card = self.enroll()["id"]
        self.box.systemctl("stop", AGENT)
        self.box.run("chown", "-R", "root:root", STATE)
        self.start()
        self.assertEqual(self.box.run("find", STATE, "!", "-user", "oob-agent").stdout, "")
        self.assertEqual(self.enrolled(), [card])

    def make_tls(self):
        self.box.run("sh", "-ec", """
            cd /etc/oob-agent && umask 077 && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
                -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 2 -keyout push.key -out push.crt \
                2> /dev/null
            chmod 0644 push.crt""")

    def configure_tls(self, key: str):
        self.box.write(CONFIG, f"""socket-group: oob-approvers
push-listen: 127.0.0.1:8443
push-url: https://localhost:8443
push-tls-cert: /etc/oob-agent/push.crt
push-tls-key: {key}
""")

    def test_a_config_is_checked_as_the_service_would(self):
        self.paste("Install by hand", 4)
        self.make_tls()
        self.configure_tls("/etc/oob-agent/push.key")
        self.box.run("oob-agent", "--config", CONFIG, "--check-config")
        self.assertIn("config.yaml:5: push-tls-key", self.fails("Install by hand", 4))

    def test_a_tls_key_of_roots_is_handed_over_by_systemd(self):
        self.make_tls()
        self.configure_tls("/run/credentials/oob-agent.service/push-key")
        self.box.drop_in(AGENT, "push-tls", (UNITS / "drop-ins" / "push-tls.conf").read_text())
        self.start()
        self.assertEqual(self.box.run("stat", "-c", "%U %a", "/etc/oob-agent/push.key").stdout, "root 600\n")
        answered = self.box.run(
            "curl", "-sS", "--cacert", "/etc/oob-agent/push.crt", "--output", "/dev/null", "--write-out", "%{http_code}",
            "https://localhost:8443/")
        self.assertEqual(answered.stdout, "404")


if __name__ == "__main__":
    unittest.main()
