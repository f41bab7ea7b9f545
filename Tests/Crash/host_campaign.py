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

import powercut
import wall_clock
from host_rounds import Round

FAULTS_OF_ROUND = 120


class Campaign:
    def __init__(self, record: Path, folder: Path, seed: int | None, hosts: int, lease: int, has_standby: bool):
        self.record, self.folder = record, folder
        self.hosts, self.lease, self.has_standby = hosts, lease, has_standby
        known = json.loads(record.read_text()) if record.exists() else None
        setting = {"hosts": hosts, "lease": lease, "standby": has_standby}
        if known and known["setting"] == setting and seed in (None, known["seed"]):
            self.facts = known
        else:
            self.facts = {"seed": secrets.randbelow(1 << 32) if seed is None else seed, "setting": setting,
                          "rounds": 0, "faults": {}, "answers": {}, "purchases": 0, "seconds": 0}
        self.libraries = powercut.build(folder), wall_clock.build(folder)

    @property
    def faults(self) -> int:
        return sum(self.facts["faults"].values())

    def run(self, wanted: int):
        while self.faults < wanted:
            self.round(self.facts["rounds"])
            self.facts["rounds"] += 1
            self.save()

    def round(self, number: int):
        began = time.monotonic()
        seed = random.Random(f"{self.facts['seed']}/round {number}").randrange(1 << 32)
        folder = self.folder / f"{number}"
        round = Round(folder, self.libraries, seed, self.hosts, self.lease, self.has_standby)
        try:
            round.run(FAULTS_OF_ROUND)
        finally:
            round.close()
        shutil.rmtree(folder)
        for name, counted in [("faults", round.faults), ("answers", round.answers)]:
            self.facts[name] = dict(Counter(self.facts[name]) + counted)
        self.facts["purchases"] += len(round.ledger.purchases)
        seconds = time.monotonic() - began
        self.facts["seconds"] += seconds
        print(f"round {number}: {round.faults.total()} faults, {len(round.ledger.purchases)} purchases, "
              f"{seconds:.0f} s; {self.faults} faults so far", flush=True)

    def save(self):
        self.record.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.record.with_suffix(".new")
        temporary.write_text(json.dumps(self.facts))
        temporary.replace(self.record)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=10_000)
    parser.add_argument("--hosts", type=int, default=3)
    parser.add_argument("--lease", type=int, default=300, help="milliseconds")
    parser.add_argument("--standby", action=argparse.BooleanOptionalAction, default=True,
                        help="whether the database has a synchronous standby, which is promoted again and again")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--record", type=Path, required=True, help="where to note what was done")
    parser.add_argument("--round", type=int, help="only this one")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="hosts-", dir="/tmp"))
    folder.chmod(0o755)
    record = folder / "record.json" if arguments.round is not None else arguments.record
    campaign = Campaign(record, folder, arguments.seed, arguments.hosts, arguments.lease, arguments.standby)
    number = campaign.facts["rounds"] if arguments.round is None else arguments.round
    try:
        if arguments.round is not None:
            campaign.round(number)
        else:
            campaign.run(arguments.faults)
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
          f"lease {arguments.lease} ms, seed {facts['seed']}: {facts['purchases']} purchases, 0 lost, 0 double.")
    for name in ["faults", "answers"]:
        print(f"{name}: " + ", ".join(f"{what} {count}" for what, count in sorted(facts[name].items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
