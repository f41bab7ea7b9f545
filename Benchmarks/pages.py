#!/usr/bin/env python3
"""Prints which tables and indexes the pages of an approval's three commits belong to, for each request.

usage: pages.py [COUNT]

The pages are the frames that commits add to the write-ahead log; dbstat says which b-tree a page is of. COUNT requests
(10 unless given; at most 15, so that no checkpoint begins the log again) are received, approved and delivered.
"""

import struct
import sys
from collections import Counter

sys.dont_write_bytecode = True

from approvals import STEPS, cycle  # noqa: E402
from world import World, end_in_order  # noqa: E402

HEADER, FRAME = 32, 24


def frames(world: World) -> list[int]:
    """The numbers of the pages in the log, in the order in which they were written."""
    log = (world.folder / "state" / "agent.db-wal").read_bytes()
    size, = struct.unpack(">I", log[8:12])
    salts = log[16:24]
    found = []
    for at in range(HEADER, len(log) - FRAME, FRAME + size):
        # A frame with another salt is left over from before the log was begun again.
        if log[at + 8:at + 16] != salts:
            break
        found.append(struct.unpack(">I", log[at:at + 4])[0])
    return found


def pages(count: int) -> dict[str, Counter]:
    """By step, how many pages of each b-tree were written."""
    with World() as world:
        cycle(world, 3, lambda: 0)
        # A restart empties the log.
        world.stop_agent()
        world.start_agent()
        marks = [len(frames(world))]

        def mark() -> int:
            marks.append(len(frames(world)))
            return 0

        cycle(world, count, mark)
        written = frames(world)
        trees = dict(world.database.execute("SELECT pageno, name FROM dbstat"))
    return {step: Counter(trees.get(page, "none") for page in written[begin:end])
            for step, begin, end in zip(STEPS, marks[1:], marks[2:])}


def main():
    end_in_order()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    if not 1 <= count <= 15:
        sys.exit("COUNT: from 1 to 15")
    found = pages(count)
    trees = sorted({tree for each in found.values() for tree in each},
                   key=lambda tree: -sum(each[tree] for each in found.values()))
    print(f"{'b-tree':<36}" + "".join(f"{step:>10}" for step in STEPS))
    for tree in trees:
        print(f"{tree:<36}" + "".join(f"{found[step][tree] / count:>10.1f}" for step in STEPS))
    print(f"{'all':<36}" + "".join(f"{sum(found[step].values()) / count:>10.1f}" for step in STEPS))


if __name__ == "__main__":
    main()
