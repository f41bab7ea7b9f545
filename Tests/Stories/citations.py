"""The pages, and the tests that they cite as proof."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# By name, which is a script's own in all folders.
SCRIPTS = {path.name: path for pattern in ["*/test_*.py", "Stories/texts/*.t"] for path in (ROOT / "Tests").glob(pattern)}
# The heading of a page's last section.
TESTS = re.compile(r"^## (?:\d+\. )?Tests$(?!.*^## )", re.MULTILINE | re.DOTALL)
# The changelog speaks of the past.
PAGES = sorted(page for pattern in ["*.md", "docs/**/*.md", "examples/*.md", "keys/*.md", "conformance/*.md"] for page in ROOT.glob(pattern)
               if page.name != "CHANGELOG.md")
# A code span may be broken across two lines.
TEXTS = {page: re.sub(r"\s+", " ", page.read_text(encoding="utf-8")) for page in PAGES}


def page(name: str) -> Path:
    """The page of that name, in whatever folder of docs."""
    (path,) = (ROOT / "docs").rglob(name)
    return path


def parts(page: Path) -> tuple[str, str]:
    """A page without its last section, which lists the tests that show what the others say, and that section."""
    text = page.read_text(encoding="utf-8")
    found = TESTS.search(text)
    return (text[:found.start()], text[found.start():]) if found else (text, "")


def swift_tests(text: str) -> list[tuple[str, str]]:
    """Of `Suite/what it says`, the two."""
    return re.findall(r"`(?!Scripts/)(\w+)/([^`/]+ [^`]+)`", text)


def python_tests(text: str) -> list[tuple[str, str]]:
    """Of `test_script.py/test_name`, the two."""
    return re.findall(r"`(test_\w+\.py)/(test_\w+)`", text)


def text_tests(text: str) -> list[tuple[str, str]]:
    """Of `script.t/What it says`, the two."""
    return re.findall(r"`([\w-]+\.t)/([^`]+)`", text)


def outside_tests(text: str) -> list[tuple[str, str]]:
    """The cited tests that are not in Swift."""
    return python_tests(text) + text_tests(text)


def scripts(text: str) -> list[str]:
    """Of `Tests/Folder/test_script.py`, in whatever command, the last."""
    return re.findall(r"Tests/\w+/(test_\w+\.py)", text)
