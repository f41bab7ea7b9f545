"""`oobctl prompt` as a person sees it: what stands on the screen, as tmux draws it.

Run with `.venv/bin/python Tests/Stories/test_prompt_screens.py`; OOB_BIN_DIR names the programs' directory.
"""

import os
import re
import signal
import termios
import unittest

from approver import AtAPrompt
from programs import BIN_DIR, Agent
from screens import HAS_TMUX, PROMPT, Screen

HOSTILE = "Evil\x1b[31m\u202e\nState: paid\u200b"
ESCAPED = r"Evil\u{1B}[31m\u{202E}\u{A}State: paid\u{200B}"


@unittest.skipUnless(HAS_TMUX, "needs tmux")
class AtAScreen(AtAPrompt):
    authn_type = "test"

    def screen(self, columns: int = 80, rows: int = 24, *, options: str = "", before: str = "") -> Screen:
        """One with a prompt that waits."""
        screen = self.enterContext(Screen(self.folder, columns, rows))
        screen.run(f"stty -echo; clear; {before} {BIN_DIR}/oobctl prompt --socket {self.agent.socket} {options}")
        screen.until("Waiting for requests")
        return screen

    def asked(self, screen: Screen, **members) -> str:
        self.row = self.ask(**members)
        screen.until("Expires in ")
        screen.ready()
        # All of the question: its last line is drawn.
        return screen.wait(lambda shown: re.search(r"Expires in [^\n]+\n(>|Answer:)$", shown), "question")


class Looks(AtAScreen):
    def test_80_columns(self):
        screen = self.screen()
        shown = self.asked(screen)
        for pattern, name in [(self.issuer.origin, "ISSUER"), (self.row["acsTransId"], "ACS"), (self.row["id"], "ID"),
                              (r"Expires:    [^\n]*", "Expires:    TIME"), (r"Expires in \d+:\d\d", "Expires in M:SS")]:
            shown = re.sub(pattern, name, shown)
        self.assertEqual(shown, """\
Waiting for requests. Ctrl-C ends.

Request ID

Amount:     USD 1.00

Merchant:   CoffeeHouse2 (Dæmø)
Date:       2023-10-17 05:56:38 UTC (+00:00)
Issuer:     ISSUER
Enrollment: localhost
Expires:    TIME

Warning:    a test authenticator: user verification is claimed, not done

Return URL: https://merchant.example/return?transID=2f37539c
acsTransId: ACS

Approve USD 1.00 to CoffeeHouse2 (Dæmø)?
Read the warning above first.
a approve, d deny, f deny as fraud, s skip, ? help; then Enter
Expires in M:SS.
>""")
        styled = screen.text(colours=True)
        self.assertRegex(styled, r"\x1b\[[0-9;]*1;7m(\x1b\[\d+m)*Amount:     USD 1.00")
        self.assertRegex(styled, r"\x1b\[1m\x1b\[31mWarning: ")

    def test_the_time_goes_down_in_its_row_and_what_is_typed_stays(self):
        screen = self.screen()
        self.asked(screen)
        screen.type("approv")
        # On a busy machine a second may never be drawn.
        down = r"Expires in 9:(?!5[89])\d\d\.\n> approv$"
        shown = screen.wait(lambda shown: re.search(down, shown), "time that went down")
        self.assertEqual(shown.count("Expires in"), 1)

    def test_40_columns_show_all_of_it(self):
        screen = self.screen(40, 50)
        shown = self.asked(screen, merchantName=HOSTILE, note="喫茶店" * 9)
        self.assertLessEqual(max(len(line) for line in shown.splitlines()), 39)
        # Without the breaks it is what the agent wrote, whole.
        text = self.agent.json("show", self.row["id"])["text"]
        joined = re.sub(r"\s", "", shown)
        for line in text.splitlines():
            self.assertIn(re.sub(r"\s", "", line), joined)
        self.assertIn(re.sub(r"\s", "", f"Approve USD 1.00 to {ESCAPED}?"), joined)
        self.assertIn("Read the 2 warnings above first.", shown)

    def test_a_new_size_draws_it_anew(self):
        screen = self.screen(80, 50)
        wide = self.asked(screen)
        screen.type("appr")
        screen.resize(40, 50)
        screen.until("Approve USD 1.00 to CoffeeHouse2\n(Dæmø)?")
        screen.ready()
        narrow = screen.text(history=False)
        self.assertNotIn("Waiting", narrow)
        self.assertEqual(narrow.count("Amount:"), 1)
        # What was typed for the question before does not count for this one.
        screen.run("x")
        screen.until("Type a, d, f, s or ?")
        screen.resize(80, 50)
        screen.until("Approve USD 1.00 to CoffeeHouse2 (Dæmø)?")
        self.assertIn("Approve USD 1.00 to CoffeeHouse2 (Dæmø)?", wide)
        self.assertNotIn("Approve USD 1.00 to CoffeeHouse2 (Dæmø)?", narrow)

    def test_NO_COLOR_has_no_colours(self):
        screen = self.screen(before="NO_COLOR=1")
        self.asked(screen)
        styled = screen.text(colours=True)
        self.assertIn("\x1b[1mAmount:", styled)
        self.assertNotRegex(styled, r"\x1b\[[0-9;]*(3[0-8]|4[0-8]|7)m")

    def test_a_dumb_terminal_gets_lines_and_marks(self):
        screen = self.screen(rows=60, before="TERM=dumb")
        self.row = self.ask(expires_in=85)
        screen.until("Expires in 1:")
        screen.ready()
        # The mark of a minute; on a busy machine its second may be over.
        mark = r"Expires in 1:(?!00)\d\d\.\n>\nExpires in (1:00|0:[45]\d)\.\n>$"
        shown = screen.wait(lambda shown: re.search(mark, shown), "mark")
        self.assertEqual(shown.count("Approve USD 1.00"), 1)
        self.assertNotRegex(screen.text(colours=True), r"\x1b\[[0-9;]*[1-9]m")

    def test_a_screen_reader_gets_words(self):
        screen = self.screen(options="--plain")
        shown = self.asked(screen)
        self.assertRegex(shown, r"Expires in (10 minutes|9 minutes \d+ seconds?)\.\nAnswer:")
        self.assertNotIn(">", shown)
        screen.run("d")
        screen.until("Denied USD 1.00 to CoffeeHouse2")

    def test_without_UTF_8_names_are_shown_in_escapes(self):
        screen = self.screen(before="LC_ALL=C")
        shown = self.asked(screen)
        self.assertIn(r"Merchant:   CoffeeHouse2 (D\u{E6}m\u{F8})", shown)
        self.assertIn(r"Approve USD 1.00 to CoffeeHouse2 (D\u{E6}m\u{F8})?", shown)
        screen.run("d")
        self.assertIn(r"D\u{E6}m\u{F8}", screen.until("transStatus N").split("Denied")[1])

    def test_a_question_that_goes_away_leaves_no_trace_but_why(self):
        screen = self.screen()
        self.asked(screen)
        self.cancel(self.row)
        shown = screen.until("was cancelled by its issuer")
        screen.until("Waiting", 2)
        for part in ["Approve USD", "a approve", "Expires in", "\n>"]:
            self.assertNotIn(part, shown)


