"""The page of oob-issuer serve in a browser.

Run with `.venv/bin/python Tests/Stories/test_sandbox_page_browser.py`; OOB_BIN_DIR names the programs' directory.
"""

import unittest
import urllib.parse
import uuid

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from programs import Sandbox, started, temporary_folder
from sandbox_page_scene import OWN, Attacker, BrowserScene


class InABrowser(BrowserScene):
    def test_a_purchase_is_made_by_keyboard_and_its_sequence_grows_when_the_agent_approves(self):
        self.home()
        field = self.find("input[name=merchant]")
        field.clear()
        field.send_keys("Keyboard Shop")
        Select(self.find("#who")).select_by_value(self.kitchen)
        self.type("input[name=url]", Keys.TAB, Keys.ENTER)
        purchase = self.on_a_purchase("Keyboard Shop")
        self.type("#sequence-text summary", Keys.ENTER)
        self.until(lambda _: "authn request" in self.find("#sequence-text pre").text)
        self.assertNotIn("RReq", self.find("#sequence-text pre").text)
        picture = self.find("#sequence img").get_attribute("src")
        self.decided(purchase, "approve")
        # Without a reload, and what was open is open.
        self.until(lambda _: "RReq" in self.find("#sequence-text pre").text)
        self.assertNotEqual(self.find("#sequence img").get_attribute("src"), picture)
        self.until(lambda browser: browser.execute_script("return document.querySelector('#sequence img').naturalHeight"))
        self.until(lambda _: self.find("h2 .state").text == "authenticated")
        self.until(lambda _: "Taken: approve, transStatus Y" in self.find("#ledger").text)
        self.until(lambda _: self.find("#news").text == "The purchase is authenticated.")
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "button[formaction$=cancel]"), [])

    def test_what_happens_elsewhere_comes_to_the_first_page_by_itself(self):
        self.home()
        self.type("input[name=merchant]", " is being written")
        self.page.bought(**{**OWN, "merchant": "Made Elsewhere"})
        self.until(lambda _: "Made Elsewhere" in self.find("#purchases").text)
        name = "fresh " + uuid.uuid4().hex[:6]
        enrolled = self.enroll("--authn-type", "test", "--name", name, "--persona", "ask")
        self.until(lambda _: name in self.find("#authenticators").text and name in self.find("#who").text)
        self.page.call("POST", f"/sandbox/authenticators/{enrolled}/revoke", "")
        self.until(lambda _: name not in self.find("#authenticators").text)
        self.assertEqual(self.find("input[name=merchant]").get_attribute("value"), "CoffeeHouse2 is being written")

    def test_a_sandbox_that_starts_again_is_found_and_the_forms_work(self):
        folder = temporary_folder(self)
        first = Sandbox(folder, "--database", str(folder / "sandbox.db"))
        self.browser.get(first.origin)
        self.until(lambda _: self.find("input[name=token]").get_attribute("value"))
        first.stop()
        self.until(lambda _: self.find("#news").text == "The sandbox does not answer.")
        started(self, Sandbox(folder, "--database", str(folder / "sandbox.db"), "--listen", urllib.parse.urlsplit(first.origin).netloc))
        self.until(lambda _: self.find("#news").text == "")
        self.click("form[action='/page/codes'] button")
        self.until(lambda _: "until" in self.find("#codes").text)

    def test_it_works_without_javascript(self):
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setScriptExecutionDisabled", {"value": False})
        self.home()
        self.click("button[value=dinar]")
        purchase = self.on_a_purchase("Manama Books")
        self.click("button[formaction$=cancel]")
        self.until(lambda _: self.find("h2 .state").text == "cancelled")
        self.assertEqual(self.page.json(f"/sandbox/purchases/{purchase}")["status"], "cancelled")

    def test_the_odds_are_set_by_the_enter_key_and_cleared_by_a_button(self):
        self.home()
        self.type("input[name=odds]", "503=0.25,path=jwks,seed=1", Keys.ENTER)
        self.until(lambda _: "odds: 503=0.25,path=jwks,seed=1" in self.find("#faults").text)
        self.click("button[value=clear]")
        self.until(lambda _: "Nothing goes wrong on purpose." in self.find("#faults").text)

    def test_a_hostile_merchant_makes_no_element_and_runs_nothing(self):
        self.home()
        self.click("button[value=hostile]")
        self.on_a_purchase("<img src=x onerror=alert(1)>\\u{202E}knaB\\u{200B}")
        self.assertEqual(len(self.browser.find_elements(By.TAG_NAME, "img")), 1)
        self.home()
        self.assertEqual(self.browser.find_elements(By.TAG_NAME, "img"), [])
        self.assertIn("<img src=x onerror=alert(1)>", self.find("#purchases").text)
        for entry in self.browser.get_log("browser"):
            self.assertNotRegex(entry["message"], "onerror|Content Security Policy")

    def test_a_page_of_another_port_cannot_read_frame_or_change_anything(self):
        story = self.page.bought(**{**OWN, "merchant": "Attacked"})
        before = self.page.state()
        for host in ["localhost", "127.0.0.1"]:
            with self.subTest(host):
                attacker = started(self, Attacker(self.page.origin, story["acsTransId"]))
                self.browser.get(f"http://{host}:{attacker.port}/")
                self.until(lambda browser: browser.execute_script("return window.came.length") >= 6)
                self.assertEqual(set(self.browser.execute_script("return window.came")), {"refused"})
                for name in ["framed", "answered"]:
                    self.browser.switch_to.frame(name)
                    self.assertNotIn("Attacked", self.browser.page_source)
                    self.assertNotIn('name="token"', self.browser.page_source)
                    self.browser.switch_to.default_content()
                self.assertEqual(self.page.state(), before)

    def test_a_rebinding_host_name_shows_nothing(self):
        self.browser.get(f"http://evil.example:{self.page.host.rpartition(':')[2]}/")
        self.assertIn("Not for this page", self.browser.page_source)

    def test_no_rule_of_accessibility_is_broken_in_either_size_or_colour(self):
        story = self.page.bought(preset="digits")
        self.page.post("/page/codes")
        self.decided(story["acsTransId"], "approve")
        wrong = self.page.origin + "/purchases/x"
        for address in [self.page.origin + "/", f"{self.page.origin}/purchases/{story['acsTransId']}", wrong]:
            self.browser.get(address)
            for details in self.browser.find_elements(By.TAG_NAME, "summary"):
                details.click()
            for width, height in [(320, 640), (390, 844), (1280, 800)]:
                for scheme in ["light", "dark"]:
                    with self.subTest(address=address, width=width, scheme=scheme):
                        self.look(width, height, scheme)
                        self.assert_no_rule_is_broken()
                        self.assert_it_does_not_scroll_sideways(width)


if __name__ == "__main__":
    unittest.main()
