"""The Tab key in bash, zsh and fish, with the completion scripts that the programs write, against a running agent.

Run with `.venv/bin/python Tests/Stories/test_completion.py`; OOB_BIN_DIR names the programs' directory.
"""

import re
import shutil
import subprocess
import unittest
from pathlib import Path


from issuer import Issuer
from programs import BIN_DIR, Agent, started, temporary_folder
from terminal import Terminal

PROMPT = "ready> "
PROGRAMS = ["oobctl", "oob-agent", "oob-issuer", "oob-conform", "oob-inbox"]
# A shell that completes reads this as text, or it runs what an issuer wrote.
HOSTILE = "Café: $(touch owned) `touch owned`"


class Shells(unittest.TestCase):
    """An agent with one enrollment and a pending request, and the programs on the path of a home of its own."""

    shell = ""

    @classmethod
    def setUpClass(cls):
        if not shutil.which(cls.shell):
            raise unittest.SkipTest(f"there is no {cls.shell} here: Scripts/bootstrap --tests installs it")
        cls.folder = temporary_folder(cls)
        issuer = cls.enterClassContext(Issuer())
        cls.agent = started(cls, Agent(cls.folder))
        cls.enrollment = cls.agent.json(
            "enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(), "--name", "mine")["id"]
        (enrolled,) = issuer.authenticators.values()
        cls.acs = issuer.ask(enrolled.id, issuer.transaction(merchantName=HOSTILE)).transaction["acsTransId"]
        # Of two a shell shows a list.
        issuer.ask(enrolled.id, issuer.transaction())
        cls.agent.json("fetch")
        rows = cls.agent.json("list")
        if len(rows) != 2:
            raise AssertionError(f"the requests are not both pending: {rows}")
        (cls.request,) = (row["id"] for row in rows if row["acsTransId"] == cls.acs)
        cls.home = cls.folder / "home"
        cls.home.mkdir()
        (cls.home / "roots.pem").touch()
        (cls.home / "folder").mkdir()
        for program in PROGRAMS:
            script = subprocess.run([BIN_DIR / program, "--generate-completion-script", cls.shell],
                                    capture_output=True, text=True, check=True, timeout=60).stdout
            path = cls.home / cls.place(program)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(script, encoding="utf-8")

    @classmethod
    def environment(cls) -> dict[str, str]:
        return {"PATH": f"{BIN_DIR}:/usr/bin:/bin", "HOME": str(cls.home), "TERM": "xterm", "LANG": "C.UTF-8",
                "OOB_AGENT_SOCKET": str(cls.agent.socket)}

    @classmethod
    def place(cls, program: str) -> str:
        raise NotImplementedError

    def offered(self, line: str) -> str:
        """What the shell shows when Tab is pressed at the end of a line: the rest of a word, or the choices."""
        raise NotImplementedError

    def tearDown(self):
        self.assertEqual(list(self.home.rglob("owned")), [])


class Checks:
    """The same of each shell."""

    def test_a_verb_is_completed(self):
        self.assertRegex(self.offered("oobctl appr"), r"(approve|^ove)\b")
        self.assertRegex(self.offered("oob-issuer purch"), r"(purchase|^ase)\b")
        self.assertRegex(self.offered("oob-conform check-r"), r"(check-request|^equest)\b")

    def test_the_options_of_a_verb_are_offered(self):
        shown = self.offered("oobctl approve --")
        for option in ["--next", "--wait", "--expect-amount", "--enrollment", "--pin-file", "--json"]:
            self.assertIn(option, shown)
        self.assertNotIn("--reason", shown)
        self.assertIn("--state-dir", self.offered("oob-agent --"))

    def test_the_values_of_an_option_are_offered(self):
        shown = self.offered("oobctl enroll --authn-type ")
        for value in ["pin", "presence", "test"]:
            self.assertRegex(shown, rf"\b{value}\b")
        self.assertRegex(self.offered("oob-agent --log-level war"), r"(warning|^ning)\b")

    def test_files_are_offered_where_a_file_is_taken(self):
        self.assertRegex(self.offered("oobctl enroll --ca-file roo"), r"(roots|^ts)\.pem")
        self.assertRegex(self.offered("oobctl evidence x -o fol"), r"(folder|^der)/")

    def test_pending_requests_are_offered_by_their_own_id_and_by_their_acs_trans_id(self):
        for typed, whole in [("", self.request), (self.request[:6], self.request), (self.acs[:6], self.acs)]:
            for verb in ["approve", "deny", "show", "evidence"]:
                with self.subTest(verb, typed=typed):
                    self.assertIn(whole, typed + self.offered(f"oobctl {verb} {typed}").removeprefix(typed))

    def test_enrollments_are_offered(self):
        for words in ["unenroll ", "pin change ", "push rotate ", "list --enrollment "]:
            with self.subTest(words):
                self.assertIn(self.enrollment, self.offered("oobctl " + words))

    def test_an_agent_that_is_not_there_offers_nothing_and_says_nothing(self):
        shown = self.offered("oobctl approve --socket /nowhere ")
        self.assertNotIn(self.request, shown)
        self.assertNotIn("rror", shown)


class Interactive(Shells):
    """A shell at a terminal, where Tab is pressed."""

    command: list[str] = []
    setup = ""
    # Once for what is sure, twice for the choices.
    tabs = "\t\t"

    def offered(self, line: str) -> str:
        process = Terminal(self.command[0], self.command[1:], env=self.environment(), cwd=str(self.home),
                                dimensions=(50, 300), timeout=60, encoding="utf-8")
        try:
            process.sendline(self.setup + "; PS1='rea''dy> '")
            process.expect_exact(PROMPT)
            process.send(line)
            process.expect_exact(line)
            process.send(self.tabs)
            # Then the line is a comment, and the next prompt tells the end.
            process.send("\x01: \x05 END\r")
            process.expect_exact("END")
            shown = process.before
            process.expect_exact(PROMPT)
            return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00\x07]", "", shown)
        finally:
            process.close(force=True)


