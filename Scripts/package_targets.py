"""The rooms and targets of Package.swift, for scripts that check or draw them."""

import re
from dataclasses import dataclass
from pathlib import Path

# The folder that targets lie in, or the beginning of a target's declaration.
FOLDER_OR_DECLARATION = re.compile(
    r'^ {4}in: "(?P<folder>[^"]+)"|^ {4}(?: {4})?\.(?P<kind>executableTarget|target|systemLibrary|testTarget)\(', re.MULTILINE)
QUOTED = re.compile(r'"([^"]+)"')
# The line above a declaration.
COMMENT = re.compile(r"\n {4}(?: {4})?// ([^\n]+)\n\Z")


@dataclass(frozen=True)
class Declared:
    """A target as Package.swift declares it."""

    folder: str
    kind: str
    name: str
    # All quoted words of the declaration: what it depends on, and what else it names.
    words: frozenset[str]
    comment: str

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"


def declarations(root: Path, package: str = "Package.swift") -> list[Declared]:
    """All targets, in the order of the file."""
    text = (root / package).read_text(encoding="utf-8")
    found = list(FOLDER_OR_DECLARATION.finditer(text))
    listed, folder = [], ""
    for match, following in zip(found, [*found[1:], None]):
        if match["folder"]:
            folder = match["folder"]
            continue
        declaration = text[match.end():following.start() if following else None].split("\n    ])")[0]
        name, *words = QUOTED.findall(declaration)
        comment = COMMENT.search(text[:match.start()])
        listed.append(Declared(folder, match["kind"], name, frozenset(words), comment[1] if comment else ""))
    return listed


def rooms(root: Path) -> dict[str, list[Declared]]:
    """The targets of Sources by their rooms, the highest first."""
    found: dict[str, list[Declared]] = {}
    for each in declarations(root):
        if each.folder.startswith("Sources/"):
            found.setdefault(each.folder.removeprefix("Sources/"), []).append(each)
    return found


def room_comments(root: Path) -> dict[str, str]:
    """The comment line above each room of Sources."""
    text = (root / "Package.swift").read_text(encoding="utf-8")
    return dict((room, comment) for comment, room in
                re.findall(r'^// ([^\n]+)\npackage\.targets \+= targets\(\n    in: "Sources/(\w+)"', text, re.MULTILINE))
