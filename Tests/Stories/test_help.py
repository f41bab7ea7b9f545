"""What the programs say about themselves: help as it is in Tests/Fixtures/Cases/help, man pages made of it, and the page
docs/reference/commands.md.

Run with `.venv/bin/python Tests/Stories/test_help.py`; with `--update` (`make help-texts`) it writes what the programs
say now into Tests/Fixtures/Cases/help, for a reviewer to read. OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from citations import page
from programs import BIN_DIR, temporary_folder

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "Tests" / "Fixtures" / "Cases" / "help"
PROGRAMS = {"oobctl": 1, "oob-issuer": 1, "oob-conform": 1, "oob-inbox": 1, "oob-agent": 8}
STATUS = re.compile(r"^ +(\d+)  (\S.*)$", re.MULTILINE)
# What swift-argument-parser adds to each program.
NOT_OURS = {"help"}


def said(*words: str) -> str:
    run = subprocess.run([BIN_DIR / words[0], *words[1:]], capture_output=True, text=True, timeout=60,
                         env={"PATH": "/usr/bin:/bin", "COLUMNS": "80"})
    if run.returncode != 0:
        raise AssertionError(f"{words} exits {run.returncode}: {run.stderr}")
    return run.stdout


def commands() -> dict[tuple[str, ...], dict]:
    """All commands of all programs by their words, with what they take."""
    found = {}

    def walk(words: tuple[str, ...], command: dict):
        found[words] = command
        for each in command.get("subcommands", []):
            if each["commandName"] not in NOT_OURS:
                walk((*words, each["commandName"]), each)

    for program in PROGRAMS:
        walk((program,), json.loads(said(program, "--experimental-dump-help"))["command"])
    return found


COMMANDS = commands()


def texts() -> dict[str, str]:
    return {".".join(words) + ".txt": said(*words, "--help") for words in COMMANDS}


def section(heading: str) -> str:
    """A section of the page of commands."""
    text = page("commands.md").read_text(encoding="utf-8")
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def statuses(text: str) -> dict[int, str]:
    return {int(number): meaning for number, meaning in STATUS.findall(text)}


class Help(unittest.TestCase):
    def test_every_command_says_what_is_kept(self):
        kept = {path.name: path.read_text(encoding="utf-8") for path in KEPT.glob("*.txt")}
        now = texts()
        self.assertEqual(sorted(now), sorted(kept), "make help-texts")
        for name, text in now.items():
            with self.subTest(name):
                self.assertEqual(text, kept[name], "make help-texts, where that is meant")

    def test_no_line_is_longer_than_a_terminal(self):
        for name, text in texts().items():
            self.assertEqual([line for line in text.splitlines() if len(line) > 80], [], name)

    def test_every_command_and_all_that_it_takes_is_explained_in_sentences(self):
        for words, command in COMMANDS.items():
            taken = command.get("arguments", [])
            for name, text in [("the command", command.get("abstract", "")),
                               *((each["valueName"], each.get("abstract", "")) for each in taken)]:
                with self.subTest(" ".join(words), argument=name):
                    self.assertRegex(text, r"^[^ ].*\.$")

    def test_each_program_says_the_version_that_the_package_has(self):
        made = re.search(r'text = "(.*)"', (ROOT / "Sources/Platform/Versioning/SoftwareVersion.swift").read_text(encoding="utf-8"))
        for program in PROGRAMS:
            kind = " with personas, not for production" if program == "oob-agent" else ""
            self.assertEqual(said(program, "--version"), f"{made[1]}{kind}\n")

    def test_the_page_has_the_exit_statuses_of_each_program(self):
        for program in PROGRAMS:
            table = re.findall(r"^\| (\d+) \| .* \|$", section(f"Exit statuses of {program}"), re.MULTILINE)
            self.assertEqual([int(number) for number in table], list(statuses(said(program, "--help"))), program)

    def test_the_page_has_every_command(self):
        for program in ["oobctl", "oob-issuer", "oob-conform"]:
            cells = re.findall(r"^\| (`.*?) \|", section(f"The commands of {program}"), re.MULTILINE)
            named = [name for cell in cells for name in re.findall(r"`(.*?)`", cell)]
            commands = [words[1:] for words in COMMANDS if words[0] == program and len(words) > 1]
            leaves = [" ".join(each) for each in commands
                      if not any(other[:len(each)] == each and other != each for other in commands)]
            self.assertEqual(sorted(named), sorted(leaves), program)

    def test_each_status_that_a_program_exits_with_is_in_its_help(self):
        for program, source in [("oobctl", "Sources/Agent/Control/Messages/ExitStatus.swift"),
                                ("oob-agent", "Sources/Agent/oob-agent/Settings/StartError.swift")]:
            numbers = re.findall(r"^ +case \w+ = (\d+)$", (ROOT / source).read_text(encoding="utf-8"), re.MULTILINE)
            self.assertGreater(len(numbers), 9)
            self.assertEqual({int(number) for number in numbers} | {0}, set(statuses(said(program, "--help"))))


    def test_the_commands_that_take_request_ids_have_the_flags_that_oobctl_knows_such_ids_by(self):
        source = (ROOT / "Sources/Agent/oobctl/Options/DashedIDs.swift").read_text(encoding="utf-8")
        named, flags = (set(re.findall(r'"([^"]+)"', re.search(rf"let {name}: Set = (.*)", source)[1]))
                        for name in ["commands", "flags"])
        taking = {words[1]: command for words, command in COMMANDS.items()
                  if any(each["kind"] == "positional" and "jti" in each["abstract"] for each in command.get("arguments", []))}
        self.assertEqual(named, set(taking))
        self.assertEqual(flags, {"--" + name["name"] for command in taking.values() for each in command["arguments"]
                                 if each["kind"] == "flag" for name in each["names"] if name["kind"] == "long"}
                         | {"-h"})
        for command in taking.values():
            self.assertLessEqual({name["name"] for each in command["arguments"] for name in each.get("names", [])
                                  if name["kind"] == "short"}, {"h", "o"}, "an ID of one more letter would be an option")


class ManPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        subprocess.run([ROOT / "Scripts" / "man", cls.folder], check=True, timeout=300,
                       env={**os.environ, "OOB_BIN_DIR": str(BIN_DIR), "SOURCE_DATE_EPOCH": "86400"})
        cls.pages = {program: cls.folder / f"man{section}" / f"{program}.{section}"
                     for program, section in PROGRAMS.items()}

    def rendered(self, program: str, *command: str) -> str:
        run = subprocess.run([*command, self.pages[program]], capture_output=True, text=True, timeout=60,
                             env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
        self.assertEqual((run.returncode, run.stderr), (0, ""), program)
        return re.sub(r"\x1b\[[0-9;]*m|.\x08", "", run.stdout)

    def test_the_units_name_pages_that_there_are(self):
        named = {name for unit in ROOT.glob("systemd/*/*.service")
                 for name in re.findall(r"man:(\S+)", unit.read_text(encoding="utf-8"))}
        self.assertEqual(named, {f"{program}({section})" for program, section in PROGRAMS.items()
                                 if program not in ("oobctl", "oob-conform", "oob-inbox")})

    @unittest.skipUnless(shutil.which("mandoc"), "needs mandoc")
    def test_mandoc_finds_nothing_to_say(self):
        for program, page in self.pages.items():
            run = subprocess.run(["mandoc", "-T", "lint", page], capture_output=True, text=True, timeout=60)
            # The pages refer to each other, and are not installed here.
            lines = [line for line in run.stdout.splitlines() if "referenced manual not found" not in line]
            self.assertEqual((lines, run.stderr), ([], ""), program)

    @unittest.skipUnless(shutil.which("groff"), "needs groff")
    def test_groff_shows_them_without_a_warning_and_with_all_that_help_says(self):
        for program in PROGRAMS:
            text = self.rendered(program, "groff", "-ww", "-mdoc", "-Tutf8", "-P-c", "-rLL=2000n")
            for words, command in COMMANDS.items():
                if words[0] != program:
                    continue
                for argument in command.get("arguments", []):
                    names = [name for name in argument.get("names", []) if name["kind"] == "long"]
                    for name in names:
                        self.assertIn("--" + name["name"], text, words)
                    self.assertIn(" ".join(argument["abstract"].split()), " ".join(text.split()), words)
            section = re.search(r"^EXIT STATUS\n(.*?)^[A-Z]", text, re.DOTALL | re.MULTILINE)[1]
            found = {int(number): meaning for number, meaning in re.findall(r"^ +(\d+) +(\S.*)$", section, re.MULTILINE)}
            self.assertEqual(found, statuses(said(program, "--help")))
            # The sandbox reads no variable.
            variables = [] if program == "oob-issuer" else ["ENVIRONMENT"]
            for title in ["NAME", "SYNOPSIS", "DESCRIPTION", *variables, "EXAMPLES", "SEE ALSO"]:
                self.assertRegex(text, rf"(?m)^{title}$")
            self.assertIn("January 2, 1970", text)

    @unittest.skipUnless(shutil.which("groff"), "needs groff")
    def test_every_variable_and_option_in_what_is_added_by_hand_is_one_of_ours(self):
        sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "Sources").rglob("*.swift"))
        options = {"--" + name["name"] for command in COMMANDS.values() for argument in command.get("arguments", [])
                   for name in argument.get("names", []) if name["kind"] == "long"}
        for program in PROGRAMS:
            added = (ROOT / "docs" / "man" / f"{program}.mdoc").read_text(encoding="utf-8").replace("\\-", "-")
            for variable in re.findall(r"\bEv ([A-Z0-9_]+)", added):
                self.assertRegex(sources, rf"\b{variable}\b", program)
            for option in re.findall(r"--[a-z][a-z-]+", added):
                self.assertIn(option, options, program)


class CommandsPage(unittest.TestCase):
    @unittest.skipUnless(shutil.which("man") and shutil.which("make"), "needs man and make")
    def test_its_commands_for_completion_and_man_pages_work(self):
        commands = "".join(re.findall(r"^```\n(.*?)^```$", section("Completion and man pages"), re.DOTALL | re.MULTILINE))
        home = temporary_folder(type(self))
        run = subprocess.run(["bash", "-euc", commands], cwd=ROOT, capture_output=True, text=True, timeout=300,
                             env={"PATH": f"{BIN_DIR}:/usr/bin:/bin", "HOME": str(home), "OOB_BIN_DIR": str(BIN_DIR),
                                  "LANG": "C.UTF-8"})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("OOBCTL(1)", run.stdout)
        scripts = [path for path in home.rglob("*oobctl*") if "man" not in path.parts]
        self.assertEqual(len(scripts), 3)
        for path in scripts:
            shell = "bash" if "bash" in str(path) else "fish" if "fish" in str(path) else "zsh"
            self.assertEqual(path.read_text(), said("oobctl", "--generate-completion-script", shell))


def update():
    KEPT.mkdir(parents=True, exist_ok=True)
    for path in KEPT.glob("*.txt"):
        path.unlink()
    for name, text in texts().items():
        (KEPT / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
