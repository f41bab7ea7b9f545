"""docs/how-to/issuer-guide.md: its calls against the example issuers, and the examples against the kit."""

import json
import re
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from programs import BIN_DIR, ENDED_WITHIN, READY_WITHIN, started, temporary_folder
from software_authenticator import Enrolled, call
from verify import decode

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/how-to/issuer-guide.md").read_text(encoding="utf-8")
EXAMPLES = {"issuer.py": [sys.executable, "-B"], "issuer.mjs": ["node"]}
TESTED = {"issuer.py": "issuer-py.yaml", "issuer.mjs": "issuer-mjs.yaml"}
# What each call of the guide is answered with, in order.
ANSWERS = [
    "jwksUri", "keys", "invalid_enrollment_code", "code", "requests", '"transStatus": ?"N"', "signCount", "^$",
]


class Example:
    """An example issuer on a free port."""

    def __init__(self, folder: Path, name: str):
        self.log = folder / f"{name}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*EXAMPLES[name], ROOT / "examples" / name, "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=log, text=True)
        watchdog = threading.Timer(READY_WITHIN, self.process.kill)
        watchdog.start()
        said = self.process.stdout.readline()
        watchdog.cancel()
        match = re.fullmatch(r"oobctl enroll --issuer (\S+) --code (\S+)\n", said)
        if match is None:
            raise AssertionError(f"{name} did not start, but said {said!r}:\n{self.log.read_text()}")
        self.origin, self.code = match.groups()
        # Nobody else reads what it prints.
        self.reader = threading.Thread(target=self.process.stdout.read, daemon=True)
        self.reader.start()

    def stop(self):
        self.process.terminate()
        self.process.wait(ENDED_WITHIN)
        self.reader.join(ENDED_WITHIN)
        self.process.stdout.close()


def calls() -> list[str]:
    """The `curl` lines of the guide, in order."""
    found = []
    for block in re.findall(r"```\n(.*?)```", GUIDE, re.DOTALL):
        found += [line for line in block.replace("\\\n", " ").splitlines() if line.startswith("curl ")]
    return found


class TheGuide(unittest.TestCase):
    def test_every_call_of_the_guide_is_answered_as_it_says(self):
        for name in EXAMPLES:
            issuer = started(self, Example(temporary_folder(self), name))
            enrolled = Enrolled(issuer.origin, issuer.code)
            purchase = threading.Thread(target=call, daemon=True, args=(
                "POST", f"{issuer.origin}/acs/challenges",
                {"transaction": {"acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62", "merchantName": "Guide"}}))
            purchase.start()
            _, listed = enrolled.fetch("?wait=30&after=0")
            claims = json.loads(decode(listed["requests"][0].split(".")[1]))
            environment = {"PATH": "/usr/bin:/bin", "TOKEN": enrolled.token, "JTI": claims["jti"]}
            self.assertEqual(len(calls()), len(ANSWERS))
            for line, expected in zip(calls(), ANSWERS):
                with self.subTest(issuer=name, call=line):
                    run = subprocess.run(
                        ["bash", "-c", line.replace("http://localhost:8090", issuer.origin)], env=environment,
                        capture_output=True, text=True, timeout=60)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    self.assertRegex(run.stdout, expected)
            purchase.join(30)
            self.assertEqual(enrolled.fetch("")[0], 401, "the guide's last call ends the authenticator")

    def test_every_case_that_it_names_exists(self):
        named = [name for line in re.findall(r"\*\*Cases\*\*: (.*?)\.\n", GUIDE, re.DOTALL)
                 for name in re.findall(r"`([a-z0-9-]+)`", line)]
        named += re.findall(r"`(cancel-[a-z-]+)`", GUIDE) + re.findall(r"--case ([a-z-]+)", GUIDE)
        self.assertGreater(len(named), 30)
        for name in named:
            self.assertTrue((ROOT / f"conformance/cases/issuer/{name}.yaml").exists(), name)

    def test_the_examples_pass_the_kit(self):
        for name, config in TESTED.items():
            with self.subTest(name):
                issuer = started(self, Example(temporary_folder(self), name))
                run = subprocess.run(
                    [BIN_DIR / "oob-conform", "issuer", issuer.origin, "--config", ROOT / "conformance/tested" / config],
                    capture_output=True, text=True, timeout=560, cwd=ROOT, stdin=subprocess.DEVNULL)
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                self.assertRegex(run.stdout, r"\n1[0-9]{2} passed, 0 failed")


if __name__ == "__main__":
    unittest.main()
