"""The pages: that what they point to exists, and that what they compute is so.

Run with `.venv/bin/python Tests/Stories/test_documents.py`.
"""

import contextlib
import io
import json
import re
import unittest
from pathlib import Path

import citations
import text_scripts
from citations import PAGES, ROOT, TEXTS


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors that a forge makes of a page's headings."""
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)}


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


class WhatThePagesPointTo(unittest.TestCase):
    """That what they cite as proof has also run is looked at by `results.py`, at the end of Scripts/test."""

    def missing(self, find, exists) -> list[str]:
        """What is found in the pages that does not exist; something must be found."""
        found = [(page.name, *(groups if isinstance(groups, tuple) else (groups,)))
                 for page, text in TEXTS.items() for groups in find(text)]
        self.assertGreater(len(found), 0)
        return [" ".join(each) for each in found if not exists(*each[1:])]

    def test_the_top_level_has_the_six_entries_that_people_look_for(self):
        wanted = {"Package.swift": True, "Sources": False, "Tests": False, "keys": False, "README.md": True, "systemd": False}
        self.assertEqual({name: (ROOT / name).is_file() for name in wanted if (ROOT / name).exists()}, wanted)

    def test_all_pages_are_looked_at(self):
        self.assertLess({"README.md", "push.md", "threat-model.md", "protocol.md"}, {page.name for page in PAGES})

    def test_every_swift_test_that_they_name_exists(self):
        sources = {}
        for file in (ROOT / "Tests").rglob("*.swift"):
            sources[file.stem] = sources.get(file.stem, "") + file.read_text(encoding="utf-8")
        missing = self.missing(
            citations.swift_tests, lambda suite, sentence: f"func `{sentence}`" in sources.get(suite, ""))
        self.assertEqual(missing, [])

    def test_every_python_test_that_they_name_exists(self):
        missing = self.missing(
            citations.python_tests,
            lambda file, name: f"def {name}(" in citations.SCRIPTS[file].read_text(encoding="utf-8"))
        self.assertEqual(missing, [])

    def test_every_test_of_a_text_script_that_they_name_exists(self):
        missing = self.missing(
            citations.text_tests, lambda file, title: file in text_scripts.SCRIPTS
            and title in text_scripts.titles(text_scripts.SCRIPTS[file]))
        self.assertEqual(missing, [])

    def test_every_script_that_they_name_exists(self):
        missing = self.missing(re.compile(r"Tests/\w+/test_\w+\.py").findall, lambda path: (ROOT / path).is_file())
        self.assertEqual(missing, [])

    def test_every_case_that_they_name_exists(self):
        cases = ROOT / "conformance" / "cases" / "approver" / "requests"
        missing = self.missing(
            re.compile(r"`((?!name|alerts|conform)[a-z0-9-]+\.yaml)`").findall, lambda name: (cases / name).is_file())
        self.assertEqual(missing, [])

    def test_every_file_and_heading_that_they_link_to_exists(self):
        for page, text in TEXTS.items():
            for path, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text):
                target = page.parent / path if path else page
                with self.subTest(page=page.name, path=path, anchor=anchor):
                    self.assertTrue(target.is_file(), "no such file")
                    self.assertTrue(not anchor or anchor in anchors(target), "no such heading")

    def test_every_heading_that_a_script_cites_exists(self):
        found = [(script, *cited) for folder in ("Benchmarks", "Fuzz", "Tests") for script in (ROOT / folder).rglob("*.py")
                 for cited in re.findall(r'(docs/[\w/-]+\.md) \("([^"]+)"\)', script.read_text(encoding="utf-8"))]
        self.assertGreater(len(found), 0)
        for script, page, heading in found:
            with self.subTest(script=script.name):
                self.assertIn(anchor(heading), anchors(ROOT / page))

    def test_every_path_that_they_name_exists(self):
        missing = self.missing(
            re.compile(r"`((?:Sources|Tests|Scripts|systemd)/[\w./+-]+)`").findall, lambda path: (ROOT / path).exists())
        self.assertEqual(missing, [])


