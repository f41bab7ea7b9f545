"""The case files against the protocol page: what each cites stands there, and what no case shows is known.

Run with `.venv/bin/python Tests/Stories/test_conformance.py`; with --missing it prints the statements without a case.
"""

import re
import sys
import unittest
from pathlib import Path

import yaml

import citations

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "conformance/cases"
PAGE = citations.parts(ROOT / "docs/reference/protocol.md")[0]
WITHOUT = ROOT / "conformance/without-case.yaml"


def spaced(text: str) -> str:
    return " ".join(text.split())


def sections() -> dict[str, str]:
    """The text of each section by its number, with single spaces."""
    text, section, found = PAGE, None, {}
    for line in text.splitlines():
        heading = re.match(r"#{2,3} ([\d.]*\d)\.? ", line)
        if heading:
            section = heading[1]
        if section is not None:
            found[section] = found.get(section, "") + " " + line
    return {number: spaced(body) for number, body in found.items()}


def statements() -> list[tuple[str, str]]:
    """(section, statement) for each sentence, list item and row of a table in sections 2 to 13."""
    found: list[tuple[str, str]] = []
    section, paragraph, is_code = None, [], False

    def end():
        for sentence in re.split(r"(?<=[.:])\s+(?=[A-Z`*(])", " ".join(paragraph)):
            if sentence.strip():
                found.append((section, spaced(sentence)))
        paragraph.clear()

    for line in PAGE.splitlines():
        heading = re.match(r"#{2,3} ([\d.]*\d)\.? ", line)
        if line.startswith("```"):
            end()
            is_code = not is_code
        elif is_code:
            continue
        elif line.startswith("#"):
            end()
            section = heading[1] if heading else section
        elif section is None or not 2 <= int(section.split(".")[0]) <= 13:
            paragraph.clear()
        elif line.startswith("|"):
            end()
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                found.pop()  # What stands above it is the table's header.
            else:
                found.append((section, spaced(" | ".join(cell for cell in cells if cell))))
        elif not line.strip():
            end()
        elif line.startswith("- "):
            end()
            paragraph.append(line[2:])
        else:
            paragraph.append(line)
    return found


def cases() -> list[dict]:
    """Each case with its `path`."""
    return [{**yaml.safe_load(path.read_text(encoding="utf-8")), "path": path}
            for path in sorted(CASES.rglob("*.yaml"))]


def without() -> dict[str, str]:
    """The reason by statement, for those that no case shows."""
    listed = yaml.safe_load(WITHOUT.read_text(encoding="utf-8"))
    return {spaced(statement): group["reason"] for group in listed for statement in group["statements"]}


def is_shown(statement: str, cited: set[str]) -> bool:
    return any(words in statement or statement in words for words in cited)


class TheCases(unittest.TestCase):
    def test_each_cites_words_of_its_section(self):
        found = sections()
        for case in cases():
            with self.subTest(case["path"].name):
                section = str(case["section"])
                self.assertIn(section, found)
                self.assertIn(spaced(case["statement"]), found[section])

    def test_each_says_what_it_shows_and_how_strictly(self):
        for case in cases():
            with self.subTest(case["path"].name):
                self.assertLess(len(case["title"]), 160)
                self.assertIn(case.get("level", "must"), ["must", "should"])

    def test_each_name_is_used_once(self):
        for side in ["issuer", "approver"]:
            names = [path.name for path in (CASES / side).rglob("*.yaml")]
            self.assertEqual(len(names), len(set(names)))

    def test_each_statement_of_the_page_has_a_case_or_a_reason_why_not(self):
        cited, reasons = {spaced(case["statement"]) for case in cases()}, without()
        for section, statement in statements():
            with self.subTest(section=section, statement=statement):
                if is_shown(statement, cited):
                    self.assertNotIn(statement, reasons, "it has a case: take it out of without-case.yaml")
                else:
                    self.assertIn(statement, reasons, "it has no case and no reason in without-case.yaml")

    def test_each_reason_is_about_a_statement_of_the_page(self):
        found = {statement for _, statement in statements()}
        for statement in without():
            with self.subTest(statement):
                self.assertIn(statement, found)

    def test_each_persona_of_the_bench_has_a_case(self):
        text = "\n".join(path.read_text(encoding="utf-8") for path in (CASES / "issuer").glob("*.yaml"))
        source = (ROOT / "Sources/Agent/Personas/Persona.swift").read_text(encoding="utf-8")
        wrong = set(re.findall(r"case \.(\w+):\s*\(\.wrong,", source))
        self.assertGreater(len(wrong), 10)
        for persona in wrong - {"oldAssertion"}:
            self.assertIn(f"wrong: {persona}", text)
        # The others sign nothing wrong: each is played by the case of this name.
        others = {
            "ask": "approval", "autoApprove": "approval", "autoDeny": "deny", "denyAsFraud": "deny-suspected-fraud",
            "neverAnswers": "expiry-ends-the-purchase", "oldAssertion": "old-assertion",
            "answersTwice": "approve-again", "approvesThenDenies": "approve-then-deny",
            "answersAfterExpiry": "decision-after-expiry", "crashesAfterSigning": "approve-again-after-next",
            "floodsFetch": "fetch-often", "disappears": "unenroll-with-open-request",
        }
        (names,) = re.findall(r"package enum Persona.*?\{\n(.*?)\n\n", source, re.DOTALL)
        personas = set(re.findall(r"\b(?!case\b)[a-z]\w+", names))
        self.assertEqual(personas, wrong | set(others))
        for name in others.values():
            self.assertTrue((CASES / "issuer" / f"{name}.yaml").exists(), name)


if __name__ == "__main__":
    if "--missing" in sys.argv:
        cited, reasons = {spaced(case["statement"]) for case in cases()}, without() if WITHOUT.exists() else {}
        for section, statement in statements():
            if not is_shown(statement, cited) and statement not in reasons:
                print(section, "::", statement)
    else:
        unittest.main()
