"""The mutants of the example issuers, in conformance/mutants, under `oob-conform`.

Run with `.venv/bin/python Tests/Stories/test_conform_proof.py`; OOB_BIN_DIR names the programs' directory.
"""

import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "conformance"))

import proof  # noqa: E402

CASES = {path.stem for path in (ROOT / "conformance/cases").rglob("*.yaml")}


class TheMutants(unittest.TestCase):
    def test_ten_mutants_are_caught_by_the_case_that_names_their_rule(self):
        run = subprocess.run(
            [sys.executable, "-B", ROOT / "conformance/proof.py", "--sample", "10", "--seed", "20", "--jobs", "2"],
            capture_output=True, text=True, timeout=580, stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("10 of 10 mutants are caught", run.stdout)

    def test_each_mutant_changes_its_file_in_one_place_and_names_cases_that_exist(self):
        mutants = proof.mutants()
        self.assertGreaterEqual(len(mutants), 150)
        names = [(mutant.file, mutant.name) for mutant in mutants]
        self.assertEqual(len(set(names)), len(names), "two mutants of one name")
        for mutant in mutants:
            with self.subTest(mutant.name):
                mutant.source()
                self.assertTrue(mutant.cases)
                self.assertLessEqual(set(mutant.cases), CASES)

    def test_a_mutant_that_breaks_no_rule_is_not_said_to_be_caught(self):
        file = ROOT / "examples/issuer.mjs"
        same = {"name": "another name for the bank", "section": "4.1", "old": "'Example Bank'", "new": "'Other Bank'",
                "caughtBy": ["options"]}
        caught, said = proof.tried(proof.Mutant(file, same), others=False)
        self.assertFalse(caught, said)
        self.assertIn("NOT caught (options passed)", said)


if __name__ == "__main__":
    unittest.main()
