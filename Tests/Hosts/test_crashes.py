"""A short crash campaign: each kind of point once by a kill and once by a cut of power, and a few random lives.

Run with `.venv/bin/python Tests/Hosts/test_crashes.py`; OOB_BIN_DIR names the programs' directory. `make crash-test`
is the long one. The shim that cuts the power is held against SQLite and plain files first.
"""

import random
import secrets
import sqlite3
import subprocess
import tempfile
import unittest
from contextlib import contextmanager
from pathlib import Path

import powercut
from crash_points import Death, Stage, deaths
from crash_rounds import Round
from crash_steps import STEPS
from crash_world import Issuer
from programs import temporary_folder

COMMIT = """
import os, sqlite3
database = sqlite3.connect("state/db", isolation_level=None)
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = FULL")
database.execute("CREATE TABLE row (number)")
database.execute("PRAGMA synchronous = {level}")
for number in range(20):
    database.execute("INSERT INTO row VALUES (zeroblob(2000))")
os.mkdir("state/now")
"""
FILES = """
import os
def new(name, bytes, is_synced=True):
    file = os.open("state/" + name, os.O_CREAT | os.O_RDWR, 0o600)
    os.write(file, bytes)
    if is_synced: os.fsync(file)
    return file
def sync():
    directory = os.open("state", os.O_RDONLY)
    os.fsync(directory)
{body}
os.mkdir("state/now")
"""


