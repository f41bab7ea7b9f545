"""The units under a real systemd, booted for the test: see Tests/Hosts/box. It needs root.

Run with `.venv/bin/python Tests/Hosts/test_systemd.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

from programs import temporary_folder
from sealed import opened_by, spellings
from systemd_box import AGENT, CONFIG, ISSUER, SECRET_FILE, UNITS, Installed, can_skip

SOCKET = "/run/oob-agent/control.sock"
LOOPBACK = (UNITS / "drop-ins" / "loopback.conf").read_text()


def exposure(*units: Path, threshold: int) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["systemd-analyze", "security", "--no-pager", "--offline=true", f"--threshold={threshold}", *units],
        capture_output=True, text=True, timeout=60)


@unittest.skipUnless(os.path.exists("/usr/bin/systemd-analyze"), "there is no systemd-analyze here")
class Units(unittest.TestCase):
    """The unit files as they are, without a systemd that runs."""

    def test_the_agents_are_exposed_by_1_2_at_most_and_by_1_1_on_loopback(self):
        for name in [AGENT, "oob-agent@.service", "oob-issuer.service"]:
            with self.subTest(name):
                run = exposure(UNITS / "system" / name, threshold=12)
                self.assertEqual(run.returncode, 0, run.stdout)
        folder = temporary_folder(type(self))
        (folder / AGENT).write_bytes((UNITS / "system" / AGENT).read_bytes())
        self.assertNotEqual(exposure(folder / AGENT, threshold=11).returncode, 0)
        (folder / f"{AGENT}.d").mkdir()
        (folder / f"{AGENT}.d" / "loopback.conf").write_text(LOOPBACK)
        run = exposure(folder / AGENT, threshold=11)
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_an_instance_differs_from_the_one_agent_in_names_only(self):
        single, instance = ((UNITS / "system" / name).read_text() for name in [AGENT, "oob-agent@.service"])
        renamed = instance.replace(" (%i)", "").replace("-%i", "").replace("%i.yaml", "config.yaml")
        self.assertEqual(renamed, single)

    def test_they_run_nothing_but_the_programs_and_what_every_debian_has(self):
        run = {re.match(r"[-@:+!]*(\S+)", line.partition("=")[2])[1]
               for unit in UNITS.glob("*/*.service") for line in unit.read_text().splitlines() if line.startswith("Exec")}
        self.assertEqual(run, {"/usr/bin/oob-agent", "/usr/bin/oob-issuer", "/bin/sh"})

    def test_users_of_the_socket_are_told_from_each_other(self):
        for unit in (UNITS / "system").glob("oob-agent*"):
            self.assertNotIn("\nPrivateUsers", unit.read_text())


@can_skip()
class Verified(Installed):
    def test_systemd_has_nothing_to_say_about_the_units_and_drop_ins(self):
        box = self.box
        box.run("sh", "-ec", "cp /usr/share/oob-agent/systemd/user/oob-agent.service /host/oob-agent.service")
        names = [AGENT, "oob-agent@a.service", "oob-issuer.service"]
        for drop_in in sorted((UNITS / "drop-ins").iterdir()):
            box.drop_in(AGENT, drop_in.stem, drop_in.read_text())
            run = box.run("systemd-analyze", "verify", "--man=no", *names, check=False)
            self.assertEqual((run.returncode, run.stdout + run.stderr), (0, ""), drop_in.name)
        run = box.run("env", "XDG_RUNTIME_DIR=/host", "systemd-analyze", "verify", "--user", "--man=no",
                      "/host/oob-agent.service", check=False)
        self.assertEqual((run.returncode, run.stdout + run.stderr), (0, ""))


@can_skip()
class Life(Installed):
    def test_a_start_returns_when_it_could_sign_and_the_status_says_how_it_is(self):
        self.start()
        self.assertEqual(self.json("status")["state"], "ready")
        self.assertEqual(self.box.show(AGENT, "StatusText"), "Ready: 0 enrollments, 0 pending")
        self.enroll()
        self.box.eventually(lambda: "1 enrollment, 0 pending" in self.box.systemctl("status", AGENT).stdout, "status")

    def test_an_approval_goes_through_under_all_of_the_hardening(self):
        self.start()
        self.enroll()
        self.approve(self.purchase())

    def test_the_doctor_finds_nothing_that_is_the_units(self):
        # A host's clock and swap are its own, and the programs are built for tests.
        self.start()
        ids = {row["id"] for row in self.json("doctor")}
        self.assertLessEqual(ids, {"clockUnsynchronised", "personas", "swapUnencrypted", "socketOpen"})

    def test_a_frozen_agent_is_started_again(self):
        before = self.start_watched()
        self.box.run("kill", "-STOP", before)
        self.assert_started_again(before)

    def test_an_agent_that_runs_and_answers_nobody_is_started_again(self):
        before = self.start_watched()
        self.box.run("rm", SOCKET)
        self.assert_started_again(before)

    def start_watched(self) -> str:
        """The process of an agent that gives a sign of life in 3 seconds; the next one has a minute, on a busy machine."""
        self.box.drop_in(AGENT, "watchdog", "[Service]\nWatchdogSec=3s\n")
        self.start()
        self.box.drop_in(AGENT, "watchdog", "[Service]\nWatchdogSec=60s\n")
        return self.box.show(AGENT, "MainPID")

    def assert_started_again(self, before: str):
        self.box.eventually(lambda: self.box.show(AGENT, "MainPID") not in ("0", before), "a restart")
        self.box.eventually(lambda: self.box.show(AGENT, "SubState") == "running", "the agent")
        self.assertIn("Watchdog timeout", self.box.lines(AGENT))
        self.assertEqual(self.json("status")["state"], "ready")

    def test_a_pending_request_survives_kill_9_and_can_be_approved(self):
        self.start()
        self.enroll()
        purchase = self.purchase()
        self.box.run("kill", "-KILL", self.box.show(AGENT, "MainPID"))
        self.box.eventually(lambda: self.box.show(AGENT, "NRestarts") == "1", "a restart")
        self.box.eventually(lambda: self.box.show(AGENT, "SubState") == "running", "the agent")
        self.approve(purchase)

    def test_a_reload_changes_the_log_level(self):
        self.box.write(CONFIG, "log-level: warning\n")
        self.start()
        self.assertEqual(self.own_lines(), [])
        self.box.write(CONFIG, "log-level: info\n")
        before = self.box.show(AGENT, "MainPID")
        self.box.systemctl("reload", AGENT)
        self.box.eventually(self.own_lines, "the reload in the journal")
        self.assertEqual(self.own_lines(), [("the settings were reloaded", "5")])
        self.box.eventually(lambda: self.box.show(AGENT, "ActiveState") == "active", "the end of the reload")
        self.assertEqual(self.box.show(AGENT, "MainPID"), before)

    def own_lines(self) -> list[tuple[str, str]]:
        """What the agent that runs now has logged itself, with syslog's levels; not that it was built for tests."""
        pid = self.box.show(AGENT, "MainPID")
        return [(entry["MESSAGE"], entry["PRIORITY"]) for entry in self.box.journal(f"_PID={pid}")
                if "id=personas" not in entry["MESSAGE"]]

    def test_it_stops_long_before_its_poll_has_an_answer(self):
        self.box.drop_in(AGENT, "stop", "[Service]\nTimeoutStopSec=20s\n")
        self.start()
        self.enroll()
        # What came by a poll: the next one waits.
        self.approve(self.purchase())
        self.box.systemctl("stop", AGENT)
        # What takes longer than that is killed, and the unit has failed.
        self.assertEqual(self.box.show(AGENT, "Result"), "success")
        self.assertEqual(self.box.show(AGENT, "ExecMainStatus"), "0")

    def test_its_state_is_kept_across_a_restart_and_a_new_binary(self):
        self.start()
        card = self.enroll()["id"]
        self.box.systemctl("restart", AGENT)
        self.assertEqual([row["id"] for row in self.json("enrollments")], [card])
        self.box.run("sh", "-ec", "strip -o /opt/newer /usr/bin/oob-agent")
        self.box.drop_in(AGENT, "newer", f"[Service]\nExecStart=\nExecStart=/opt/newer --config={CONFIG}\n")
        self.box.systemctl("restart", AGENT)
        program = self.box.run("readlink", f"/proc/{self.box.show(AGENT, 'MainPID')}/exe").stdout
        self.assertEqual(program, "/opt/newer\n")
        self.assertEqual([row["id"] for row in self.json("enrollments")], [card])
        self.approve(self.purchase())


