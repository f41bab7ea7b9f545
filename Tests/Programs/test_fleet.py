"""Many enrollments at once: made by one command that may be interrupted, and played by personas that a seed draws.

Run with `.venv/bin/python Tests/Programs/test_fleet.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

import pexpect

from programs import BIN_DIR, ENDED_WITHIN, Agent, Sandbox, started, temporary_folder
from software_authenticator import call
from terminal import Terminal

PURCHASES = Path(__file__).resolve().parents[2] / "Benchmarks/purchases.py"
MIX = ("--authn-type", "test", "--personas", "autoApprove=0.5,autoDeny=0.3", "--seed", "1")


class Fleet(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.sandbox = started(type(self), Sandbox(self.folder))
        self.agent = started(type(self), Agent(self.folder))
        self.command = f"{BIN_DIR / 'oob-issuer'} code --issuer {self.sandbox.origin} | tail -n 1"

    def words(self, count: int, *options: str, command: str | None = None, agent: Agent | None = None) -> list[str]:
        return [str(BIN_DIR / "oobctl"), "enroll", "--socket", str((agent or self.agent).socket), "--count", str(count),
                "--code-command", command or self.command, *options]

    def run_fleet(self, *words, **how) -> subprocess.CompletedProcess:
        return subprocess.run(
            self.words(*words, **how), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)

    def enrollments(self, agent: Agent | None = None) -> dict[str, dict]:
        rows = (agent or self.agent).json("enrollments")
        self.assertEqual(len({row["name"] for row in rows}), len(rows))
        return {row["name"]: row for row in rows}

    def personas(self, agent: Agent | None = None) -> dict[str, str]:
        names = {row["id"]: name for name, row in self.enrollments(agent).items()}
        return {names[row["enrollment"]]: row["persona"] for row in (agent or self.agent).json("persona list")["set"]}


def names(*numbers: int) -> set[str]:
    return {f"fleet-{number:05}" for number in numbers}


class Interrupted(Fleet):
    def begin(self, *options: str, after: int) -> subprocess.Popen:
        """A run, once so many enrollments are there: it waits for the codes of the rest."""
        process = subprocess.Popen(
            self.words(40, *options, command=f'while [ ! -e {self.folder}/$OOB_ENROLLMENT_NAME ]; do sleep 0.05; done; '
                       + self.command),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for name in names(*range(1, after + 1)):
            (self.folder / name).touch()
        while len(self.enrollments()) < after:
            self.assertIsNone(process.poll())
        return process

    def test_a_run_that_was_interrupted_twice_goes_on_and_makes_none_twice(self):
        killed = self.begin(*MIX, after=13)
        killed.kill()
        killed.wait()
        killed.stderr.close()  # Its shells hold the other end; each ends when it gets its code.
        interrupted = self.begin(*MIX, after=26)
        interrupted.send_signal(signal.SIGINT)
        _, said = interrupted.communicate(timeout=ENDED_WITHIN)
        self.assertEqual(interrupted.returncode, 1, said)
        self.assertIn("26 of 40 are there; the same command again goes on with the rest.", said)
        self.assertIn("Interrupted.", said)
        for name in names(*range(1, 41)):
            (self.folder / name).touch()
        last = self.run_fleet(40, *MIX, "--json")
        self.assertEqual((last.returncode, last.stderr), (0, ""))
        self.assertEqual(json.loads(last.stdout), {"count": 40, "before": 26, "made": 14, "waiting": 0})
        rows = self.enrollments()
        self.assertEqual(set(rows), names(*range(1, 41)))
        self.assertEqual({row["state"] for row in rows.values()}, {"active"})
        status, known = call("GET", f"{self.sandbox.origin}/sandbox/authenticators")
        self.assertEqual(status, 200)
        self.assertEqual({row["id"] for row in known}, {row["authenticatorId"] for row in rows.values()})
        # Another run makes nothing, and one without an interruption draws the same personas.
        again = self.run_fleet(40, *MIX, "--json")
        self.assertEqual(json.loads(again.stdout), {"count": 40, "before": 40, "made": 0, "waiting": 0})
        other = started(type(self), Agent(temporary_folder(type(self))))
        self.assertEqual(self.run_fleet(40, *MIX, agent=other).returncode, 0)
        self.assertEqual(self.personas(), self.personas(other))
        self.assertEqual(set(self.personas().values()), {"autoApprove", "autoDeny"})

    def test_what_the_issuer_has_not_answered_is_waited_for_and_not_made_again(self):
        drop = {"next": [{"path": "enroll", "kind": "drop", "moment": "after", "times": 3}]}
        self.assertEqual(call("POST", f"{self.sandbox.origin}/sandbox/faults", drop)[0], 200)
        process = subprocess.Popen(
            self.words(3, "--authn-type", "test"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        while not self.enrollments():
            self.assertIsNone(process.poll())
        process.kill()
        process.wait()
        run = self.run_fleet(3, "--authn-type", "test", "--json")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual({row["state"] for row in self.enrollments().values()}, {"active"})
        known = call("GET", f"{self.sandbox.origin}/sandbox/authenticators")[1]
        self.assertEqual(
            {row["id"] for row in known}, {row["authenticatorId"] for row in self.enrollments().values()})


class Reported(Fleet):
    # Of ten: four are approved, three are denied, and three wait for whoever decides them.
    played = {"autoApprove": 4, "autoDeny": 3, None: 3}

    def report(self, *options: str) -> dict:
        return self.agent.json("fleet report", *options)

    def test_the_report_counts_what_was_played(self):
        for persona, count in self.played.items():
            options = ["--persona", persona] if persona else []
            run = self.run_fleet(count, "--authn-type", "test", "--name", str(persona), *options)
            self.assertEqual(run.returncode, 0, run.stderr)
        empty = self.report()
        self.assertEqual((empty["all"]["requests"], empty["all"]["enrollments"], empty["cut"]), (0, 10, False))
        load = subprocess.run(
            [sys.executable, "-B", PURCHASES, "--issuer", self.sandbox.origin, "--rate", "10", "--for", "2", "--drain", "0"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        self.assertTrue(load.stdout, load.stderr)
        said = json.loads(load.stdout)
        self.assertEqual([said["started"], said["refused"], sum(said["outcomes"].values())], [20, {}, 20])
        while self.report()["all"].get("transStatus") != {"Y": 8, "N": 6}:
            pass
        report = self.report("--since", "1h")
        self.assertEqual(report["all"]["requests"], 20)
        self.assertEqual(report["all"]["states"], {"approved": 8, "denied": 6, "pending": 6})
        self.assertEqual(report["all"]["delivery"], {"delivered": 14, "none": 6})
        approve, deny, nobody = report["personas"]
        self.assertEqual(
            [approve["persona"], approve["enrollments"], approve["requests"], approve["states"], approve["transStatus"]],
            ["autoApprove", 4, 8, {"approved": 8}, {"Y": 8}])
        self.assertEqual(
            [deny["persona"], deny["enrollments"], deny["requests"], deny["states"], deny["transStatus"]],
            ["autoDeny", 3, 6, {"denied": 6}, {"N": 6}])
        self.assertEqual([nobody.get("persona"), nobody["states"]], [None, {"pending": 6}])
        self.assertNotIn("latencySeconds", nobody)
        times = report["all"]["latencySeconds"]
        self.assertTrue(0 <= times["p50"] <= times["p90"] <= times["p99"] <= times["max"], times)
        text = self.agent.ctl("fleet report").stdout
        self.assertRegex(text, r"(?m)^PERSONA +ENROLLMENTS +REQUESTS ")
        self.assertRegex(text, r"(?m)^autoApprove +4 +8 +0 +8 ")
        self.assertRegex(text, r"(?m)^\(nobody\) ")
        self.assertRegex(text, r"(?m)^all +10 +20 +6 +8 +6 ")

    def test_a_time_that_is_none_is_refused_with_what_is_allowed(self):
        for since in ["0s", "-1h", "401d", "yesterday"]:
            run = self.agent.ctl("fleet report", f"--since={since}")
            self.assertEqual(run.returncode, 64, run.stderr)
            self.assertIn("--since: must be 1s to 400d", " ".join(run.stderr.split()))


class Refused(Fleet):
    def test_what_the_command_did_is_said_and_those_before_it_stay(self):
        self.assertEqual(self.run_fleet(2, "--authn-type", "test").returncode, 0)
        for command, problem in [
            ("exit 7", "--code-command exited with status 7."),
            ("kill -9 $$", "--code-command was ended by signal 9."),
            ("true", "--code-command printed nothing"),
            ("printf '\\n \\n'", "--code-command printed"),
            ("echo one; echo two", "--code-command printed 2 lines; one is expected."),
            ("yes", "--code-command printed more than 4096 bytes"),
            ("sleep 600", "--code-command did not end within 1 s (--code-timeout)."),
            ("exec >&-; sleep 600", "--code-command did not end within 1 s (--code-timeout)."),
            ("echo code", "printed a code, not a link: give --issuer."),
            ("echo oob-enroll:?issuer=nothing", "The enrollment link is not of the form"),
        ]:
            with self.subTest(command):
                run = self.run_fleet(3, "--authn-type", "test", "--code-timeout", "1", command=command)
                self.assertIn(run.returncode, (1, 64), run.stderr)
                self.assertIn(f"fleet-00003: {problem}" if problem.startswith("--") else problem, run.stderr)
                self.assertIn("2 of 3 are there; the same command again goes on with the rest.", run.stderr)
        run = self.run_fleet(3, "--issuer", self.sandbox.origin, command="echo AAAA-AAAA", *("--authn-type", "test"))
        self.assertEqual(run.returncode, 9, run.stderr)
        self.assertEqual(set(self.enrollments()), names(1, 2))

    def test_wrong_usage_exits_64_before_anything_is_done(self):
        for words, problem in [
            (["0"], "--count takes 1 to 100000."),
            (["100001"], "--count takes 1 to 100000."),
            (["2", "--code", "x"], "--count takes its codes from --code-command"),
            (["2", "--key-uri", "file:/x"], "--key-uri is one enrollment's key"),
            (["2", "--code-timeout", "0"], "--code-timeout takes 1 to 600."),
            (["2", "--personas", "autoApprove=1", "--seed", "1"], "--personas goes with --authn-type test."),
            (["2", "--authn-type", "test", "--personas", "autoApprove=1"], "--personas takes --seed"),
            (["2", "--authn-type", "test", "--personas", "a=0.6,b=0.5", "--seed", "1"], "the odds sum to 1.1"),
            (["2", "--authn-type", "test", "--personas", "autoAprove=1", "--seed", "1"], "did you mean autoApprove?"),
            (["2", "--authn-type", "test", "--seed", "1"], "--seed also with --personas"),
            (["2", "--name", "x" * 250], "--name takes 1 to 249 bytes."),
        ]:
            with self.subTest(words):
                run = self.run_fleet(*words)
                self.assertEqual(run.returncode, 64, run.stderr)
                self.assertIn(problem, " ".join(run.stderr.split()))
        for words in [["--count", "2"], ["--code-command", "true"], ["--personas", "autoApprove=1"]]:
            self.assertEqual(self.agent.ctl("enroll", *words).returncode, 64)
        self.assertEqual(self.enrollments(), {})

    def test_a_name_of_something_else_is_not_taken_for_one_of_the_run(self):
        self.assertEqual(self.run_fleet(1, "--authn-type", "test").returncode, 0)
        run = self.run_fleet(2, "--authn-type", "presence")
        self.assertEqual(run.returncode, 64, run.stderr)
        self.assertIn("fleet-00001 is an enrollment of authnType test", run.stderr)
        run = self.run_fleet(2, "--authn-type", "test", "--issuer", "http://localhost:1")
        self.assertEqual(run.returncode, 64, run.stderr)
        self.assertIn("fleet-00001 is an enrollment at another issuer", run.stderr)


class AtATerminal(Fleet):
    def test_a_bar_says_how_far_it_is_and_the_question_comes_once(self):
        words = self.words(5, "--authn-type", "test", "--issuer", self.sandbox.origin)
        person = Terminal(
            words[0], words[1:], env={**os.environ, "TERM": "xterm-256color"}, timeout=60, encoding="utf-8")
        person.expect_exact("Make up to 5 keys and enroll them")
        person.expect_exact("[y/N] ")
        while person.getecho():
            pass
        person.send("y\r")
        person.expect_exact("5 of 5,")
        person.expect_exact("5 are enrolled: 0 were there before, 5 were made.")
        person.expect(pexpect.EOF)
        person.close()
        self.assertEqual(person.exitstatus, 0)
        self.assertEqual(len(self.enrollments()), 5)


if __name__ == "__main__":
    unittest.main()
