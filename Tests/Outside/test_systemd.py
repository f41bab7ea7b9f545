"""The units under a real systemd, booted for the test: see Tests/Systemd/box. It needs root.

Run with `.venv/bin/python Tests/Outside/test_systemd.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import subprocess
import unittest
from pathlib import Path

from programs import BIN_DIR, temporary_folder
from systemd_box import CONFIG, ISSUER, SECRET_FILE, UNITS, Installed, can_skip, page_blocks

AGENT = "oob-agent.service"
SOCKET = "/run/oob-agent/control.sock"
LOOPBACK = (UNITS / "drop-ins" / "loopback.conf").read_text()
# Whether members of a group may use the socket is a setting that this version may have.
HAS_SOCKET_GROUP = "--socket-group" in subprocess.run(
    [BIN_DIR / "oob-agent", "--help"], capture_output=True, text=True, timeout=60).stdout


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
        renamed = (instance.replace(" (%i)", "").replace("oob-agent-%i", "oob-agent").replace("%i.yaml", "config.yaml"))
        self.assertEqual(renamed, single)

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
        run = box.run("env", "XDG_RUNTIME_DIR=/host", "systemd-analyze", "verify", "--user", "--man=no", "/host/oob-agent.service", check=False)
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
        # A host's clock and swap are its own.
        self.start()
        ids = {row["id"] for row in self.json("doctor")}
        self.assertLessEqual(ids, {"clockUnsynchronised", "swapUnencrypted", "socketOpen"})

    def test_a_frozen_agent_is_started_again(self):
        self.box.drop_in(AGENT, "watchdog", "[Service]\nWatchdogSec=3s\n")
        self.start()
        before = self.box.show(AGENT, "MainPID")
        self.box.run("kill", "-STOP", before)
        self.box.eventually(lambda: self.box.show(AGENT, "NRestarts") == "1", "a restart")
        self.box.eventually(lambda: self.box.show(AGENT, "SubState") == "running", "the agent")
        self.assertNotEqual(self.box.show(AGENT, "MainPID"), before)
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
        self.assertEqual(self.own_lines(), [("the settings were read anew", "5")])
        self.box.eventually(lambda: self.box.show(AGENT, "ActiveState") == "active", "the end of the reload")
        self.assertEqual(self.box.show(AGENT, "MainPID"), before)

    def own_lines(self) -> list[tuple[str, str]]:
        """What the agent that runs now has logged itself, with syslog's levels."""
        pid = self.box.show(AGENT, "MainPID")
        return [(entry["MESSAGE"], entry["PRIORITY"]) for entry in self.box.journal(f"_PID={pid}")]

    def test_it_stops_within_5_seconds_while_it_polls(self):
        self.box.drop_in(AGENT, "stop", "[Service]\nTimeoutStopSec=5s\n")
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
        self.assertEqual(self.box.run("readlink", f"/proc/{self.box.show(AGENT, 'MainPID')}/exe").stdout, "/opt/newer\n")
        self.assertEqual([row["id"] for row in self.json("enrollments")], [card])
        self.approve(self.purchase())

    def test_two_instances_have_nothing_in_common(self):
        for name in "ab":
            self.box.write(f"/etc/oob-agent/{name}.yaml", "")
            self.box.run("sh", "-ec", f"umask 077; openssl rand -out /etc/credstore/oob-agent-{name}.secret 32")
            self.start(f"oob-agent@{name}.service")
        sockets = [f"/run/oob-agent-{name}/control.sock" for name in "ab"]
        card = self.enroll(socket=sockets[0])["id"]
        enrollments = [[row["id"] for row in self.json("enrollments", socket=socket)] for socket in sockets]
        self.assertEqual(enrollments, [[card], []])
        self.box.systemctl("stop", "oob-agent@b.service")
        self.approve(self.purchase(socket=sockets[0]), socket=sockets[0])


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

    def test_root_and_the_group_may_use_the_socket_and_anyone_else_is_refused(self):
        self.start()
        self.enroll()
        purchase = self.purchase()
        refused = self.ctl("list", "--json", user="bob", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("may not be used by this user", refused.stderr)
        if not HAS_SOCKET_GROUP:
            return
        self.approve(purchase, user="alice")
        self.assertEqual([row["state"] for row in self.json("list", "--all")], ["approved"])

    def test_nothing_of_a_secret_is_in_the_journal(self):
        self.box.write(CONFIG, "log-level: debug\n")
        self.start()
        self.enroll()
        pin = "7391-Zq-4711"
        self.box.write("/host/pin", pin, "0600")
        self.box.run("sh", "-ec", f"""
            code=$(oob-issuer code | head -n 1); echo "$code" > /host/code
            oobctl enroll --socket {SOCKET} --issuer {ISSUER} --code "$code" --authn-type pin --pin-file /host/pin""")
        purchase = self.purchase()
        self.approve(purchase, "--pin-file", "/host/pin")
        secret = self.box.run("od", "-An", "-v", "-tx1", "-w64", SECRET_FILE).stdout.replace(" ", "").strip()
        code = self.box.run("cat", "/host/code").stdout.strip()
        self.box.run("journalctl", "--sync")
        said = self.box.run("journalctl", "--no-pager", "--all", "--output", "export", "--unit", AGENT).stdout
        self.assertIn("ready", said)
        for hidden in [pin, code, *self.codes, secret, "Bearer "]:
            self.assertNotIn(hidden, said)


@can_skip()
class Reach(Installed):
    """All that an agent speaks to, under the units and the drop-ins for it."""

    def drop(self, name: str, more: str = ""):
        self.box.drop_in(AGENT, name, (UNITS / "drop-ins" / f"{name}.conf").read_text() + more)

    def test_tls_and_pushes_go_through_on_loopback_alone(self):
        self.drop("loopback")
        self.drop("low-port")
        self.box.write(CONFIG, "push-listen: 127.0.0.1:90\npush-url: http://localhost:90\n")
        self.box.run("sh", "-ec", """
            cd /host && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost -days 2 -keyout k.pem -out c.pem 2> /dev/null
            install -m 0644 c.pem /usr/local/share/ca-certificates/box.crt && update-ca-certificates > /dev/null 2>&1
            systemd-run --quiet --unit tls-issuer oob-issuer serve --listen localhost:8443 --tls-cert /host/c.pem \
                --tls-key /host/k.pem""")
        self.addCleanup(self.box.systemctl, "stop", "tls-issuer.service")
        self.start()
        at = ("--issuer", "https://localhost:8443")
        issuer = lambda *words: self.box.run("oob-issuer", *words, *at, check=False)  # noqa: E731
        code = self.box.eventually(lambda: issuer("code").stdout, "the issuer").splitlines()[0]
        self.ctl("enroll", *at, "--code", code, "--authn-type", "presence")
        bought = issuer("purchase", "--push", "only", "--merchant", "Box", "--amount", "100", "--currency", "840",
                        "--exponent", "2")
        self.approve(bought.stdout.strip(), "--wait", "30")

    def test_a_key_on_a_token_signs(self):
        self.drop("pkcs11", "[Service]\nReadWritePaths=/var/lib/oob-tokens\nEnvironment=SOFTHSM2_CONF=/etc/oob-tokens.conf\n")
        self.box.write("/etc/oob-tokens.conf", "directories.tokendir = /var/lib/oob-tokens\nlog.level = ERROR\n")
        module = "/usr/lib/softhsm/libsofthsm2.so"
        self.box.write(CONFIG, f"pkcs11-module: {module}\n")
        self.box.run("sh", "-ec", f"""
            install -d -o oob-agent -m 0700 /var/lib/oob-tokens
            as() {{ setpriv --reuid oob-agent --regid oob-agent --init-groups env SOFTHSM2_CONF=/etc/oob-tokens.conf "$@"; }}
            as softhsm2-util --init-token --free --label box --so-pin 12345678 --pin 2468
            as p11tool --provider {module} --generate-privkey ecc --curve secp256r1 --no-mark-private --label card --id 07 \
                --login --set-pin 2468 --batch pkcs11:token=box""")
        self.start()
        self.enroll("--key-uri", "pkcs11:token=box;object=card")
        self.approve(self.purchase())

    def test_a_key_in_the_tpm_signs(self):
        """A TPM of software, on a socket, for there is no device here: the rest of the drop-in is as it stands."""
        self.drop("tpm", "Environment=TSS2_LOG=all+none\n")
        self.box.run("sh", "-ec", """
            install -d -m 0755 /run/tpm && swtpm socket --tpm2 --daemon --tpmstate dir=/run/tpm \
                --server type=unixio,path=/run/tpm/s,mode=0660 --ctrl type=unixio,path=/run/tpm/s.ctrl,mode=0660 \
                --flags not-need-init,startup-clear
            chgrp tss /run/tpm/s /run/tpm/s.ctrl
            export TPM2TOOLS_TCTI=swtpm:path=/run/tpm/s TSS2_LOG=all+none
            tpm2_createprimary -Q -C o -G ecc -c /run/tpm/primary
            tpm2_create -Q -C /run/tpm/primary -G ecc256 -u /run/tpm/u -r /run/tpm/r
            tpm2_flushcontext -t
            tpm2_load -Q -C /run/tpm/primary -u /run/tpm/u -r /run/tpm/r -c /run/tpm/key
            tpm2_flushcontext -t
            tpm2_evictcontrol -Q -C o -c /run/tpm/key 0x81000001
            tpm2_flushcontext -t""")
        self.addCleanup(self.box.run, "swtpm_ioctl", "-s", "--unix", "/run/tpm/s.ctrl")
        self.box.write(CONFIG, "tpm-tcti: swtpm:path=/run/tpm/s\n")
        self.start()
        self.enroll("--key-uri", "handle:0x81000001")
        self.approve(self.purchase())

    def test_a_user_has_an_agent_of_their_own(self):
        self.box.run("install", "-D", "-m", "0644", "/usr/share/oob-agent/systemd/user/oob-agent.service", "-t", "/etc/systemd/user")
        # A box has no sessions, which would make the directory.
        self.box.drop_in("user-runtime-dir@.service", "box", (
            "[Service]\nExecStart=\nExecStart=install -d -m 0700 -o %i -g %i /run/user/%i\nExecStop=\n"))
        uid = self.box.run("id", "-u", "bob").stdout.strip()
        self.box.systemctl("start", f"user@{uid}.service")
        self.addCleanup(self.box.systemctl, "stop", f"user@{uid}.service")
        place = f"XDG_RUNTIME_DIR=/run/user/{uid}"
        self.box.run("install", "-d", "-o", "bob", "-g", "bob", "/home/bob")
        self.box.run("env", place, "systemctl", "--user", "start", "oob-agent.service", user="bob")
        said = self.box.run("env", place, "HOME=/home/bob", "oobctl", "status", "--json", user="bob").stdout
        self.assertEqual(json.loads(said)["state"], "ready")
        self.assertEqual(self.box.run("stat", "-c", "%U", "/home/bob/.local/state/oob-agent").stdout, "bob\n")


@can_skip()
class Credentials(Installed):
    def test_an_encrypted_secret_opens_what_the_plain_one_has_made(self):
        self.start()
        card = self.enroll()["id"]
        self.box.run("cp", SECRET_FILE, "/host/secret")
        self.addCleanup(self.box.run, "mv", "/host/secret", SECRET_FILE)
        encrypt = page_blocks("Drop-ins")[0]
        self.box.run("sh", "-ec", f"cd /usr/share/oob-agent\n{encrypt}")
        self.assertEqual([row["id"] for row in self.json("enrollments")], [card])
        self.approve(self.purchase())
        self.assertEqual(self.box.run("ls", "/etc/credstore").stdout, "")

    def test_the_secret_is_changed_at_a_start_with_both(self):
        self.start()
        card = self.enroll()["id"]
        secret = self.box.run("sha256sum", SECRET_FILE).stdout
        self.box.run("sh", "-ec", page_blocks("Drop-ins")[1])
        self.assertNotEqual(self.box.run("sha256sum", SECRET_FILE).stdout, secret)
        self.box.systemctl("restart", AGENT)
        self.assertEqual([row["id"] for row in self.json("enrollments")], [card])
        self.approve(self.purchase())
        self.assertEqual(self.box.run("ls", "/etc/credstore").stdout, "oob-agent.secret\n")


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
        self.refused(66, "put it where LoadCredential= of the unit looks for it")

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
        self.refused(69, "127.0.0.1 port 8080: Address already in use; choose another with push-listen", is_tried_again=True)

    def test_a_socket_directory_that_is_missing(self):
        self.box.write(CONFIG, "socket: /run/nowhere/control.sock\n")
        self.refused(69, "the control socket /run/nowhere/control.sock cannot be made: ", is_tried_again=True)

    def test_a_state_directory_of_another_user(self):
        self.box.run("install", "-d", "-m", "0700", "-o", "bob", "/var/lib/oob-agent-bob")
        self.box.write(CONFIG, "state-dir: /var/lib/oob-agent-bob\n")
        self.box.drop_in(AGENT, "bob", "[Service]\nReadWritePaths=/var/lib/oob-agent-bob\n")
        self.refused(77, "the state directory /var/lib/oob-agent-bob")

    def test_a_state_of_a_newer_version(self):
        self.start()
        self.box.systemctl("stop", AGENT)
        self.box.run("python3", "-c", (
            "import sqlite3; b = sqlite3.connect('/var/lib/oob-agent/agent.db');"
            "b.execute(\"insert into grdb_migrations values ('9999 from tomorrow')\"); b.commit()"))
        self.refused(65, "version")

    def test_a_start_that_fails_again_and_again_is_given_up(self):
        self.box.write(CONFIG, "socket: /run/nowhere/control.sock\n")
        self.box.drop_in(AGENT, "fast", "[Service]\nRestartSec=10ms\n")
        self.box.systemctl("start", AGENT, check=False)
        self.box.eventually(lambda: self.box.show(AGENT, "Result") == "start-limit-hit"
                            or "Start request repeated too quickly" in self.box.lines(AGENT), "the end")


@can_skip()
class FullDisk(Installed):
    def test_a_full_disk_is_told_loses_nothing_and_is_recovered_from(self):
        self.box.run("sh", "-ec", """
            mkdir -p /var/lib/oob-agent && mount -t tmpfs -o size=4m,mode=0700 small /var/lib/oob-agent""")
        self.addCleanup(self.box.run, "sh", "-c", "systemctl stop oob-agent; umount /var/lib/oob-agent")
        self.start()
        self.enroll()
        purchase = self.purchase()
        self.box.run("sh", "-c", "cat /dev/zero > /var/lib/oob-agent/ballast 2>/dev/null || true")
        refused = self.ctl("approve", purchase, "--json", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("full", refused.stderr)
        self.box.eventually(lambda: self.box.show(AGENT, "StatusText").startswith("Degraded: "), "the trouble")
        self.assertIn("full", self.box.show(AGENT, "StatusText"))
        self.box.run("rm", "/var/lib/oob-agent/ballast")
        self.box.eventually(lambda: self.json("status")["state"] == "ready", "the recovery")
        self.approve(purchase)
        self.assertEqual(self.box.show(AGENT, "NRestarts"), "0")


if __name__ == "__main__":
    unittest.main()
