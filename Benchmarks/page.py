#!/usr/bin/env python3
"""Writes what the last `make bench` and `make bench-large` measured: the table and the plots into
docs/explanation/performance.md, and how each figure was measured into the README of this folder.

usage: page.py
"""

import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from bench import RESULTS, groups, large_groups  # noqa: E402
from plots import Line, plot  # noqa: E402
from reference import Reference  # noqa: E402
from rows import Row, methods, table  # noqa: E402
from world import ROOT  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "performance.md"
METHODS = ROOT / "Benchmarks" / "README.md"
IMAGES = ROOT / "docs" / "images"
# Of each plot: its file, its title, what is below it, of each line its name, its points and its unit, and whether the axis
# is logarithmic.
PLOTS = [
    ("throughput", "Durable approvals over clients", "clients, each with an enrollment of its own",
     [("per second", "throughput", 1)], True),
    ("hosts", "Durable approvals of several hosts on one PostgreSQL", "hosts, on one machine with the database",
     [("acknowledged per second", "approvals over hosts", 1), ("delivered per second", "deliveries over hosts", 1)], False),
    ("enrollments", "Memory and start over enrollments", "enrollments",
     [("private memory, MB", "memory over enrollments", 1e6), ("exec → ready, ms", "start over enrollments", 1e-3)], True),
    ("history", "Receive + decide over history", "past requests (1 stands for none)",
     [("ms CPU", "CPU over history", 1e-3)], True),
]


def measured() -> tuple[list[Row], dict, dict]:
    """The rows in the table's order, the points of the plots, and the machine."""
    if not RESULTS.exists():
        sys.exit("nothing was measured yet: make bench")
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    names = [*groups(Reference(), False), *large_groups(False)]
    chosen = [found["groups"][name] for name in names if name in found["groups"]]
    points: dict = {}
    for group in chosen:
        for line, places in group["points"].items():
            points.setdefault(line, {}).update(places)
    return [row(members) for group in chosen for members in group["rows"]], points, found["machine"]


def row(members: dict) -> Row:
    return Row(**{name: value for name, value in members.items() if name != "is_met"})


def draw(points: dict):
    for name, title, below, lines, is_log in PLOTS:
        if all(key in points for _, key, _ in lines):
            curves = [Line(label, {float(x): y / unit for x, y in points[key].items()}) for label, key, unit in lines]
            (IMAGES / f"performance-{name}.svg").write_text(plot(title, below, curves, is_log), encoding="utf-8")


def write(page: Path, name: str, content: str):
    """Replaces what is between two comments of a page."""
    begin, end = f"<!-- {name}: Benchmarks/page.py writes this -->", f"<!-- end of {name} -->"
    text = re.sub(f"{re.escape(begin)}.*{re.escape(end)}", lambda _: f"{begin}\n{content}\n{end}",
                  page.read_text(encoding="utf-8"), flags=re.S)
    page.write_text(text, encoding="utf-8")


def main():
    rows, points, about = measured()
    machine = ", ".join(f"{name}: {value}" for name, value in about.items() if name != "programs")
    write(PAGE, "table", f"{table(rows)}\n\n{machine[:1].upper()}{machine[1:]}.")
    write(METHODS, "methods", methods(rows))
    draw(points)


if __name__ == "__main__":
    main()
