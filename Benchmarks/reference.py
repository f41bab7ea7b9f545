"""What the machine does in the same minutes: the two numbers that an approval cannot go below, and what it is."""

import os
import platform
import statistics
import subprocess
import tempfile
from pathlib import Path

from world import BIN_DIR, PLACE, compiled

PAIRS = 2_000


def program() -> Path:
    return compiled("reference.c", "reference", "-Wno-unused", "-Wshadow", "-lcrypto", "-lsqlite3")


def output(*words) -> float:
    return float(subprocess.run([program(), *map(str, words)], check=True, capture_output=True, text=True).stdout)


class Reference:
    """Measured between the others, so that both have the same machine."""

    def __init__(self):
        self.pairs: list[float] = []
        self.commits: list[float] = []

    def measure(self):
        self.pairs.append(output("keys", PAIRS) / PAIRS)
        with tempfile.TemporaryDirectory(dir=PLACE) as folder:
            self.commits.append(output("commits", 1, f"{folder}/reference.db"))

    @property
    def pair(self) -> float:
        """The processor seconds of verifying and signing once."""
        return statistics.median(self.pairs)

    @property
    def commit_rate(self) -> float:
        """Durable commits of SQLite per second."""
        return statistics.median(self.commits)


def pair_instructions() -> float:
    """Of verifying and signing once, by callgrind."""
    few, many = (instructions(program(), "keys", str(count)) for count in (10, 60))
    return (many - few) / 50


def instructions(*command) -> int:
    """All that a program executes, from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "out"
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", *command], check=True,
            stdin=subprocess.DEVNULL, capture_output=True)
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
