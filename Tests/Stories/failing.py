"""System calls that fail in a program that runs: strace lets them."""

import subprocess
from pathlib import Path


class Failing:
    """Lets system calls on a file fail in another process, while the block runs."""

    def __init__(self, pid: int, file: Path, fault: str):
        name = fault.split(":")[0]
        self.command = [
            "strace", "-f", "-o", "/dev/null", "-P", file, "-e", f"trace={name}", "-e", f"inject={fault}", "-p", str(pid)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        said = self.process.stderr.readline()
        while "attached" not in said:
            assert said, "strace ended"
            said = self.process.stderr.readline()

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()  # Until it is gone: then nothing fails any more.
