"""What enrollments cost by their mere number: memory, the start, and the calls that look at all of them."""

import statistics
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from enrolled import parts, put_together
from rows import Row, ms, number
from world import MEMORY_PAUSE, PLACE, World

CALLS = {"status": "/v1/status", "health": "/v1/health", "list": "/v1/requests"}


@contextmanager
def world_of(count: int):
    source = parts(count)
    with tempfile.TemporaryDirectory(prefix="oob-", dir=PLACE) as name:
        folder = Path(name) / "world"
        folder.mkdir()
        put_together(source, folder, count)
        with World(enrollments=0, folder=folder) as world:
            yield world


def starts(world: World, times: int) -> float:
    """The median of so many; the one before them made what is made once."""
    found = []
    for _ in range(times):
        world.stop_agent()
        world.start_agent()
        found.append(world.agent.start_seconds)
    return statistics.median(found)


def rows(counts: tuple[int, ...], times: int) -> tuple[list[Row], dict]:
    seconds, memory = {}, {}
    for count in counts:
        with world_of(count) as world:
            seconds[count] = starts(world, times)
            world.agent.rest()
            memory[count] = world.agent.kept_memory()
            if count == max(counts):
                calls = call_row(world, count, times)
    return [memory_row(memory), start_row(seconds), calls], {
        "start over enrollments": seconds, "memory over enrollments": memory}


def memory_row(memory: dict[int, int]) -> Row:
    few, many = min(memory), max(memory)
    each = (memory[many] - memory[few]) / (many - few)
    # The packaged agent holds 0.9 MB for libpq and what that loads, which a plain build does not have.
    # Both are to hold: the one that is nearer to its goal, or past it by more, counts.
    worst = max(memory[few] / 6.9e6, each / 2048)
    return Row(
        f"private memory: idle / per enrollment at {many:,}", f"{number(memory[few] / 1e6)} MB / "
        f"{number(each / 1024)} KB", worst, 1, "≤ 6.9 MB / ≤ 2 KB",
        f"RssAnon of the agent that rests, {MEMORY_PAUSE + 2} s after its start: with {few} enrollment, and the difference "
        f"to {many:,} over their number. All enrollments were really made, at one sandbox (`enrolled.py`)")


def start_row(seconds: dict[int, float]) -> Row:
    goals = dict(zip(sorted(seconds), (0.040, 0.060, 0.250)))
    return Row(
        f"exec → ready with {', '.join(f'{count:,}' for count in seconds)} enrollments",
        ", ".join(map(ms, seconds.values())) + " ms", max(seconds[count] / goals[count] for count in seconds), 1,
        ", ".join(f"≤ {goal * 1000:.0f}" for goal in goals.values()) + " ms",
        "from the exec of the agent to its READY=1 (sd_notify); medians; the files are in the page cache")


def call_row(world: World, count: int, times: int) -> Row:
    def median(call) -> float:
        found = []
        for _ in range(times):
            world.agent.rest()
            began = time.monotonic()
            call()
            found.append(time.monotonic() - began)
        return statistics.median(found)

    found = {name: median(lambda path=path: world.control.call("GET", path)) for name, path in CALLS.items()}
    found["one more enrollment"] = median(world.enroll)
    told = ", ".join(f"{name} {ms(seconds)}" for name, seconds in found.items())
    return Row(
        f"with {count:,} enrollments: status, health, list, one more enrollment", f"{told} ms",
        max(found.values()) * 1000, 20, "each ≤ 20 ms", "one call at a time while the agent rests, until it is "
        "answered; medians. An enrollment takes two calls of the issuer, which is on the same machine")
