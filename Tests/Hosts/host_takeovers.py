"""How long it takes until the other hosts have all the work of one that is killed: `host_takeovers.py --kills 100`.

Each time another host is killed at a moment of its lease that nobody chooses, and starts again once its work was taken.
"""

import argparse
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import powercut
import wall_clock
from host_rounds import Round

WITHIN = 120
# Into how many parts the work of all hosts is divided.
SHARES = 256


def until(holds, what: str) -> float:
    """Seconds."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > WITHIN:
            raise AssertionError(what)
        time.sleep(0.02)  # Asks again; nothing depends on how long.
    return time.monotonic() - began


def shares(round: Round) -> dict[str, int]:
    return {host: int(count) for host, count in round.server.sql(
        "SELECT host, count(*) FROM lease WHERE valid_until > clock_timestamp() GROUP BY host", round.ledger.database)}


def takeovers(round: Round, lease: int, kills: int, rng: random.Random) -> list[float]:
    """Seconds of each; `lease` is in milliseconds."""
    taken = []
    for _ in range(kills):
        until(lambda: len(shares(round)) == len(round.hosts) and sum(shares(round).values()) == SHARES, "all have a part")
        time.sleep(rng.uniform(0, lease / 3_000))  # Somewhere between two renewals.
        victim = rng.choice(round.hosts)
        victim.kill()
        taken.append(until(
            lambda: sum(count for name, count in shares(round).items() if name != victim.name) == SHARES,
            "the others take all"))
        victim.revive()
        print(f"{len(taken)}: {taken[-1]:.1f} s", flush=True)
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--lease", type=int, default=15_000, help="milliseconds")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="hosts-", dir="/tmp"))
    folder.chmod(0o755)
    libraries = powercut.build(folder), wall_clock.build(folder)
    round = Round(folder / "round", libraries, arguments.seed, arguments.hosts, arguments.lease, has_standby=False)
    try:
        taken = sorted(takeovers(round, arguments.lease, arguments.kills, random.Random(arguments.seed)))
    finally:
        round.close()
        shutil.rmtree(folder)
    print(f"{len(taken)} kills, lease {arguments.lease} ms: median {statistics.median(taken):.1f} s, "
          f"p99 {taken[min(len(taken) - 1, len(taken) * 99 // 100)]:.1f} s, longest {taken[-1]:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
