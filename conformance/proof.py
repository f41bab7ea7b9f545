"""Shows that `oob-conform` can fail: each mutant of an issuer or approver has one rule left out or turned round.

Run with `.venv/bin/python conformance/proof.py`; OOB_BIN_DIR names the programs' directory. `--sample 10 --seed 7` takes
ten of them. Each must be caught: a case that it names fails. The exit status is 1 if less than 95 % are.
"""

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
STARTED_WITHIN = 60
JUDGED_WITHIN = 600
# How a file is started, by its suffix; an issuer prints its URL in its first line, an approver its port.
STARTS = {".py": [sys.executable, "-B"], ".mjs": ["node"]}


class Mutant:
    def __init__(self, file: Path, described: dict):
        self.file, self.name, self.section = file, described["name"], described["section"]
        self.old, self.new, self.cases = described["old"], described["new"], described["caughtBy"]

    def source(self) -> str:
        """The file with its one change."""
        whole = self.file.read_text(encoding="utf-8")
        if whole.count(self.old) != 1 or self.old == self.new:
            raise ValueError(f"{self.name}: its `old` must be in {self.file.name} once, and is {whole.count(self.old)} times")
        return whole.replace(self.old, self.new)


def mutants() -> list[Mutant]:
    found = []
    for path in sorted((ROOT / "conformance/mutants").glob("*.yaml")):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        found += [Mutant(ROOT / document["file"], one) for one in document["mutants"]]
    return found


@contextlib.contextmanager
def running(source: str, file: Path):
    """The URL of an issuer or approver that is started from `source`, and ended afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, file.name)
        program.write_text(source, encoding="utf-8")
        with open(Path(folder, "log"), "wb") as log:
            process = subprocess.Popen([*STARTS[file.suffix], program, "0"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=log, text=True,
                                       env={**os.environ, "OOB_ROOT": str(ROOT)})
        watchdog = threading.Timer(STARTED_WITHIN, process.kill)
        watchdog.start()
        reader = None
        try:
            words = process.stdout.readline().split()
            watchdog.cancel()
            if not words or not ("--issuer" in words or words[0].isdecimal()):
                raise ValueError(f"{file.name} did not start:\n{Path(folder, 'log').read_text()}")
            # Nobody reads what else it prints; it must not wait for a reader.
            reader = threading.Thread(target=process.stdout.read, daemon=True)
            reader.start()
            yield words[words.index("--issuer") + 1] if "--issuer" in words else f"http://127.0.0.1:{words[0]}"
        finally:
            watchdog.cancel()
            process.kill()
            process.wait()
            if reader:
                reader.join()
            process.stdout.close()


def judged(url: str, file: Path, *words: str) -> dict:
    """What `oob-conform` says of it: the cases by name."""
    program = Path(os.environ.get("OOB_BIN_DIR", ROOT / ".build/debug")).resolve() / "oob-conform"
    config = ROOT / f"conformance/tested/{file.stem}-{file.suffix[1:]}.yaml"
    side = ["approver"] if file.stem == "approver" else ["issuer", url]
    run = subprocess.run(
        [program, *side, "--config", config, "--cases", ROOT / "conformance/cases", "--json", "-", *words],
        capture_output=True, text=True, timeout=JUDGED_WITHIN, stdin=subprocess.DEVNULL,
        env={**os.environ, "APPROVER": url})
    if not run.stdout.startswith("{"):
        raise ValueError(run.stdout + run.stderr)
    return {case["name"]: case for case in json.loads(run.stdout)["cases"]}


def failed(cases: dict) -> list[str]:
    return sorted(name for name, case in cases.items() if case["verdict"] == "failed")


def tried(mutant: Mutant, others: bool = True) -> tuple[bool, str]:
    """Whether a case that the mutant names fails, and a line that says which; else, if `others`, which others fail."""
    with running(mutant.source(), mutant.file) as url:
        chosen = [word for name in mutant.cases for word in ("--case", name)]
        cases = judged(url, mutant.file, *chosen)
        if by := failed(cases):
            return True, f"caught by {', '.join(by)}: {cases[by[0]]['cause']}"
        said = ", ".join(f"{name} {case['verdict']}" for name, case in cases.items())
        by = failed(judged(url, mutant.file, "--jobs", "8")) if others else []
        return False, f"NOT caught ({said})" + (f"; others fail: {', '.join(by)}" if by else "")


def false_alarms(file: Path, seed: int) -> list[str]:
    """What fails of the original, with the cases in the order of `seed`."""
    with running(file.read_text(encoding="utf-8"), file) as url:
        cases = judged(url, file, "--seed", str(seed), "--jobs", "8")
    return [f"{name}: {case['cause']}" for name, case in cases.items()
            if case["verdict"] == "broken" or (case["verdict"] == "failed" and case["level"] == "must")]


def originals(runs: int, seed: int, jobs: int) -> int:
    files = sorted({mutant.file for mutant in mutants()})
    def alarms(run):
        number, file = run
        found = false_alarms(file, number)
        print(f"{file.name} with seed {number}: {'; '.join(found) or 'nothing fails'}", flush=True)
        return len(found)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        count = sum(pool.map(alarms, [(number, file) for number in range(seed, seed + runs) for file in files]))
    print(f"{count} false alarms in {runs} runs of each original")
    return 1 if count else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="how many mutants are tried; by default all")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample and the order")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--only", default="", help="mutants whose file and name have these words")
    parser.add_argument("--originals", type=int, metavar="RUNS", help="judge the originals so often instead")
    options = parser.parse_args()
    if options.originals:
        sys.exit(originals(options.originals, options.seed, options.jobs))
    chosen = [mutant for mutant in mutants() if options.only in f"{mutant.file.name} {mutant.name}"]
    random.Random(options.seed).shuffle(chosen)
    chosen = chosen[:options.sample]

    def line(mutant):
        try:
            caught, said = tried(mutant)
        except Exception as error:  # A mutant that does not even start shows nothing.
            caught, said = False, f"NOT tried: {error}"
        print(f"{mutant.file.name} {mutant.name} (section {mutant.section}): {said}", flush=True)
        return caught

    with ThreadPoolExecutor(max_workers=options.jobs) as pool:
        caught = sum(pool.map(line, chosen))
    print(f"{caught} of {len(chosen)} mutants are caught by the case that names their rule; seed {options.seed}")
    sys.exit(0 if chosen and caught * 100 >= len(chosen) * 95 else 1)


if __name__ == "__main__":
    main()
