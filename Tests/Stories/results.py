"""Says at the end of Scripts/test what ran: skipped tests with their reasons, and tests that a page cites as proof and
that did not pass.

usage: results.py FOLDER [--nothing-skipped]

FOLDER has the event streams of Swift Testing (NAME.jsonl, one for each part) and what recorded.py wrote (NAME.py.json, NAME.t.json);
those in FOLDER/again are of tests that ran before, with another store: of them only failures count. Each test that
failed is named behind all else, with its reason, as the output above can be long. A test that a page cites and that did not run is a failure; with --nothing-skipped each skipped test is one as well,
unless Tests/Stories/may-be-skipped.txt names it and says why; one that is cited has to run.
"""

import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import citations

# Lines about what is cited: more than that say no more than that a part did not run.
MOST = 40
# How many of the scripts that took the longest are named.
SLOWEST = 12
LONGEST_REASON = 600
EXCEPTIONS = Path(__file__).with_name("may-be-skipped.txt")


@dataclass(frozen=True)
class Test:
    """A test as the pages cite it: `place/name`."""

    place: str
    name: str
    outcome: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.place}/{self.name}"


class Stream:
    """One run of Swift Testing, from its event stream (version 0)."""

    def __init__(self, path: Path):
        self.name = path.stem
        self.closing = None
        self.known: dict[str, dict] = {}
        self.outcomes: dict[str, tuple[str, str]] = {}
        self.cases: dict[str, int] = defaultdict(int)
        self.issues: dict[str, str] = {}
        for line in path.read_text(encoding="utf-8").split("\n"):
            try:
                self.take(json.loads(line))
            except json.JSONDecodeError:
                break  # The run ended within the line.

    def take(self, entry: dict):
        payload = entry["payload"]
        if entry["kind"] == "test":
            if payload["kind"] == "function":
                self.known[payload["id"]] = payload
            return
        test = payload.get("testID")
        match payload["kind"]:
            case "testStarted":
                self.outcomes[test] = ("running", "")
            case "testCaseStarted":
                self.cases[test] += 1
            case "issueRecorded" if test is not None:
                self.issues.setdefault(test, " ".join(message["text"] for message in payload["messages"]))
            case "testSkipped":
                self.outcomes[test] = ("skipped", self.reason(payload))
            case "testEnded":
                failed = any(message["symbol"] == "fail" for message in payload["messages"])
                self.outcomes[test] = ("failed", self.issues.get(test, "")) if failed else ("passed", "")
            case "runEnded":
                self.closing = " ".join(message["text"] for message in payload["messages"])

    @staticmethod
    def reason(payload: dict) -> str:
        said = payload.get("_comments") or [message["text"].split(" skipped: ")[-1] for message in payload["messages"]]
        return " ".join(text.strip('"') for text in said)

    def tests(self):
        for test, about in self.known.items():
            outcome, reason = self.outcomes.get(test, ("not run", ""))
            if outcome == "passed" and about["isParameterized"] and not self.cases[test]:
                outcome, reason = "not run", "it had no arguments"
            # Pages name the file, which has its suite's name; a file may hold several suites.
            place = Path(about["sourceLocation"]["fileID"]).stem
            name = re.fullmatch(r"`?(.+?)`?\(.*?\)", about["name"], re.DOTALL)[1]
            yield Test(place, name, outcome, reason)


