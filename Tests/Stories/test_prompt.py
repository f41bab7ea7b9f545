"""`oobctl prompt` on a real pseudo-terminal: what it shows, what decides, and what decides nothing.

Run with `.venv/bin/python Tests/Stories/test_prompt.py`; OOB_BIN_DIR names the programs' directory. What stands on the
screen in the end, as tmux draws it: test_prompt_screens.py.
"""

import json
import os
import signal
import subprocess
import termios
import unittest

from approver import AtAPrompt
from programs import BIN_DIR, Agent
from web import Problem

URL = "https://merchant.example/return?transID=2f37539c"


class Deciding(AtAPrompt):
    def test_a_request_is_shown_amount_first_and_the_question_repeats_it(self):
        person = self.approver("--once")
        person.until("Waiting for requests. Ctrl-C ends.")
        row = self.ask(note="extra")
        person.until(
            f"Request {row['id']}", "Amount:     USD 1.00", "Merchant:   CoffeeHouse2 (Dæmø)",
            "Date:       2023-10-17 05:56:38 UTC (+00:00)", "Issuer:     " + self.issuer.origin, "Enrollment: ",
            "Expires:    ", "Return URL: " + URL, "Member note: extra",
            "Approve USD 1.00 to CoffeeHouse2 (Dæmø)?", "a approve, d deny, f deny as fraud, s skip, ? help",
            "Expires in ")
        person.answer("a")
        self.assertEqual(person.end(), 0)
        self.assertIn("Approved USD 1.00 to CoffeeHouse2 (Dæmø): the issuer took it (transStatus Y).", person.text())
        # The agent knows that its text, and which, was on a screen.
        self.assertEqual([entry["shown"] for entry in self.decisions()], ["text"])

    def test_the_url_goes_to_standard_output_once_and_byte_for_byte(self):
        self.ask()
        person = self.approver("--once", command='"$0" "$@" >"$OUT"', OUT=str(self.folder / "out"))
        person.answer("a")
        self.assertEqual(person.end(), 0)
        self.assertEqual((self.folder / "out").read_bytes(), (URL + "\n").encode())
        self.assertNotIn(URL.encode() + b"\r\n\x1b", person.shown.split(b"transStatus")[1])

    def test_at_a_terminal_the_url_is_a_link(self):
        for variables, shown in [({}, f"\x1b]8;;{URL}\x1b\\{URL}\x1b]8;;\x1b\\\r\n"), ({"TERM": "dumb"}, URL + "\r\n")]:
            with self.subTest(variables):
                self.ask()
                person = self.approver("--once", **variables)
                person.answer("a")
                self.assertEqual(person.end(), 0)
                after = person.text().split("transStatus Y).")[1].split("\r\n", 1)[1]
                self.assertEqual(after, shown)

    def test_each_answer_does_what_it_says(self):
        rows = [self.ask() for _ in range(4)]
        person = self.approver()
        person.until(rows[0]["id"])
        person.answer("?")
        person.until("f  deny as fraud: ")
        person.answer("d")
        person.until("Denied USD 1.00", rows[1]["id"])
        person.answer("x")
        person.until("Type a, d, f, s or ?")
        person.answer("f")
        person.until(rows[2]["id"])
        person.answer("s")
        person.until(f"Skipped: request {rows[2]['id']} stays pending.", rows[3]["id"])
        person.answer("approve")
        person.until("Approved", "The request that you skipped is still pending.")
        person.answer("")
        person.until(rows[2]["id"], "Approve USD 1.00")
        person.process.send("\x03")
        self.assertEqual(person.end(), 1)
        self.assertEqual([self.state(row) for row in rows], [
            ("denied", "userDenied"), ("denied", "suspectedFraud"), ("pending", None), ("approved", None)])

    def test_only_one_enrollments_requests_where_it_is_named(self):
        other = self.enroll("presence")
        self.ask(0)
        mine = self.ask(1)
        person = self.approver("--once", "--enrollment", other)
        person.until(mine["id"])
        person.answer("d")
        self.assertEqual(person.end(), 0)
        self.assertEqual(self.state(mine), ("denied", "userDenied"))
        self.assertEqual(len(self.agent.json("list")), 1)

    def test_json_prints_the_request(self):
        row = self.ask()
        person = self.approver("--once", "--json", command='"$0" "$@" >"$OUT"', OUT=str(self.folder / "out"))
        person.answer("d")
        self.assertEqual(person.end(), 0)
        decided = json.loads((self.folder / "out").read_text())
        self.assertEqual((decided["id"], decided["state"], decided["transStatus"]), (row["id"], "denied", "N"))

    @staticmethod
    def later(*_):
        raise Problem(503, None, "later")

    def test_what_the_issuer_did_not_answer_yet_is_said_and_exits_75(self):
        self.ask()
        person = self.approver("--once")
        self.issuer.decide = self.later
        person.answer("a")
        self.assertEqual(person.end(), 75)
        self.assertIn(URL, person.text().split("it is not delivered yet;")[1])


