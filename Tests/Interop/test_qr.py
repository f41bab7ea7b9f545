"""The QR code of an enrollment link: drawn by `oob-issuer code`, read by ZXing from what a terminal shows.

Run with `.venv/bin/python Tests/Interop/test_qr.py`; OOB_BIN_DIR names the programs' directory.
"""

import random
import re
import subprocess
import unittest

import zxingcpp

from programs import BIN_DIR
from terminal import Terminal
from web import Server

UTF8, ASCII = {"LANG": "C.UTF-8"}, {"LC_ALL": "C"}
# Black on white, as its escape sequences are set for one cell of the screen.
BLACK_ON_WHITE, RESET = "\x1b[38;5;16;48;5;231m", "\x1b[0m"
# The most bytes of each version from 1 to 10 at level M (ISO/IEC 18004, table 7).
MOST = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213]
# A module is so many points wide and high when it is read.
SCALE = 3


class Codes(Server):
    """What `oob-issuer code` takes for a sandbox; its links are whatever a test wants."""

    link = ""

    def route(self, method, target, bearer, body):
        return 201, {"code": "CODE", "link": self.link}


def modules(lines: list[str]) -> list[list[bool]]:
    """True is dark, as a person sees it: black on white where colours are given, else light on dark."""
    rows = []
    for line in lines:
        if line.startswith("\x1b[48;5;"):
            rows.append([colour == "16" for colour in re.findall(r"\x1b\[48;5;(16|231)m  ", line)])
        elif "##" in line:
            rows.append([pair == "  " for pair in re.findall("..", line)])
        else:
            coloured = line.startswith(BLACK_ON_WHITE)
            cells = line.removeprefix(BLACK_ON_WHITE).removesuffix(RESET)
            rows.append([(cell in "▀█") == coloured for cell in cells])
            rows.append([(cell in "▄█") == coloured for cell in cells])
    return rows


def read(rows: list[list[bool]]) -> bytes | None:
    """What is in a picture of these modules, never of their inverse; None where nothing can be read."""
    points = b"".join(
        b"".join((b"\0" if dark else b"\xff") * SCALE for dark in row) * SCALE for row in rows)
    picture = memoryview(points).cast("B", (len(rows) * SCALE, len(rows[0]) * SCALE))
    found = zxingcpp.read_barcodes(picture, formats=zxingcpp.BarcodeFormat.QRCode, try_invert=False)
    return found[0].bytes if found else None


