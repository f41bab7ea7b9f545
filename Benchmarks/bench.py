#!/usr/bin/env python3
"""Measures how fast and how small the programs are, and prints the table of docs/explanation/performance.md.

usage: bench.py [--only GROUP]... [--large] [--quick]

OOB_BIN_DIR names the programs' directory (.build/deb/release unless given), and BENCH_DIR a short path on the disk that
counts (/tmp unless given). What was measured stays in .build/bench, for page.py.
"""

import argparse
import json
import sys
import time

sys.dont_write_bytecode = True

import approvals  # noqa: E402
import cardholders  # noqa: E402
import history  # noqa: E402
import hosts  # noqa: E402
import inbox  # noqa: E402
import latency  # noqa: E402
import load  # noqa: E402
import many  # noqa: E402
import small  # noqa: E402
from reference import Reference, machine  # noqa: E402
from rows import Row, methods, number, table  # noqa: E402
from world import WORK, end_in_order  # noqa: E402

RESULTS = WORK / "results.json"


def groups(reference: Reference, quick: bool) -> dict:
    """What can be measured, by name: each gives rows, and points of plots by their names."""
    few = (10, 1) if quick else (40, 10)
    clients = {1: 20, 8: 80, 64: 128} if quick else {1: 200, 8: 800, 64: 2_560}
    return {
        "processor": lambda: ([approvals.processor_time(reference, *few)], {}),
        "instructions": lambda: (approvals.counted_rows(5 if quick else 20), {}),
        "clients": lambda: load.busy(reference, clients, 400 if quick else 20_000),
        "approve": lambda: ([latency.approve_row(100, 2 if quick else 20)], {}),
        "push": lambda: ([latency.push_row(50, 2 if quick else 20)], {}),
        "enrollments": lambda: many.rows((1, 100, 200) if quick else (1, 1_000, 10_000), 1 if quick else 5),
        "history": lambda: history.past_row((0, 1_000, 10_000) if quick else (0, 10_000, 100_000), *few),
        "day": lambda: ([history.day_row(2_000 if quick else 18_000, *((10, 1) if quick else (40, 9)))], {}),
        "waiting": lambda: ([history.waiting_row(*((10, 10, 1) if quick else (50, 20, 3)))], {}),
        "hosts": lambda: hosts.rows(*(({1: 40, 2: 40}, 2) if quick else ({1: 1_600, 2: 1_600, 4: 1_600}, 15))),
        "inbox": lambda: (inbox.rows(50 if quick else 200, 10 if quick else 50), {}),
        "whole": lambda: (small.rows(5 if quick else 25, 5 if quick else 30), {}),
    }


def large_groups(quick: bool) -> dict:
    return {
        "past": lambda: history.large(*((20_000, 10, 1) if quick else (1_000_000, 40, 5))),
        "cardholders": lambda: cardholders.rows(*((100_000, 500_000, 5) if quick else (1_000_000, 10_000_000, 9))),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="a group of measures, by name")
    parser.add_argument("--large", action="store_true", help="what takes millions of rows, and only that")
    parser.add_argument("--quick", action="store_true", help="with so few repetitions that it says little")
    how = parser.parse_args()
    end_in_order()
    reference = Reference()
    chosen = large_groups(how.quick) if how.large else groups(reference, how.quick)
    if unknown := set(how.only) - set(chosen):
        parser.error(f"no group {', '.join(unknown)}: there are {', '.join(chosen)}")
    began = time.monotonic()
    found = measured(reference, {name: chosen[name] for name in how.only or chosen})
    rows = [row for rows in found.values() for row in rows]
    print(table(rows), methods(rows), ", ".join(f"{name}: {value}" for name, value in about(reference).items()),
          sep="\n\n")
    print(f"\nin {time.monotonic() - began:.0f} s")


def about(reference: Reference) -> dict:
    return {**machine(), "floor, µs": number(reference.floor * 1e6),
            "SQLite commits per second": number(reference.commit_rate)}


def measured(reference: Reference, chosen: dict) -> dict[str, list[Row]]:
    """The rows of each group, which are kept as soon as they are there."""
    reference.measure()
    found = {}
    for name, measure in chosen.items():
        start = time.monotonic()
        found[name], points = measure()
        reference.measure()
        keep(name, {"rows": [row.json for row in found[name]], "points": points}, about(reference))
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    return found


def keep(name: str, group: dict, about: dict):
    """For page.py; groups that are not measured now stay as they were."""
    WORK.mkdir(parents=True, exist_ok=True)
    before = json.loads(RESULTS.read_text(encoding="utf-8"))["groups"] if RESULTS.exists() else {}
    results = {"machine": about, "groups": {**before, name: group}}
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
