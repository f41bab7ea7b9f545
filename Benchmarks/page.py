#!/usr/bin/env python3
"""Writes what the last `make bench` and `make bench-large` measured into docs/explanation/performance.md: the table,
how each figure was measured, and the plots.

usage: page.py
"""

import json
import re
import sys

sys.dont_write_bytecode = True

from plots import Line, plot  # noqa: E402
from rows import Row, methods, table  # noqa: E402
from world import ROOT, WORK  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "performance.md"
IMAGES = ROOT / "docs" / "images"
# Of each plot: its file, its title, what is below it, and of each line its name, its points and its unit.
PLOTS = [
    ("throughput", "Durable approvals over clients", "clients, each with an enrollment of its own",
     [("per second", "throughput", 1)]),
    ("enrollments", "Memory and start over enrollments", "enrollments",
     [("private memory, MB", "memory over enrollments", 1e6), ("exec → ready, ms", "start over enrollments", 1e-3)]),
    ("history", "Receive + decide over history", "past requests (1 stands for none)",
     [("ms CPU", "CPU over history", 1e-3)]),
]


def measured() -> dict:
    """Of both runs, as far as there was one; the large one has the later word."""
    found: dict = {"machine": {}, "rows": [], "points": {}}
    for name in ("results.json", "large.json"):
        if (WORK / name).exists():
            each = json.loads((WORK / name).read_text(encoding="utf-8"))
            found["machine"] = found["machine"] or each["machine"]
            found["rows"] += each["rows"]
            for line, points in each["points"].items():
                found["points"].setdefault(line, {}).update(points)
    if not found["rows"]:
        sys.exit("nothing was measured yet: make bench")
    return found


def row(members: dict) -> Row:
    return Row(**{name: value for name, value in members.items() if name != "is_met"})


def draw(points: dict):
    for name, title, below, lines in PLOTS:
        if all(key in points for _, key, _ in lines):
            curves = [Line(label, {float(x): y / unit for x, y in points[key].items()}) for label, key, unit in lines]
            (IMAGES / f"performance-{name}.svg").write_text(plot(title, below, curves), encoding="utf-8")


def replaced(page: str, name: str, content: str) -> str:
    """What is between two comments of a page."""
    begin, end = f"<!-- {name}: Benchmarks/page.py writes this -->", f"<!-- end of {name} -->"
    return re.sub(f"{re.escape(begin)}.*{re.escape(end)}", lambda _: f"{begin}\n{content}\n{end}", page, flags=re.S)


def main():
    found = measured()
    rows = [row(members) for members in found["rows"]]
    machine = ", ".join(f"{name}: {value}" for name, value in found["machine"].items() if name != "programs")
    page = PAGE.read_text(encoding="utf-8")
    page = replaced(page, "table", f"{table(rows)}\n\n{machine[:1].upper()}{machine[1:]}.")
    page = replaced(page, "methods", methods(rows))
    PAGE.write_text(page, encoding="utf-8")
    draw(found["points"])


if __name__ == "__main__":
    main()
