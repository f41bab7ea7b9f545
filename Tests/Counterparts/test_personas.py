"""The pages of personas, whose tests are run as a reader would.

Run with `.venv/bin/python Tests/Counterparts/test_personas.py`; OOB_BIN_DIR names the programs' directory.
"""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from programs import BIN_DIR, temporary_folder

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "reference" / "personas"
PLUGIN = ROOT / "integrations" / "pytest"


class Pages(unittest.TestCase):
    def test_the_tests_of_the_pages_pass(self):
        folder = temporary_folder(type(self))
        names = sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "README")
        for name in names:
            (block,) = re.findall(r"```python\n(.*?)```", (PAGES / f"{name}.md").read_text(encoding="utf-8"), re.DOTALL)
            (folder / f"test_{name}.py").write_text(block, encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytest_oob_authenticator.plugin",
             f"--rootdir={folder}", "-n", "2", "--durations=0", "-q", str(folder)],
            env={**os.environ, "OOB_BIN_DIR": str(BIN_DIR), "PYTHONPATH": str(PLUGIN)}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=560)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn(f"{len(names)} passed", ran.stdout)


if __name__ == "__main__":
    unittest.main()