class Bash(Interactive, Checks):
    shell = "bash"
    command = ["bash", "--norc", "--noprofile", "-i"]
    # Once more: if all choices begin alike, the first Tab gives that.
    tabs = "\t\t\t"
    setup = "bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; for f in comp/*; do . $f; done"

    @classmethod
    def place(cls, program: str) -> str:
        return f"comp/{program}"


class Zsh(Interactive, Checks):
    shell = "zsh"
    command = ["zsh", "-f", "-i"]
    setup = "unset zle_bracketed_paste; unsetopt beep; bindkey -e; fpath=(~/comp $fpath); autoload -Uz compinit; " \
        "compinit -u"

    @classmethod
    def place(cls, program: str) -> str:
        return f"comp/_{program}"

    def test_what_a_request_is_about_is_shown_beside_its_id(self):
        self.assertIn(r"USD 1.00 to Café: $(touch owned)", self.offered("oobctl approve "))


class Fish(Shells, Checks):
    shell = "fish"

    @classmethod
    def place(cls, program: str) -> str:
        return f".config/fish/completions/{program}.fish"

    def offered(self, line: str) -> str:
        """What Tab would offer, as fish lists it for a key that it is asked with: its own list is drawn to the screen."""
        probe = "function fish_prompt; echo -n 'rea''dy> '; end; " \
            "function probe; complete -C (commandline) >offered 2>errors; echo do''ne; end; bind \\cg probe"
        process = Terminal("fish", ["-i", "-C", probe], env=self.environment(), cwd=str(self.home), timeout=60)
        try:
            process.expect_exact(PROMPT)
            process.send(line + "\x07")
            process.expect_exact("done")
        finally:
            process.close(force=True)
        self.assertEqual((self.home / "errors").read_text(), "")
        return (self.home / "offered").read_text()

    def test_what_a_request_is_about_is_shown_beside_its_id(self):
        self.assertIn(f"{self.request}\tUSD 1.00 to Café: $(touch owned)", self.offered("oobctl approve "))


if __name__ == "__main__":
    unittest.main()
