"""The commands for the service in docs/how-to/systemd.md and operations.md, in a real systemd, also if a step fails.

Run as root with `.venv/bin/python Tests/Hosts/test_service.py`; OOB_BIN_DIR names the programs' directory.
"""

import shutil
import tempfile
import unittest
from pathlib import Path

from programs import BIN_DIR
from systemd_box import AGENT, CONFIG, ISSUER, SECRET_FILE, UNITS, Box, Pasted, can_skip, page_blocks

STATE = "/var/lib/oob-agent"
EXAMPLES = "/usr/share/doc/oob-agent/examples"


@can_skip()
class ByHand(unittest.TestCase):
    def test_all_of_it_from_the_programs_on_gives_an_agent_that_runs(self):
        folder = Path(tempfile.mkdtemp(prefix="oob-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, folder)
        box = Box(folder, f"{BIN_DIR.resolve()}:/opt/build", f"{UNITS}:/opt/checkout/systemd")
        self.addCleanup(box.down)
        for block in page_blocks("Install by hand"):
            box.run("env", "BUILD=/opt/build", "sh", "-ec", f"cd /opt/checkout\n{block}")
        self.assertEqual(box.show(AGENT, "StatusText"), "Ready: 0 enrollments, 0 pending")
        self.assertEqual(box.show(AGENT, "UnitFileState"), "enabled")


@can_skip()
class TheSecret(Pasted):
    def setUp(self):
        super().setUp()
        self.start()
        self.card = self.enroll()["id"]
        self.secret = self.digest(SECRET_FILE)

    def is_as_it_was(self):
        """It starts with the secret that it had, and signs."""
        self.assertEqual(self.digest(SECRET_FILE), self.secret)
        self.box.systemctl("restart", AGENT)
        self.assertEqual(self.enrolled(), [self.card])

    def is_changed(self):
        self.box.eventually(lambda: "remove the previous one" in self.box.lines(AGENT), "the secret was changed")

    def test_an_encrypted_secret_opens_what_the_plain_one_has_made(self):
        self.paste("Encrypt the secret")
        self.assertEqual(self.enrolled(), [self.card])
        self.approve(self.purchase())
        self.assertEqual(self.names("/etc/credstore"), [])

    def test_a_secret_that_cannot_be_encrypted_or_is_of_no_use_stays_as_it_was(self):
        with self.subTest("there is no such drop-in"):
            self.box.run("mv", EXAMPLES, "/host/examples")
            self.fails("Encrypt the secret")
            self.box.run("mv", "/host/examples", EXAMPLES)
            self.is_as_it_was()
        with self.subTest("the agent does not start"):
            self.box.write(CONFIG, "log-colour: red\n")
            self.assertIn("Nothing was deleted", self.fails("Encrypt the secret"))
            self.box.write(CONFIG, "")
            self.assertEqual(self.names("/etc/credstore"), ["oob-agent.secret"])
            self.is_as_it_was()

    def test_the_secret_is_changed_at_a_start_with_both(self):
        self.paste("Change the secret")
        self.is_changed()
        self.paste("Change the secret", 1)
        self.assertNotEqual(self.digest(SECRET_FILE), self.secret)
        self.assertEqual(self.names("/etc/credstore"), ["oob-agent.secret"])
        self.assertEqual(self.box.run("stat", "-c", "%U %a", SECRET_FILE).stdout, "root 600\n")
        self.box.systemctl("restart", AGENT)
        self.assertEqual(self.enrolled(), [self.card])
        self.approve(self.purchase())

    def test_a_change_whose_start_fails_deletes_nothing_and_is_finished_by_the_next_one(self):
        # A start refuses a database that is a link, before anything is changed.
        self.box.run("sh", "-ec", f"mv {STATE}/agent.db {STATE}/kept.db; ln -s kept.db {STATE}/agent.db")
        self.fails("Change the secret")
        self.assertEqual(self.box.show(AGENT, "ExecMainStatus"), "77")
        self.fails("Change the secret", 1)
        before = [self.digest(f"/etc/credstore/oob-agent.{name}") for name in ["previous", "secret"]]
        self.assertEqual(before[0], self.secret)
        self.assertIn("A change has begun", self.fails("Change the secret"))
        self.assertEqual([self.digest(f"/etc/credstore/oob-agent.{name}") for name in ["previous", "secret"]], before)
        self.box.run("mv", f"{STATE}/kept.db", f"{STATE}/agent.db")
        self.start()
        self.is_changed()
        self.paste("Change the secret", 1)
        self.assertEqual(self.names("/etc/credstore"), ["oob-agent.secret"])
        self.approve(self.purchase())

    def test_the_second_half_alone_deletes_nothing(self):
        # The agent runs, and was never started with both.
        self.box.run("cp", SECRET_FILE, "/etc/credstore/oob-agent.previous")
        self.box.drop_in(AGENT, "previous-secret", "[Service]\nLoadCredential=previous-secret:oob-agent.previous\n")
        self.fails("Change the secret", 1)
        self.assertEqual(self.names("/etc/credstore"), ["oob-agent.previous", "oob-agent.secret"])

    def test_what_is_there_is_not_written_over_by_a_second_time(self):
        self.box.write(CONFIG, "log-level: notice\n")
        self.fails("Install by hand", 2)
        self.assertEqual(self.box.run("cat", CONFIG).stdout, "log-level: notice\n")
        self.is_as_it_was()


@can_skip()
class Operations(Pasted):
    """The commands of the page for the service, from its first start on; those for packages are in test_installation."""

    def setUp(self):
        super().setUp()
        self.box.systemctl("disable", AGENT)
        code = self.box.run("oob-issuer", "code").stdout.split()[0]
        self.ask("Set up the service", ISSUER=ISSUER, CODE=code)
        (self.card,) = self.enrolled()

    def ask(self, heading: str, number: int = 0, **names: str):
        return self.paste(heading, number, page="operations.md", **names)

    def test_the_service_is_backed_up_and_restored(self):
        self.ask("Back up and restore the service")
        mode = self.box.run("stat", "-c", "%U %a", "/var/backups/oob-agent.db").stdout
        self.assertEqual(mode, "root 600\n")
        before = self.purchase()
        self.approve(before)
        self.ask("Back up and restore the service", 1)
        self.assertIn("agent.db", self.names("/var/lib/oob-agent.broken"))
        self.assertEqual(self.enrolled(), [self.card])
        self.assertNotEqual(self.ctl("show", before, check=False).returncode, 0)
        self.assertEqual(self.box.run("find", STATE, "!", "-user", "oob-agent").stdout, "")
        self.approve(self.purchase())

    def test_a_restore_that_fails_starts_nothing(self):
        self.box.write("/var/backups/oob-agent.db", "no backup")
        run = self.paste("Back up and restore the service", 1, page="operations.md", check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual(self.box.show(AGENT, "ActiveState"), "inactive")
        self.assertIn("agent.db", self.names("/var/lib/oob-agent.broken"))

    def test_a_restore_into_a_directory_of_the_services_own_says_what_to_do(self):
        self.ask("Back up and restore the service")
        self.box.run("sh", "-ec", f"systemctl stop oob-agent; rm -r {STATE}/*")
        run = self.box.run("oob-agent", "--restore", "/var/backups/oob-agent.db", "--state-dir", STATE, check=False)
        uid = self.box.run("id", "-u", "oob-agent").stdout.strip()
        self.assertEqual(run.returncode, 77)
        self.assertIn(f"{STATE}: it belongs to uid {uid}: run as that user, or chown it to uid 0\n", run.stderr)

    def test_the_service_is_moved_to_another_host(self):
        self.ask("Move the service to another host")
        self.assertEqual(self.box.show(AGENT, "UnitFileState"), "disabled")
        self.box.run("mv", SECRET_FILE, "/host/copy")
        self.box.run("mv", "/var/backups/oob-agent-move.db", "/host")
        # Another host: nothing is left but what an installation makes.
        self.clean()
        self.assertNotEqual(self.digest(SECRET_FILE), self.digest("/host/copy"))
        self.box.run("mv", "/host/oob-agent-move.db", "/var/backups")
        self.ask("Move the service to another host", 1, SECRET_COPY="/host/copy")
        self.assertEqual(self.enrolled(), [self.card])
        self.approve(self.purchase())


if __name__ == "__main__":
    unittest.main()
