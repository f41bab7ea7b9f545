"""Several agents of one host, under a real systemd, as docs/how-to/systemd.md makes them.

See Tests/Hosts/box; it needs root.

Run with `.venv/bin/python Tests/Hosts/test_systemd_instances.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import subprocess
import unittest

from systemd_box import ISSUER, UNITS, Installed, can_skip, page_blocks


@can_skip()
class Instances(Installed):
    """Agents of oob-agent@.service, as the page makes them."""

    def setUp(self):
        super().setUp()
        (commands,) = page_blocks("Several agents")
        for name in "ab":
            self.box.run("sh", "-ec", commands.replace("name=a", f"name={name}").replace("agent-a", f"agent-{name}"))
        self.addCleanup(self.box.systemctl, "disable", "oob-agent@a.service", "oob-agent@b.service")

    def of(self, name: str, command: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess:
        return self.box.run("env", f"OOB_AGENT_USER=oob-agent-{name}", "oobctl", *command.split(), "--json", "--socket",
                            f"/run/oob-agent-{name}/control.sock", *arguments, check=check)

    def enroll_at(self, name: str) -> str:
        code = json.loads(self.box.run("oob-issuer", "code", "--json").stdout)["code"]
        return json.loads(self.of(
            name, "enroll", "--issuer", ISSUER, "--code", code, "--authn-type", "presence").stdout)["id"]

    def enrolled(self, name: str) -> list[str]:
        return [row["id"] for row in json.loads(self.of(name, "enrollments").stdout)]

    def test_two_instances_have_an_enrollment_of_their_own_each(self):
        cards = [self.enroll_at(name) for name in "ab"]
        self.assertEqual([self.enrolled(name) for name in "ab"], [[card] for card in cards])
        self.box.systemctl("stop", "oob-agent@b.service")
        self.assertEqual(self.enrolled("a"), [cards[0]])

    def test_two_instances_cannot_get_at_each_other(self):
        pid, other = [self.box.show(f"oob-agent@{name}.service", "MainPID") for name in "ab"]
        # Whatever the first one could run: its user, its groups and what it sees.
        ids = self.box.run("sh", "-c", f"grep -E '^(Uid|Gid|Groups)' /proc/{pid}/status").stdout
        (uid, *_), (gid, *_), groups = [line.split()[1:] for line in ids.splitlines()]
        self.assertEqual(groups, [gid])
        inside = ["nsenter", "--target", pid, "--mount", "setpriv", "--reuid", uid, "--regid", gid, "--clear-groups"]
        for place in ["/var/lib/oob-agent-b/agent.db", "/run/credentials/oob-agent@b.service/secret"]:
            own = place.replace("agent-b", "agent-a").replace("@b", "@a")
            self.box.run(*inside, "wc", "-c", own)
            read = self.box.run(*inside, "wc", "-c", place, check=False)
            self.assertRegex(read.stderr, "Permission denied|No such file")
        signal = self.box.run(*inside, "env", "kill", "-0", other, check=False)
        self.assertIn("not permitted", signal.stderr)
        asked = self.box.run(*inside, "env", "OOB_AGENT_USER=oob-agent-b", "oobctl", "status", "--socket",
                             "/run/oob-agent-b/control.sock", check=False)
        self.assertIn("may not be used by this user", asked.stderr)

    def test_each_instance_has_an_encrypted_secret_of_its_own(self):
        cards = [self.enroll_at(name) for name in "ab"]
        self.box.drop_in("oob-agent@.service", "encrypted-secret@",
                         (UNITS / "drop-ins" / "encrypted-secret@.conf").read_text())
        for name in "ab":
            self.box.run("sh", "-ec", f"""
                systemd-creds encrypt --name=secret /etc/credstore/oob-agent-{name}.secret \
                    /etc/credstore.encrypted/oob-agent-{name}.secret
                rm /etc/credstore/oob-agent-{name}.secret""")
            self.box.systemctl("restart", f"oob-agent@{name}.service")
        self.assertEqual([self.enrolled(name) for name in "ab"], [[card] for card in cards])


if __name__ == "__main__":
    unittest.main()