class NotDeciding(AtAPrompt):
    def still_pending(self, row: dict):
        self.assertEqual(self.state(row), ("pending", None))

    def test_what_was_typed_before_the_question_is_thrown_away(self):
        person = self.approver()
        person.until("Waiting")
        person.process.send("a\rapprove\ra")
        row = self.ask()
        person.question()
        self.still_pending(row)
        # Nor does it come before what is typed now.
        person.process.send("x\r")
        person.until("Type a, d, f, s or ?")
        person.answer("d")
        person.until("Denied", "Waiting")
        self.assertEqual(self.state(row), ("denied", "userDenied"))

    def test_of_what_is_pasted_only_the_first_line_counts(self):
        rows = [self.ask(), self.ask()]
        person = self.approver()
        person.answer("d\ra\ra")
        person.until("Denied", rows[1]["id"])
        person.question()
        self.still_pending(rows[1])

    def test_a_key_without_enter_decides_nothing(self):
        row = self.ask()
        person = self.approver()
        person.question()
        person.process.send("a")
        person.until("Expires in 9:5")
        self.still_pending(row)
        # Ctrl-D sends a line that has no end.
        person.process.send("\x04")
        self.assertEqual(person.end(), 1)
        self.still_pending(row)

    def test_giving_up_decides_nothing_exits_1_and_leaves_the_terminal_as_it_was(self):
        row = self.ask()
        ways = ["\x03", "\x04", "\x1c", signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
        for way in ways:
            with self.subTest(way):
                person = self.approver("--json")
                person.question()
                person.process.send("whoami") if way == signal.SIGTERM else None
                person.process.send(way) if isinstance(way, str) else person.process.kill(way)
                person.until('"code":10001', '"name":"cancelled"')
                self.assertEqual(termios.tcgetattr(person.process.child_fd), person.before)
                self.assertEqual(person.end(), 1)
                self.still_pending(row)

    def test_a_program_that_was_killed_leaves_a_terminal_that_works(self):
        self.ask()
        person = self.approver(command='stty echo; "$0" "$@"; echo status $?; stty -a; sleep 60')
        person.until("> ")
        child = int(subprocess.check_output(["pgrep", "-P", str(person.process.pid), "oobctl"]))
        os.kill(child, signal.SIGKILL)
        person.until("status 137", " icanon ", " echo ")

    def test_after_a_kill_while_a_pin_is_typed_stty_sane_helps(self):
        self.enroll("pin")
        self.ask(1)
        person = self.approver(command='stty echo; "$0" "$@"; stty -a; stty sane; stty -a; sleep 60')
        person.until("> ")
        person.process.send("a\r")
        person.until("PIN: ")
        person.ready(termios.ECHONL)
        child = int(subprocess.check_output(["pgrep", "-P", str(person.process.pid), "oobctl"]))
        os.kill(child, signal.SIGKILL)
        person.until(" icanon ", " -echo ", " icanon ", " echo ")

    def test_nothing_is_asked_where_no_person_sits(self):
        run = self.agent.ctl("prompt", "--json")
        self.assertEqual((run.returncode, run.stdout), (64, ""))
        error = json.loads(run.stderr)["error"]
        self.assertEqual(error["code"], 60002)
        self.assertIn("oobctl approve or deny, with --next --wait", error["message"])
        self.assertEqual(self.agent.ctl("prompt", "--reconnect", "3601").returncode, 64)
        self.assertEqual(self.agent.ctl("prompt", "--open-scheme", "x").returncode, 64)

    def test_without_an_agent_it_exits_69_at_once(self):
        socket = self.agent.socket
        self.agent.stop()
        person = self.approver()
        self.assertEqual(person.end(), 69)
        self.assertIn(str(socket), person.text().replace("\r\n", ""))
        self.agent = Agent(self.folder)


class GoingAway(AtAPrompt):
    """The question goes away at once, says why, and what was typed for it counts for nothing."""

    def gone(self, row: dict, happens, said: str):
        person = self.approver()
        person.question()
        person.process.send("a")
        happens()
        person.until(f"Request {row['id']} {said}. Nothing was decided", "here.", "Waiting")
        # The terminal is as it was: no question stands.
        self.assertEqual(termios.tcgetattr(person.process.child_fd), person.before)
        person.process.send("\r")
        another = self.ask()
        person.until(another["id"])
        person.question()
        self.assertEqual(self.state(another), ("pending", None))
        self.agent.json("deny", another["id"])

    def test_when_it_expires(self):
        # In time for the question to be there.
        row = self.ask(expires_in=20)
        self.gone(row, lambda: None, "has expired")
        self.assertEqual(self.state(row)[0], "expired")

    def test_when_it_is_cancelled(self):
        row = self.ask()
        self.gone(row, lambda: self.cancel(row), "was cancelled by its issuer")

    def test_when_it_is_decided_elsewhere(self):
        row = self.ask()
        self.gone(row, lambda: self.agent.json("approve", row["id"]), "was approved elsewhere")
        row = self.ask()
        self.gone(row, lambda: self.agent.json("deny", row["id"]), "was denied elsewhere")

    def test_a_text_that_changes_is_asked_about_from_the_start(self):
        row = self.ask()
        person = self.approver("--once")
        person.question()
        person.process.send("a")
        self.again(row, purchaseAmount="99900")
        person.until("has changed: look again.", "Warning:    another transaction came under the same acsTransId")
        person.question()
        self.assertEqual(self.state(row), ("pending", None))
        self.again(row, later=5)
        person.until("has changed: look again.")
        person.answer("d")
        self.assertEqual(person.end(), 0)
        self.assertEqual([entry["shown"] for entry in self.decisions()], ["text"])


class WithAPIN(AtAPrompt):
    authn_type = "pin"

    def test_the_pin_is_asked_for_hidden_and_a_wrong_one_says_how_many_tries_are_left(self):
        row = self.ask()
        person = self.approver("--once")
        person.answer("a")
        person.pin("wrong-horse")
        person.until("Not decided: not verified: wrong PIN. 4 tries left")
        person.pin("")
        person.until("No PIN was given")
        person.answer("a")
        person.pin("oops\x15" + self.pin + "ø\x7f")
        self.assertEqual(person.end(), 0)
        self.assertEqual(self.state(row), ("approved", None))
        for secret in (self.pin, "wrong-horse", "oops"):
            self.assertNotIn(secret, person.text())

    def test_while_it_is_blocked_it_says_until_when_and_a_deny_goes(self):
        row = self.ask()
        person = self.approver("--once")
        person.answer("a")
        for left in ["4 tries", "3 tries", "2 tries", "1 try"]:
            person.pin("9999")
            person.until(f"{left} left")
        person.pin("9999")
        person.until("Not decided: ", "blocked")
        (enrollment,) = self.agent.json("enrollments")
        person.answer("a")
        person.until(enrollment["blockedUntil"])
        person.answer("d")
        self.assertEqual(person.end(), 0)
        self.assertEqual(self.state(row), ("denied", "userDenied"))

    def test_half_a_pin_goes_away_with_its_question(self):
        row = self.ask()
        person = self.approver()
        person.answer("a")
        person.pin(self.pin[:4], enter="")
        self.cancel(row)
        person.until("was cancelled by its issuer")
        another = self.ask()
        person.answer("a")
        person.pin(self.pin[4:])
        person.until("4 tries left")
        self.assertEqual(self.state(another), ("pending", None))

    def test_giving_up_at_the_pin_decides_nothing_and_what_is_typed_shows_again(self):
        row = self.ask()
        for way in ["\x03", "\x04", signal.SIGTERM, signal.SIGHUP]:
            with self.subTest(way):
                person = self.approver()
                person.answer("a")
                person.pin("12", enter="")
                person.process.send(way) if isinstance(way, str) else person.process.kill(way)
                person.until("nothing was decided")
                self.assertEqual(termios.tcgetattr(person.process.child_fd), person.before)
                self.assertEqual(person.end(), 1)
        self.assertEqual(self.state(row), ("pending", None))
        self.assertEqual(self.agent.json("enrollments")[0]["pinTriesLeft"], 5)


class AgentTrouble(AtAPrompt):
    def kill(self):
        self.agent.process.kill()
        self.agent.process.wait()
        self.agent.process.stdout.close()

    def test_an_agent_that_comes_back_is_found_and_what_waits_is_asked_about_anew(self):
        person = self.approver("--once")
        person.until("Waiting")
        self.kill()
        person.until("The agent is away; waiting for it.")
        self.agent = Agent(self.folder)
        person.until("Waiting")
        row = self.ask()
        person.question()
        person.process.send("a")
        self.kill()
        person.until("The agent is away; waiting for it. Nothing was decided.")
        self.agent = Agent(self.folder)
        person.until(row["id"])
        person.question()
        self.assertEqual(self.state(row), ("pending", None))
        person.process.send("a\r")
        self.assertEqual(person.end(), 0)

    def test_an_agent_that_stays_away_ends_it_with_69(self):
        self.ask()
        person = self.approver("--reconnect", "1")
        person.question()
        self.kill()
        self.assertEqual(person.end(), 69)
        self.agent = Agent(self.folder)


class Opening(AtAPrompt):
    def setUp(self):
        super().setUp()
        self.path, self.said = self.xdg_open()

    def url(self, url: str) -> dict:
        return self.ask(threeDSRequestorAppURL=url)

    def ctl(self, *words: str, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oobctl", *words, "--socket", str(self.agent.socket)], stdin=subprocess.DEVNULL, timeout=120,
            capture_output=True, text=True, env={**os.environ, "PATH": self.path, **variables})

    def test_a_url_is_handed_over_as_one_argument_without_a_shell_and_not_printed(self):
        url = "https://merchant.example/return?a=$(id);b='&c=*"
        self.url(url)
        person = self.approver(
            "--once", "--open", command='"$0" "$@" >"$OUT"', OUT=str(self.folder / "out"), PATH=self.path)
        person.answer("a")
        self.assertEqual(person.end(), 0)
        self.assertEqual(self.contents(self.said), f"1\n{url}\n")
        self.assertEqual((self.folder / "out").read_text(), "")

    def test_approve_and_deny_open_it_too(self):
        for verb in ["approve", "deny"]:
            with self.subTest(verb):
                self.said.unlink(missing_ok=True)
                row = self.url(f"https://merchant.example/{verb}")
                run = self.ctl(verb, row["id"], "--open")
                self.assertEqual((run.returncode, run.stdout), (0, ""))
                self.assertIn("handed to xdg-open", run.stderr)
                self.assertEqual(self.contents(self.said), f"1\nhttps://merchant.example/{verb}\n")

    def test_as_JSON_the_request_is_printed_too_and_still_opened(self):
        row = self.url("https://merchant.example/json")
        run = self.ctl("approve", row["id"], "--json", "--open")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        printed = json.loads(run.stdout)
        self.assertEqual((printed["id"], printed["threeDSRequestorAppURL"]), (row["id"], "https://merchant.example/json"))
        self.assertEqual(self.contents(self.said), "1\nhttps://merchant.example/json\n")

    def test_other_schemes_are_printed_unless_a_setting_allows_them(self):
        for url in ["http://merchant.example/", "merchantapp://back"]:
            run = self.ctl("deny", self.url(url)["id"], "--open")
            self.assertEqual((run.returncode, run.stdout), (0, url + "\n"))
            self.assertIn("only with --open-scheme", run.stderr)
        self.assertFalse(self.said.exists())
        run = self.ctl("deny", self.url("merchantapp://back")["id"], "--open", "--open-scheme", "MerchantApp")
        self.assertEqual((run.returncode, run.stdout), (0, ""))
        self.assertEqual(self.contents(self.said), "1\nmerchantapp://back\n")
        self.said.unlink()
        run = self.ctl("deny", self.url("merchantapp://env")["id"], "--open", OOB_OPEN_SCHEMES="other,merchantapp")
        self.assertEqual((run.returncode, run.stdout), (0, ""))
        self.assertEqual(self.contents(self.said), "1\nmerchantapp://env\n")
        for words in [["--open", "--open-scheme", "a b"], ["--open", "--open-scheme", ""]]:
            self.assertEqual(self.ctl("deny", "--next", *words).returncode, 64)

    def test_where_nothing_can_open_it_it_is_printed(self):
        run = self.ctl("deny", self.url("https://merchant.example/")["id"], "--open", PATH="/nowhere")
        self.assertEqual((run.returncode, run.stdout), (0, "https://merchant.example/\n"))
        self.assertIn("xdg-open: No such file", run.stderr)


if __name__ == "__main__":
    unittest.main()
