#!/usr/bin/env python3
"""What an erasure holds up: approvals of one enrollment while another one's personal data is erased, in a large SQLite file.

usage: OOB_BIN_DIR=.build/deb/release Benchmarks/erasure.py [REQUESTS]

The file has REQUESTS past requests (300,000 unless given: 1 GB), with their messages and evidence, spread over the enrollments.
It prints the bytes of the file, the seconds of `oobctl unenroll --erase`, and the longest and the median approval meanwhile.
"""

import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True

from history import with_past  # noqa: E402
from http_client import Connection  # noqa: E402
from world import World  # noqa: E402


def erased(world: World, enrollment: str) -> float:
    """The seconds that an erasure takes."""
    with world.agent.connection() as control:
        began = time.monotonic()
        answer = json.loads(control.call(
            "DELETE", f"/v1/enrollments/{enrollment}", {"local": True, "force": True, "erase": True}))
        if not answer["erased"]:
            raise SystemExit("erasure: it is not erased")
        return time.monotonic() - began


def main(count: int):
    with World(enrollments=2) as world, ThreadPoolExecutor() as pool:
        card, other = world.cards
        with_past(world, count)
        # The sandbox has closed the one that had nothing to do meanwhile.
        world.merchant = Connection(world.sandbox.origin)
        size, took = (world.folder / "state" / "agent.db").stat().st_size, []
        erasure = pool.submit(erased, world, other["id"])
        while not erasure.done():
            acs_trans_id = world.buy(card)
            world.until_received(acs_trans_id)
            began = time.monotonic()
            world.approve(acs_trans_id)
            took.append(time.monotonic() - began)
        print(json.dumps({
            "bytes": size, "seconds": round(erasure.result(), 2), "approvals": len(took),
            "longest approval, s": round(max(took), 3), "median approval, s": round(statistics.median(took), 4)}, indent=2))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300_000)
