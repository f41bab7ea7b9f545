"""What the machine does in the same minutes: what an approval cannot go below (floor.c), and what it is."""

import os
import platform
import statistics
import subprocess
import tempfile
from pathlib import Path

from world import BIN_DIR, PLACE, compiled

# Requests of one run of the floor.
FLOOR = 500


def output(kind: str, amount: int, through: tuple = ()) -> float:
    made = compiled("floor.c", "floor", "-Wno-unused", "-Wshadow", "-lcrypto", "-lsqlite3")
    with tempfile.TemporaryDirectory(dir=PLACE) as folder:
        return float(subprocess.run(
            [*through, made, kind, str(amount), folder], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True).stdout)


class Reference:
    """Measured between the others, so that both have the same machine."""

    def __init__(self):
        self.floors: list[float] = []
        self.commits: list[float] = []

    def measure(self):
        self.floors.append(output("run", FLOOR))
        self.commits.append(output("commits", 1))

    @property
    def floor(self) -> float:
        """The processor seconds of a request of the smallest program with the same promises."""
        return statistics.median(self.floors)

    @property
    def commit_rate(self) -> float:
        """Durable commits of SQLite per second."""
        return statistics.median(self.commits)


def floor_instructions() -> float:
    """Of a request of the floor, by callgrind."""
    few, many = (executed(lambda through: output("run", count, through)) for count in (10, 60))
    return (many - few) / 50


def instructions(*command) -> int:
    """All that a program executes, from its start to its end."""
    return executed(lambda through: subprocess.run(
        [*through, *command], check=True, stdin=subprocess.DEVNULL, capture_output=True))


def executed(run) -> int:
    """All that a program executes which `run` starts with the words that it is given before its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "out"
        run(("valgrind", "--tool=callgrind", f"--callgrind-out-file={file}"))
        return total(file)


def total(dump: Path) -> int:
    """What callgrind's dump says of all of it."""
    with open(dump, encoding="utf-8", errors="replace") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(("totals:", "summary:")))


def machine() -> dict:
    models = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")]
    kind = subprocess.run(["stat", "--file-system", "--format=%T", PLACE], capture_output=True, text=True).stdout
    return {"processor": models[0] if models else platform.machine(), "cores": os.cpu_count(),
            "kernel": platform.release(), "file system": kind.strip(), "load at the end": round(os.getloadavg()[0], 1),
            "programs": str(BIN_DIR)}
