"""The settings as the agent prints them, as it checks them, and as docs/reference/configuration.md has them.

Run with `.venv/bin/python Tests/Stories/test_configuration.py`; OOB_BIN_DIR names the programs' directory.
"""

import os
import re
import subprocess
import unittest

import yaml

from citations import page
from programs import BIN_DIR, temporary_folder

PAGE = page("configuration.md").read_text(encoding="utf-8")
# Flags that are no settings.
# What a setting goes with.
BESIDE = {"host-lease": "database: postgres:///oob?host=/run/postgresql\nhost-name: agent-1\n"}
OTHERS = {"accept-clock", "accept-head", "config", "check-config", "print-config", "migrate-to", "restore", "version", "help"}


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
        self.assertGreater(len(flags), 35)

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
                    run = self.check(BESIDE.get(name, "") + f"{name}: {value}\n")
                    if name in BESIDE and "built without PostgreSQL" in run.stderr:
                        continue
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
                self.assertEqual(run.stderr, "Error: the output could not be written: write to standard output: "
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
        path.write_text("log-level: debug\nmax-undecided: 7\n\nretention: 30\n", encoding="utf-8")
        run = agent("--config", str(path), "--check-config", "--retention", "60", OOB_AGENT_MAX_UNDECIDED="8")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(yaml.safe_load(run.stdout), {"log-level": "debug", "max-undecided": 8, "retention": 60})
        self.assertIn(f"log-level: debug  # {path}:1", run.stdout)
        self.assertIn("max-undecided: 8  # OOB_AGENT_MAX_UNDECIDED\n", run.stdout)
        self.assertIn("retention: 60  # --retention\n", run.stdout)

    def test_a_variable_that_is_empty_is_not_set(self):
        path = temporary_folder(type(self)) / "config.yaml"
        path.write_text("max-undecided: 7\n", encoding="utf-8")
        run = agent("--config", str(path), "--check-config", OOB_AGENT_MAX_UNDECIDED="", OOB_AGENT_PROXY="")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(yaml.safe_load(run.stdout), {"max-undecided": 7})

    ADVICE = ("oob-agent --help lists all. Bounds that can be set are max-undecided, max-enrollments, max-stored-bytes, max-answer-bytes, "
              "events-kept, audit-retention, retention; the others are constants, which docs/reference/limits.md lists")
    # Bounds that are constants, under names that settings once had.
    NO_SETTINGS = [
        "control-body-octets", "control-connections", "control-header-octets", "control-patience", "log-pause",
        "max-answer-octets", "max-cancellations", "max-held", "max-held-in-all", "max-list-octets", "max-list-requests",
        "max-messages", "max-refused", "max-request-octets", "push-connections", "push-patience", "push-rate",
        "push-rate-in-all"]

    def refusals(self, name: str) -> list[tuple[int, str]]:
        """Status and error for that name in the file, in the environment and as a flag; each error is one line."""
        path = temporary_folder(type(self)) / "config.yaml"
        path.write_text(f"{name}: 100\n", encoding="utf-8")
        runs = [agent("--check-config", "--config", str(path)), agent("--check-config", f"--{name}=100"),
                agent("--check-config", **{"OOB_AGENT_" + name.upper().replace("-", "_"): "100"})]
        self.assertEqual([(run.stdout, run.stderr.count("\n")) for run in runs], [("", 1)] * 3)
        return [(run.returncode, run.stderr.strip().replace(str(path), "FILE")) for run in runs]

    def test_a_name_that_no_setting_has_is_refused_with_the_bounds_that_can_be_set(self):
        for name in self.NO_SETTINGS:
            with self.subTest(name):
                variable = "OOB_AGENT_" + name.upper().replace("-", "_")
                self.assertEqual(self.refusals(name), [
                    (78, f"Error: FILE:1: {name}: no such setting; {self.ADVICE}"),
                    (64, f"Error: --{name}: no such flag; {self.ADVICE}"),
                    (78, f"Error: {variable}: no such setting; {self.ADVICE}")])

    def test_a_name_that_is_near_a_settings_is_refused_with_that(self):
        self.assertEqual(self.refusals("max-undecide"), [
            (78, "Error: FILE:1: max-undecide: no such setting; did you mean max-undecided?"),
            (64, "Error: --max-undecide: no such flag; did you mean --max-undecided?"),
            (78, "Error: OOB_AGENT_MAX_UNDECIDE: no such setting; did you mean OOB_AGENT_MAX_UNDECIDED?")])

    def test_variables_of_others_and_empty_ones_are_let_be(self):
        others = {"OOB_AGENT_USER": "root", "OOB_AGENT_COLOUR": "", "OOB_AGENT_PORT": "tcp://10.0.0.1:80",
                  "OOB_AGENT_PORT_80_TCP_ADDR": "10.0.0.1", "OOB_AGENT_SERVICE_HOST": "10.0.0.1"}
        run = agent("--check-config", **others)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_what_it_prints_is_a_config_that_says_the_same(self):
        path = temporary_folder(type(self)) / "config.yaml"
        for value in ["/tmp/a b: #c", '/tmp/"quoted"\\', "/tmp/-", "-/tmp", "-", "---", "/tmp/Dæmø"]:
            first = agent(f"--state-dir={value}", "--socket", "/tmp/s", "--check-config")
            path.write_text(first.stdout, encoding="utf-8")
            with self.subTest(value):
                self.assertEqual(yaml.safe_load(first.stdout)["state-dir"], value)
                self.assertEqual(agent("--config", str(path), "--check-config").returncode, 0)

    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.config = self.folder / "config.yaml"
        self.secret = self.folder / "secret"
        self.secret.touch(mode=0o600)
        self.secret.write_text("a secret of more than 16 bytes")

    def refused(self, line: int, words: str, text: str, *arguments: str, **variables: str):
        with self.subTest(text):
            self.config.write_text(text, encoding="utf-8")
            before = sorted(self.folder.rglob("*"))
            run = agent("--config", str(self.config), *arguments, **variables)
            self.assertEqual((run.returncode, run.stdout), (78, ""), run.stderr)
            self.assertIn(f"{self.config}:{line}: {words}", run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1)
            self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_a_home_directory_as_a_shell_writes_it_is_refused_at_a_start_as_well(self):
        for check in [("--check-config",), ()]:
            for line, member, text in [
                    (1, "state-dir", "state-dir: ~/state\n"), (2, "socket", "log-level: info\nsocket: ~/a.sock\n"),
                    (1, "secret-file", "secret-file: ~root/secret\n"),
                    (2, "previous-secret-file", "log-level: info\nprevious-secret-file: ~\n"),
                    (2, "client-cert", "client-key: ~/agent.key\nclient-cert: ~/agent.crt\n"),
                    (1, "push-tls-cert", "push-tls-cert: ~/agent.crt\npush-tls-key: ~/agent.key\n")]:
                # Without it the agent would begin to make directories here.
                self.refused(line, f"{member}: must be a path without ~", text, *check, HOME=str(self.folder))
        run = agent("--state-dir=~/state", "--check-config")
        self.assertEqual(run.returncode, 64)
        self.assertIn("--state-dir: must be a path without ~, which only a shell expands", run.stderr)

    def test_what_the_settings_name_is_opened_and_nothing_is_made(self):
        openly, short, link, wide = (self.folder / name for name in ["openly", "short", "link", "wide"])
        for path, mode, text in [(openly, 0o644, "a secret of more than 16 bytes"), (short, 0o600, "short")]:
            path.write_text(text)
            path.chmod(mode)
        link.symlink_to("/nowhere/at/all")
        wide.mkdir()
        wide.chmod(0o777)
        for line, words, text in [
                (1, "secret-file: the secret /nope: there is no such file", "secret-file: /nope\n"),
                (1, f"secret-file: the secret {openly}: its mode is 0644", f"secret-file: {openly}\n"),
                (1, f"secret-file: the secret {short}: ", f"secret-file: {short}\n"),
                (2, "previous-secret-file: the secret /nope: ",
                 f"secret-file: {self.secret}\nprevious-secret-file: /nope\n"),
                (1, f"state-dir: {openly}: it is not a directory", f"state-dir: {openly}\n"),
                (1, f"state-dir: {openly}/a/b: it is not a directory", f"state-dir: {openly}/a/b\n"),
                (1, f"state-dir: {link}: it is not a directory", f"state-dir: {link}\n"),
                (1, f"state-dir: {wide}: its mode is 0777", f"state-dir: {wide}\n"),
                (1, f"socket: {self.folder}/none/ is not a usable directory", f"socket: {self.folder}/none/a.sock\n"),
                (1, f"socket: {openly}: this is not a socket", f"socket: {openly}\n"),
                (1, "pkcs11-module: /nope.so cannot be read: No such file", "pkcs11-module: /nope.so\n")]:
            self.refused(line, words, text, "--check-config")
        self.config.write_text(f"secret-file: {self.secret}\nprevious-secret-file: {self.secret}\n")
        run = agent("--config", str(self.config), "--check-config")
        self.assertEqual(run.returncode, 78)
        self.assertIn("the previous secret and the present one are the same", run.stderr)

    def test_what_a_start_would_make_is_in_order_and_not_made(self):
        state = self.folder / "a" / "state"
        self.config.write_text(
            f"state-dir: {state}\nsocket: {state}/control.sock\nsecret-file: {self.secret}\n", encoding="utf-8")
        run = agent("--config", str(self.config), "--check-config")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertFalse(state.parent.exists())
        # The state of an agent, with a secret that it has made.
        state.mkdir(parents=True)
        state.chmod(0o700)
        (state / "secret").touch(mode=0o600)
        (state / "secret").write_bytes(b"s" * 32)
        self.assertEqual(agent(f"--state-dir={state}", "--check-config").returncode, 0)
        (state / "secret").chmod(0o644)
        self.assertEqual(agent(f"--state-dir={state}", "--check-config").returncode, 78)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_a_directory_that_cannot_be_made_is_said_and_not_made(self):
        theirs = self.folder / "theirs"
        theirs.mkdir()
        theirs.chmod(0o755)
        self.folder.chmod(0o755)
        for flag in ["state-dir", "socket"]:
            path = theirs / "new" if flag == "state-dir" else theirs / "a.sock"
            run = subprocess.run(
                [BIN_DIR / "oob-agent", f"--{flag}={path}", "--check-config"], capture_output=True, text=True,
                timeout=60, user=65_534, group=65_534, extra_groups=[], env=ENVIRONMENT)
            self.assertEqual(run.returncode, 78, run.stderr)
            self.assertRegex(run.stderr, rf"--{flag}: {theirs}.*Permission denied")


if __name__ == "__main__":
    unittest.main()
