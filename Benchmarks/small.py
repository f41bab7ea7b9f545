"""What is measured of a program as a whole: one call of oobctl, an agent that rests, the size of what is installed."""

import resource
import statistics
import subprocess
import time
from collections import Counter
from pathlib import Path

from rows import Row, ms, number
from world import BIN_DIR, MEMORY_PAUSE, ROOT, World


# The thread in which libdispatch has its timers, as the kernel shortens its name.
DISPATCH_TIMERS = "-qos.overcommit"


def elapsed(command: list, times: int) -> tuple[float, float]:
    """(wall, CPU) seconds of a whole process: medians."""
    walls, cpus = [], []
    for _ in range(times):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        walls.append(time.monotonic() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(walls), statistics.median(cpus)


def rows(times: int, seconds: int) -> list[Row]:
    with World() as world:
        return [status_row(world, times), wakeup_row(world, seconds), *package_rows()]


def status_row(world: World, times: int) -> Row:
    ours = elapsed([BIN_DIR / "oobctl", "status", "--socket", world.agent.socket], times)
    curl = elapsed(["curl", "-sS", "--unix-socket", world.agent.socket, "http://agent/v1/status"], times)
    return Row(
        "`oobctl status`, whole process", f"{ms(ours[0])} ms, {ms(ours[1])} of it CPU (curl {ms(curl[0])})",
        ours[0] * 1000, 10, "≤ 10 ms", f"from fork to exit of each, in turn; medians of {times}")


def wakeup_row(world: World, seconds: int) -> Row:
    # Until memory has been given back, and connections that were needed before are closed.
    time.sleep(MEMORY_PAUSE + 2)
    # Another poll begins with this, and takes longer than the measure; what it has opened is closed before.
    world.until_received(world.buy(world.cards[0]))
    time.sleep(10)
    world.agent.rest(quiet=5, share=0.01)
    before = switches(world.agent.pid)
    time.sleep(seconds)
    found: Counter[str] = Counter()
    for (name, thread), number_of in switches(world.agent.pid).items():
        found[name] += number_of - before.get((name, thread), 0)
    of_dispatch = found.pop(DISPATCH_TIMERS, 0)
    told = ", ".join(f"thread {name} {count}" for name, count in found.items() if count)
    own = sum(found.values())
    return Row(
        f"idle with one long poll, {seconds} s: wake-ups", f"{own}" + (f" ({told})" if told else "")
        + f", and {of_dispatch} of libdispatch's timer", own, 0, "0, or say why",
        "voluntary context switches of the agent's threads (/proc/PID/task) within one poll, and apart from them those of "
        "the thread in which libdispatch has its timers; the page on performance says why that one wakes up")


def switches(pid: int) -> dict[tuple[str, str], int]:
    """Of each thread, by its name and number."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            lines = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines() if ":" in line)
        except FileNotFoundError:
            continue  # It has ended.
        found[lines["Name"].strip(), task.name] = int(lines["voluntary_ctxt_switches"])
    return found


def package_rows() -> list[Row]:
    """Of the package that was made last, if one was."""
    packages = sorted((ROOT / ".build").glob("oob-agent_*.deb"), key=lambda file: file.stat().st_mtime)
    if not packages:
        return []
    package, tree = packages[-1].stat().st_size / 1e6, contents(packages[-1])
    installed = sum(tree.values()) / 1e6
    programs = ", ".join(f"{Path(name).name} {size / 1e6:.0f}" for name, size in tree.items()
                         if size > 1e6)
    return [Row(
        ".deb / installed", f"{number(package)} MB / {number(installed)} MB ({programs})",
        max(package / 20, installed / 80), 1, "≤ 20 MB / ≤ 80 MB",
        f"`{packages[-1].name}`, and the bytes of the files in it")]


def contents(package: Path) -> dict[str, int]:
    """The bytes of each file in a package."""
    listing = subprocess.run(["dpkg-deb", "--contents", package], check=True, capture_output=True, text=True).stdout
    files = [line.split() for line in listing.splitlines() if line.startswith("-")]
    return {fields[5]: int(fields[2]) for fields in files}