class Interoperability(unittest.TestCase):
    """The page of what the standards leave open, and the libraries whose messages are tested."""

    PAGE = citations.page("interoperability.md")
    FIXTURES = ROOT / "Tests" / "Fixtures" / "Libraries"
    WORDS = {"taken", "ignored", "ignored and said", "refused"}

    def rows(self, heading: str) -> list[list[str]]:
        """The cells of the tables whose first column is headed so, in all of the page."""
        rows, is_one = [], False
        for line in self.PAGE.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
            is_one = bool(cells) and (is_one or cells[0] == heading)
            if is_one and cells[0] != heading and set(line) - set("|-"):
                rows.append(cells)
        return rows

    def test_the_table_of_libraries_is_that_of_the_fixtures(self):
        fixtures = []
        for file in self.FIXTURES.glob("*.json"):
            fixture = json.loads(file.read_text(encoding="utf-8"))
            fixtures.append([f"[{fixture['library']}](../../{file.relative_to(ROOT)})", fixture["version"],
                             fixture["language"], fixture["origin"], f"[source]({fixture['link']})"])
        self.assertGreater(len(fixtures), 0)
        self.assertEqual(sorted(self.rows("library")), sorted(fixtures))

    def test_a_fixture_that_was_recorded_names_its_script(self):
        for file in self.FIXTURES.glob("*.json"):
            fixture = json.loads(file.read_text(encoding="utf-8"))
            with self.subTest(library=fixture["library"]):
                self.assertIn(fixture["origin"], ("recorded", "written"))
                self.assertTrue(fixture["origin"] == "written" or (ROOT / fixture["how"]).is_file(), fixture["how"])

    def test_each_row_says_in_one_of_four_words_what_the_agent_does(self):
        rows = self.rows("what the standard leaves open")
        self.assertGreater(len(rows), 50)
        self.assertEqual([row for row in rows if len(row) != 4 or row[1] not in self.WORDS], [])


class Promises(unittest.TestCase):
    """The table of promises: whether what it names has also run, `results.py` says."""

    STORES, MOMENTS = ["SQLite", "PostgreSQL"], 6
    # The targets whose tests Scripts/test runs again with the store in PostgreSQL, or that are about it alone.
    BOTH = ["AuthenticatorTests", "ModelTests", "AgentAndSandboxTests", "PostgresStoreTests"]

    def setUp(self):
        body, notes = citations.parts(citations.page("reliability.md"))
        section = body.split("## Each promise, by store and moment\n")[1].split("\n## ")[0]
        lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
        self.rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        heads = [line for line in body.splitlines() if line.startswith("| promise | store | ")]
        self.moments = [cell.strip() for cell in heads[0].strip("|").split("|")][2:]
        self.tests = [[cell.strip() for cell in line.strip("|").split("|")]
                      for line in notes.splitlines() if re.match(r"\| \d \|", line)]

    def cells(self):
        """(promise, store, moment, cell) of each."""
        promise = ""
        for row in self.rows:
            promise = row[0] or promise
            for moment, cell in enumerate(row[2:]):
                yield promise, row[1], moment, cell

    def listed_for(self, promise: str, store: str, moment: int) -> list[str]:
        """What the table of tests has for a cell."""
        return [tests for number, stores, moments, tests in self.tests
                if number == promise[0] and stores in (store, "both") and self.moments[moment] in moments.split(", ")]

    def test_each_promise_has_a_cell_for_each_store_and_moment(self):
        promises = list(dict.fromkeys(promise for promise, *_ in self.cells()))
        self.assertEqual([promise[:2] for promise in promises], [f"{number}." for number in range(1, 7)])
        self.assertEqual([each[:3] for each in self.cells()], [
            (promise, store, moment) for promise in promises for store in self.STORES for moment in range(self.MOMENTS)])

    def test_each_cell_names_a_test_or_says_that_the_promise_does_not_hold(self):
        for promise, store, moment, cell in self.cells():
            with self.subTest(promise=promise, store=store, moment=moment):
                self.assertRegex(cell, r"^(yes|\*\*no\*\*)")
                found = self.listed_for(promise, store, moment)
                self.assertTrue(found or "yes" not in cell)
                for tests in found:
                    self.assertTrue(citations.swift_tests(tests) + citations.outside_tests(tests) + citations.scripts(tests))

    def test_what_a_cell_of_postgresql_names_runs_there(self):
        for promise, store, moment, cell in self.cells():
            for tests in self.listed_for(promise, store, moment) if store == "PostgreSQL" else []:
                with self.subTest(promise=promise, moment=moment, tests=tests):
                    self.assertTrue(
                        any(map(self.runs_there, citations.swift_tests(tests)))
                        or any(script.startswith(("test_postgres", "test_host", "test_heads"))
                               for script in [script for script, _ in citations.outside_tests(tests)] + citations.scripts(tests)))

    def runs_there(self, test: tuple[str, str]) -> bool:
        suite, sentence = test
        for target in self.BOTH:
            for file in (ROOT / "Tests" / "Unit" / target).rglob(f"{suite}.swift"):
                before = file.read_text(encoding="utf-8").split(f"func `{sentence}`")[0]
                return ".ofSQLite" not in before[before.rindex("@Test"):]
        return False