class TheShim(unittest.TestCase):
    """A power cut takes what was not synced, and nothing else."""

    @classmethod
    def setUpClass(cls):
        cls.library = powercut.build(temporary_folder(cls))

    def after_a_cut(self, program: str, seed: int = 0) -> Path:
        """The state after a Python program lost its power where it makes `state/now`."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory(dir="/tmp")))
        (folder / "state").mkdir()
        shim = powercut.PowerCut(self.library, folder, folder / "state")
        shim.order("mkdir now", 1, "cut-before", seed)
        run = subprocess.run(
            ["/usr/bin/python3", "-c", program], cwd=folder, env=shim.variables, capture_output=True, text=True)
        self.assertEqual((run.returncode, shim.death()), (-9, "mkdir now"), run.stderr)
        return folder / "state"

    def files_after(self, body: str, seed: int = 0) -> dict[str, bytes]:
        state = self.after_a_cut(FILES.format(body=body), seed)
        return {path.name: path.read_bytes() for path in state.iterdir()}

    def rows_after(self, level: str, seed: int) -> int:
        database = sqlite3.connect(self.after_a_cut(COMMIT.format(level=level), seed) / "db")
        self.addCleanup(database.close)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        return database.execute("SELECT count(*) FROM row").fetchone()[0]

    def test_commits_with_synchronous_full_stay_and_with_off_they_are_lost(self):
        self.assertEqual([self.rows_after("FULL", seed) for seed in range(4)], [20] * 4)
        self.assertEqual([self.rows_after(level, 0) for level in ("NORMAL", "OFF")], [0, 0])

    def test_some_of_what_was_not_synced_can_survive_and_not_always_the_same(self):
        block = "new('a', b'', False); sync(); os.write(os.open('state/a', os.O_RDWR), b'x' * 65536)"
        contents = {self.files_after(block, seed)["a"] for seed in range(1, 17)}
        self.assertGreater(len(contents), 4)
        self.assertTrue(any(0 < content.count(b"x") < 65536 for content in contents))

    def test_bytes_need_the_file_synced_and_names_the_directory(self):
        self.assertEqual(self.files_after("new('a', b'x'); sync()"), {"a": b"x"})
        self.assertEqual(self.files_after("new('a', b'x', False); sync()"), {"a": b""})
        self.assertEqual(self.files_after("new('a', b'x')"), {})

    def test_a_new_content_under_an_old_name_is_the_old_one_until_the_directory_is_synced(self):
        body = "new('a', b'old'); sync(); new('b', b'new'); sync(); os.rename('state/b', 'state/a')"
        self.assertEqual(self.files_after(body), {"a": b"old", "b": b"new"})
        self.assertEqual(self.files_after(body + "; sync()"), {"a": b"new"})

    def test_what_was_overwritten_cut_off_linked_or_removed_comes_back(self):
        body = "new('a', b'12345678'); new('b', b'b'); sync(); "
        before = {"a": b"12345678", "b": b"b"}
        for change in ["os.pwrite(new('a', b''), b'xx', 3)", "os.ftruncate(new('a', b''), 2)", "os.unlink('state/b')",
                       "os.link('state/a', 'state/c')", "os.rename('state/a', 'state/b')"]:
            with self.subTest(change):
                self.assertEqual(self.files_after(body + change), before)

    def test_a_file_is_cut_off_as_a_whole_or_not_at_all_and_what_is_written_behind_the_cut_needs_it(self):
        old = "new('a', bytes(range(256)) * 256); sync(); a = os.open('state/a', os.O_RDWR); os.ftruncate(a, 0)"
        whole = bytes(range(256)) * 256
        self.assertEqual({self.files_after(old, seed)["a"] for seed in range(1, 17)}, {b"", whole})
        again = old + "; os.pwrite(a, b'new', 0); os.ftruncate(a, 1); os.pwrite(a, b'er', 1)"
        contents = {self.files_after(again, seed)["a"] for seed in range(1, 65)}
        self.assertLessEqual(contents - {whole}, {b"", b"n", b"new", b"ner", bytes(1), bytes(3), b"\0ew"} | {
            first + rest for first in [b"n", b"\0"] for rest in [b"\0\0", b"er"]})
        self.assertIn(whole, contents)
        self.assertIn(b"ner", contents)

    def test_the_program_dies_before_or_after_the_call_as_it_was_told(self):
        for way, made in [("kill-before", False), ("kill-after", True)]:
            folder = Path(self.enterContext(tempfile.TemporaryDirectory(dir="/tmp")))
            shim = powercut.PowerCut(self.library, folder, folder / "state")
            shim.order("", 1, way, 0)
            program = "import os; os.mkdir('state'); os.mkdir('state/more')"
            run = subprocess.run(["/usr/bin/python3", "-c", program], cwd=folder, env=shim.variables)
            self.assertEqual((run.returncode, (folder / "state").exists()), (-9, made))
            self.assertEqual(shim.labels(), ["mkdir state (the last)"])


class TheAgent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.library = powercut.build(cls.folder)
        # Another one each time: what it finds is told with it.
        cls.seed = secrets.randbelow(1 << 32)

    @contextmanager
    def naming(self, death: str):
        """The first failure ends it, and says where it died: for `make crash-test`."""
        try:
            yield
        except Exception as error:
            raise AssertionError(f"{death}: {error}") from error

    def test_every_promise_holds_whichever_kind_of_point_it_dies_at(self):
        issuer = Issuer(self.folder)
        self.addClassCleanup(issuer.program.stop)
        stage = Stage(self.folder, self.library, issuer)
        self.addClassCleanup(stage.close)
        rng = random.Random(self.seed)
        every = [death for step in STEPS for death in deaths(step, stage.play(step), rng)]
        rng.shuffle(every)
        chosen: dict[tuple[str, bool], Death] = {}
        for death in every:
            chosen.setdefault((death.label, death.way.startswith("cut")), death)
        self.assertGreater(len(chosen), 50)
        missed = 0
        for death in chosen.values():
            with self.naming(f'DEATH="{death}"'):
                missed += powercut.LAST not in "".join(stage.play(death.step, death))
        self.assertLess(missed, len(chosen) / 4, "most of the points were not reached again")

    def test_every_promise_holds_through_random_lives_with_a_faulty_issuer(self):
        with self.naming(f"random lives of seed {self.seed}"):
            round = Round(self.folder / "round", self.library, self.seed, with_faults=True)
            self.addClassCleanup(round.close)
            round.run(10, lambda: None)
            self.assertEqual(round.crashes, 10)


if __name__ == "__main__":
    unittest.main()
