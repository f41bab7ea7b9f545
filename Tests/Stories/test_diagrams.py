"""Purchases drawn as sequence diagrams: the pictures in docs/images, and hostile names in a picture.

Run with `.venv/bin/python Tests/Stories/test_diagrams.py`; with `--update` it draws the pictures of the stories in
Tests/Fixtures/Cases/diagrams anew, for a reviewer to look at. OOB_BIN_DIR names the programs' directory.
"""

import html
import http.server
import json
import re
import subprocess
import sys
import threading
import unicodedata
import unittest
from pathlib import Path
from xml.etree import ElementTree

from programs import BIN_DIR, temporary_folder

ROOT = Path(__file__).resolve().parents[2]
STORIES = sorted((ROOT / "Tests" / "Fixtures" / "Cases" / "diagrams").glob("*.json"))
IMAGES = ROOT / "docs" / "images"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = {
    "markup": "<script>alert(1)</script> & <!-- \"quoted\" 'too' ]]> &#0; &amp;",
    "marks on markup": "&\u0301 <\u0301 >\u0301 \"\u0301 '\u0301",
    "control characters": "a\x00b\x07c\x1b[31md\re\nf\x7fg\x85h",
    "direction and nothing": "shop\u202egro.live\u2066\u200b\ufeff\u00ad",
    "not in XML": "\ufffe\uffff\U0001ffff\ue000\U0010fffe",
    "wide": "店" * 40 + "👩‍👩‍👧‍👧" * 5 + "W" * 40,
    "one long word": "w" * 4_000,
    "spaces": "  a  b  ",
    "nothing": "",
}


# Lines of Mermaid's language as they can be: no sign in a text but letters, digits and these, the rest as #38;.
TEXT = r"(?:[\w .,\-/()]|#\d+;|<br/>)*"
PARTICIPANT = re.compile(rf"participant p\d as {TEXT}")
MESSAGE = re.compile(rf"(?:p\d--?>>p\d|Note over p\d(?:,p\d)?): {TEXT}")

# Shown between emoji, and escaped in "direction and nothing".
JOINERS = {0x200D: None}