class HowThePagesAreBuilt(unittest.TestCase):
    # Lines of a terminal's window.
    SCREEN = 45
    README_WORDS = 600

    def test_the_readme_is_one_page_with_one_picture(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertLessEqual(len(text.split()), self.README_WORDS)
        self.assertEqual(text.count("!["), 1)

    def test_the_index_lists_every_page(self):
        index = ROOT / "docs" / "README.md"
        listed = {(index.parent / path).resolve() for path in re.findall(r"\]\(([\w./-]+\.md)", TEXTS[index])}
        self.assertEqual([str(page) for page in (ROOT / "docs").glob("*/*.md") if page not in listed], [])

    def test_names_of_tests_are_in_the_last_section(self):
        for page in PAGES:
            text = " ".join(citations.parts(page)[0].split())
            with self.subTest(page=page.name):
                self.assertEqual(citations.swift_tests(text) + citations.outside_tests(text), [])

    def test_the_last_section_lists_the_listed_for_each_section_once(self):
        for page in PAGES:
            body, tests = citations.parts(page)
            listed = re.findall(r"^- \[[^]]+\]\(#([^)]*)\)", tests, re.MULTILINE)
            with self.subTest(page=page.name):
                self.assertEqual(listed, list(dict.fromkeys(listed)))
                self.assertNotIn("[^", re.sub(r"```.*?```", "", body, flags=re.DOTALL))

    def test_a_long_page_begins_with_its_contents(self):
        for page in PAGES:
            lines = citations.parts(page)[0].splitlines()
            headings = [line[3:] for line in lines if line.startswith("## ")]
            top = set(re.findall(r"\]\(#([^)]*)\)", "\n".join(lines[:self.SCREEN])))
            if len(lines) > 3 * self.SCREEN:
                with self.subTest(page=page.name):
                    self.assertEqual([each for each in headings if each != "Contents" and anchor(each) not in top], [])

    def test_what_to_do_is_on_the_first_screen(self):
        for page in [*(ROOT / "docs").glob("how-to/*.md"), *(ROOT / "docs").glob("tutorial/*.md")]:
            with self.subTest(page=page.name):
                self.assertIn("\n```", "\n".join(page.read_text(encoding="utf-8").splitlines()[:self.SCREEN]))


class WhatThePagesSay(unittest.TestCase):
    def test_every_message_in_them_is_json(self):
        found = [block for page in PAGES for block in blocks(page, "json")]
        self.assertGreater(len(found), 10)
        for block in found:
            with self.subTest(block):
                json.loads(block)

    def test_the_worked_example_computes_what_it_says(self):
        page = citations.page("protocol.md")
        (program,) = blocks(page, "python")
        printed = io.StringIO()
        names = {}
        with contextlib.redirect_stdout(printed):
            exec(program, names)
        self.assertIn(f"`{printed.getvalue().strip()}`", TEXTS[page])
        digest = names["challenge"].hex()
        self.assertIn(" ".join(digest[at:at + 8] for at in range(0, 64, 8)), TEXTS[page])
        dump = "".join(re.findall(r"^[0-9a-f]{8}: ([0-9a-f ]{39})", page.read_text(encoding="utf-8"), re.MULTILINE))
        self.assertEqual(bytes.fromhex(dump), names["bytes"])
        vectors = json.loads((ROOT / "Tests/Fixtures/Vectors/challenge.json").read_text(encoding="utf-8"))
        self.assertEqual(vectors[0]["challenge"], printed.getvalue().strip())
        self.assertEqual(vectors[0]["transaction"], names["transaction"])


if __name__ == "__main__":
    unittest.main()
