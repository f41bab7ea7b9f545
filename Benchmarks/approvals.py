"""What one approval costs: processor time and instructions of receiving, approving and delivering."""

import statistics
import subprocess
import time
from pathlib import Path

from reference import Reference, floor_instructions, total
from rows import Row, ms, number
from world import World

STEPS = ("receive", "approve", "deliver")


def cycle(world: World, count: int, measure) -> dict[str, float]:
    """Takes so many requests through each step, one at a time; gives what `measure` counts of each, per request.

    The issuer is stopped while they are approved, so that no delivery is counted there.
    """
    card = world.cards[0]
    world.agent.rest()
    marks = [measure()]
    bought = []
    for _ in range(count):
        bought.append(world.buy(card))
        world.until_received(bought[-1])
    world.agent.rest()
    marks.append(measure())
    world.pause_issuer()
    for acs_trans_id in bought:
        world.approve(acs_trans_id)
    world.agent.rest()
    marks.append(measure())
    world.resume_issuer()
    world.until_delivered()
    world.agent.rest()
    marks.append(measure())
    return {step: (after - before) / count for step, before, after in zip(STEPS, marks, marks[1:])}


def processor_time(reference: Reference, count: int, rounds: int) -> Row:
    with World() as world:
        cycle(world, count, world.agent.cpu)  # What is made once is not counted.
        found = []
        for _ in range(rounds):
            reference.measure()
            found.append(cycle(world, count, world.agent.cpu))
    steps = {step: statistics.median(each[step] for each in found) for step in STEPS}
    floors = reference.floors[-rounds:]
    ratio = statistics.median(sum(each.values()) / least for each, least in zip(found, floors))
    told = " + ".join(f"{step} {ms(seconds)}" for step, seconds in steps.items())
    return Row(
        "CPU per durable approval, over the floor's", f"{number(ratio)} × ({told} ms over "
        f"{ms(statistics.median(floors))} ms)", ratio, 3.5, "≤ 3.5 ×",
        f"the agent's CPU clock before and after each step of {count} requests one at a time, the issuer stopped "
        f"(SIGSTOP) while they are approved; the median of {rounds} ratios. The floor is a program in C with three "
        "exchanges, three durable commits, a signature to verify and four to make a request, measured before each round "
        "(`floor.c`)")


class Callgrind:
    """An agent under callgrind: what it has executed so far."""

    def __init__(self, folder: Path):
        self.folder, self.all, self.dumps = folder, 0, 0
        self.through = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind")

    def executed(self, pid: int) -> int:
        """A dump begins the counts again."""
        subprocess.run(["callgrind_control", "--dump", str(pid)], check=True, capture_output=True)
        self.dumps += 1
        dump = Path(f"{self.folder}/callgrind.{self.dumps}")
        self.all += total(dump)
        dump.unlink()
        return self.all


def step_instructions(count: int) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """The instructions of each step, and the counts of counting.c of each."""
    with World(counted=True) as world:
        world.stop_agent()
        callgrind = Callgrind(world.folder)
        world.start_agent(callgrind.through)
        cycle(world, 3, lambda: 0)
        counts = []

        def measure() -> int:
            counts.append(world.counts.now())
            return callgrind.executed(world.agent.pid)

        found = cycle(world, count, measure)
    return found, {
        step: {name: (after[name] - before[name]) / count for name in after}
        for step, before, after in zip(STEPS, counts, counts[1:])}


def counted_rows(count: int) -> list[Row]:
    began = time.monotonic()
    least, (steps, counts) = floor_instructions(), step_instructions(count)
    ratio = sum(steps.values()) / least
    pages = {step: counts[step]["pages"] for step in STEPS}
    told = " + ".join(f"{step} {number(each / 1e6)}" for step, each in steps.items())
    return [Row(
        "the same in instructions", f"{number(ratio)} × ({told} M over {number(least / 1e6)} M)", ratio, 3.5, "≤ 3.5 ×",
        f"the agent under valgrind's callgrind, {count} requests a step, as above "
        f"({time.monotonic() - began:.0f} s)"),
        Row("pages of a decision's commit", number(pages["approve"]), pages["approve"], 7, "≤ 7",
            f"frames that a commit adds to the write-ahead log, each a page of 4 KiB (`counting.c`); {count} requests one "
            "at a time"),
        Row("pages of an approval's three commits", f"{number(sum(pages.values()))} ("
            + " + ".join(f"{step} {number(each)}" for step, each in pages.items()) + ")", sum(pages.values()), 26,
            "≤ 26", "the same, of all three")]
