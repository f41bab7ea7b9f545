"""The settings as the agent prints them, as it checks them, and as docs/configuration.md has them.

Run with `.venv/bin/python Tests/Outside/test_configuration.py`; OOB_BIN_DIR names the programs' directory.
"""

import re
import subprocess
import unittest
from pathlib import Path

import yaml

from programs import BIN_DIR, temporary_folder

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
# Flags that are no settings.
OTHERS = {"config", "check-config", "print-config", "restore", "version", "help"}


ENVIRONMENT = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin"}


def agent(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [BIN_DIR / "oob-agent", *arguments], capture_output=True, text=True, timeout=60,
        env={**ENVIRONMENT, **variables})


class TheSample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sample = agent("--print-config").stdout
        cls.folder = temporary_folder(cls)

    def settings(self) -> dict[str, str]:
        return dict(re.findall(r"^#([a-z][a-z0-9-]*): (.*)$", self.sample, re.MULTILINE))

    def check(self, text: str) -> subprocess.CompletedProcess:
        path = self.folder / "config.yaml"
        path.write_text(text, encoding="utf-8")
        return agent("--config", str(path), "--check-config")

    def test_it_has_every_setting_that_help_has_and_no_other(self):
        flags = set(re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", agent("--help").stdout, re.MULTILINE))
        self.assertEqual(set(self.settings()), flags - OTHERS)
        self.assertGreater(len(flags), 40)

    def test_it_says_of_each_what_help_says(self):
        said = " ".join(agent("--help").stdout.split())
        for paragraph in self.sample.split("\n\n")[1:]:
            *lines, member = paragraph.splitlines()
            text = " ".join(line.removeprefix("# ") for line in lines)
            self.assertGreater(len(text), 20, member)
            self.assertRegex(member, r"^#[a-z0-9-]+: .")
            self.assertIn(" ".join(text.split()), said, member)

    def test_it_sets_nothing(self):
        self.assertIsNone(yaml.safe_load(self.sample))
        run = self.check(self.sample)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotRegex(run.stdout, r"(?m)^[a-z]")

    def test_each_default_in_it_is_one_that_the_agent_takes(self):
        for name, value in self.settings().items():
            help_ = self.sample.split(f"\n#{name}: ")[0].rsplit("\n\n", 1)[1].replace("\n# ", " ")
            if help_.endswith(f"Default: {value}."):
                with self.subTest(name):
                    run = self.check(f"{name}: {value}\n")
                    self.assertEqual(run.returncode, 0, run.stderr)

    def test_the_page_has_it_as_it_is(self):
        (block,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
        self.assertEqual(block, self.sample)


class WithoutRoom(unittest.TestCase):
    def test_what_cannot_all_be_printed_is_an_error(self):
        path = temporary_folder(type(self)) / "config.yaml"
        path.write_text("log-level: debug\n", encoding="utf-8")
        for arguments in [["--print-config"], ["--config", str(path), "--check-config"]]:
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                run = subprocess.run(
                    [BIN_DIR / "oob-agent", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                    env=ENVIRONMENT)
                self.assertEqual(run.returncode, 74)
                self.assertEqual(run.stderr, "oob-agent: not all of it could be printed: write to standard output: "
                                             "No space left on device\n")

    def test_half_a_config_is_an_error(self):
        path = temporary_folder(type(self)) / "config.yaml"
        limited = ["prlimit", "--fsize=4096", "env", "--ignore-signal=XFSZ", BIN_DIR / "oob-agent", "--print-config"]
        with open(path, "wb") as file:
            run = subprocess.run(limited, stdout=file, stderr=subprocess.PIPE, text=True, timeout=60, env=ENVIRONMENT)
        self.assertEqual((run.returncode, path.stat().st_size), (74, 4_096))
        self.assertIn("standard output: File too large", run.stderr)


class TheCheck(unittest.TestCase):
    def test_it_says_what_is_set_and_where(self):
        path = temporary_folder(type(self)) / "config.yaml"
        path.write_text("log-level: debug\nmax-held: 7\n\nretention: 30\n", encoding="utf-8")
        run = agent("--config", str(path), "--check-config", "--retention", "60", OOB_AGENT_MAX_HELD="8")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(yaml.safe_load(run.stdout), {"log-level": "debug", "max-held": 8, "retention": 60})
        self.assertIn(f"log-level: debug  # {path}:1", run.stdout)
        self.assertIn("max-held: 8  # OOB_AGENT_MAX_HELD\n", run.stdout)
        self.assertIn("retention: 60  # --retention\n", run.stdout)

    def test_what_it_prints_is_a_config_that_says_the_same(self):
        path = temporary_folder(type(self)) / "config.yaml"
        for value in ["/tmp/a b: #c", '/tmp/"quoted"\\', "/tmp/-", "-/tmp", "-", "---", "/tmp/Dæmø"]:
            first = agent(f"--state-dir={value}", "--socket", "/tmp/s", "--check-config")
            path.write_text(first.stdout, encoding="utf-8")
            with self.subTest(value):
                self.assertEqual(yaml.safe_load(first.stdout)["state-dir"], value)
                self.assertEqual(agent("--config", str(path), "--check-config").returncode, 0)


if __name__ == "__main__":
    unittest.main()
