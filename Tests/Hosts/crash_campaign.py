"""The crash campaign: every step dies at each of its points, then rounds of random lives, until enough have died.

`make crash-test` runs it. It goes on where it was interrupted; a failure names its seed and its death, and the
directory with the agent's state, its log and the points that it went through stays.
"""

import argparse
import json
import random
import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path

import campaign_record
import powercut
from crash_points import Death, Stage, deaths
from crash_rounds import Round
from crash_steps import STEPS
from crash_world import Issuer

LIVES = 50  # Of a round.


class Campaign:
    def __init__(self, record: Path, folder: Path, seed: int | None, crashes: int):
        self.record, self.folder, self.wanted = record, folder, crashes
        known = json.loads(record.read_text()) if record.exists() else None
        if known and goes_on(known, seed, crashes):
            self.facts = known
        else:
            self.facts = {"seed": secrets.randbelow(1 << 32) if seed is None else seed, "crashes": 0, "commits": {},
                          "survived": [], "missed": 0, "rounds": 0}
        self.commit = campaign_record.commit()
        self.began, self.before = time.monotonic(), self.facts["crashes"]
        self.library = powercut.build(folder)
        self.where = ""

    def run(self):
        self.points()
        while self.facts["crashes"] < self.wanted:
            self.round(self.facts["rounds"])
            self.facts["rounds"] += 1
            self.save()

    def points(self, only: Death | None = None):
        """Each step, each of its points, each way."""
        survived = set(self.facts["survived"])
        issuer = Issuer(self.folder)
        stage = Stage(self.folder, self.library, issuer)
        try:
            for step in STEPS if only is None else [only.step]:
                self.where = f"step {step}, without a crash"
                rng = random.Random(f"{self.facts['seed']}/{step}")
                missed: set[str] = set()
                for death in deaths(step, stage.play(step), rng) if only is None else [only]:
                    if self.facts["crashes"] >= self.wanted or str(death) in survived or death.label in missed:
                        continue
                    if not self.one(stage, death):
                        # This time there were fewer of them: so much for the later ones, too.
                        missed.add(death.label)
        finally:
            stage.close()
            issuer.program.stop()

    def one(self, stage: Stage, death: Death) -> bool:
        """Whether it came to the point at all."""
        self.where = f'DEATH="{death}"'
        before = stage.crashes
        was_reached = powercut.LAST in "".join(stage.play(death.step, death))
        self.facts["missed"] += not was_reached
        self.facts["survived"].append(str(death))
        self.count(stage.crashes - before, str(death))
        return was_reached

    def round(self, number: int):
        self.where = f"ROUND={number}"
        seed = random.Random(f"{self.facts['seed']}/round {number}").randrange(1 << 32)
        with_faults = number % 2 == 1
        round = Round(self.folder / f"round-{number}", self.library, seed, with_faults)
        counted = 0

        def on_crash():
            nonlocal counted
            self.count(round.crashes - counted, self.where)
            counted = round.crashes

        try:
            round.run(LIVES, on_crash)
        finally:
            round.close()
        shutil.rmtree(self.folder / f"round-{number}")

    def count(self, crashes: int, what: str):
        self.facts["crashes"] += crashes
        commits = self.facts["commits"]
        commits[self.commit] = commits.get(self.commit, 0) + crashes
        self.save()
        done, seconds = self.facts["crashes"], time.monotonic() - self.began
        rate = (done - self.before) / seconds
        if sys.stdout.isatty():
            bar = "#" * (30 * done // self.wanted)
            print(f"\r[{bar:30}] {done}/{self.wanted} crashes, {rate:.1f}/s, {what:60.60}", end="", flush=True)
        elif done // 500 != (done - crashes) // 500:
            print(f"{done}/{self.wanted} crashes, {rate:.1f}/s", flush=True)

    def save(self):
        campaign_record.save(self.facts, self.record)


def goes_on(known: dict, seed: int | None, crashes: int) -> bool:
    return known["crashes"] < crashes and seed in (None, known["seed"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crashes", type=int, default=10_000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--record", type=Path, help="where to note what was done; by default the committed record, "
                        "if it is not complete and of this seed, or a file in .build")
    parser.add_argument("--death", type=Death.named, help="only this one, as a failure names it")
    parser.add_argument("--round", type=int, help="only this round")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="crash-", dir="/tmp"))
    only_one = arguments.death is not None or arguments.round is not None
    record = folder / "record.json" if only_one else campaign_record.place(
        arguments.record, "crash-test", lambda known: goes_on(known, arguments.seed, arguments.crashes))
    campaign = Campaign(record, folder, arguments.seed, arguments.crashes)
    try:
        if arguments.death is not None:
            campaign.points(arguments.death)
        elif arguments.round is not None:
            campaign.round(arguments.round)
        else:
            campaign.run()
    except BaseException as error:
        print(f"\nSEED={campaign.facts['seed']} {campaign.where}\nThe state is in {folder}.", flush=True)
        if isinstance(error, KeyboardInterrupt):
            return 130
        raise
    shutil.rmtree(folder)
    facts = campaign.facts
    print(f"\nEvery promise held through {facts['crashes']} crashes ({len(facts['survived'])} named points, "
          f"{facts['missed']} of them not reached again, and {facts['rounds']} rounds), seed {facts['seed']}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