class Results:
    """What all parts ended with."""

    def __init__(self, folder: Path):
        self.streams = [Stream(path) for path in sorted(folder.glob("*.jsonl"))]
        self.swift = [test for stream in self.streams for test in stream.tests()]
        records = {path.name.removesuffix(".json"): json.loads(path.read_text(encoding="utf-8"))
                   for pattern in ["test_*.py.json", "*.t.json"] for path in sorted(folder.glob(pattern))}
        self.python = [Test(script, test["name"], test["outcome"], test["reason"])
                       for script, tests in records.items() for test in tests]
        self.all = self.swift + self.python
        # A test that was ended has none.
        self.seconds = {script: sum(test.get("seconds", 0) for test in tests) for script, tests in records.items()}
        self.again = [Stream(path) for path in sorted((folder / "again").glob("*.jsonl"))]

    @property
    def skipped(self) -> list[Test]:
        return [test for test in self.all if test.outcome == "skipped"]

    @property
    def failures(self) -> list[str]:
        """A line for each test that failed, with its reason; of an outside script its own tests, and it as a whole."""
        found = [("", test) for test in self.all]
        found += [(f" with {stream.name}", test) for stream in self.again for test in stream.tests()]
        return [f"failed{where}: {test}: {shortened(test.reason)}" for where, test in found if test.outcome == "failed"]

    @property
    def unfinished(self) -> list[Test]:
        """What was at work when its part or script was ended; a script's name is an argument of a Swift test."""
        return [test for test in self.all if test.outcome == "running"]

    def without_proof(self, text: str, *good: str) -> list[str]:
        """The tests that a page's text cites and whose outcome is none of the good ones, with what became of them."""
        cited = [(f"{place}/{name}", [test for test in tests if (test.place, test.name) == (place, name)])
                 for tests, names in [(self.swift, citations.swift_tests(text)), (self.python, citations.outside_tests(text))]
                 for place, name in names]
        cited += [(name, [test for test in self.python if test.place == name]) for name in citations.scripts(text)]
        return [doubt for name, found in cited
                for doubt in ([f"{test} {test.outcome}: {test.reason}".removesuffix(": ") for test in found
                               if test.outcome not in good] if found else [f"{name} did not run"])]


def shortened(reason: str) -> str:
    """One line, of which the middle is left out where it is long."""
    line, half = " ".join(reason.split()), LONGEST_REASON // 2
    return line if len(line) <= LONGEST_REASON else f"{line[:half]} [...] {line[-half:]}"


def exceptions(text: str) -> dict[str, str]:
    """`place/name: why` on each line but empty ones and comments."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def report(results: Results, pages: dict[str, str], scripts: set[str], allowed: dict[str, str],
           nothing_skipped: bool) -> tuple[list[str], bool]:
    """The lines to print, and whether all is well; `scripts` are those that must have run."""
    unrun = sorted(scripts - {test.place for test in results.python})
    cited = defaultdict(list)
    good = ["passed"] if nothing_skipped else ["passed", "skipped"]
    for page, text in pages.items():
        for doubt in results.without_proof(text, *good):
            if page not in cited[doubt]:
                cited[doubt].append(page)
    lines = [f"still running when it was ended: {test}" for test in results.unfinished]
    lines += [f"this script did not run: {script}" for script in unrun]
    doubts = [f"cited as proof by {', '.join(names)}, but: {doubt}" for doubt, names in cited.items()]
    lines += doubts[:MOST] + [f"... and {len(doubts) - MOST} more that are cited"] * (len(doubts) > MOST)
    reasons = defaultdict(list)
    for test in results.skipped:
        reasons[test.reason].append(str(test))
    for reason, names in reasons.items():
        lines.append(f"{len(names)} skipped, {reason}:")
        lines += [f"    {name}" for name in names]
    is_well = not cited and not unrun and not results.unfinished
    if nothing_skipped:
        forbidden = [str(test) for test in results.skipped if str(test) not in allowed]
        stale = sorted(set(allowed) - {str(test) for test in results.skipped})
        lines += [f"may not be skipped here: {name}" for name in forbidden]
        lines += [f"not skipped any more: take it out of {EXCEPTIONS.name}: {name}" for name in stale]
        is_well = is_well and not forbidden and not stale
    lines += results.failures
    slowest = sorted(results.seconds.items(), key=lambda script: -script[1])[:SLOWEST]
    if told := ", ".join(f"{script} {seconds:.0f} s" for script, seconds in slowest if seconds):
        lines.append(f"slowest scripts: {told}")
    lines += [f"{stream.name}: {stream.closing or 'was ended before its end.'}"
              for stream in results.streams + results.again]
    ran = sum(test.outcome == "passed" for test in results.python)
    scripts = len({test.place for test in results.python})
    lines.append(f"outside: {ran} tests in {scripts} scripts passed. Skipped in all: {len(results.skipped)}.")
    return lines, is_well


def main():
    folder = Path(sys.argv[1])
    pages = {str(page.relative_to(citations.ROOT)): text for page, text in citations.TEXTS.items()}
    allowed = exceptions(EXCEPTIONS.read_text(encoding="utf-8"))
    scripts = set(citations.SCRIPTS)
    lines, is_well = report(Results(folder), pages, scripts, allowed, "--nothing-skipped" in sys.argv[2:])
    print("\n".join(lines))
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