class Stories(http.server.BaseHTTPRequestHandler):
    """A sandbox that tells one story, whichever is asked for."""

    def do_GET(self):
        body = self.server.story.encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Drawing:
    """`oob-issuer show --diagram` of any story."""

    def __init__(self):
        self.server = http.server.ThreadingHTTPServer(("localhost", 0), Stories)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def run(self, story: dict | str, *options: str) -> subprocess.CompletedProcess:
        self.server.story = story if isinstance(story, str) else json.dumps(story)
        return subprocess.run(
            [BIN_DIR / "oob-issuer", "show", "8a5f24a3-7b7a-4d5b-8fd4-1c2f6b0e9a11", *options, "--issuer",
             f"http://localhost:{self.server.server_port}"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def draw(self, story: dict | str, file: Path):
        run = self.run(story, "--diagram", str(file))
        if (run.returncode, run.stdout, run.stderr) != (0, "", ""):
            raise AssertionError(run)
        return file.read_text(encoding="utf-8")

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def image(story: Path) -> Path:
    return IMAGES / f"purchase-{story.stem}.svg"


class Diagrams(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.drawing = Drawing()
        cls.addClassCleanup(cls.drawing.close)

    def named(self, merchant: str) -> dict:
        story = json.loads((STORIES[0].parent / "app-2.2.0.json").read_text(encoding="utf-8"))
        story["transaction"]["merchantName"] = merchant
        for step in story["steps"]:
            step["detail"] = merchant or "none"
        story["steps"].append({**story["steps"][-1], "to": story["steps"][-1]["from"], "label": merchant[:400] or "none"})
        return story

    def svg(self, story: dict | str) -> ElementTree.Element:
        return ElementTree.fromstring(self.drawing.draw(story, self.folder / "drawn.svg"))

    def test_the_pictures_of_the_pages_are_what_is_drawn_today(self):
        self.assertEqual(len(STORIES), 4)
        page = (ROOT / "docs" / "reference" / "sandbox.md").read_text(encoding="utf-8")
        self.assertEqual(sorted(re.findall(r"images/(purchase-[^)]*)\)", page)), [image(story).name for story in STORIES])
        for story in STORIES:
            with self.subTest(story.stem):
                drawn = self.drawing.draw(story.read_text(encoding="utf-8"), self.folder / "drawn.svg")
                self.assertEqual(drawn, image(story).read_text(encoding="utf-8"), "--update, where that is meant")

    def test_hostile_names_leave_a_well_formed_picture_without_scripts(self):
        for what, name in HOSTILE.items():
            with self.subTest(what):
                picture = self.svg(self.named(name))
                self.assertEqual({element.tag.removeprefix(SVG) for element in picture.iter()},
                                 {"svg", "title", "desc", "style", "defs", "marker", "path", "rect", "line", "text"})
                self.assertFalse([a for e in picture.iter() for a in e.attrib if a.startswith("on") or "href" in a])
                for element in picture.iter():
                    for c in "" if element.tag == f"{SVG}style" else (element.text or "").translate(JOINERS):
                        self.assertNotIn(unicodedata.category(c), ("Cf", "Cn", "Co", "Cs", "Zl", "Zp"), what)
                        self.assertTrue(c == "\n" or unicodedata.category(c) != "Cc")

    def test_a_name_is_shown_as_it_is_in_the_title_and_in_a_list_of_steps(self):
        picture = self.svg(self.named("<b>&'\""))
        self.assertEqual(picture.find(f"{SVG}title").text, "<b>&'\" · USD 1.00")
        self.assertIn("3DS Server to ACS: AReq.", picture.find(f"{SVG}desc").text)

    def test_nothing_is_wider_than_the_picture_and_each_lane_has_its_head(self):
        for story in STORIES:
            with self.subTest(story.stem):
                picture = self.svg(story.read_text(encoding="utf-8"))
                width, height = int(picture.get("width")), int(picture.get("height"))
                self.assertLessEqual(width, 880)
                lanes = [line for line in picture.iter(f"{SVG}line") if line.get("class") == "lane"]
                heads = [rect for rect in picture.iter(f"{SVG}rect") if rect.get("class", "").startswith("head")]
                self.assertEqual([int(lane.get("x1")) for lane in lanes],
                                 [int(head.get("x")) + int(head.get("width")) // 2 for head in heads])
                for rect in picture.iter(f"{SVG}rect"):
                    self.assertLessEqual(int(rect.get("x", 0)) + int(rect.get("width")), width)
                    self.assertLessEqual(int(rect.get("y", 0)) + int(rect.get("height")), height)

    def mermaid(self, story: dict | str) -> list[str]:
        run = self.drawing.run(story, "--mermaid")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        lines = run.stdout.splitlines()
        self.assertEqual(lines[:2], ['%%{init: {"sequence": {"wrap": true}}}%%', "sequenceDiagram"])
        return lines[2:]

    def test_hostile_names_are_only_text_to_mermaid(self):
        for what, name in {**HOSTILE, "mermaid": "a; p1->>p0: b #35; %% `c` end\u2028style x: y #z;"}.items():
            with self.subTest(what):
                lines = self.mermaid(self.named(name))
                self.assertFalse([line for line in lines if not (PARTICIPANT.fullmatch(line) or MESSAGE.fullmatch(line))])
        heading = next(line for line in self.mermaid(self.named("<b>&'\"")) if line.startswith("Note over p0,p"))
        self.assertEqual(html.unescape(heading.replace("#", "&#")).split(": ", 1)[1].split("<br/>")[0], "<b>&'\" · USD 1.00")


def update():
    drawing = Drawing()
    for story in STORIES:
        drawing.draw(story.read_text(encoding="utf-8"), image(story))
    drawing.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