class AndTheShell(AtAScreen):
    """What is typed for the prompt is no command for the shell that comes after it."""

    def unheard(self, screen: Screen):
        screen.until(PROMPT)
        screen.run("")
        shown = screen.until(PROMPT, 2)
        self.assertNotRegex(shown, r"(?m)^leaked$")
        self.assertFalse((self.folder / "leaked").exists())

    def test_nothing_reaches_it_however_the_prompt_ends(self):
        def by(number: int):
            return lambda screen: os.kill(screen.program(), number)

        for end in [lambda screen: screen.press("C-c"), by(signal.SIGTERM), by(signal.SIGHUP)]:
            screen = self.screen(rows=50)
            self.asked(screen)
            screen.type(f"touch {self.folder}/leaked")
            screen.until("leaked")
            end(screen)
            self.unheard(screen)
            self.agent.json("deny", self.row["id"])

    def test_nothing_reaches_it_where_the_agent_is_gone(self):
        screen = self.screen(rows=50, options="--reconnect 0")
        self.asked(screen)
        screen.type(f"touch {self.folder}/leaked")
        screen.until("leaked")
        self.agent.stop()
        self.unheard(screen)
        self.agent = Agent(self.folder)

    def test_ctrl_z_gives_the_terminal_back_and_fg_asks_anew(self):
        screen = self.screen(rows=60)
        self.asked(screen)
        screen.type("a")
        screen.press("C-z")
        shown = screen.until("Stopped")
        self.assertNotIn("Approve USD", shown)
        screen.run("stty -echo; fg")
        screen.until("Approve USD")
        screen.ready()
        self.assertEqual(self.state(self.row), ("pending", None))
        screen.run("x")
        screen.until("Type a, d, f, s or ?")

    def test_ctrl_z_while_a_pin_is_typed_throws_it_away(self):
        self.enroll("pin")
        screen = self.screen(rows=60)
        self.asked(screen, number=1)
        screen.run("a")
        screen.until("PIN:")
        screen.ready(termios.ECHONL)
        screen.type(self.pin[:6])
        screen.press("C-z")
        screen.until("Stopped")
        screen.run("stty -echo; fg")
        screen.ready(termios.ECHONL)
        screen.run(self.pin)
        screen.until("transStatus Y")
        self.assertNotIn(self.pin[:6], screen.text())


if __name__ == "__main__":
    unittest.main()
