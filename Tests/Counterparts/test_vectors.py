"""conformance/vectors: made as stated, and judged by a verifier that shares no code with this project.

Run with `.venv/bin/python Tests/Counterparts/test_vectors.py`.
"""

import ast
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import make_vectors

CONFORMANCE = make_vectors.FOLDER.parent


def judged(folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-B", str(folder / "verify.py")], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


class Vectors(unittest.TestCase):
    def test_they_come_out_the_same_when_they_are_made_again(self):
        for name, text in make_vectors.files().items():
            with self.subTest(name):
                self.assertEqual((make_vectors.FOLDER / name).read_text(encoding="utf-8"), text)

    def test_the_verifier_judges_each_as_it_says(self):
        run = judged(CONFORMANCE)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        count = sum(len(json.loads(text)) for name, text in make_vectors.files().items() if name != "parties.json")
        said = f"{count} of {count} vectors are judged as they say"
        self.assertEqual(run.stdout, said + "\n")
        self.assertIn(said, (CONFORMANCE / "README.md").read_text(encoding="utf-8"))

    def test_the_verifier_finds_a_vector_that_says_the_wrong_thing(self):
        for name, change in [
            ("requests.json", lambda vector: vector.update(jws=vector["jws"][:-2] + "AA")),
            ("assertions.json", lambda vector: vector.update(signCountAbove=42)),
            ("commitments.json", lambda vector: vector.update(challenge=make_vectors.b64(bytes(32)))),
        ]:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                copy = Path(shutil.copytree(CONFORMANCE, Path(folder) / "conformance"))
                vectors = json.loads((copy / "vectors" / name).read_text(encoding="utf-8"))
                change(vectors[0])
                (copy / "vectors" / name).write_text(json.dumps(vectors), encoding="utf-8")
                run = judged(copy)
                self.assertEqual(run.returncode, 1, run.stdout)
                self.assertIn(f"{name.removesuffix('.json')}/{vectors[0]['name']}: ", run.stdout)

    def test_the_verifier_shares_no_code_with_the_project(self):
        tree = ast.parse((CONFORMANCE / "verify.py").read_text(encoding="utf-8"))
        names = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        self.assertLessEqual({name.split(".")[0] for name in names}, sys.stdlib_module_names | {"cryptography"})


if __name__ == "__main__":
    unittest.main()