@can_skip()
class Access(Installed):
    def test_the_service_is_a_user_of_its_own_who_owns_its_files_alone(self):
        self.start()
        pid = self.box.show(AGENT, "MainPID")
        self.assertEqual(self.box.run("ps", "-o", "user=", "-p", pid).stdout.strip(), "oob-agent")
        self.assertEqual(self.box.run("stat", "-c", "%U %a", "/var/lib/oob-agent").stdout, "oob-agent 700\n")
        self.assertEqual(self.box.run("stat", "-c", "%U %a", SECRET_FILE).stdout, "root 600\n")
        files = self.box.run("find", "/var/lib/oob-agent", "!", "-user", "oob-agent", "-o", "-perm", "/077").stdout
        self.assertEqual(files, "")

    def test_its_memory_is_never_swapped(self):
        self.start()
        self.assertEqual(self.box.show(AGENT, "MemorySwapMax"), "0")
        group = self.box.run("cut", "-d:", "-f3", f"/proc/{self.box.show(AGENT, 'MainPID')}/cgroup").stdout.strip()
        most = self.box.run("cat", f"/sys/fs/cgroup{group}/memory.swap.max", check=False)
        # Where the machine lets a box have that controller.
        self.assertIn(most.stdout, ["0\n", ""])

    def test_root_and_the_group_may_use_the_socket_and_anyone_else_is_refused(self):
        self.start()
        self.enroll()
        purchase = self.purchase()
        refused = self.ctl("list", "--json", user="bob", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("may not be used by this user", refused.stderr)
        self.approve(purchase, user="alice")
        self.assertEqual([row["state"] for row in self.json("list", "--all")], ["approved"])

    def test_nothing_of_a_secret_is_in_the_journal(self):
        self.box.write(CONFIG, "log-level: debug\npush-listen: 127.0.0.1:8090\npush-url: http://localhost:8090\n")
        self.start()
        self.enroll()
        pin = "7391-Zq-4711"
        self.box.write("/host/pin", pin, "0600")
        self.box.run("sh", "-ec", f"""
            code=$(oob-issuer code | head -n 1); echo "$code" > /host/code
            oobctl enroll --socket {SOCKET} --issuer {ISSUER} --code "$code" --authn-type pin --pin-file /host/pin""")
        purchase = self.purchase()
        self.approve(purchase, "--pin-file", "/host/pin")
        code = self.box.run("cat", "/host/code").stdout.strip()
        self.box.run("journalctl", "--sync")
        said = self.box.run("journalctl", "--no-pager", "--all", "--output", "export", "--unit", AGENT).stdout
        self.assertIn("ready", said)
        for hidden in [pin, code, *self.codes, "Bearer "]:
            self.assertNotIn(hidden, said)
        for name, bytes in self.sealed().items():
            for spelled in spellings(bytes):
                self.assertNotIn(spelled, said.encode(), name)

    def sealed(self) -> dict[str, bytes]:
        """The agent's secret, and what its database has under it: tokens and push keys."""
        secret = bytes.fromhex(self.box.run("od", "-An", "-v", "-tx1", SECRET_FILE).stdout)
        rows = json.loads(self.box.run("python3", "-c", """
import json, sqlite3
book = sqlite3.connect("/var/lib/oob-agent/agent.db")
tokens = book.execute("select 'access token ' || id, hex(sealed_token) from enrollment")
push_keys = book.execute("select 'push key ' || enrollment_id, hex(sealed_key) from push_subscription")
print(json.dumps([*tokens, *push_keys]))
""").stdout)
        self.assertEqual(len(rows), 4)
        opened = {label: opened_by(secret, bytes.fromhex(sealed), label) for label, sealed in rows}
        return {"the agent's secret": secret} | opened


if __name__ == "__main__":
    unittest.main()
