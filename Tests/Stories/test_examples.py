"""examples/ and integrations/ for test suites, as their readers run them, with the programs as they were built.

Run with `.venv/bin/python Tests/Stories/test_examples.py`; OOB_BIN_DIR names the programs' directory. The one in Swift
is built and run by EndToEndTests.
"""

import os
import re
import subprocess
import sys
import tomllib
import unittest
from pathlib import Path

import yaml

from programs import BIN_DIR, temporary_folder

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SCRIPT = EXAMPLES / "bash" / "approve.sh"
PLUGIN = ROOT / "integrations" / "pytest"
# As if it were installed.
WITH_PLUGIN = {"PYTHONPATH": str(PLUGIN), "PYTEST_PLUGINS": "pytest_oob_authenticator.plugin"}
TOOLS = Path(sys.prefix) / "bin"
GITHUB = yaml.safe_load((EXAMPLES / "github-actions.yml").read_text(encoding="utf-8"))
(GITHUB_JOB,) = GITHUB["jobs"].values()
GITLAB = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text(encoding="utf-8"))
(GITLAB_JOB,) = GITLAB.values()


def run(*command, cwd: Path | None = None, **variables) -> subprocess.CompletedProcess:
    environment = {**os.environ, "OOB_BIN_DIR": str(BIN_DIR), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    return subprocess.run(
        command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=560)


def pytest(folder: Path, *words: str, **variables) -> subprocess.CompletedProcess:
    """Runs pytest as in an engineer's own checkout: nothing of this one's set-up is read."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={folder}"]
    return run(*command, *words, **{**WITH_PLUGIN, **variables})


class Example(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))

    def assertExits(self, status: int, ran: subprocess.CompletedProcess):
        self.assertEqual(ran.returncode, status, f"{ran.stdout}\n{ran.stderr}")

    def suite(self, *lines: str) -> str:
        """A folder with one file of tests."""
        suite = self.folder / "suite"
        suite.mkdir()
        (suite / "test_it.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(suite)

    def starts_and_stops(self) -> tuple[int, int]:
        """How often an agent became ready, and how often one stopped in order."""
        log = (self.folder / "oob-agent.log").read_text(encoding="utf-8")
        return log.count(" notice ready "), log.count(" notice stopped")


class ForPytest(Example):
    def test_the_tests_of_payments_pass_in_one_process(self):
        ran = pytest(self.folder, str(EXAMPLES / "pytest" / "test_payment.py"), OOB_LOG_DIR=str(self.folder))
        self.assertExits(0, ran)
        self.assertEqual(self.starts_and_stops(), (1, 1))

    def test_a_worker_that_crashes_leaves_no_agent_behind(self):
        suite = self.suite(
            "import os, signal, pytest",
            "@pytest.mark.parametrize('number', range(6))",
            "def test_it(issuer, cardholder, number):",
            "    if number == 1: os.kill(os.getpid(), signal.SIGKILL)",
            "    payer = cardholder()",
            "    payer.approve(issuer.purchase(payer), expect_amount='USD 1.00')")
        ran = pytest(self.folder, suite, "-n", "2", OOB_LOG_DIR=str(self.folder))
        self.assertExits(1, ran)
        self.assertIn("1 failed, 5 passed", ran.stdout)
        # The one that took its place has an agent of its own.
        self.assertEqual(self.starts_and_stops(), (3, 3))

    def test_a_clock_that_one_worker_advances_is_no_others(self):
        suite = self.suite(
            "def test_it(agent, issuer, clock):",
            "    clock.advance('1h')",
            "    assert agent.ctl('clock')['offsetSeconds'] == 3600",
            "    assert issuer.call('/sandbox/clock')['offsetSeconds'] == 3600")
        self.assertExits(0, pytest(self.folder, suite, "-n", "2", "--dist=each"))

    def test_a_failure_prints_the_messages_of_its_own_purchases(self):
        suite = self.suite(
            "def test_one(issuer, cardholder):",
            "    issuer.purchase(cardholder(), merchantName='Quiet Shop')",
            "def test_other(issuer, cardholder):",
            "    purchase = issuer.purchase(cardholder(), merchantName='Loud Shop')",
            "    assert purchase.story()['status'] == 'authenticated'")
        for words in [], ["-n", "1"]:
            with self.subTest(words):
                ran = pytest(self.folder, suite, *words)
                self.assertExits(1, ran)
                self.assertRegex(ran.stdout, r"- purchase [0-9a-f-]{36} -")
                for text in ['"messageType": "AReq"', '"messageType": "CRes"', "Loud Shop", '"status": "pending"']:
                    self.assertIn(text, ran.stdout)
                self.assertNotIn("Quiet Shop", ran.stdout)

    def test_nothing_of_a_merchants_text_that_a_terminal_obeys_is_printed(self):
        hostile = "Shop\\x9b31m\\u202eevil\\u2066\\u200b Café"
        suite = self.suite(
            "import pytest",
            f"HOSTILE = '{hostile}'",
            "def test_one(issuer, cardholder):",
            "    issuer.purchase(cardholder(), merchantName=HOSTILE)",
            "    raise AssertionError",
            "def test_other(issuer, cardholder):",
            "    payer = cardholder()",
            "    payer.approve(issuer.purchase(payer, merchantName=HOSTILE), expect_merchant='Shop')",
            "def test_another(issuer):",
            "    issuer.call('/sandbox/purchases', {'authenticatorId': HOSTILE, HOSTILE: HOSTILE})")
        ran = pytest(self.folder, suite)
        self.assertExits(1, ran)
        self.assertIn("3 failed", ran.stdout)
        self.assertIn("\\u009b31m\\u202eevil\\u2066\\u200b Café", ran.stdout)
        obeyed = [each for each in ran.stdout + ran.stderr if not each.isprintable() and each != "\n"]
        self.assertEqual(obeyed, [])

    def test_pip_installs_it_without_a_network_or_other_packages(self):
        place = self.folder / "installed"
        pip = [sys.executable, "-m", "pip", "install", "--no-index", "--target", str(place)]
        # What it depends on is there.
        self.assertExits(0, run(*pip, "--no-deps", str(PLUGIN), PIP_CACHE_DIR=str(self.folder / "cache")))
        suite = self.suite("def test_it(agent):", "    assert agent.ctl('status')['clock']['isTest']")
        self.assertExits(0, pytest(self.folder, suite, PYTHONPATH=str(place), PYTEST_PLUGINS=""))
        project = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        version = run(str(BIN_DIR / "oobctl"), "--version").stdout
        self.assertIn(project["version"], version)

    def test_an_agent_that_does_not_start_is_an_error_that_says_why(self):
        (self.folder / "oob-issuer").symlink_to(BIN_DIR / "oob-issuer")
        agent = self.folder / "oob-agent"
        agent.write_text("#!/bin/sh\necho no such setting >&2\nexit 78\n")
        agent.chmod(0o755)
        ran = pytest(self.folder, self.suite("def test_it(agent):", "    pass"), OOB_BIN_DIR=str(self.folder))
        self.assertExits(1, ran)
        self.assertRegex(ran.stdout, r"oob-agent did not start:\s*E?\s*no such setting")

    def test_without_the_programs_it_says_where_they_were_looked_for(self):
        ran = pytest(self.folder, self.suite("def test_it(agent):", "    pass"), OOB_BIN_DIR=str(self.folder))
        self.assertExits(1, ran)
        self.assertIn("there is no oob-issuer in $OOB_BIN_DIR", ran.stdout)

    def test_it_needs_pytest_and_nothing_else(self):
        files = [*(EXAMPLES / "pytest").glob("*.py"), *PLUGIN.glob("**/*.py")]
        self.assertGreater(len(files), 8)
        for file in files:
            imported = set(re.findall(r"^(?:import|from) (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE))
            self.assertLessEqual(imported - sys.stdlib_module_names, {"pytest", "pytest_oob_authenticator"}, file.name)


class ForBash(Example):
    def test_it_approves_prints_the_return_url_alone_and_leaves_nothing(self):
        ran = run(SCRIPT, TMPDIR=str(self.folder))
        self.assertExits(0, ran)
        self.assertEqual(ran.stdout, "https://merchant.example/return?transID=1\n")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_is_not_expected_exits_4_with_what_the_programs_logged_and_leaves_nothing(self):
        other = self.folder.with_suffix(".sh")
        self.addCleanup(other.unlink)
        other.write_text(SCRIPT.read_text(encoding="utf-8").replace('"USD 1.00"', '"USD 2.00"'), encoding="utf-8")
        ran = run("bash", other, TMPDIR=str(self.folder))
        self.assertExits(4, ran)
        self.assertEqual(ran.stdout, "")
        self.assertIn("the amount is USD 1.00, not USD 2.00", ran.stderr)
        self.assertIn(" notice stopped", ran.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_programs_that_are_not_there_end_it_at_once(self):
        ran = run(SCRIPT, TMPDIR=str(self.folder), OOB_BIN_DIR="/nowhere", PATH="/usr/bin:/bin")
        self.assertExits(1, ran)
        self.assertIn("oob-issuer: not found", ran.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


class ForContinuousIntegration(Example):
    def github_steps(self) -> list[str]:
        return [step["run"] for step in GITHUB_JOB["steps"] if "run" in step]

    def test_both_jobs_are_as_their_schemas_have_them(self):
        for schema, name in [("github-workflows", "github-actions.yml"), ("gitlab-ci", "gitlab-ci.yml")]:
            with self.subTest(name):
                checker = [TOOLS / "check-jsonschema", "--builtin-schema", f"vendor.{schema}"]
                self.assertExits(0, run(*checker, EXAMPLES / name))

    def test_shellcheck_has_nothing_to_say_about_any_script(self):
        gitlab = "\n".join([*GITLAB_JOB["before_script"], *GITLAB_JOB["script"]])
        for script in [SCRIPT.read_text(encoding="utf-8"), gitlab, *self.github_steps()]:
            with self.subTest(script):
                file = self.folder / "script"
                file.write_text(script, encoding="utf-8")
                self.assertExits(0, run(TOOLS / "shellcheck", "--shell=bash", file))

    def test_both_run_the_same_lines(self):
        *_, tests = self.github_steps()
        self.assertEqual(GITLAB_JOB["script"], tests.splitlines())

    def test_the_test_step_runs_all_examples_in_parallel(self):
        for name, target in [("oob-agent", ROOT), ("oob-bin", BIN_DIR), ("venv", Path(sys.prefix))]:
            (self.folder / name).symlink_to(target)
        *_, tests = self.github_steps()
        self.assertExits(0, run("bash", "-eo", "pipefail", "-c", tests, cwd=self.folder, **WITH_PLUGIN))
        logs = self.folder / "oob-logs"
        said = (logs / "junit.xml").read_text(encoding="utf-8")
        self.assertRegex(said, r'errors="0" failures="0" skipped="0" tests="17"')
        agent = (logs / "oob-agent.log").read_text(encoding="utf-8")
        self.assertGreaterEqual(agent.count(" notice ready "), 1)
        self.assertEqual(agent.count(" notice ready "), agent.count(" notice stopped"))
        # One for each test, and one for the stranger of a test.
        self.assertEqual(len(set(re.findall(r"info enrolled .*enrollment=(\w+)", agent))), 18)

    def test_what_it_builds_is_what_this_project_has(self):
        package = (ROOT / "Package.swift").read_text(encoding="utf-8")
        for script in [*self.github_steps(), *GITLAB_JOB["before_script"]]:
            for product in re.findall(r'"\$built"/([\w-]+)', script):
                self.assertIn(f'.executable(name: "{product}"', package)
            for path in re.findall(r"^oob-agent/(\S+)$", script, re.MULTILINE):
                self.assertTrue(os.access(ROOT / path, os.X_OK), path)


if __name__ == "__main__":
    unittest.main()
