"""Many enrollments at once: made by one command that may be interrupted, from a list of codes.

Run with `.venv/bin/python Tests/Stories/test_fleet.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import pexpect

from programs import BIN_DIR, ENDED_WITHIN, Agent, Sandbox, started, temporary_folder
from software_authenticator import call
from terminal import Terminal

PURCHASES = Path(__file__).resolve().parents[2] / "Benchmarks/purchases.py"
sys.path.append(str(PURCHASES.parent))

from purchases import Load  # noqa: E402


class Fleet(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.sandbox = started(type(self), Sandbox(self.folder))
        self.agent = started(type(self), Agent(self.folder))
        self.list = self.folder / "codes"
        self.list.touch(mode=0o600)

    def write(self, *lines: str, end: str = "\n"):
        self.list.write_text("".join(line + end for line in lines), newline="")

    def codes(self, count: int) -> list[str]:
        """New ones, as the issuer prints them."""
        run = subprocess.run(
            [BIN_DIR / "oob-issuer", "code", "--issuer", self.sandbox.origin, "--count", str(count)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=True)
        return run.stdout.splitlines()

    def words(self, count: int | str, *options: str) -> list[str]:
        return [str(BIN_DIR / "oobctl"), "enroll", "--socket", str(self.agent.socket), "--issuer", self.sandbox.origin,
                "--authn-type", "test", "--count", str(count), "--code-file", str(self.list), *options]

    def run_fleet(self, count: int | str, *options: str, **how) -> subprocess.CompletedProcess:
        if "input" not in how:
            how["stdin"] = subprocess.DEVNULL
        return subprocess.run(self.words(count, *options), capture_output=True, text=True, timeout=300, **how)

    def enrollments(self) -> dict[str, dict]:
        rows = self.agent.json("enrollments")
        self.assertEqual(len({row["name"] for row in rows}), len(rows))
        return {row["name"]: row for row in rows}

    def known(self) -> set[str]:
        """The authenticators that the issuer has."""
        status, rows = call("GET", f"{self.sandbox.origin}/sandbox/authenticators")
        self.assertEqual(status, 200)
        return {row["id"] for row in rows}

    def plan(self, **fault):
        self.assertEqual(call("POST", f"{self.sandbox.origin}/sandbox/faults", {"next": [fault]})[0], 200)


def names(*numbers: int) -> set[str]:
    return {f"fleet-{number:05}" for number in numbers}


class Interrupted(Fleet):
    def stopped(self, number: signal.Signals) -> tuple[int, str]:
        """A run that gets a signal while the issuer keeps it waiting."""
        self.plan(path="enrollmentOptions", kind="slow", milliseconds=60_000)
        process = subprocess.Popen(
            self.words(20), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while call("GET", f"{self.sandbox.origin}/sandbox/faults")[1]["next"]:
            self.assertIsNone(process.poll())
        process.send_signal(number)
        _, said = process.communicate(timeout=ENDED_WITHIN)
        return process.returncode, said

    def test_a_run_that_was_interrupted_goes_on_and_spends_no_code_of_what_is_there(self):
        codes = self.codes(21)
        self.write(*codes[:6], "AAAA-AAAA", *codes[7:])
        refused = self.run_fleet(20)
        self.assertEqual(refused.returncode, 9, refused.stderr)
        self.assertIn(f"fleet-00007 (line 7 of {self.list}): ", refused.stderr)
        self.assertIn("6 of 20 are there; the same command again goes on with the rest.", refused.stderr)
        # The codes of the names that are there were good once.
        self.write(*["SPENT"] * 6, *codes[6:])
        status, said = self.stopped(signal.SIGINT)
        self.assertEqual(status, 1, said)
        self.assertIn("6 of 20 are there; the same command again goes on with the rest.", said)
        self.assertIn("Interrupted.", said)
        self.assertEqual(self.stopped(signal.SIGKILL)[0], -signal.SIGKILL)
        last = self.run_fleet(20, "--json")
        self.assertEqual((last.returncode, last.stderr), (0, ""))
        self.assertEqual(json.loads(last.stdout), {"count": 20, "before": 6, "made": 14, "waiting": 0})
        rows = self.enrollments()
        self.assertEqual(set(rows), names(*range(1, 21)))
        self.assertEqual({row["state"] for row in rows.values()}, {"active"})
        self.assertEqual(self.known(), {row["authenticatorId"] for row in rows.values()})
        # Another run asks for nothing, though all its codes are good; a greater count takes the lines after those.
        self.write(*self.codes(20), codes[20])
        self.assertEqual(self.run_fleet(20).stderr.splitlines(), [
            "20 of 20 are there already; the run goes on with the rest.",
            "20 are enrolled: 20 were there before, 0 were made."])
        self.assertEqual(len(self.known()), 20)
        more = self.run_fleet(21, "--json")
        self.assertEqual(json.loads(more.stdout), {"count": 21, "before": 20, "made": 1, "waiting": 0}, more.stderr)

    def test_what_the_issuer_has_not_answered_is_waited_for_and_not_made_again(self):
        self.plan(path="enroll", kind="drop", moment="after", times=3)
        self.write(*self.codes(3))
        process = subprocess.Popen(
            self.words(3), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.enrollments():
            self.assertIsNone(process.poll())
        process.kill()
        process.wait()
        run = self.run_fleet(3, "--json")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual({row["state"] for row in self.enrollments().values()}, {"active"})
        self.assertEqual(self.known(), {row["authenticatorId"] for row in self.enrollments().values()})


class Started(unittest.TestCase):
    def test_each_purchase_starts_when_it_is_due_though_none_before_it_is_answered(self):
        all_asked = threading.Barrier(6)

        class Held(Load):
            def call(self, method: str, path: str, body: dict | None = None):
                if method == "GET":
                    return [{"id": "a", "state": "active"}]
                try:
                    return {"acsTransId": str(all_asked.wait(ENDED_WITHIN))}
                except threading.BrokenBarrierError as error:
                    raise OSError("waits for the answer to another") from error

        load = Held("http://localhost:1")
        load.send(rate=6, seconds=1)
        self.assertEqual((load.refused, len(load.late)), ({}, 6))
        self.assertGreaterEqual(min(load.late.values()), 0)


class Reported(Fleet):
    # Of ten: four are approved, three are denied, and three wait for whoever decides them.
    played = {"autoApprove": 4, "autoDeny": 3, None: 3}

    def report(self, *options: str) -> dict:
        return self.agent.json("fleet report", *options)

    def test_the_report_counts_what_was_played(self):
        for persona, count in self.played.items():
            options = ["--persona", persona] if persona else []
            self.write(*self.codes(count))
            run = self.run_fleet(count, "--name", str(persona), *options)
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
    def test_a_list_that_does_not_hold_the_codes_is_refused_before_anything_is_sent(self):
        for content, said in [
            (b"", "has 0 lines, and --count 3 takes a code in each of 3."),
            (b"A\nB\n\n", "has 2 lines, and --count 3 takes a code in each of 3."),
            (b"A\n\nC\n", "has no code in line 2: it has 0 bytes; a code has 1 to 256 bytes."),
            (b"A\nB\n" + b"q" * 257, "has no code in line 3: it has 257 bytes"),
            (b"A\noob-enroll:?issuer=x&code=B\nC\n", "has no code in line 2: it is a link"),
            (b"A\nB\n\xe6\n", "is not UTF-8 in line 3."),
            ("\ufeffA\nB\nC\n".encode("utf-16-le"), "is UTF-16: save it as UTF-8."),
            (b"A\n" * 8_388_700, "is too long for a list of codes (16777216 bytes)."),
        ]:
            with self.subTest(content[:9]):
                self.list.write_bytes(content)
                run = self.run_fleet(3)
                self.assertEqual(run.returncode, 64, run.stderr)
                self.assertIn(f"--code-file: {self.list} {said}", run.stderr)
        self.write("A", "B", "C")
        self.list.chmod(0o640)
        self.assertIn("has mode 0640", self.run_fleet(3).stderr)
        self.assertEqual(self.enrollments(), {})

    def test_codes_come_from_standard_input_too_whatever_ends_their_lines(self):
        self.write(*self.codes(2), end=" \r\n")
        content = self.list.read_text()
        self.list.unlink()
        run = self.run_fleet(2, "--code-file", "-", input="\ufeff" + content + "\n\n")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(set(self.enrollments()), names(1, 2))

    def test_wrong_usage_exits_64_before_anything_is_done(self):
        for words, problem in [
            (["0"], "--count takes 1 to 100000."),
            (["100001"], "--count takes 1 to 100000."),
            (["2", "--code", "x"], "--count takes --issuer and --code-file, and no other code or link."),
            (["2", "--key-uri", "file:/x"], "--key-uri is one enrollment's key"),
            (["2", "--seed", "1"], "--odds and --seed go with --persona."),
            (["2", "--name", "x" * 250], "--name takes 1 to 249 bytes."),
            (["2", "--code-file", "-", "--authn-type", "pin", "--pin-file", "-"], "Standard input holds the code or the PIN"),
        ]:
            with self.subTest(words):
                run = self.run_fleet(*words)
                self.assertEqual(run.returncode, 64, run.stderr)
                self.assertIn(problem, " ".join(run.stderr.split()))
        self.assertEqual(self.agent.ctl("enroll", "--count", "2").returncode, 64)
        for count in ["0", "100001", "two"]:
            run = subprocess.run(
                [BIN_DIR / "oob-issuer", "code", "--count", count], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=60)
            self.assertEqual(run.returncode, 64, run.stderr)
        self.assertEqual(self.enrollments(), {})

    def test_a_name_of_something_else_is_not_taken_for_one_of_the_run(self):
        self.write(*self.codes(2))
        self.assertEqual(self.run_fleet(1).returncode, 0)
        run = self.run_fleet(2, "--authn-type", "presence")
        self.assertEqual(run.returncode, 64, run.stderr)
        self.assertIn("fleet-00001 is an enrollment of authnType test", run.stderr)
        run = self.run_fleet(2, "--issuer", "http://localhost:1")
        self.assertEqual(run.returncode, 64, run.stderr)
        self.assertIn("fleet-00001 is an enrollment at another issuer", run.stderr)


class AtATerminal(Fleet):
    def test_the_question_comes_once(self):
        self.write(*self.codes(5))
        words = self.words(5)
        person = Terminal(
            words[0], words[1:], env={**os.environ, "TERM": "xterm-256color"}, timeout=60, encoding="utf-8")
        person.expect_exact("Make up to 5 keys and enroll them")
        person.expect_exact("[y/N] ")
        while person.getecho():
            pass
        person.send("y\r")
        person.expect_exact("4 of 5 are enrolled.")
        person.expect_exact("5 are enrolled: 0 were there before, 5 were made.")
        person.expect(pexpect.EOF)
        person.close()
        self.assertEqual(person.exitstatus, 0)
        self.assertEqual(len(self.enrollments()), 5)


if __name__ == "__main__":
    unittest.main()
