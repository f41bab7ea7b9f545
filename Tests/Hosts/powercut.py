"""The shim of Tests/Hosts: builds it, gives it its orders, reads its trace."""

import mmap
import os
import shutil
import struct
import subprocess
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
ORDERS = struct.Struct("=IIQ112s")
AFTER, POWER = 1, 2
LAST = " (the last)"  # Follows the label of the point at which a process died.
# How a process dies at a point. A cut of power is most telling before what would have saved, and after what was sent.
WAYS = {"kill-before": 0, "kill-after": AFTER, "cut-before": POWER, "cut-after": POWER | AFTER}


def build(folder: Path) -> Path:
    """The shim, compiled into a directory."""
    library = folder / "powercut.so"
    compiler = shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        raise RuntimeError("there is neither cc nor clang on PATH")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-fvisibility=hidden", "-O2", "-Wall", "-Wextra", "-Werror", "-o", library,
         *sorted(SOURCES.glob("*.c")), "-lpthread"], check=True)
    return library


class PowerCut:
    """What one process after the other runs under; `under` is the directory whose files count."""

    def __init__(self, library: Path, folder: Path, under: Path):
        self.trace, self.aside, self.orders = folder / "trace", folder / "aside", folder / "orders"
        self.orders.write_bytes(bytes(ORDERS.size))
        with open(self.orders, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), ORDERS.size)
        self.variables = {
            "LD_PRELOAD": str(library), "POWERCUT_UNDER": str(under.parent.resolve() / under.name),
            "POWERCUT_ASIDE": str(self.aside), "POWERCUT_ORDERS": str(self.orders), "POWERCUT_TRACE": str(self.trace)}
        self.begin_life()

    def begin_life(self):
        """The trace begins anew. What a killed process left unsynced is carried over, all else goes to the disk."""
        if not (self.aside / "carried").exists():
            shutil.rmtree(self.aside, ignore_errors=True)
            self.aside.mkdir()
        self.trace.write_text("")

    def order(self, label: str, countdown: int, way: str, seed: int):
        """Dies at the point of this label (all, where it is empty) that makes the countdown 0."""
        self.memory[:] = ORDERS.pack(0, WAYS[way], seed, label.encode())
        self.memory[:4] = struct.pack("=I", countdown)

    def clear(self):
        self.memory[:4] = bytes(4)

    def labels(self, after: int = 0) -> list[str]:
        """The points of this life, but for the first ones."""
        return self.trace.read_text().splitlines()[after:]

    def death(self) -> str | None:
        """The label of the point at which the process died, where it was ordered to."""
        last = [line for line in self.labels() if line.endswith(LAST)]
        return last[0].removesuffix(LAST) if last else None
