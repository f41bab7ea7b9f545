#!/usr/bin/env python3
"""Measures how fast and how small the programs are, and prints the table of docs/explanation/performance.md.

usage: bench.py [--only GROUP]... [--large] [--quick]

OOB_BIN_DIR names the programs' directory. What was measured stays in .build/bench/results.json, for plots.py.
"""

import argparse
import json
import sys
import time

sys.dont_write_bytecode = True

import approvals  # noqa: E402
from reference import Reference, machine  # noqa: E402
from rows import Row, methods, number, table  # noqa: E402
from world import WORK  # noqa: E402


def groups(reference: Reference, quick: bool) -> dict:
    """What can be measured, by name: each gives rows."""
    return {
        "processor": lambda: [approvals.processor_time(reference, *((2, 10) if quick else (5, 40)))],
        "instructions": lambda: [approvals.instruction_row(5 if quick else 20)],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="a group of measures, by name")
    parser.add_argument("--large", action="store_true", help="what takes millions of rows, and only that")
    parser.add_argument("--quick", action="store_true", help="with so few repetitions that it says little")
    how = parser.parse_args()
    reference = Reference()
    chosen = groups(reference, how.quick)
    if unknown := set(how.only) - set(chosen):
        parser.error(f"no group {', '.join(unknown)}: there are {', '.join(chosen)}")
    rows: list[Row] = []
    began = time.monotonic()
    reference.measure()
    for name, measure in chosen.items():
        if not how.only or name in how.only:
            start = time.monotonic()
            rows += measure()
            reference.measure()
            print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    WORK.mkdir(parents=True, exist_ok=True)
    about = {**machine(), "verify + sign, µs": number(reference.pair * 1e6),
             "SQLite commits per second": number(reference.commit_rate)}
    (WORK / "results.json").write_text(
        json.dumps({"machine": about, "rows": [row.json for row in rows]}, indent=1, ensure_ascii=False))
    print(table(rows), methods(rows), ", ".join(f"{name}: {value}" for name, value in about.items()), sep="\n\n")
    print(f"\nin {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
