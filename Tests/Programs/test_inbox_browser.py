"""oob-inbox: its page in a browser, looked at, decided on and attacked.

Run with `.venv/bin/python Tests/Programs/test_inbox_browser.py`; OOB_BIN_DIR names the programs' directory.
"""

import unittest
import urllib.parse

from axe_core_python.base import AXE_SCRIPT
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from inbox_scene import HOSTILE, BrowserScene
from programs import Agent


class InABrowser(BrowserScene):
    def test_a_request_that_comes_is_listed_at_once_and_approved_by_keyboard(self):
        self.browser.get(self.inbox.origin)
        request = self.purchase("Live Shop", app_url="https://merchant.example/return?transID=7")
        self.until(lambda browser: "Live Shop" in browser.find_element(By.TAG_NAME, "nav").text)
        self.shown(request)
        text = self.browser.find_element(By.CSS_SELECTOR, ".text").get_attribute("textContent")
        self.assertEqual(text.split(), self.agent.json("show", request["id"])["text"].split())
        self.browser.find_element(By.CSS_SELECTOR, ".text").send_keys(Keys.TAB, Keys.ENTER)
        self.until(lambda _: self.heading().startswith("Approved"))
        self.assertEqual(self.state(request["id"]), "approved")
        link = self.browser.find_element(By.CSS_SELECTOR, ".return a")
        self.assertEqual(link.get_attribute("href"), "https://merchant.example/return?transID=7")

    def test_two_windows_show_what_the_other_decided(self):
        request = self.purchase("Two Windows")
        self.shown(request)
        first = self.browser.current_window_handle
        self.browser.switch_to.new_window("tab")
        self.shown(request)
        self.browser.find_element(By.CSS_SELECTOR, "button.deny").click()
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
        self.assertIn("Goes Away", self.browser.find_element(By.CSS_SELECTOR, ".text").text)
        self.assertEqual(self.state(other["id"]), "pending")

    def test_a_hostile_merchant_makes_no_element_and_runs_nothing(self):
        self.shown(self.purchase(HOSTILE))
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "#evil, nav img, main img"), [])
        self.assertIn(HOSTILE, self.browser.find_element(By.CSS_SELECTOR, ".text").text)
        for entry in self.browser.get_log("browser"):
            self.assertNotIn("onerror", entry["message"])

    def test_an_agent_that_stops_is_told_and_comes_back_by_itself(self):
        request = self.purchase("Restarted")
        self.shown(request)
        self.agent.stop()
        self.until(lambda browser: "does not answer" in browser.find_element(By.ID, "news").text)
        type(self).agent = Agent(self.folder)
        self.until(lambda browser: browser.find_element(By.ID, "news").text == "")
        self.assertEqual(self.heading(), "Do you approve this?")

    def test_a_page_of_another_origin_cannot_read_frame_or_decide(self):
        request = self.purchase("Attacked")
        attack = f"""<body><iframe id=f src="{self.inbox.origin}/"></iframe>
            <form id=p method=post action="{self.inbox.origin}/requests/{request['id']}/decide" target=out>
            <input name=decision value=approve></form><iframe name=out></iframe><script>
            window.came = 'nothing';
            fetch('{self.inbox.origin}/', {{credentials: 'include'}}).then(() => window.came = 'read', () => window.came = 'refused');
            document.getElementById('p').submit();
            </script>"""
        self.browser.get("data:text/html," + urllib.parse.quote(attack))
        self.until(lambda browser: browser.execute_script("return window.came") == "refused")
        self.browser.switch_to.frame("f")
        self.assertNotIn("Attacked", self.browser.page_source)
        self.browser.switch_to.default_content()
        self.assertEqual(self.state(request["id"]), "pending")

    def test_a_rebinding_host_name_shows_nothing(self):
        self.browser.get(f"http://evil.example:{self.inbox.port}/")
        self.assertIn("not the inbox's", self.browser.page_source)

    def test_no_rule_of_accessibility_is_broken_in_either_size_or_colour(self):
        self.shown(self.purchase("مقهى Dæmø"))
        for width, height in [(390, 844), (1280, 800)]:
            for scheme in ["light", "dark"]:
                with self.subTest(width=width, scheme=scheme):
                    self.look(width, height, scheme)
                    self.browser.execute_script(AXE_SCRIPT)
                    found = self.browser.execute_async_script(
                        "axe.run().then(arguments[arguments.length - 1])")
                    self.assertEqual([(rule["id"], [node["html"] for node in rule["nodes"]])
                                      for rule in found["violations"]], [])
                    self.assertTrue(found["passes"])
                    wide = self.browser.execute_script("return document.documentElement.scrollWidth")
                    self.assertLessEqual(wide, width, "it scrolls sideways")

if __name__ == "__main__":
    unittest.main()
