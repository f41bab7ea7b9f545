"""oob-conform approver: its cases against oob-agent, which is in order, and against approvers that are not.

Run with `.venv/bin/python Tests/Stories/test_conform_approver.py`. OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from programs import BIN_DIR, Agent, temporary_folder

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
TESTED = CASES.parent / "tested" / "oob-agent.yaml"
COMMANDS = dict(line.split(": ", 1) for line in TESTED.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))


class Approver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.agent = Agent(cls.folder)
        cls.is_over = threading.Event()
        watch = threading.Thread(target=cls.restart_when_asked)
        watch.start()
        cls.addClassCleanup(lambda: (cls.is_over.set(), watch.join(), cls.agent.stop()))

    @classmethod
    def restart_when_asked(cls):
        """For the command `restart`, which makes a file and waits until it is gone."""
        asked = cls.folder / "restart"
        while not cls.is_over.wait(0.05):
            if asked.exists():
                cls.agent.stop()
                cls.agent = Agent(cls.folder)
                asked.unlink()

    def played(self, *words: str, **changed) -> tuple[int, dict[str, dict]]:
        """The exit status, and the cases by their names."""
        config = self.folder / "conform.yaml"
        config.write_text(
            "".join(f"{name}: {json.dumps(text)}\n" for name, text in (COMMANDS | changed).items()), encoding="utf-8")
        run = subprocess.run(
            [BIN_DIR / "oob-conform", "approver", "--config", config, "--cases", CASES, "--json", "-", *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=560,
            env={**os.environ, "PATH": f"{BIN_DIR}:/usr/bin:/bin", "OOB_AGENT_SOCKET": str(self.agent.socket)})
        self.assertIn(run.returncode, (0, 1, 2), run.stderr)
        self.assertTrue(run.stdout, run.stderr)
        return run.returncode, {case["name"]: case for case in json.loads(run.stdout)["cases"]}

    def verdicts(self, cases: dict[str, dict]) -> dict[str, str]:
        return {name: case["verdict"] for name, case in cases.items()}

    def test_the_agent_passes_every_case_that_can_be_shown(self):
        asked = self.folder / "restart"
        status, cases = self.played(restart=f"touch {asked}; while test -e {asked}; do sleep 0.1; done")
        wrong = {name: case["cause"] for name, case in cases.items() if case["verdict"] not in ("passed", "notShown")}
        self.assertEqual((status, wrong), (0, {}))
        self.assertGreater(len(cases), 430)
        for case in cases.values():
            if case["verdict"] == "notShown":
                self.assertRegex(case["cause"], "^(the approver's enrollment|it is about exponentPolicy|the request lives"
                                                "|with the parties of a run)", case["name"])
        self.assertGreater(list(self.verdicts(cases).values()).count("passed"), 415)

    def test_an_enrollment_that_cannot_verify_its_user_is_shown_the_cases_for_it(self):
        names = ["user-verification-required", "user-verification-preferred", "user-verification-required-and-possible",
                 "payment-and-user-verification-required"]
        enroll = COMMANDS["enroll"].replace("--authn-type test", "--authn-type presence")
        _, cases = self.played(*(word for name in names for word in ["--case", name]), enroll=enroll)
        self.assertEqual(self.verdicts(cases), dict.fromkeys(names, "passed") | {names[2]: "notShown"})

    def test_each_persona_that_signs_something_wrong_is_caught_by_the_rule_that_it_breaks(self):
        rules = {
            "badSignature": "signature", "wrongKey": "signature", "wrongChallenge": "challenge",
            "alteredAmount": "challenge", "oldAssertion": "challenge", "wrongOrigin": "origin", "wrongRpIdHash": "rpId",
            "wrongUserHandle": "userHandle", "noUserPresence": "userPresence", "counterRegression": "signCount",
            "zeroCounter": "signCount", "malformedAssertion": "authenticatorData", "crossOrigin": "crossOrigin",
        }
        for persona, rule in rules.items():
            with self.subTest(persona):
                # The persona answers by itself.
                enroll = COMMANDS["enroll"].replace("--authn-type test", f"--authn-type test --persona {persona}")
                status, cases = self.played("--case", "approve", "--case", "sign-count-rises", enroll=enroll, approve="true")
                self.assertEqual((status, cases["sign-count-rises"]["verdict"]), (1, "failed"))
                self.assertIn(f"that does not hold: {rule}: ", cases["sign-count-rises"]["cause"])

    def test_an_approver_that_says_no_to_what_is_in_order_fails(self):
        status, cases = self.played("--case", "good", approve=COMMANDS["deny"])
        self.assertEqual((status, self.verdicts(cases)), (1, {"good": "failed"}))
        self.assertIn("denied a good request behind the others of an answer with userDenied", cases["good"]["cause"])

    def test_an_approver_that_presents_what_is_over_fails(self):
        # A list of all that was ever there, in the place of what is presented.
        _, cases = self.played("--case", "exp-now", "--case", "good", pending="oobctl list --all --json --limit 1000")
        self.assertEqual(self.verdicts(cases), {"exp-now": "failed", "good": "passed"})
        self.assertIn("presents a message that is expired", cases["exp-now"]["cause"])

    def test_a_step_that_comes_out_otherwise_fails_its_case(self):
        _, cases = self.played("--case", "deny", deny=COMMANDS["approve"])
        self.assertEqual(cases["deny"]["cause"], "approved first; section 10")
        _, cases = self.played("--case", "options-rp-id-other", enroll="true")
        self.assertEqual(cases["options-rp-id-other"]["cause"], "enrolled, and should have refused to; section 4.1")

    def test_commands_that_do_not_do_what_they_are_for_are_no_pass(self):
        for command, status, verdict, cause in [
            ("exit 3", 2, "broken", "the command for `enroll` exited with status 3"),
            ("true", 1, "failed", "no registration came; section 4.2"),
        ]:
            came, cases = self.played("--case", "good", enroll=command)
            self.assertEqual((came, self.verdicts(cases)), (status, {"good": verdict}))
            self.assertIn(cause, cases["good"]["cause"])
        run = subprocess.run([BIN_DIR / "oob-conform", "approver", "--cases", CASES, "--enroll-command", "true"],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("there is no command for `approve`: set it in the file of --config, or as --approve-command", run.stderr)


class TheApproverInPython(unittest.TestCase):
    """conformance/tested/approver.py, which knows nothing of the agent but the protocol page."""

    def test_it_passes_every_case_that_can_be_shown(self):
        with open(temporary_folder(self) / "log", "wb") as log:
            approver = subprocess.Popen([sys.executable, "-B", CASES.parent / "tested/approver.py", "0"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        self.addCleanup(lambda: (approver.terminate(), approver.wait(60), approver.stdout.close()))
        port = int(approver.stdout.readline())
        run = subprocess.run(
            [BIN_DIR / "oob-conform", "approver", "--config", CASES.parent / "tested/approver-py.yaml", "--cases", CASES,
             "--json", "-"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=560,
            env={**os.environ, "APPROVER": f"http://127.0.0.1:{port}"})
        cases = json.loads(run.stdout)["cases"]
        wrong = {case["name"]: case["cause"] for case in cases if case["verdict"] not in ("passed", "notShown")}
        # A batch fetch is an advice.
        self.assertEqual((run.returncode, set(wrong)), (0, {"batch"}), wrong)
        self.assertGreater(len([case for case in cases if case["verdict"] == "passed"]), 420)


if __name__ == "__main__":
    unittest.main()
