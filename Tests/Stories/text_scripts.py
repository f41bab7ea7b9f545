"""Runs the text scripts of Tests/Stories/texts: commands in a file, each followed by what it prints.

usage: text_scripts.py [--update] [NAME...]

Without a name it runs all of them. With --update it writes what was printed into the files, for a reviewer to read.
OOB_BIN_DIR names the programs' directory.

The form is cram's, and prysk runs it: a line that begins with two spaces and `$ ` is a command for bash, `> ` goes on
with it, other lines with two spaces are what it prints on both outputs, and [N] is an exit status other than 0. A line
that ends with ` (re)` or ` (glob)` is a pattern. A line that begins with `# ` is a test's name; tests of a file run one
after the other in one shell, in an empty directory, with the functions of commands.bash. All else is for the reader.
A script that this machine cannot run ends with the function `skip`, which says why.
"""

import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from prysk.diff import esc, glob, regex, unified_diff
from prysk.test import cwd, test

from programs import BIN_DIR

FOLDER = Path(__file__).with_name("texts")
SCRIPTS = {path.name: path for path in FOLDER.glob("*.t")}
# Seconds for all of a script; recorded.py ends it later.
LIMIT = 500
# More lines than any script has.
ALL = 100_000
# What differs from run to run, and what stands for it.
MASKS = [
    (rb"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", b"<time>"),
    (rb"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", b"<time>"),
    (rb"\b(localhost|127\.0\.0\.1):\d{4,5}\b", rb"\1:<port>"),
]
# Identifiers, which are numbered in the order in which a script prints them: the same one has the same number.
IDENTIFIERS = [
    ("uuid", rb"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    ("id", rb"\b(?:[0-9a-f]{20}|[0-9a-f]{32})\b"),
]


def titles(path: Path) -> list[str]:
    """The names of a script's tests."""
    return re.findall(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)


def parts(lines: list[bytes]) -> list[list[bytes]]:
    """The lines before the first test, and those of each test, from its name on."""
    found = [[]]
    for line in lines:
        if line.startswith(b"# "):
            found.append([])
        found[-1].append(line)
    return found


class TextScript:
    """A script that has run."""

    def __init__(self, path: Path):
        self.path = path
        # Short, as a Unix socket's path has at most 107 bytes.
        folder = Path(tempfile.mkdtemp(prefix="oob-", dir="/tmp"))
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TZ": "UTC", "COLUMNS": "120",
            "OOB_BIN_DIR": str(BIN_DIR), "BASH_ENV": str(FOLDER / "commands.bash"), "TESTDIR": str(FOLDER)}
        shell = ["timeout", "--kill-after=20", str(LIMIT), "/bin/bash"]
        try:
            with cwd(folder):
                self.expected, printed, _ = test(
                    path.read_bytes(), shell=shell, env=environment, cleanenv=False)
            # prysk has no output of a script that exits with 80.
            self.skipped = (folder / "skipped").read_text(encoding="utf-8").strip() if printed is None else ""
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.numbers = {kind: {} for kind, _ in IDENTIFIERS}
        self.printed = self.expected if self.skipped else [self.masked(line, folder) for line in printed]

    def masked(self, line: bytes, folder: Path) -> bytes:
        if not line.startswith(b"  ") or line.startswith((b"  $ ", b"  > ")):
            return line
        line = line.replace(str(folder).encode(), b"<folder>")
        for pattern, word in MASKS:
            line = re.sub(pattern, word, line)
        for kind, pattern in IDENTIFIERS:
            line = re.sub(pattern, lambda found, kind=kind: self.numbered(kind, found[0]), line)
        return line

    def numbered(self, kind: str, identifier: bytes) -> bytes:
        numbers = self.numbers[kind]
        return b"<%s %d>" % (kind.encode(), numbers.setdefault(identifier, len(numbers) + 1))

    def differences(self, context: int = 3) -> list[list[bytes]]:
        """For each part, the lines of a unified diff, which is empty where it was as expected."""
        return [list(unified_diff(expected, printed, n=context, matchers=[esc, glob, regex]))
                for expected, printed in zip(parts(self.expected), parts(self.printed), strict=True)]

    def update(self):
        """Writes what was printed into the script; patterns that match stay."""
        text = b""
        for expected, difference in zip(parts(self.expected), self.differences(ALL), strict=True):
            # Behind a diff's heading, all lines of the part.
            text += b"".join([line[1:] for line in difference[3:] if line[:1] in b" +"] if difference else expected)
        self.path.write_bytes(text)


class TextScriptTest(unittest.TestCase):
    """One test of a script; the first of them runs the script."""

    ran: dict[Path, TextScript] = {}

    def __init__(self, path: Path, number: int, title: str):
        super().__init__("run_part")
        self.path, self.number, self.title = path, number, title

    def id(self) -> str:
        return f"{self.path.stem}.{self.title}"

    __str__ = id

    def run_part(self):
        if self.path not in self.ran:
            self.ran[self.path] = TextScript(self.path)
        script = self.ran[self.path]
        if script.skipped:
            self.skipTest(script.skipped)
        found = script.differences()
        # What goes before the first test is everybody's.
        difference = b"".join(found[0] + found[self.number])
        if difference:
            self.fail(f"{self.path.name} prints otherwise:\n{difference.decode(errors='replace')}")


def suite(path: Path) -> unittest.TestSuite:
    return unittest.TestSuite(
        TextScriptTest(path, number, title) for number, title in enumerate(titles(path), start=1))


def main():
    arguments = sys.argv[1:]
    is_update = "--update" in arguments
    names = [name for name in arguments if name != "--update"]
    if unknown := [name for name in names if name.removesuffix(".t") + ".t" not in SCRIPTS]:
        sys.exit(f"text_scripts.py: no such script: {', '.join(unknown)}; there are {', '.join(sorted(SCRIPTS))}")
    paths = [SCRIPTS[name.removesuffix(".t") + ".t"] for name in names] or sorted(SCRIPTS.values())
    if is_update:
        for path in paths:
            script = TextScript(path)
            if script.skipped:
                print(f"{path.name} was skipped: {script.skipped}")
            script.update()
        return
    tests = unittest.TestSuite(suite(path) for path in paths)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful())


if __name__ == "__main__":
    main()
