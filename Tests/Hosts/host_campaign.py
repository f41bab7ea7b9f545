"""The campaign of several hosts: rounds of faults at hosts that share a PostgreSQL, until enough have happened.

`make host-test` runs it. It goes on where it was interrupted; a failure names its seed and its round, and the directory
with the hosts' states and logs stays.
"""

import argparse
import json
import random
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import campaign_record
import powercut
import wall_clock
from host_rounds import STOPS, Round

FAULTS_OF_ROUND = 120


class Campaign:
    def __init__(self, record: Path, folder: Path, seed: int | None, hosts: int, lease: int, has_standby: bool,
                 stops: tuple[float, float], only_stops: bool, live_within: float):
        self.record, self.folder = record, folder
        self.stops, self.only_stops, self.live_within = stops, only_stops, live_within
        self.hosts, self.lease, self.has_standby = hosts, lease, has_standby
        known = json.loads(record.read_text()) if record.exists() else None
        setting = setting_of(hosts, lease, has_standby, stops, only_stops)
        if known and goes_on(known, seed, setting):
            self.facts = known
        else:
            self.facts = {"seed": secrets.randbelow(1 << 32) if seed is None else seed, "setting": setting,
                          "rounds": 0, "commits": {}, "faults": {}, "answers": {}, "purchases": 0, "seconds": 0, "lived": 0}
        self.commit = campaign_record.commit()
        self.libraries = powercut.build(folder), wall_clock.build(folder)

    @property
    def faults(self) -> int:
        return sum(self.facts["faults"].values())

    def run(self, wanted: int, seconds: float | None):
        """So many faults, or as many as come in that time."""
        end = None if seconds is None else time.monotonic() + seconds
        while self.faults < wanted and (end is None or time.monotonic() < end):
            self.round(self.facts["rounds"], None if end is None else end - time.monotonic())
            self.facts["rounds"] += 1
            self.save()

    def round(self, number: int, seconds: float | None = None):
        began = time.monotonic()
        seed = random.Random(f"{self.facts['seed']}/round {number}").randrange(1 << 32)
        folder = self.folder / f"{number}"
        round = Round(folder, self.libraries, seed, self.hosts, self.lease, self.has_standby, self.stops,
                      self.live_within, self.only_stops)
        try:
            round.run(FAULTS_OF_ROUND, seconds)
        finally:
            round.close()
        shutil.rmtree(folder)
        for name, counted in [("faults", round.faults), ("answers", round.answers)]:
            self.facts[name] = dict(Counter(self.facts[name]) + counted)
        commits = self.facts["commits"]
        commits[self.commit] = commits.get(self.commit, 0) + round.faults.total()
        self.facts["purchases"] += len(round.ledger.purchases)
        self.facts["lived"] = max(self.facts["lived"], round.lived)
        seconds = time.monotonic() - began
        self.facts["seconds"] += seconds
        print(f"round {number}: {round.faults.total()} faults, {len(round.ledger.purchases)} purchases, "
              f"{seconds:.0f} s; all was delivered and fetched {round.lived:.1f} s after the last fault; "
              f"{self.faults} faults so far", flush=True)

    def save(self):
        campaign_record.save(self.facts, self.record)


def setting_of(hosts: int, lease: int, has_standby: bool, stops: tuple[float, float], only_stops: bool) -> dict:
    return {"hosts": hosts, "lease": lease, "standby": has_standby, "stops": list(stops), "only stops": only_stops}


def goes_on(known: dict, seed: int | None, setting: dict) -> bool:
    return known["setting"] == setting and seed in (None, known["seed"])


def seconds_range(text: str) -> tuple[float, float]:
    first, last = (float(word) for word in text.split("-"))
    if not 0 < first <= last:
        raise argparse.ArgumentTypeError("two numbers above 0, such as 1-60, the smaller one first")
    return first, last


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=10_000)
    parser.add_argument("--hosts", type=int, default=3)
    parser.add_argument("--lease", type=int, default=300, help="milliseconds")
    parser.add_argument("--standby", action=argparse.BooleanOptionalAction, default=True,
                        help="whether the database has a synchronous standby, which is promoted again and again")
    parser.add_argument("--stops", type=seconds_range, default=STOPS, metavar="FROM-TO",
                        help="for how many seconds a host is stopped")
    parser.add_argument("--only-stops", action="store_true",
                        help="nothing else happens to a host, and much to the others meanwhile: for a lease that is longer")
    parser.add_argument("--live-within", type=float, default=60,
                        help="in how many seconds after a round's last fault all must be delivered and fetched")
    parser.add_argument("--seconds", type=float, help="as many faults as come in that time")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--record", type=Path, help="where to note what was done; by default the committed record, "
                        "if it is of this seed and setting, or a file in .build")
    parser.add_argument("--round", type=int, help="only this one")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="hosts-", dir="/tmp"))
    folder.chmod(0o755)
    setting = setting_of(arguments.hosts, arguments.lease, arguments.standby, arguments.stops, arguments.only_stops)
    record = folder / "record.json" if arguments.round is not None else campaign_record.place(
        arguments.record, "host-test", lambda known: goes_on(known, arguments.seed, setting))
    campaign = Campaign(record, folder, arguments.seed, arguments.hosts, arguments.lease, arguments.standby,
                        arguments.stops, arguments.only_stops, arguments.live_within)
    number = campaign.facts["rounds"] if arguments.round is None else arguments.round
    try:
        if arguments.round is not None:
            campaign.round(number)
        else:
            campaign.run(arguments.faults, arguments.seconds)
    except BaseException as error:
        number = campaign.facts["rounds"] if arguments.round is None else arguments.round
        print(f"\nSEED={campaign.facts['seed']} ROUND={number}\nThe states and logs are in {folder}.", flush=True)
        if isinstance(error, KeyboardInterrupt):
            return 130
        raise
    shutil.rmtree(folder)
    facts = campaign.facts
    database = "a primary and its standby" if arguments.standby else "one database server"
    print(f"{campaign.faults} faults at {arguments.hosts} hosts with {database} in {facts['rounds']} rounds and {facts['seconds']:.0f} s, "
          f"lease {arguments.lease} ms, stops of {arguments.stops[0]:g} to {arguments.stops[1]:g} s, seed {facts['seed']}: {facts['purchases']} purchases, 0 lost, 0 double; "
          f"all was delivered and fetched {facts['lived']:.1f} s after the last fault at the latest.")
    for name in ["faults", "answers"]:
        print(f"{name}: " + ", ".join(f"{what} {count}" for what, count in sorted(facts[name].items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
