"""oob-inbox: how its sessions and links end, in a browser, by a clock of its process's own.

Run with `.venv/bin/python Tests/Stories/test_inbox_sessions.py`; OOB_BIN_DIR names the programs' directory.
"""

import os
import pty
import re
import subprocess
import unittest
import urllib.parse

from selenium.webdriver.common.by import By

from inbox_scene import WITHIN, BrowserScene, Inbox, opened
from programs import BIN_DIR, IS_SANITIZED, temporary_folder
from wall_clock import WallClock, build


class Clocked(BrowserScene):
    def clocked(self) -> tuple[Inbox, WallClock]:
        """An inbox whose clock the test sets."""
        folder = temporary_folder(self)
        clock = WallClock(build(folder), folder / "clock", kind="BOOT_CLOCK")
        inbox = Inbox(folder, self.agent, **clock.variables)
        self.addCleanup(inbox.stop)
        return inbox, clock


@unittest.skipIf(IS_SANITIZED, "a sanitizer must come before every other library")
class InTime(Clocked):
    def test_after_five_minutes_the_page_goes_and_says_how_to_go_on(self):
        inbox, clock = self.clocked()
        request = self.purchase("Forgotten")
        opened(self.browser, inbox.link)
        self.browser.get(f"{inbox.origin}/requests/{request['id']}")
        self.until(lambda browser: "Forgotten" in self.text("main"))
        # A session goes on with the machine's clock as well: what comes next has a hundred seconds.
        clock.set(200)
        # What comes is shown by the script, which is nobody who looks: else the session would last until 500.
        self.purchase("Comes Late")
        self.until(lambda browser: "Comes Late" in self.text("nav"))
        clock.set(301)
        self.until(lambda browser: "there is no session here, or it has ended" in self.text("main").lower())
        self.assertIn("press Enter there, or send it SIGUSR1", self.text("main"))
        self.assertNotIn("Forgotten", self.browser.page_source)
        opened(self.browser, inbox.next_link())
        self.until(lambda browser: "Forgotten" in self.text("nav"))

    def test_who_acts_stays_and_a_decision_that_comes_too_late_is_none(self):
        inbox, clock = self.clocked()
        cookie, request = inbox.entered(), self.purchase("Acts")["id"]
        for minute in range(4, 41, 4):
            clock.set(60 * minute)
            page = inbox.call("GET", f"/requests/{request}", cookie=cookie)
            self.assertEqual(page.status, 200)
        body = urllib.parse.urlencode({**dict(re.findall(r'name="(form|digest)" value="([^"]+)"', page.text)), "decision": "approve"})
        clock.set(60 * 45)
        late = inbox.call("POST", f"/requests/{request}/decide", body, cookie=cookie, Origin=inbox.origin)
        self.assertEqual(late.status, 403)
        self.assertIn("Nothing was decided", late.text)
        self.assertEqual(self.state(request), "pending")

    def test_a_link_that_nobody_followed_for_ten_minutes_works_no_more(self):
        inbox, clock = self.clocked()
        clock.set(601)
        late = inbox.enter(inbox.link)
        self.assertEqual(late.status, 403)
        self.assertIn("This link works no more", late.text)
        inbox.entered()

    def test_who_logs_out_has_no_session_in_any_window(self):
        request = self.purchase("Logged Out")
        inbox, _ = self.clocked()
        cookie = inbox.entered()
        stranger = inbox.call("POST", "/logout", "", cookie=cookie, Origin="http://evil.example")
        self.assertEqual(stranger.status, 403)
        opened(self.browser, inbox.next_link())
        first = self.browser.current_window_handle
        self.browser.switch_to.new_window("tab")
        self.browser.get(f"{inbox.origin}/requests/{request['id']}")
        self.click(".logout button")
        self.until(lambda browser: browser.find_element(By.TAG_NAME, "h1").text == "Logged out")
        self.assertEqual([each for each in self.browser.get_cookies() if each["name"] == cookie.split("=")[0]], [])
        self.browser.close()
        self.browser.switch_to.window(first)
        self.until(lambda browser: "has ended" in self.text("main"))
        # Another browser's session goes on.
        self.assertEqual(inbox.call("GET", "/?q=nothing-like-it", cookie=cookie).status, 200)

    def test_the_pages_of_a_session_that_ended_break_no_rule_of_accessibility(self):
        for path in ["/", "/enter?token=x", self.inbox.next_link().removeprefix(self.inbox.origin)]:
            self.browser.delete_all_cookies()
            self.browser.get(self.inbox.origin + path)
            for width, height in [(390, 844), (1280, 800)]:
                for scheme in ["light", "dark"]:
                    self.look(width, height, scheme)
                    self.assert_no_rule_is_broken()
                    self.assert_it_does_not_scroll_sideways(width)
        opened(self.browser, self.inbox.next_link())

    def test_at_a_terminal_enter_makes_the_next_link(self):
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        # The terminal is that of the session which the program leads.
        run = subprocess.Popen(
            ["setsid", "--ctty", BIN_DIR / "oob-inbox", "--listen", "localhost:0", "--no-open", "--socket", str(self.agent.socket)],
            stdin=follower, stdout=follower, stderr=follower)
        self.addCleanup(run.wait, WITHIN)
        self.addCleanup(run.terminate)
        os.close(follower)
        seen = b""
        for count in [1, 2, 3]:
            while len(re.findall(rb"/enter\?token=[\w-]{43}", seen)) < count:
                seen += os.read(leader, 4096)
            self.assertEqual(len(set(re.findall(rb"token=([\w-]{43})", seen))), count)
            os.write(leader, b"\n")
        self.assertIn(b"press Enter for the next one", seen)


@unittest.skipIf(IS_SANITIZED, "a sanitizer must come before every other library")
class WithTestEnrollmentsAlone(Clocked):
    AUTHN_TYPE = ["--authn-type", "test"]

    def test_links_and_sessions_have_eight_hours_until_an_enrollment_of_a_payers_is_there(self):
        inbox, clock = self.clocked()
        clock.set(7 * 3_600)
        entered = inbox.enter(inbox.link)
        self.assertEqual(entered.status, 303)
        cookie = entered.getheader("set-cookie").split(";")[0]
        clock.set(14 * 3_600)
        self.assertEqual(inbox.call("GET", "/?q=nothing-like-it", cookie=cookie).status, 200)
        self.agent.json("enroll", self.code(), "--authn-type", "presence", "--name", "payer")
        clock.set(14 * 3_600 + 301)
        self.assertEqual(inbox.call("GET", "/", cookie=cookie).status, 403)


if __name__ == "__main__":
    unittest.main()
