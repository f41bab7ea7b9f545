"""The Debian packages that tests look at."""

import os
import subprocess
import unittest
from pathlib import Path

from systemd_box import CHECKOUT

SCRATCH = Path(os.environ.get("DEB_SCRATCH") or CHECKOUT / ".build" / "deb")
# Where toolchains are that a machine may have: a box has nothing there.
TOOLCHAINS = [path for path in ["/opt/swift", "/usr/libexec/swift"] if os.path.isdir(path)]


def package() -> Path | None:
    if named := os.environ.get("OOB_DEB"):
        return Path(named).absolute()
    made = sorted((CHECKOUT / ".build").glob("oob-agent_*.deb"), key=lambda path: path.stat().st_mtime)
    return made[-1] if made else None


DEB = package()
# The other one of the same run of Scripts/deb.
TESTKIT = DEB and DEB.with_name(DEB.name.replace("oob-agent_", "oob-testkit_"))
# The programs in each.
INSIDE = {DEB: ["oob-agent", "oobctl"], TESTKIT: ["oob-issuer", "oob-conform", "oob-inbox"]}


def needs_package():
    """For a module: skipped where there is no package."""
    if DEB is None:
        raise unittest.SkipTest("there is no package here: make deb makes one")


def printed(*command, **how) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=560, **how).stdout
