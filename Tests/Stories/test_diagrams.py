"""Purchases drawn as sequence diagrams: `oob-issuer show --diagram`, and the pictures in docs/images.

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

from programs import BIN_DIR, Agent, Sandbox, started, temporary_folder
from software_authenticator import call

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
TEXT = r"(?P<text>(?:[\w .,\-/()]|#\d+;|<br/>)*)"
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

    def story(self, name: str = "app-2.2.0", **members) -> dict:
        story = json.loads((STORIES[0].parent / f"{name}.json").read_text(encoding="utf-8"))
        return {**story, **members}

    def named(self, merchant: str) -> dict:
        story = self.story()
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

    def test_mermaid_has_each_message_in_order_with_its_time(self):
        story, lines = self.story(), self.mermaid(self.story())
        lanes = {line.split()[1]: line.split(" as ")[1] for line in lines if line.startswith("participant ")}
        self.assertEqual(list(lanes), [f"p{number}" for number in range(len(lanes))])
        self.assertIn("3DS Server", lanes.values())
        messages = [MESSAGE.fullmatch(line) for line in lines[len(lanes) + 1:]]
        texts = [message["text"].split("<br/>") for message in messages]
        times = [text.pop(0).replace("#43;", "+") for text in texts if text[0].startswith("#43;")]
        self.assertEqual(times, ["+0 s", "+5 s", "+12 s"])
        self.assertEqual([text[0] for text in texts], [step["label"] for step in story["steps"]])
        self.assertEqual({text[0] for text, message in zip(texts, messages) if "-->>" in message[0]}, {"ARes", "CRes", "RRes"})

    def test_hostile_names_are_only_text_to_mermaid(self):
        for what, name in {**HOSTILE, "mermaid": "a; p1->>p0: b #35; %% `c` end\u2028style x: y #z;"}.items():
            with self.subTest(what):
                lines = self.mermaid(self.named(name))
                self.assertFalse([line for line in lines if not (PARTICIPANT.fullmatch(line) or MESSAGE.fullmatch(line))])
        heading = next(line for line in self.mermaid(self.named("<b>&'\"")) if line.startswith("Note over p0,p"))
        self.assertEqual(html.unescape(heading.replace("#", "&#")).split(": ", 1)[1].split("<br/>")[0], "<b>&'\" · USD 1.00")

    def test_days_are_said_and_a_pause_is_seen(self):
        for said in ["\n".join(self.mermaid(self.story("3ri-decoupled-7-days"))).replace("#58;", ":").replace("#43;", "+"),
                     self.drawing.draw(self.story("3ri-decoupled-7-days"), self.folder / "drawn.svg")]:
            self.assertRegex(said, r"[>:] ?\+6 d 23:59:00<")
            self.assertEqual(said.count("1 d 00:00:00 later"), 6)
            self.assertIn("23:59:00 later", said)

    def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(self):
        folder = self.folder / "alone"
        folder.mkdir()
        file, other = folder / "purchase.svg", folder / "other"
        other.write_text("of someone else")
        file.hardlink_to(other)
        self.assertTrue(self.drawing.draw(self.story(), file).startswith("<svg "))
        self.assertEqual(other.read_text(), "of someone else")
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["other", "purchase.svg"])

    def test_what_cannot_be_written_is_said_and_nothing_is_changed(self):
        blocked = self.folder / "directory.svg"
        blocked.mkdir()
        missing = self.folder / "not there"
        for file, said in [(missing / "a.svg", f"{missing}: there is no such file or directory"), (blocked, f"{blocked}: rename: ")]:
            run = self.drawing.run(self.story(), "--diagram", str(file))
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertTrue(run.stderr.startswith(f"oob-issuer: --diagram {said}"), run.stderr)
        self.assertEqual(list(blocked.iterdir()), [])

    def test_another_suffix_is_refused_with_what_is_allowed_before_anything_is_asked(self):
        for name in ["purchase.png", "purchase.txt", "purchase", ".svg", "a.svg/", "-", "--", "./-"]:
            run = self.drawing.run("{}", f"--diagram={name}")
            self.assertEqual(run.returncode, 64, name)
            self.assertIn("--diagram must be a file name that ends in .svg", run.stderr)
        for options in [["--diagram", "a.svg", "--json"], ["--mermaid", "--json"], ["--diagram", "a.svg", "--mermaid"]]:
            run = self.drawing.run("{}", *options)
            self.assertEqual(run.returncode, 64)
            names = " and ".join(option for option in options if option.startswith("--"))
            self.assertIn(f"{names} exclude each other", run.stderr)

    def test_a_story_that_cannot_be_drawn_is_told(self):
        story = self.story()
        first = story["steps"][0]
        without = {name: value for name, value in story.items() if name != "steps"}
        for wrong, said in [
                (without, "steps: must be an array"), (self.story(steps=7), "steps: must be an array"),
                (self.story(steps=[first, 7]), "steps[1]: must be an object"),
                (self.story(steps=[{**first, "at": "noon, or a bit later"}]), "steps[0]: at: must be such as 2026-11-23T09:31:07Z"),
                (self.story(steps=[{**first, "to": "mallory\x1b"}]), "steps[0]: to: mallory\\u{1B} is no party"),
                (self.story(steps=[{**first, "label": 1}]), "steps[0]: /label must be a string"),
                (self.story(steps=[first] * 1_001), "steps: more than 1000")]:
            run = self.drawing.run(wrong, "--mermaid")
            self.assertEqual((run.returncode, run.stdout), (1, ""), said)
            self.assertIn(said, run.stderr)
        self.assertEqual(self.drawing.run(self.story(steps=[]), "--mermaid").returncode, 0)
        self.assertEqual(self.drawing.run(self.story(steps=[first] * 1_000), "--mermaid").returncode, 0)


class Played(unittest.TestCase):
    def test_a_purchase_that_the_programs_played_is_drawn(self):
        folder = temporary_folder(type(self))
        sandbox = started(type(self), Sandbox(folder))
        agent = started(type(self), Agent(folder))
        _, code = call("POST", f"{sandbox.origin}/sandbox/enrollment-codes", {})
        agent.json("enroll", code["link"], "--authn-type", "presence")
        _, purchase = call("POST", f"{sandbox.origin}/sandbox/purchases", {"merchantName": HOSTILE["markup"][:40]})
        agent.json("approve", purchase["acsTransId"], "--wait", "60")
        run = subprocess.run(
            [BIN_DIR / "oob-issuer", "show", purchase["acsTransId"], "--diagram", str(folder / "played.svg"),
             "--issuer", sandbox.origin], capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        texts = [text.text for text in ElementTree.parse(folder / "played.svg").iter(f"{SVG}text")]
        names = [text for text in texts if text in ("AReq", "ARes", "CReq", "CRes", "authn request", "decision", "RReq", "RRes")]
        self.assertEqual(names, ["AReq", "ARes", "CReq", "CRes", "authn request", "decision", "CReq", "RReq", "RRes", "CRes"])
        self.assertTrue(texts[1].startswith("<script>alert(1)</script> & <!--"), texts[:3])


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
