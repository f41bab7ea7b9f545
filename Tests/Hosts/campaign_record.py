"""What a campaign has done so far: a committed file, so that a later run goes on from it."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def place(given: Path | None, name: str, is_same) -> Path:
    """The file that was given; else the committed one if it is of the `same` seed and setting, or one in .build."""
    committed = ROOT / "Tests" / "Hosts" / "records" / f"{name}.json"
    if given is None and committed.exists() and is_same(json.loads(committed.read_text())):
        return committed
    return given or ROOT / ".build" / f"{name}.json"


def commit() -> str:
    """The commit that is tested, with a `+` if sources or tests were changed since; `-` without git."""
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "Sources", "Tests", ":(exclude)Tests/Hosts/records")
    return (git("rev-parse", "--short=8", "HEAD") or "-") + ("+" if changed else "")


def save(facts: dict, record: Path):
    """Writes it whole or not at all."""
    record.parent.mkdir(parents=True, exist_ok=True)
    new = record.with_suffix(".new")
    new.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    new.replace(record)
