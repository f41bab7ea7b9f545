"""Who may look and who may decide: the agent as it was built, and callers that are other users of the host.

Run with `.venv/bin/python Tests/Stories/test_control_access.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import stat
import subprocess
import unittest
from pathlib import Path

import yaml

from issuer import Issuer
from programs import BIN_DIR, Agent, started, temporary_folder

FILE = Path(__file__).resolve().parents[2] / "openapi" / "agent.yaml"
DESCRIPTION = yaml.safe_load(FILE.read_text(encoding="utf-8"))
RIGHTS = {"look": [], "decide": [], "own": []}
for path, item in DESCRIPTION["paths"].items():
    for method, operation in item.items():
        RIGHTS[operation["x-right"]].append((method.upper(), path.replace("{id}", "none")))
# They need no account: a number is enough.
ALICE, BOB, GROUP, AUDITORS = 40_001, 40_002, 40_100, 40_101
as_root = unittest.skipUnless(os.geteuid() == 0, "only root can become other users")


def run_as(user: int, groups: list[int], *command, group: int | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, user=user, group=group or user, extra_groups=groups, cwd="/", stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", timeout=60)


@as_root
class Access(unittest.TestCase):
    """An agent of root's that is started with a test's own settings."""

    def start(self, *arguments: str, mode: int = 0o711):
        """The folder lets everybody through, so that the socket is what keeps them out."""
        self.folder = temporary_folder(type(self))
        self.folder.chmod(mode)
        self.agent = Agent(self.folder, *arguments)
        self.addCleanup(self.agent.stop)

    def call(self, method: str, path: str, user: int, *groups: int, **how) -> tuple[int, dict]:
        """(status, body) of a call, body only where it is a problem; (0, {}) where the socket takes no connection."""
        run = run_as(
            user, list(groups), "curl", "--silent", "--max-time", "20", "--request", method,
            "--write-out", "\n%{http_code}", "--header", "Last-Event-ID: none", "--unix-socket",
            str(self.agent.socket), f"http://agent{path}", **how)
        if run.returncode == 7:
            return 0, {}
        self.assertEqual(run.returncode, 0, run.stderr)
        body, _, status = run.stdout.rpartition("\n")
        return int(status), json.loads(body) if int(status) >= 400 else {}

    def right(self, user: int, *groups: int, **how) -> str:
        """What a user may do, by all the calls that there are."""
        refused = {right: set() for right in RIGHTS}
        for right, calls in RIGHTS.items():
            for method, path in calls:
                status, body = self.call(method, path, user, *groups, **how)
                if status == 0:
                    return "no connection"
                is_refused = body.get("code") == "access_denied"
                self.assertEqual(is_refused, status == 403, (method, path, body))
                refused[right].add(is_refused)
                if is_refused:
                    self.assertIn(f"user id {user} may", body["detail"])
        self.assertEqual({right: len(answers) for right, answers in refused.items()}, dict.fromkeys(RIGHTS, 1))
        allowed = [right for right, answers in refused.items() if answers == {False}]
        self.assertEqual(allowed, list(RIGHTS)[:len(allowed)], "each right includes those before it")
        return allowed[-1] if allowed else "nothing"

    def test_without_settings_only_root_and_the_agents_user_may_and_others_are_told_why(self):
        self.start()
        self.assertEqual(stat.S_IMODE(self.agent.socket.stat().st_mode), 0o600)
        self.assertEqual(self.right(ALICE), "no connection")
        self.assertEqual(self.right(0), "own")
        self.agent.socket.chmod(0o666)
        self.assertEqual(self.right(ALICE, GROUP), "nothing")
        run = run_as(ALICE, [], BIN_DIR / "oobctl", "status", "--socket", self.agent.socket)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("may not use this agent", run.stderr)
        self.assertRegex(self.agent.log.read_text(), rf"its user may not do it pid=\d+ uid={ALICE}\n")

    def test_the_sockets_group_may_decide_as_the_process_has_it(self):
        self.start("--socket-group", str(GROUP))
        status = self.agent.socket.stat()
        self.assertEqual((stat.S_IMODE(status.st_mode), status.st_gid), (0o660, GROUP))
        self.assertNotIn("socketOpen", [each["id"] for each in self.agent.json("doctor")])
        self.assertEqual(self.right(ALICE, GROUP), "decide")
        self.assertEqual(self.right(ALICE, group=GROUP), "decide")
        self.assertEqual(self.right(ALICE, *range(41_000, 41_200), GROUP), "decide")
        self.assertEqual(self.right(ALICE), "no connection")
        self.agent.socket.chmod(0o666)
        self.assertEqual(self.right(ALICE, AUDITORS), "nothing")
        self.assertIn("socketOpen", [each["id"] for each in self.agent.json("doctor")])

    def test_a_directory_that_does_not_let_the_group_through_is_warned_of(self):
        closed, let_through = [(0o700, GROUP), (0o701, 0)], [(0o711, GROUP), (0o710, 0)]
        for mode, group in closed + let_through:
            with self.subTest(oct(mode), group=group):
                self.start("--socket-group", str(group), mode=mode)
                self.assertEqual("group cannot get to it" in self.agent.log.read_text(), (mode, group) in closed)

    def test_lists_say_who_of_the_group_may_look_and_who_may_decide(self):
        self.start("--socket-group", str(GROUP), "--may-look", f"group:{AUDITORS}", "--may-decide", f"{ALICE}, group:0")
        self.assertEqual(self.right(ALICE, GROUP), "decide")
        self.assertEqual(self.right(BOB, GROUP, AUDITORS), "look")
        self.assertEqual(self.right(BOB, GROUP), "nothing")
        run = run_as(
            BOB, [GROUP, AUDITORS], BIN_DIR / "oobctl", "deny", "--next", "--json", "--socket", self.agent.socket)
        self.assertEqual(run.returncode, 1, run.stderr)
        error = json.loads(run.stderr)["error"]
        self.assertEqual((error["code"], error["name"]), (70003, "authnAccessDenied"))
        self.assertIn("may look and not decide", error["message"])

    def test_one_list_leaves_the_other_to_the_group(self):
        self.start("--socket-group", str(GROUP), "--may-decide", str(ALICE))
        self.assertEqual([self.right(ALICE, GROUP), self.right(BOB, GROUP)], ["decide", "look"])
        self.start("--socket-group", str(GROUP), "--may-look", str(BOB))
        self.agent.socket.chmod(0o666)
        self.assertEqual([self.right(ALICE, GROUP), self.right(BOB)], ["decide", "look"])

    def test_who_only_looks_leaves_no_trace_of_a_decision_and_who_decides_is_in_log_and_journal(self):
        self.start("--socket-group", str(GROUP), "--may-decide", str(ALICE))
        issuer = self.enterContext(Issuer())
        enroll = ["enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(), "--authn-type", "presence"]
        for user, status in [(BOB, 1), (ALICE, 0)]:
            run = run_as(user, [GROUP], BIN_DIR / "oobctl", *enroll, "--json", "--socket", self.agent.socket)
            self.assertEqual(run.returncode, status, run.stderr)
        enrolled = json.loads(run.stdout)
        request = issuer.ask(enrolled["authenticatorId"], issuer.transaction())
        for user, status in [(BOB, 1), (ALICE, 0)]:
            run = run_as(
                user, [GROUP], BIN_DIR / "oobctl", "approve", request.transaction["acsTransId"], "--wait", "60",
                "--socket", self.agent.socket)
            self.assertEqual(run.returncode, status, run.stderr)
        run_as(ALICE, [GROUP], BIN_DIR / "oobctl", "unenroll", enrolled["id"], "--local", "--socket", self.agent.socket)
        backup = run_as(0, [], BIN_DIR / "oobctl", "backup", self.folder / "copy.db", "--socket", self.agent.socket)
        self.assertEqual(backup.returncode, 0, backup.stderr)
        entries = [json.loads(line) for line in self.agent.ctl("audit export").stdout.splitlines()]
        told = [each for each in entries if "uid" in each]
        self.assertEqual(
            [(each["entry"], each.get("command"), each["uid"], each["gid"], each["process"]) for each in told],
            [("commanded", "enroll", ALICE, ALICE, "oobctl"), ("decided", None, ALICE, ALICE, "oobctl"),
             ("commanded", "unenroll", ALICE, ALICE, "oobctl"), ("commanded", "backup", 0, 0, "oobctl")])
        self.assertEqual(told[2]["enrollment"], enrolled["id"])
        self.assertEqual(self.agent.ctl("audit verify").returncode, 0)
        log = self.agent.log.read_text()
        for entry in told:
            self.assertRegex(log, rf"{entry['entry']} .*gid={entry['gid']} .*pid={entry['pid']} .*uid={entry['uid']}\b")


class BadSettings(unittest.TestCase):
    def refused(self, text: str, line: int, words: str):
        folder = temporary_folder(type(self))
        config = folder / "agent.yaml"
        config.write_text(text)
        run = subprocess.run(
            [BIN_DIR / "oob-agent", "--check-config", "--config", config, "--state-dir", folder / "state"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 78, run.stderr)
        self.assertIn(f"{config}:{line}: ", run.stderr)
        self.assertIn(words, run.stderr)

    def test_a_name_that_nobody_has_is_named_with_its_line(self):
        self.refused("log-level: info\nsocket-group: nosuchgroup\n", 2, 'socket-group: there is no group "nosuchgroup"')
        self.refused("socket-group: '0'\nmay-look: root, nosuchuser\n", 2, 'may-look: there is no user "nosuchuser"')
        self.refused("socket-group: '0'\nmay-decide: group:nobodys\n", 2, 'may-decide: there is no group "nobodys"')

    def test_a_list_that_is_none_is_refused_with_what_is_allowed(self):
        for text in ["root,,root", "''", "root,"]:
            self.refused(f"socket-group: '0'\nmay-look: {text}\n", 2, "such as \"alice, group:auditors\"")
        self.refused(f"socket-group: '0'\nmay-look: {','.join(['root'] * 65)}\n", 2, "more than 64 names")

    def test_a_list_without_a_group_would_reach_nobody(self):
        self.refused("may-decide: root\n", 1, "goes with socket-group")

    @as_root
    def test_an_agent_cannot_give_its_socket_to_a_group_that_it_is_not_of(self):
        check = [BIN_DIR / "oob-agent", "--check-config", "--socket-group", str(GROUP), "--state-dir", "/tmp/none"]
        run = run_as(65_534, [], *check)
        self.assertEqual(run.returncode, 64, run.stderr)
        self.assertIn("the agent's user is not of this group", run.stderr)
        run = run_as(65_534, [GROUP], *check)
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
