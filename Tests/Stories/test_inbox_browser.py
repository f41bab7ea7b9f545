"""oob-inbox: its page in a browser, looked at, decided on and attacked.

Run with `.venv/bin/python Tests/Stories/test_inbox_browser.py`; OOB_BIN_DIR names the programs' directory.
"""

import base64
import json
import unittest
import urllib.parse

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from chromium import followed
from inbox_scene import HOSTILE, BrowserScene, Inbox, PINScene, opened
from programs import Agent, started, temporary_folder


class InABrowser(BrowserScene):
    def test_a_request_that_comes_is_listed_at_once_and_approved_by_keyboard(self):
        self.browser.get(self.inbox.origin)
        request = self.purchase("Live Shop", app_url="https://merchant.example/return?transID=7")
        self.until(lambda browser: "Live Shop" in browser.find_element(By.TAG_NAME, "nav").text)
        self.shown(request)
        text = self.until(lambda browser: browser.find_element(By.CSS_SELECTOR, ".text").get_attribute("textContent"))
        self.assertEqual(text.split(), self.agent.json("show", request["id"])["text"].split())
        self.type(".text", Keys.TAB, Keys.ENTER)
        self.until(lambda _: self.heading().startswith("Approved"))
        self.assertEqual(self.state(request["id"]), "approved")
        self.assertEqual(self.return_link(), "https://merchant.example/return?transID=7")

    def return_link(self) -> str:
        """Where it leads, once it is drawn: the card is drawn anew with each event."""
        return self.until(lambda browser: browser.find_element(By.CSS_SELECTOR, ".return a").get_attribute("href"))

    def test_two_windows_show_what_the_other_decided(self):
        request = self.purchase("Two Windows")
        self.shown(request)
        first = self.browser.current_window_handle
        self.browser.switch_to.new_window("tab")
        self.shown(request)
        self.click("button.deny")
        self.until(lambda _: self.heading().startswith("Denied"))
        self.browser.close()
        self.browser.switch_to.window(first)
        self.until(lambda _: self.heading().startswith("Denied"))

    def test_one_that_is_cancelled_while_it_is_open_says_so(self):
        request = self.purchase("Cancelled Shop")
        self.shown(request)
        self.issuer("cancel", request["acsTransId"])
        self.agent.ctl("fetch")
        self.until(lambda _: self.heading() == "Cancelled by the issuer")
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "button.approve"), [])

    def test_no_other_requests_card_takes_the_place_of_one_that_went_away(self):
        request, other = self.purchase("Goes Away"), self.purchase("Comes After")
        self.shown(request)
        self.issuer("cancel", request["acsTransId"])
        self.agent.ctl("fetch")
        self.until(lambda _: self.heading() == "Cancelled by the issuer")
        self.assertIn("Goes Away", self.text(".text"))
        self.assertEqual(self.state(other["id"]), "pending")

    def test_a_hostile_merchant_makes_no_element_and_runs_nothing(self):
        self.shown(self.purchase(HOSTILE))
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "#evil, nav img, main img"), [])
        self.assertIn(HOSTILE, self.text(".text"))
        for entry in self.browser.get_log("browser"):
            self.assertNotIn("onerror", entry["message"])

    def test_an_agent_that_stops_is_told_and_comes_back_by_itself(self):
        request = self.purchase("Restarted")
        self.shown(request)
        self.agent.stop()
        self.until(lambda browser: browser.find_element(By.ID, "news").text == "The agent does not answer.")
        # Said once: who has it read aloud is not told at each try.
        self.browser.execute_script(
            "window.said = 0; new MutationObserver(() => said++).observe(document.getElementById('news'), {childList: true});"
            "window.tries = 0; new EventSource('/events').addEventListener('gone', () => tries++);")
        self.until(lambda browser: browser.execute_script("return tries") >= 2)
        self.assertEqual(self.browser.execute_script("return said"), 0)
        type(self).agent = Agent(self.folder)
        self.until(lambda browser: browser.find_element(By.ID, "news").text == "")
        self.assertEqual(self.heading(), "Do you approve this?")

    def test_a_page_of_another_port_cannot_read_frame_or_decide(self):
        # A page of the same address and another port is of the same site: the browser shows it the cookie, and only what
        # the page itself demands keeps it out.
        request = self.purchase("Attacked")
        own = self.inbox.origin
        attack = f"""<body><iframe id=f src="{own}/requests/{request['id']}"></iframe>
            <form id=p method=post action="{own}/requests/{request['id']}/decide" target=out>
            <input name=decision value=approve><input name=form value=x><input name=digest value=x></form>
            <iframe name=out id=out></iframe><script src="{own}/requests/{request['id']}/evidence.json"></script>
            <script>
            window.came = [];
            for (const mode of ['cors', 'no-cors']) {{
              fetch('{own}/requests/{request['id']}', {{credentials: 'include', mode}}).then(
                answer => answer.text()).then(text => window.came.push(text), () => window.came.push('refused'));
            }}
            document.getElementById('out').onload = () => window.came.push('posted');
            document.getElementById('p').submit();
            </script>"""
        for origin in [self.served(attack), "data:text/html," + urllib.parse.quote(attack)]:
            self.browser.get(origin)
            self.until(lambda browser: len(browser.execute_script("return window.came")) >= 3)
            self.assertNotIn("Attacked", str(self.browser.execute_script("return window.came")))
            for frame in ["f", "out"]:
                self.browser.switch_to.frame(frame)
                self.assertNotIn("Attacked", self.browser.page_source)
                self.browser.switch_to.default_content()
            self.assertEqual(self.state(request["id"]), "pending")

    def test_a_link_on_another_page_opens_the_inbox(self):
        self.browser.get(self.served(f'<a href="{self.inbox.next_link()}">open</a>'))
        self.browser.delete_all_cookies()
        self.click("a")
        self.click("button.enter")
        self.until(lambda browser: browser.find_elements(By.CSS_SELECTOR, "nav[aria-label=Requests]"))
        self.assertNotIn("token", self.browser.current_url)

    def test_a_permalink_on_another_page_opens_the_request(self):
        request = self.purchase("Linked")
        place = f"{self.inbox.origin}/requests/{request['id']}?state=all&tab=events"
        # By another host name it is another site, to which the browser shows no cookie of this one.
        elsewhere = self.served(f'<a href="{place}">open</a>').replace("127.0.0.1", "evil.example")
        self.browser.get(elsewhere)
        self.click("a")
        self.until(lambda browser: browser.find_elements(By.CSS_SELECTOR, ".entries"))
        self.assertEqual(self.browser.current_url, place)

    def test_one_that_expires_while_it_is_open_says_so(self):
        # In time for the agent to have it, and for the page to show it.
        request = self.purchase("Expiring Shop", expires_in="20")
        self.shown(request)
        self.until(lambda _: self.heading() == "Expired: nobody decided in time")
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "button.approve"), [])

    def test_one_that_was_cancelled_when_the_button_is_pressed_is_not_decided_and_the_page_says_why(self):
        request = self.purchase("Too Late Shop")
        # A page that does not hear of it, as one whose network is slow.
        self.without_scripts()
        self.shown(request)
        self.issuer("cancel", request["acsTransId"])
        self.agent.ctl("fetch")
        self.click("button.approve")
        self.until(lambda _: self.heading() == "Cancelled by the issuer")
        self.assertIn("Nothing was decided.", self.text("[role=alert]"))
        self.assertEqual(self.state(request["id"]), "cancelled")

    def without_scripts(self):
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setScriptExecutionDisabled", {"value": False})

    def test_the_challenge_is_computed_in_the_browser_from_what_is_shown(self):
        request = self.purchase("Dæmø <&> 咖啡")
        self.browser.get(f"{self.inbox.origin}/requests/{request['id']}?tab=wire")
        computed = self.until(lambda browser: browser.find_element(By.CSS_SELECTOR, ".computed.same"))
        message = self.evidence(request)["message"].split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(message + "=" * (-len(message) % 4)))
        self.assertIn(claims["publicKey"]["challenge"], computed.text)
        self.browser.execute_script("document.querySelector('.computed').dataset.nonce = 'AAAA';"
                                    "document.querySelector('.computed').classList.remove('same'); compute();")
        self.until(lambda browser: browser.find_element(By.CSS_SELECTOR, ".computed.other"))

    def test_what_is_behind_the_card_is_drawn_and_copied(self):
        request = self.purchase("Drawn")
        self.browser.get(f"{self.inbox.origin}/requests/{request['id']}?tab=sequence")
        self.until(lambda browser: browser.execute_script(
            "return document.querySelector('.diagram').naturalWidth > 100"))
        self.browser.execute_cdp_cmd("Browser.grantPermissions", {
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": self.inbox.origin})
        self.browser.get(f"{self.inbox.origin}/requests/{request['id']}?tab=evidence")
        self.click(".copier")
        self.until(lambda browser: browser.find_element(By.ID, "news").text == "Copied.")
        self.assertIn(f"oobctl evidence {request['id']}", self.browser.execute_async_script(
            "navigator.clipboard.readText().then(arguments[0])"))

    def test_a_purchase_at_the_sandbox_is_drawn_in_emvs_messages(self):
        request = self.purchase("In EMV's Words")
        self.browser.get(f"{self.inbox.origin}/requests/{request['id']}?tab=sequence")
        self.until(lambda browser: browser.execute_script(
            "return [...document.querySelectorAll('.diagram')].filter(each => each.naturalWidth > 100).length") == 2)
        drawing = self.browser.execute_async_script(
            f"fetch('/requests/{request['id']}/purchase.svg').then(a => a.text()).then(arguments[0])")
        self.assertIn("CReq", drawing)
        self.click("a[href*='/purchases/']")
        self.until(lambda browser: browser.current_url == f"{self.sandbox.origin}/purchases/{request['acsTransId']}")
        self.assertIn("In EMV's Words", self.browser.page_source.replace("&#39;", "'"))

    def test_sound_and_notifications_come_only_if_they_are_asked_for_and_decide_nothing(self):
        self.browser.get(self.inbox.origin)
        self.browser.execute_cdp_cmd("Browser.grantPermissions", {
            "permissions": ["notifications"], "origin": self.inbox.origin})
        self.browser.execute_script(
            "window.told = []; window.Notification = class { constructor(title) { told.push(title); }"
            " static requestPermission() { return Promise.resolve('granted'); } };"
            "const Real = AudioContext; window.AudioContext = class extends Real {"
            " constructor() { super(); told.push('sound'); } };")
        self.purchase("Quiet")
        self.until(lambda browser: "Quiet" in browser.find_element(By.TAG_NAME, "nav").text)
        self.assertEqual(self.browser.execute_script("return told"), [])
        for box in ["sound", "notify"]:
            self.click(f"#{box}")
        loud = self.purchase("Loud")
        self.until(lambda browser: sorted(browser.execute_script("return told")) == ["A new request has come", "sound"])
        self.assertEqual(self.state(loud["id"]), "pending")
        for box in ["sound", "notify"]:
            self.click(f"#{box}")

    def test_the_return_url_is_shown_with_its_scheme_and_opened_by_a_click_only(self):
        landing = self.served("<title>back at the merchant</title>") + "?transID=7"
        inbox = started(self, Inbox(temporary_folder(self), self.agent, "--open-scheme", "HTTP", OOB_OPEN_SCHEMES="shop"))
        self.addCleanup(lambda: opened(self.browser, self.inbox.next_link()))
        opened(self.browser, inbox.link)
        for url in ["shop://back?to=cart", landing]:
            request = self.purchase("Returns", app_url=url)
            self.browser.get(f"{inbox.origin}/requests/{request['id']}")
            self.click("button.approve")
            self.until(lambda _: self.heading().startswith("Approved"))
            self.assertEqual(self.return_link(), url)
            scheme = f"({url.split(':')[0]})"
            self.until(lambda browser: scheme in browser.find_element(By.CSS_SELECTOR, ".return").text)
            self.assertTrue(self.browser.current_url.startswith(inbox.origin))
        self.click(".return a")
        self.until(lambda browser: browser.title == "back at the merchant")

    def test_a_return_url_of_a_scheme_that_is_not_allowed_is_text_to_copy(self):
        self.browser.execute_cdp_cmd("Browser.grantPermissions", {
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": self.inbox.origin})
        for url in ["ms-msdt:/id?PCWDiagnostic", "http://merchant.example/back", "httpsx://merchant.example/"]:
            request = self.purchase("Not Linked", app_url=url)
            self.agent.json("approve", request["id"])
            self.shown(request)
            self.assertEqual(self.text(".return code"), url)
            self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, ".return a"), [])
            self.click(".return .copier")
            self.until(lambda browser: browser.find_element(By.ID, "news").text == "Copied.")
            self.assertEqual(self.browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])"), url)

    def test_an_inbox_that_stops_is_told(self):
        inbox = started(self, Inbox(temporary_folder(self), self.agent))
        opened(self.browser, inbox.link)
        self.until(lambda browser: browser.find_element(By.ID, "news").is_enabled())
        inbox.stop()
        self.until(lambda browser: "does not answer" in browser.find_element(By.ID, "news").text)
        # Another one at its place does not know the window's session.
        again = started(self, Inbox(temporary_folder(self), self.agent, "--listen", f"127.0.0.1:{inbox.port}"))
        self.until(lambda browser: "Make a new one where oob-inbox runs" in browser.find_element(By.TAG_NAME, "main").text)
        opened(self.browser, again.link)
        self.until(lambda browser: browser.find_elements(By.CSS_SELECTOR, "nav[aria-label=Requests]"))
        opened(self.browser, self.inbox.next_link())

    def test_a_rebinding_host_name_shows_nothing(self):
        self.browser.get(f"http://evil.example:{self.inbox.port}/")
        self.assertIn("not the inbox's", self.browser.page_source)
        link = self.browser.find_element(By.LINK_TEXT, "To the inbox")
        self.assertEqual(link.get_attribute("href"), f"{self.inbox.origin}/")
        link.click()
        self.until(lambda browser: browser.find_elements(By.CSS_SELECTOR, "nav[aria-label=Requests]"))

    def test_no_rule_of_accessibility_is_broken_in_either_size_or_colour(self):
        request = self.purchase("مقهى Dæmø")
        decided = self.purchase("W" * 40, app_url="https://merchant.example/" + "r" * 180)
        self.agent.json("approve", decided["id"])
        own = self.inbox.origin
        pages = [f"{own}/requests/{request['id']}", f"{own}/requests/{decided['id']}?state=all"]
        pages += [f"{pages[1]}&tab={tab}" for tab in ["wire", "sequence", "evidence", "events"]]
        for page in [*pages, f"{own}/?q=nothing-like-it", f"{own}/no-such-page"]:
            self.browser.get(page)
            for width, height in [(390, 844), (1280, 800)]:
                for scheme in ["light", "dark"]:
                    with self.subTest(page=page, width=width, scheme=scheme):
                        self.look(width, height, scheme)
                        self.assert_no_rule_is_broken()
            for width in [320, 390, 1280, 3840]:
                with self.subTest(page=page, width=width):
                    self.look(width, 900, "light")
                    self.assert_it_does_not_scroll_sideways(width)

    def test_the_page_works_without_javascript(self):
        request = self.purchase("No Script")
        self.without_scripts()
        self.shown(request)
        self.assertIn("until 20", self.text(".card"))
        self.click("button.deny")
        self.until(lambda _: self.heading().startswith("Denied"))
        self.assertEqual(self.state(request["id"]), "denied")


class WithAPIN(PINScene, BrowserScene):
    def test_a_wrong_pin_is_said_and_the_right_one_approves(self):
        request = self.purchase("With A PIN")
        self.shown(request)
        for pin, sign in [("000000", "[role=alert]"), (self.PIN, ".card h2")]:
            self.enter(pin)
            self.until(lambda browser: browser.find_element(By.CSS_SELECTOR, sign).text.startswith(
                ("Nothing was decided.", "Approved")))
            self.assertNotIn(pin, self.browser.page_source)
        self.assertEqual(self.state(request["id"]), "approved")

    def enter(self, pin: str):
        """Types a PIN, and waits for the page that follows."""
        followed(self.browser, lambda: self.type("#pin", pin, Keys.ENTER))

    def test_a_pin_that_is_being_typed_stays_when_something_else_comes(self):
        self.shown(self.purchase("Typed"))
        self.type("#pin", "4829")
        self.purchase("Something Else")
        self.until(lambda browser: "Something Else" in browser.find_element(By.TAG_NAME, "nav").text)
        self.assertEqual(self.browser.find_element(By.ID, "pin").get_property("value"), "4829")

    def test_five_wrong_pins_block_it_and_the_page_says_so(self):
        request = self.purchase("Blocked")
        self.shown(request)
        for _ in range(5):
            self.enter("000000")
        self.until(lambda browser: "blocked" in browser.find_element(By.CSS_SELECTOR, "[role=alert]").text)
        self.click("button.deny")
        self.until(lambda _: self.heading().startswith("Denied"))


if __name__ == "__main__":
    unittest.main()
