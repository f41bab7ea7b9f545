"""docs/tutorial/first-approval.md: its steps, typed at terminals as they stand, and the screen in the README's picture.

Run with `.venv/bin/python Tests/Stories/test_tutorial.py`; OOB_BIN_DIR names the programs' directory.
"""

import re
import termios
import unittest
import xml.etree.ElementTree as ElementTree

from citations import ROOT, page
from programs import BIN_DIR, temporary_folder
from screens import HAS_TMUX, PROMPT, Screen

PAGE = page("first-approval.md").read_text(encoding="utf-8")
BUILD, SERVE, AGENT, ENROLL, PURCHASE, APPROVE, VERIFY = re.findall(
    r"^```sh\n(.*?)\n```$", PAGE.split("\n## By hand, step by step\n")[1], re.DOTALL | re.MULTILINE)
# The sandbox gets a free port: the one of the page may be another program's.
ANY_PORT = """oob-issuer() {
    if [ "$1" = serve ]; then command oob-issuer "$@" --listen localhost:0
    else command oob-issuer "$@" --issuer "$ISSUER"; fi
}"""


def pictured() -> list[str]:
    """The lines on the screen in the picture, but the first, which is the command."""
    picture = ElementTree.parse(ROOT / "docs" / "images" / "purchase.svg")
    command, *lines = [line.text for line in picture.find(".//{*}text[@class='screen']")]
    assert command == f"$ {APPROVE}", command
    return lines


def without_what_changes(line: str) -> str:
    """Ids, times and the port are others each time."""
    line = re.sub(r"^Issuer: .*", "Issuer", line)
    return re.sub(r"\b[0-9a-f-]{20,}\b|\b\d+[-:][0-9:-]+", "…", line)


@unittest.skipUnless(HAS_TMUX, "needs tmux")
class FirstApproval(unittest.TestCase):
    def screen(self, *lines: str) -> Screen:
        screen = self.enterContext(Screen(self.folder, 100, 60, TZ="UTC"))
        # As after a login, which leaves the session's directory empty.
        session = self.folder / "run"
        session.mkdir(mode=0o700, exist_ok=True)
        here = ["unset OOB_AGENT_SOCKET XDG_STATE_HOME", f'export PATH="{BIN_DIR}:$PATH" XDG_RUNTIME_DIR="{session}"', "clear"]
        for line in [*here, *lines]:
            screen.run(line)
        return screen

    def test_the_steps_of_the_first_approval_work_as_they_stand(self):
        self.assertIn("make build", BUILD)
        self.folder = temporary_folder(type(self))
        issuer = self.screen(ANY_PORT, SERVE)
        shown = issuer.wait(lambda shown: re.search(r"^listening on \S+$", shown, re.MULTILINE), "issuer")
        origin = re.search(r"^listening on (\S+)$", shown, re.MULTILINE)[1]
        agent = self.screen(AGENT)
        agent.until("listening on ")
        # It takes the end of its terminal for a call to reload.
        self.addCleanup(agent.until, "stopped")
        self.addCleanup(agent.press, "C-c")

        payer = self.screen(ANY_PORT, f"ISSUER={origin}", ENROLL)
        payer.until("[y/N]")
        payer.run("y")
        for question in ["PIN for every approval", "The same again:"]:
            payer.until(question)
            payer.run("4831")
        payer.until("Enrolled at ")
        payer.run("clear; " + PURCHASE)
        payer.wait(lambda shown: re.search(r"^[0-9a-f-]{36}$", shown, re.MULTILINE), "acsTransId")
        # The prompt turns the echo on for its questions, so that the terminal's mode says when one can be answered.
        payer.run(f"stty -echo; clear; {APPROVE}")
        payer.until("Expires in ")
        payer.ready()
        payer.run("a")
        payer.until("PIN:")
        payer.ready(termios.ECHONL)
        payer.run("4831")
        shown = payer.until("https://merchant.example/return?transID=1", 2)
        lines = [line.rstrip() for line in shown[shown.index("Request "):].split("\n")]
        answered = [without_what_changes(line) for line in lines if line and not line.startswith(PROMPT)]
        self.assertEqual(answered, [without_what_changes(line) for line in pictured()])

        payer.run(VERIFY)
        payer.until("entries are as they were written.")


if __name__ == "__main__":
    unittest.main()