class QRCodes(unittest.TestCase):
    def setUp(self):
        self.codes = self.enterContext(Codes())

    def words(self, *options: str) -> list[str]:
        return [str(BIN_DIR / "oob-issuer"), "code", "--issuer", self.codes.origin, *options]

    def run_piped(self, *options: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(self.words(*options), env=environment, capture_output=True, text=True, timeout=60)

    def drawn(self, link: str, **environment: str) -> list[str]:
        self.codes.link = link
        run = self.run_piped("--qr", **environment)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        code, shown, *lines = run.stdout.splitlines()
        self.assertEqual((code, shown), ("CODE", link))
        return lines

    def at_a_terminal(self, *options: str, columns: int = 80, **environment: str) -> str:
        words = self.words(*options)
        process = Terminal(
            words[0], words[1:], env={"TERM": "xterm-256color", **environment}, dimensions=(80, columns), timeout=60)
        shown = process.read().decode()
        process.close()
        self.assertEqual(process.exitstatus, 0, shown)
        return shown.replace("\r\n", "\n")

    def test_every_version_is_read_at_its_least_and_most_bytes(self):
        chance = random.Random(1)
        for length in sorted({1, *MOST, *(most + 1 for most in MOST[:-1])}):
            with self.subTest(length):
                link = "".join(chance.choices("ABCDEFGHJKMNPQRSTVWXYZ0123456789%&=:?-.", k=length))
                lines = self.drawn(link, **UTF8)
                self.assertEqual(read(modules(lines)), link.encode())
                version = next(number for number, most in enumerate(MOST, 1) if most >= length)
                self.assertEqual({len(line) for line in lines}, {17 + 4 * version + 8})

    def test_contents_that_are_hard_to_draw_are_read(self):
        for link in ["A" * 100, "\u0000" * 60, "U" * 213, "æøå€" * 20, "0" * 42, "oob-enroll:?issuer=x&code=y"]:
            with self.subTest(link[:8]):
                # A zero byte is cut from what is compared as text.
                self.codes.link = link
                lines = self.run_piped("--qr", **UTF8).stdout.split("\n")[2:-1]
                self.assertEqual(read(modules(lines)), link.encode())

    def test_a_code_is_read_also_where_some_of_it_cannot(self):
        link = "oob-enroll:?issuer=https%3A%2F%2Fissuer.example&code=7QK4-M2XD"
        rows = modules(self.drawn(link, **UTF8))
        # A blot of 7 by 7 modules in the middle, where data and error correction are.
        middle = len(rows) // 2
        for row in rows[middle - 3:middle + 4]:
            row[middle - 3:middle + 4] = [True] * 7
        self.assertEqual(read(rows), link.encode())

    def test_at_a_terminal_it_is_black_on_white_whatever_the_terminals_colours_are(self):
        self.codes.link = "oob-enroll:?issuer=http%3A%2F%2Flocalhost%3A8080&code=7QK4-M2XD"
        for environment, columns in [(UTF8, 80), (ASCII, 120)]:
            code, link, *lines = self.at_a_terminal(columns=columns, **environment).splitlines()
            self.assertEqual((code, link), ("CODE", self.codes.link))
            self.assertTrue(all(line.startswith("\x1b[") and line.endswith(RESET) for line in lines))
            self.assertEqual(read(modules(lines)), link.encode())

    def test_without_colours_it_is_drawn_for_light_text_on_a_dark_terminal(self):
        self.codes.link = "oob-enroll:?issuer=x&code=y"
        for environment in [{"NO_COLOR": "1"}, {"TERM": "dumb"}]:
            for locale in [UTF8, ASCII]:
                shown = self.at_a_terminal(**locale, **environment)
                self.assertNotIn("\x1b", shown)
                self.assertEqual(shown.isascii(), locale is ASCII)
                self.assertEqual(read(modules(shown.splitlines()[2:])), self.codes.link.encode())

    def test_what_does_not_fit_the_terminal_or_a_code_is_said_and_the_link_is_there(self):
        self.codes.link = "oob-enroll:?issuer=http%3A%2F%2Flocalhost%3A8080&code=7QK4-M2XD"
        for columns, environment, takes in [(44, UTF8, 45), (80, ASCII, 90)]:
            shown = self.at_a_terminal(columns=columns, **environment)
            self.assertIn(self.codes.link, shown)
            self.assertIn(f"no QR code: it takes {takes} columns, and the terminal has {columns}", shown)
        self.assertIn(BLACK_ON_WHITE, self.at_a_terminal(columns=45, **UTF8))
        self.codes.link = "x" * 214
        run = self.run_piped("--qr", **UTF8)
        self.assertEqual((run.returncode, run.stdout), (0, f"CODE\n{self.codes.link}\n"))
        self.assertIn("no QR code: it holds 213 bytes, and the link is longer", run.stderr)

    def test_json_and_what_is_no_terminal_have_no_drawing_unless_it_is_asked_for(self):
        self.codes.link = "oob-enroll:?issuer=x&code=y"
        text = f"CODE\n{self.codes.link}\n"
        self.assertEqual(self.run_piped(**UTF8).stdout, text)
        self.assertEqual(self.at_a_terminal("--no-qr", **UTF8), text)
        json = f'{{"code":"CODE","link":"{self.codes.link}"}}\n'
        self.assertEqual(self.run_piped("--json", "--qr", **UTF8).stdout, json)
        self.assertEqual(self.at_a_terminal("--json", **UTF8), json)


if __name__ == "__main__":
    unittest.main()
