#!/usr/bin/env python3
"""Fails if an approval costs a tenth more than limits.json says: counts, which no machine's speed changes.

usage: guard.py [--update] [--times N]

It counts, of the programs in OOB_BIN_DIR (.build/deb/release unless given): instructions and allocations of receiving,
approving and delivering one request and of `oobctl status`, what an approval reads, writes and syncs of the database,
and the bytes that are left of it. --update keeps what is counted as the new limits; --times counts so often, and says
how far the counts are apart.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[1]
os.environ.setdefault("OOB_BIN_DIR", str(ROOT / ".build" / "deb" / "release"))

from approvals import STEPS, step_instructions  # noqa: E402
from history import sizes  # noqa: E402
from reference import instructions  # noqa: E402
from world import BIN_DIR, Counts, World  # noqa: E402

LIMITS = Path(__file__).with_name("limits.json")
# What may come on top of a figure before it fails.
MARGIN = 0.1
# What a count may be above one that is nothing, or nearly so.
LEAST = 0.1
COUNTED = 20
PAST = 200


def counted() -> dict[str, float]:
    """All counts, by name."""
    executed, counts = step_instructions(COUNTED)
    found = {f"{step}: instructions": executed[step] for step in STEPS}
    found |= {f"{step}: allocations": counts[step]["allocations"] for step in STEPS}
    for kind in ("reads", "writes", "syncs"):
        found[f"an approval: {kind} of the database"] = sum(counts[step][kind] for step in STEPS)
    return found | past_and_status()


def past_and_status() -> dict[str, float]:
    with World() as world:
        command = [BIN_DIR / "oobctl", "status", "--socket", world.agent.socket]
        status = {"oobctl status: instructions": instructions(*command),
                  "oobctl status: allocations": allocations(world.folder, command)}
        before = sum(sizes(world).values())
        for _ in range(PAST):
            acs_trans_id = world.buy(world.cards[0])
            world.until_received(acs_trans_id)
            world.approve(acs_trans_id)
        world.until_delivered()
        world.agent.rest()
        return status | {"a past request: bytes of the database": (sum(sizes(world).values()) - before) / PAST}


def allocations(folder: Path, command: list) -> int:
    counts = Counts(folder)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   env={**os.environ, **counts.variables})
    return counts.now()["allocations"]


def grown(found: dict[str, float], limits: dict[str, float]) -> list[str]:
    """What is more than a tenth above its figure, or is no longer counted."""
    lines = [f"{name}: {found[name]:,.0f}, a tenth or more above {limits[name]:,.0f}" for name in found
             if name in limits and found[name] > limits[name] * (1 + MARGIN) + LEAST]
    lines += [f"{name}: it is not in {LIMITS.name}" for name in found if name not in limits]
    return lines + [f"{name}: it was not counted" for name in limits if name not in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help=f"write what is counted to {LIMITS.name}")
    parser.add_argument("--times", type=int, default=1, help="count so often, and say how far the counts are apart")
    how = parser.parse_args()
    all_found = [counted() for _ in range(how.times)]
    found = {name: sorted(each[name] for each in all_found)[how.times // 2] for name in all_found[0]}
    limits = {} if how.update else json.loads(LIMITS.read_text())
    for name, value in found.items():
        values = [each[name] for each in all_found]
        apart = f", {(max(values) - min(values)) / value:.1%} apart" if how.times > 1 and value else ""
        share = f" ({value / limits[name]:.1%} of what is kept)" if limits.get(name) else ""
        print(f"{name:<42}{value:>14,.1f}{share}{apart}")
    if how.update:
        LIMITS.write_text(json.dumps({name: round(value, 1) for name, value in found.items()}, indent=1) + "\n")
        return
    problems = grown(found, limits)
    for problem in problems:
        print(f"grown: {problem}", file=sys.stderr)
    if problems:
        print("If that is meant, keep the new counts with Benchmarks/guard.py --update, and say why in the commit.",
              file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
