"""Two minutes of hosts that are stopped for 1 to 8 s, with a fixed seed: what was acknowledged must be delivered, and each
active enrollment fetched for, soon after the last stop. Continuous integration runs it; `make host-test` is the long one.

The first half has a lease of 300 ms, so that the others take the work over, and all other faults. The second has a lease of
a minute, so that a host that was stopped still has its part of the work and has missed what the others wrote.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

import powercut
import wall_clock
from host_rounds import Round

SEED, HOSTS, STOPS, FAULTS = 39, 3, (1, 8), 10_000
# Three times what is promised: the machine may have much else to do, and the programs are not optimised.
LIVE_WITHIN = 60


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="pauses-", dir="/tmp"))
    folder.chmod(0o755)
    libraries = powercut.build(folder), wall_clock.build(folder)
    for lease, only_stops, seconds in [(300, False, 30), (60_000, True, 12)]:
        began = time.monotonic()
        round = Round(folder / f"{lease}", libraries, SEED, HOSTS, lease, has_standby=False, stops=STOPS,
                      live_within=LIVE_WITHIN, only_stops=only_stops)
        try:
            round.run(FAULTS, seconds)
        except AssertionError:
            print(f"lease {lease} ms, seed {SEED}: the states and logs are in {folder}.", flush=True)
            raise
        finally:
            round.close()
        print(f"lease {lease} ms: {round.faults.total()} faults ({round.faults['stop']} stops), "
              f"{len(round.ledger.purchases)} purchases, {len(round.cards) + 1} enrollments in "
              f"{time.monotonic() - began:.0f} s; all was delivered and fetched {round.lived:.1f} s after the last fault.",
              flush=True)
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
