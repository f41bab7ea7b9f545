"""A wall clock of one process's own, which a test sets off while the process runs."""

import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


def build(folder: Path) -> Path:
    """The shim, compiled into a directory."""
    library = folder / "wall_clock.so"
    compiler = shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        raise RuntimeError("there is neither cc nor clang on PATH")
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", library, SOURCE], check=True)
    return library


class WallClock:
    """`variables` are for the environment of the process; `kind` BOOT_CLOCK is the clock that nobody sets."""

    def __init__(self, library: Path, file: Path, off: int = 0, kind: str = "WALL_CLOCK"):
        self.file = file
        file.write_bytes(bytes(8))
        self.set(off)
        self.variables = {"LD_PRELOAD": str(library), kind: str(file)}

    def set(self, seconds: int):
        """So many seconds ahead of the machine's, from now on; negative: behind."""
        with open(self.file, "r+b") as file:
            file.write(struct.pack("=q", seconds))
