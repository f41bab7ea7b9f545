#!/usr/bin/env python3
"""Fails if an approval takes a tenth more instructions or pages than limits.json says, on a machine of whatever speed.

usage: guard.py [--update] [--times N] [--self-test]

It counts, of the programs in OOB_BIN_DIR (.build/deb/release unless given): instructions and allocations of receiving,
approving and delivering one request and of `oobctl status`, the pages that each of these three commits writes, what an
approval reads, writes and syncs of the database, and the bytes that are left of it. Instructions and pages alone fail;
the others are printed beside what is kept. --update keeps what is counted as
the new limits; --times counts so often, and says how far the counts are apart. --self-test only proves that it can
fail.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from approvals import STEPS, step_instructions  # noqa: E402
from history import sizes  # noqa: E402
from reference import instructions  # noqa: E402
from world import BIN_DIR, Counts, World, end_in_order  # noqa: E402

LIMITS = Path(__file__).with_name("limits.json")
# The ends of the names of what fails; the others are printed.
GUARDED = (": instructions", ": pages of its commit")
# What may come on top of a figure before it fails.
MARGIN = 0.1
# What a count may be above one that is nothing, or nearly so.
LEAST = 0.1
ADVICE = "If that is meant, keep the new counts with Benchmarks/guard.py --update, and say why in the commit."
COUNTED = 20
PAST = 600


def counted() -> dict[str, float]:
    """All counts, by name."""
    executed, counts = step_instructions(COUNTED)
    found = {f"{step}: instructions": executed[step] for step in STEPS}
    found |= {f"{step}: allocations": counts[step]["allocations"] for step in STEPS}
    for kind in ("reads", "writes", "syncs"):
        found[f"an approval: {kind} of the database"] = sum(counts[step][kind] for step in STEPS)
    found |= {f"{step}: pages of its commit": counts[step]["pages"] for step in STEPS}
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
        world.until_checkpoints()
        world.agent.rest()
        return status | {"a past request: bytes of the database": (sum(sizes(world).values()) - before) / PAST}


def allocations(folder: Path, command: list) -> int:
    counts = Counts(folder)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   env={**os.environ, **counts.variables})
    return counts.now()["allocations"]


def grown(found: dict[str, float], limits: dict[str, float]) -> list[str]:
    """What is guarded and more than a tenth above its figure; and what is no longer counted, or not kept."""
    lines = [f"{name}: {found[name]:,.0f}, a tenth or more above {limits[name]:,.0f}" for name in found
             if name.endswith(GUARDED) and name in limits and found[name] > limits[name] * (1 + MARGIN) + LEAST]
    lines += [f"{name}: it is not in {LIMITS.name}" for name in found if name not in limits]
    return lines + [f"{name}: it was not counted" for name in limits if name not in found]


def self_test():
    """That a tenth more fails, and what is not counted or not kept; that less, a little more, or more of what is only
    printed, does not."""
    a, b, printed = "a: instructions", "b: pages of its commit", "c: allocations"
    kept = {a: 100.0, b: 0.0, printed: 100.0}
    for good in ({a: 109.0}, {a: 1.0, b: 0.05}, {printed: 200.0}):
        assert not grown({**kept, **good}, kept), good
    for bad in ({**kept, a: 111.0}, {**kept, b: 1.0}, {a: 100.0, b: 0.0}, {**kept, "d: syncs": 1.0}):
        assert len(grown(bad, kept)) == 1, bad
    assert {name for name in json.loads(LIMITS.read_text()) if name.endswith(GUARDED)} == {
        f"{step}: instructions" for step in (*STEPS, "oobctl status")} | {f"{step}: pages of its commit" for step in STEPS}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help=f"write what is counted to {LIMITS.name}")
    parser.add_argument("--times", type=int, default=1, help="count so often, and say how far the counts are apart")
    parser.add_argument("--self-test", action="store_true", help="prove that it can fail, and count nothing")
    how = parser.parse_args()
    end_in_order()
    if how.self_test:
        return self_test()
    limits = {} if how.update else json.loads(LIMITS.read_text())
    found = median([counted() for _ in range(how.times)], limits)
    if how.update:
        LIMITS.write_text(json.dumps({name: round(value, 1) for name, value in found.items()}, indent=1) + "\n")
    elif problems := grown(found, limits):
        # Threads that came in another order may read a page twice: what has grown has grown in each run.
        again = median([counted()], limits)
        problems = grown({name: min(found[name], again[name]) for name in found}, limits)
        sys.exit("\n".join([*problems, ADVICE]) if problems else 0)


def median(runs: list[dict[str, float]], limits: dict[str, float]) -> dict[str, float]:
    """Of several runs; printed, with how far they are apart."""
    found = {}
    for name in runs[0]:
        values = sorted(run[name] for run in runs)
        found[name] = values[len(values) // 2]
        share = f" {found[name] / limits[name]:.1%} of what is kept" if limits.get(name) else ""
        apart = f" {(values[-1] - values[0]) / found[name]:.1%} apart" if len(runs) > 1 and found[name] else ""
        print(f"{name:<42}{found[name]:>14,.1f}{share}{apart}", flush=True)
    return found


if __name__ == "__main__":
    main()
