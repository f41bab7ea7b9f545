"""What the Debian packages do to a machine without a Swift toolchain, in a systemd booted for the test (systemd_box).

Run as root with `.venv/bin/python Tests/Hosts/test_installation.py`. OOB_DEB names the package, as in test_package.py.
"""

import shutil
import tempfile
import unittest
from pathlib import Path

from debian_package import DEB, TESTKIT, TOOLCHAINS, needs_package
from programs import temporary_folder
from systemd_box import AGENT, CONFIG, PROGRAMS, SECRET_FILE, Box, Installed, can_skip, page_blocks

STATE = "/var/lib/oob-agent"


def setUpModule():
    needs_package()


@can_skip()
class Installation(Installed):
    """The packages on a machine without a Swift toolchain."""

    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="oob-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, folder)
        nothing = temporary_folder(cls)
        cls.box = Box(folder, f"{DEB}:/opt/built.deb", f"{TESTKIT}:/opt/built-testkit.deb",
                      *(f"{nothing}:{path}" for path in TOOLCHAINS))
        cls.addClassCleanup(cls.box.down)
        # The same files without compression, which is most of what an installation takes.
        cls.box.run("sh", "-ec", """
            dpkg-deb --raw-extract /opt/built.deb /opt/same
            dpkg-deb --build --root-owner-group -Znone /opt/same /opt/oob-agent.deb
            dpkg-deb --raw-extract /opt/built-testkit.deb /opt/same-testkit
            dpkg-deb --build --root-owner-group -Znone /opt/same-testkit /opt/oob-testkit.deb""")
        # Where it forbids that packages start services, as in a container.
        cls.box.run("rm", "-f", "/usr/sbin/policy-rc.d")
        # Without an index of man pages, which no test here reads, and which each installation would make anew.
        cls.box.run("rm", "-f", "/var/lib/man-db/auto-update")

    def clean(self):
        """Without the package, and without all that it leaves."""
        self.dpkg("--purge", "oob-agent", "oob-testkit")
        self.box.run("sh", "-c", f"rm -rf {STATE}* /etc/credstore /etc/oob-agent")

    def setUp(self):
        super().setUp()
        self.dpkg("--install", "/opt/oob-agent.deb", "/opt/oob-testkit.deb")

    def dpkg(self, *arguments: str):
        return self.box.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "--force-confold", *arguments)

    def start(self, unit: str = AGENT):
        super().start("oob-issuer.service")
        self.box.eventually(lambda: self.box.run("oob-issuer", "code", check=False).returncode == 0, "the issuer")
        super().start(unit)

    def enrolled(self) -> list[str]:
        return [row["id"] for row in self.json("enrollments")]

    def digest(self, path: str) -> str:
        return self.box.run("sha256sum", path).stdout

    def newer(self) -> str:
        """The package with a higher version and another config, as the next release may have it."""
        self.box.run("sh", "-ec", """
            rm -rf /opt/newer && cp -a /opt/same /opt/newer
            sed -i 's/^Version: .*/&.1/' /opt/newer/DEBIAN/control
            echo '# A new setting' >> /opt/newer/etc/oob-agent/config.yaml
            dpkg-deb --build --root-owner-group -Znone /opt/newer /opt/newer.deb""")
        return "/opt/newer.deb"

    def test_the_programs_run_without_a_toolchain(self):
        for name in PROGRAMS:
            self.box.run("env", "-i", "PATH=/usr/bin:/bin", name, "--help")
            self.assertNotRegex(self.box.run("ldd", f"/usr/bin/{name}").stdout, "swift|not found")

    def test_nothing_runs_until_it_is_enabled_and_then_it_signs(self):
        self.clean()
        self.dpkg("--install", "/opt/built.deb", "/opt/built-testkit.deb")
        for unit in [AGENT, "oob-issuer.service"]:
            shown = [self.box.show(unit, name) for name in ["ActiveState", "UnitFileState"]]
            self.assertEqual(shown, ["inactive", "disabled"])
        self.box.run("oob-agent", "--config", CONFIG, "--check-config")
        self.box.systemctl("enable", "--now", AGENT)
        socket = self.box.run("stat", "-c", "%G %a", "/run/oob-agent/control.sock").stdout
        self.assertEqual(socket, "oob-approvers 660\n")
        self.start()
        self.enroll()
        self.approve(self.purchase())

    def test_systemd_has_nothing_to_say_about_the_units_and_the_pages_that_they_name(self):
        run = self.box.run("systemd-analyze", "verify", AGENT, "oob-agent@a.service", "oob-issuer.service", check=False)
        self.assertEqual((run.returncode, run.stdout + run.stderr), (0, ""))
        self.box.run("sh", "-ec", "cp /usr/lib/systemd/user/oob-agent.service /host")
        run = self.box.run("env", "XDG_RUNTIME_DIR=/host", "systemd-analyze", "verify", "--user",
                           "/host/oob-agent.service", check=False)
        self.assertEqual((run.returncode, run.stdout + run.stderr), (0, ""))

    def test_the_secret_is_made_once_and_is_roots_alone(self):
        self.assertEqual(self.box.run("stat", "--format=%a %U %G %s", SECRET_FILE).stdout, "600 root root 32\n")
        before = self.digest(SECRET_FILE)
        self.dpkg("--install", "/opt/oob-agent.deb")
        self.assertEqual(self.digest(SECRET_FILE), before)
        self.box.run("rm", SECRET_FILE)
        self.dpkg("--install", "/opt/oob-agent.deb")
        self.box.run("test", "!", "-e", SECRET_FILE)

    def test_no_secret_is_made_beside_an_encrypted_one(self):
        self.dpkg("--purge", "oob-agent")
        self.box.run("sh", "-ec", f"rm {SECRET_FILE}; mkdir -p /etc/credstore.encrypted; cd /etc/credstore.encrypted; "
                                  "echo sealed > oob-agent.secret")
        self.addCleanup(self.box.run, "rm", "-r", "/etc/credstore.encrypted")
        self.dpkg("--install", "/opt/oob-agent.deb")
        self.box.run("test", "!", "-e", SECRET_FILE)

    def test_no_secret_is_made_beside_a_state_and_one_is_in_a_directory_without(self):
        names = ["agent.db", "keys", "secret", ".restore"]
        for name, made in [*((name, False) for name in names), ("lost+found", True), ("agent.lock", True), ("", True)]:
            with self.subTest(name):
                self.box.run("sh", "-ec", f"rm -rf {STATE} {SECRET_FILE}; mkdir -p {STATE}/{name}")
                # As dpkg does it the first time.
                self.box.run("env", "DEBIAN_FRONTEND=noninteractive", "DPKG_MAINTSCRIPT_PACKAGE=oob-agent",
                             "/var/lib/dpkg/info/oob-agent.postinst", "configure", "")
                self.box.run("test", *([] if made else ["!"]), "-e", SECRET_FILE)
        self.start()
        self.enroll()

    def test_an_upgrade_restarts_the_agent_and_keeps_state_and_an_edited_config(self):
        self.box.write(CONFIG, "log-level: notice\n")
        self.start()
        card, before = self.enroll()["id"], self.box.show(AGENT, "MainPID")
        self.dpkg("--install", self.newer())
        self.assertNotIn(self.box.show(AGENT, "MainPID"), [before, "0"])
        self.assertEqual(self.box.run("cat", CONFIG).stdout, "log-level: notice\n")
        self.assertEqual(self.enrolled(), [card])
        self.approve(self.purchase())

    def test_the_commands_of_the_page_upgrade_the_service_and_go_back(self):
        self.start()
        card = self.enroll()["id"]
        upgrade, back = page_blocks("Upgrade and roll back the service", "operations.md")
        old = self.box.run("dpkg-query", "--show", "oob-agent").stdout
        self.box.run("env", f"NEW={self.newer()}", "bash", "-ec", upgrade)
        self.assertNotEqual(self.box.run("dpkg-query", "--show", "oob-agent").stdout, old)
        lost = self.purchase()
        self.approve(lost)
        self.box.run("env", "OLD=/opt/oob-agent.deb", "bash", "-ec", back)
        self.assertEqual(self.box.run("dpkg-query", "--show", "oob-agent").stdout, old)
        self.assertEqual(self.enrolled(), [card])
        self.assertNotEqual(self.ctl("show", lost, check=False).returncode, 0)
        self.approve(self.purchase())

    def test_an_upgrade_starts_nothing_that_did_not_run(self):
        self.dpkg("--install", self.newer())
        self.assertEqual(self.box.show(AGENT, "ActiveState"), "inactive")

    def test_a_removal_stops_the_agent_and_keeps_what_another_installation_goes_on_with(self):
        self.start()
        card = self.enroll()["id"]
        self.box.write(CONFIG, "log-level: notice\n")
        self.dpkg("--remove", "oob-agent")
        self.assertEqual(self.box.show(AGENT, "ActiveState"), "inactive")
        self.box.run("test", "!", "-e", "/usr/bin/oob-agent")
        self.dpkg("--install", "/opt/oob-agent.deb")
        self.assertEqual(self.box.run("cat", CONFIG).stdout, "log-level: notice\n")
        self.start()
        self.assertEqual(self.enrolled(), [card])
        self.approve(self.purchase())

    def test_a_purge_keeps_the_keys_where_nobody_answers_and_says_where_they_are(self):
        self.start()
        card, secret = self.enroll()["id"], self.digest(SECRET_FILE)
        said = self.dpkg("--purge", "oob-agent").stderr
        self.assertIn(f"kept, for they are what signs; delete them yourself, or keep them:\n{STATE}\n{SECRET_FILE}\n", said)
        self.box.run("test", "!", "-e", CONFIG)
        self.dpkg("--install", "/opt/oob-agent.deb")
        self.assertEqual(self.digest(SECRET_FILE), secret)
        self.start()
        self.assertEqual(self.enrolled(), [card])

    def test_a_purge_forgets_instances_and_names_what_an_administrator_has_written(self):
        left = ["/etc/oob-agent/a.yaml", f"/etc/systemd/system/{AGENT}.d/level.conf",
                "/etc/sysusers.d/oob-agent-a.conf", "/var/backups/oob-agent.db"]
        for path in left:
            self.box.write(path, "")
        self.box.systemctl("enable", "oob-agent@a.service")
        self.addCleanup(self.box.run, "rm", "-rf", *left)
        said = self.dpkg("--purge", "oob-agent").stderr
        for path in [left[0], f"/etc/systemd/system/{AGENT}.d", *left[2:]]:
            self.assertIn(f"oob-agent: left, for this package has not made it: {path}\n", said)
        self.assertEqual(self.box.run("find", "/etc/systemd/system", "-name", "oob-agent@a.service").stdout, "")

    def test_a_removal_that_was_broken_off_starts_again_what_is_enabled(self):
        self.box.systemctl("enable", AGENT)
        self.start()
        self.box.run("sh", "-ec", "echo exit 1 >> /var/lib/dpkg/info/oob-agent.prerm")
        removal = self.box.run("dpkg", "--remove", "oob-agent", check=False)
        self.assertNotEqual(removal.returncode, 0)
        self.box.eventually(lambda: self.box.show(AGENT, "ActiveState") == "active", "the agent again")
        self.dpkg("--install", "/opt/oob-agent.deb")

    def test_a_purge_deletes_the_keys_once_that_was_answered_and_names_them(self):
        self.start()
        self.box.run("mkdir", f"{STATE}-a", f"{STATE}.broken")
        self.box.run("debconf-set-selections", stdin="oob-agent oob-agent/purge-keys boolean true\n")
        said = self.dpkg("--purge", "oob-agent").stderr
        self.assertIn(f"deleting, as was asked for:\n{STATE}\n{STATE}-a\n{STATE}.broken\n{SECRET_FILE}\n", said)
        for path in [STATE, f"{STATE}-a", f"{STATE}.broken", SECRET_FILE, CONFIG]:
            self.box.run("test", "!", "-e", path)

    def test_the_question_of_a_purge_is_asked_and_a_yes_deletes(self):
        self.start()
        run = self.box.run("env", "DEBIAN_FRONTEND=teletype", "dpkg", "--purge", "oob-agent", stdin="yes\n")
        self.assertIn("Delete the agent's keys, state and secret?", run.stdout + run.stderr)
        self.box.run("test", "!", "-e", STATE)


if __name__ == "__main__":
    unittest.main()
