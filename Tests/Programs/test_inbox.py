"""oob-inbox: its page over HTTP, attacked, and in a browser.

Run with `.venv/bin/python Tests/Programs/test_inbox.py`; OOB_BIN_DIR names the programs' directory.
"""

import http.client
import json
import re
import shutil
import subprocess
import threading
import unittest
import urllib.parse
from pathlib import Path

from axe_core_python.base import AXE_SCRIPT
from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from programs import BIN_DIR, READY_WITHIN, Agent, Program, Sandbox, started, temporary_folder

ROOT = Path(__file__).resolve().parents[2]
WITHIN = 60
HOSTILE = "<img src=x onerror=alert(1)><b id=evil>"


class Inbox(Program):
    """`oob-inbox`; `link` is the newest that it printed."""

    def __init__(self, folder: Path, agent: Agent, *options: str):
        super().__init__(folder, "oob-inbox", "--listen", "localhost:0", "--socket", str(agent.socket), *options)
        self.links, self.changed = [], threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        self.wait_for_link(1)
        self.port = urllib.parse.urlsplit(self.link).port
        self.origin = f"http://127.0.0.1:{self.port}"

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.links.append(line.strip())
                self.changed.notify_all()

    def wait_for_link(self, count: int):
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.links) >= count, READY_WITHIN):
                raise AssertionError(f"oob-inbox printed {len(self.links)} links:\n{self.tail()}")

    @property
    def link(self) -> str:
        return self.links[-1]

    def call(self, method: str, path: str, body: str | None = None, **fields) -> http.client.HTTPResponse:
        """One call as no browser makes it: with these fields and no others. Its `text` is its body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WITHIN)
        fields = {name.replace("_", "-"): value for name, value in fields.items() if value is not None}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": f"127.0.0.1:{self.port}", **fields}.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body.encode())))
        connection.endheaders(None if body is None else body.encode())
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def entered(self) -> str:
        """The cookie of a new session."""
        count = len(self.links)
        answer = self.call("GET", self.link.removeprefix(self.origin))
        assert answer.status == 303, answer.text
        self.wait_for_link(count + 1)
        return answer.getheader("set-cookie").split(";")[0]


class Scene(unittest.TestCase):
    """A sandbox, an agent with an enrollment, and an inbox."""

    AUTHN_TYPE = ["--authn-type", "presence"]

    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(cls.folder))
        cls.agent = Agent(cls.folder)
        cls.addClassCleanup(lambda: cls.agent.stop())
        cls.agent.json("enroll", cls.code(), *cls.AUTHN_TYPE, "--name", "kitchen")
        cls.inbox = started(cls, Inbox(cls.folder, cls.agent))

    @classmethod
    def issuer(cls, *words: str) -> str:
        return subprocess.run([BIN_DIR / "oob-issuer", *words, "--issuer", cls.sandbox.origin], check=True,
                              capture_output=True, text=True, timeout=WITHIN).stdout

    @classmethod
    def code(cls) -> str:
        return re.search(r"oob-enroll:\S+", cls.issuer("code"))[0]

    @classmethod
    def purchase(cls, merchant: str = "CoffeeHouse2", **members: str) -> dict:
        """The agent's request of a new purchase."""
        options = [word for name, value in members.items() for word in [f"--{name.replace('_', '-')}", value]]
        story = json.loads(cls.issuer("purchase", "--merchant", merchant, "--amount", "100", "--currency", "840",
                                      "--exponent", "2", "--json", *options))
        cls.agent.ctl("fetch")
        return cls.agent.json("show", story["acsTransId"])

    def form(self, cookie: str, request: str) -> dict[str, str]:
        """The hidden fields of a request's page."""
        page = self.inbox.call("GET", f"/requests/{request}", cookie=cookie).text
        return dict(re.findall(r'name="(form|digest)" value="([^"]+)"', page))

    def decide(self, cookie: str, request: str, decision: str, origin: str | None = "", **fields):
        origin = self.inbox.origin if origin == "" else origin
        body = urllib.parse.urlencode({**self.form(cookie, request), "decision": decision, **fields})
        return self.inbox.call("POST", f"/requests/{request}/decide", body, cookie=cookie, origin=origin,
                               content_type="application/x-www-form-urlencoded")

    def followed(self, path: str, cookie: str) -> http.client.HTTPResponse:
        """The page that a list's address leads to: that of the first request in it."""
        answer = self.inbox.call("GET", path, cookie=cookie)
        return self.inbox.call("GET", answer.getheader("location"), cookie=cookie) if answer.status == 303 else answer

    def state(self, request: str) -> str:
        return self.agent.json("show", request)["state"]


class OverHTTP(Scene):
    def test_a_link_works_once_and_the_next_one_is_printed(self):
        link = self.inbox.link.removeprefix(self.inbox.origin)
        self.inbox.entered()
        again = self.inbox.call("GET", link)
        self.assertEqual(again.status, 403)
        self.assertIn("This link was used", again.text)
        self.assertNotIn("set-cookie", again.headers)
        self.assertNotIn(urllib.parse.urlsplit(self.inbox.link).query, again.text)

    def test_the_cookie_is_for_this_site_and_no_script_and_the_address_has_no_token(self):
        answer = self.inbox.call("GET", self.inbox.link.removeprefix(self.inbox.origin))
        self.assertEqual((answer.status, answer.getheader("location")), (303, "/"))
        self.assertRegex(answer.getheader("set-cookie"), r"^oob-inbox-\d+=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict$")
        self.assertEqual(answer.getheader("referrer-policy"), "no-referrer")
        self.assertEqual(self.inbox.call("GET", "/style.css").getheader("referrer-policy"), "same-origin")

    def test_without_a_session_nothing_is_shown(self):
        request = self.purchase()
        for path in ["/", f"/requests/{request['id']}", "/events", f"/requests/{request['id']}/evidence.json"]:
            for cookie in [None, f"oob-inbox-{self.inbox.port}=", f"oob-inbox-{self.inbox.port}=" + "A" * 43]:
                answer = self.inbox.call("GET", path, cookie=cookie)
                self.assertEqual(answer.status, 403)
                self.assertNotIn("CoffeeHouse2", answer.text)

    def test_every_answer_forbids_frames_foreign_content_and_keeping(self):
        cookie = self.inbox.entered()
        for path in ["/", "/style.css", "/script.js", "/enter?token=x", "/no/such/page"]:
            answer = self.inbox.call("GET", path, cookie=cookie)
            policy = answer.getheader("content-security-policy")
            self.assertTrue(policy.startswith("default-src 'none';"), policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(answer.getheader("cache-control"), "no-store")
            self.assertEqual(answer.getheader("x-content-type-options"), "nosniff")
            self.assertIsNone(answer.getheader("access-control-allow-origin"))

    def test_another_host_name_is_refused(self):
        cookie = self.inbox.entered()
        for host in ["evil.example", f"evil.example:{self.inbox.port}", f"localhost:{self.inbox.port}",
                     f"[::1]:{self.inbox.port}", "127.0.0.1", ""]:
            self.assertIn(self.inbox.call("GET", "/", cookie=cookie, Host=host).status, (400, 403), host)
        self.assertEqual(self.inbox.call("GET", "/?q=nothing-like-it", cookie=cookie).status, 200)

    def test_the_link_names_the_address_that_is_listened_on(self):
        # A name could lead a browser to another address of it, where somebody else may listen on the same port.
        self.assertRegex(self.inbox.link, r"^http://127\.0\.0\.1:\d+/enter\?token=[\w-]{43}$")
        other = Inbox(temporary_folder(self), self.agent, "--listen", "127.0.0.2:0")
        self.addCleanup(other.stop)
        self.assertRegex(other.link, r"^http://127\.0\.0\.2:\d+/enter")

    def test_a_decision_from_elsewhere_or_without_the_pages_token_is_not_taken(self):
        request, cookie = self.purchase()["id"], self.inbox.entered()
        for origin in [None, "null", "http://evil.example", f"https://127.0.0.1:{self.inbox.port}"]:
            self.assertEqual(self.decide(cookie, request, "approve", origin).status, 403, origin)
        self.assertEqual(self.decide(cookie, request, "approve", form="A" * 43).status, 403)
        other = self.form(self.inbox.entered(), request)["form"]
        self.assertEqual(self.decide(cookie, request, "approve", form=other).status, 403)
        self.assertEqual(self.inbox.call("GET", f"/requests/{request}/decide?decision=approve", cookie=cookie).status, 404)
        for site in ["cross-site", "same-site"]:
            crossed = self.inbox.call("GET", f"/requests/{request}", cookie=cookie, Sec_Fetch_Site=site)
            self.assertEqual(crossed.status, 403)
        self.assertEqual(self.state(request), "pending")

    def test_a_decision_is_bound_to_the_text_that_was_shown(self):
        request, cookie = self.purchase()["id"], self.inbox.entered()
        answer = self.decide(cookie, request, "approve", digest="A" * 43)
        self.assertEqual(answer.status, 409)
        self.assertIn("Nothing was decided.", answer.text)
        self.assertEqual(self.state(request), "pending")
        taken = self.decide(cookie, request, "approve")
        self.assertEqual((taken.status, taken.getheader("location")), (303, f"/requests/{request}"))
        self.assertEqual(self.state(request), "approved")

    def test_deny_and_fraud_are_told_apart(self):
        cookie = self.inbox.entered()
        for decision, reason in [("deny", "userDenied"), ("fraud", "suspectedFraud")]:
            request = self.purchase()["id"]
            self.assertEqual(self.decide(cookie, request, decision).status, 303)
            self.assertEqual(self.agent.json("show", request)["reason"], reason)

    def test_a_request_that_was_decided_elsewhere_says_so(self):
        request, cookie = self.purchase()["id"], self.inbox.entered()
        fields = self.form(cookie, request)
        self.agent.json("deny", request)
        answer = self.inbox.call(
            "POST", f"/requests/{request}/decide", urllib.parse.urlencode({**fields, "decision": "approve"}),
            cookie=cookie, origin=self.inbox.origin)
        self.assertEqual(answer.status, 409)
        self.assertIn("Nothing was decided.", answer.text)
        self.assertIn("Denied (userDenied)", answer.text)

    def test_an_inbox_that_only_looks_has_no_buttons_and_takes_no_decision(self):
        request = self.purchase()["id"]
        looking = Inbox(temporary_folder(self), self.agent, "--look")
        self.addCleanup(looking.stop)
        cookie = looking.entered()
        page = looking.call("GET", f"/requests/{request}", cookie=cookie).text
        self.assertIn("Looking only", page)
        self.assertNotIn("<button name", page)
        # The token of its forms stands on no page of it; even a decision that has it is not taken.
        self.assertNotIn('name="form"', page)
        answer = looking.call("POST", f"/requests/{request}/decide", "form=x&digest=y&decision=approve", cookie=cookie,
                              origin=looking.origin)
        self.assertEqual(answer.status, 403)
        self.assertEqual(self.state(request), "pending")

    def test_the_list_is_filtered_by_its_address_and_goes_on_in_pages(self):
        for number in range(3):
            self.purchase(f"Filtered {number}")
        cookie = self.inbox.entered()
        page = self.followed("/?q=filtered+1", cookie).text
        self.assertIn("1 request(s)", page)
        self.assertIn("Filtered 1", page)
        self.assertNotIn("Filtered 2", re.search(r"<nav.*?</nav>", page, re.DOTALL)[0])
        self.assertIn("No request has this in it.", self.inbox.call("GET", "/?q=nothing-like-it", cookie=cookie).text)
        for odd in ["/?page=0", "/?page=-1", "/?page=99999999999999999999", "/?state=&q=%00%FF", "/?q=" + "x" * 4000]:
            self.assertEqual(self.followed(odd, cookie).status, 200, odd)

    def test_a_form_that_is_none_is_refused_and_nothing_decided(self):
        request, cookie = self.purchase()["id"], self.inbox.entered()
        for body in ["", "x", "form=a&form=b", "&" * 100, "a=" + "x" * 9000, "form=%ZZ"]:
            answer = self.inbox.call("POST", f"/requests/{request}/decide", body, cookie=cookie, origin=self.inbox.origin)
            self.assertIn(answer.status, (400, 403), body[:20])
        self.assertEqual(self.state(request), "pending")

    def test_the_page_is_small_and_what_a_merchant_is_called_is_text_on_it(self):
        request = self.purchase(HOSTILE)
        cookie = self.inbox.entered()
        page = self.inbox.call("GET", f"/requests/{request['id']}", cookie=cookie).text
        self.assertNotIn(HOSTILE, page)
        self.assertIn("&lt;img src=x onerror=alert(1)&gt;", page)
        self.assertLess(len(page), 60_000)

    def test_wire_and_evidence_take_the_request_apart(self):
        request = self.purchase()["id"]
        cookie = self.inbox.entered()
        self.decide(cookie, request, "approve")
        wire = self.inbox.call("GET", f"/requests/{request}?tab=wire", cookie=cookie).text
        for words in ["oob-authn-request+jwt", "&quot;merchantName&quot;: &quot;CoffeeHouse2&quot;", "webauthn.get",
                      "flags UP", "signCount"]:
            self.assertIn(words, wire)
        evidence = json.loads(self.inbox.call("GET", f"/requests/{request}/evidence.json", cookie=cookie).text)
        self.assertEqual(evidence["request"]["id"], request)

    def test_what_it_may_not_listen_on_is_refused(self):
        for address, status in [("0.0.0.0:8300", 64), ("192.0.2.1:1", 64), ("x", 64), (f"localhost:{self.inbox.port}", 69)]:
            run = subprocess.run([BIN_DIR / "oob-inbox", "--listen", address, "--socket", str(self.agent.socket)],
                                 capture_output=True, text=True, timeout=WITHIN, stdin=subprocess.DEVNULL)
            self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)


class WithAPIN(Scene):
    AUTHN_TYPE = ["--authn-type", "pin", "--pin-file"]

    @classmethod
    def setUpClass(cls):
        pin = temporary_folder(cls) / "pin"
        pin.write_text("482913\n")
        pin.chmod(0o600)
        cls.AUTHN_TYPE = ["--authn-type", "pin", "--pin-file", str(pin)]
        super().setUpClass()

    def test_a_pin_is_asked_for_and_a_wrong_one_decides_nothing_and_is_nowhere(self):
        request, cookie = self.purchase()["id"], self.inbox.entered()
        self.assertIn('name="pin" type="password"', self.inbox.call("GET", f"/requests/{request}", cookie=cookie).text)
        wrong = self.decide(cookie, request, "approve", pin="999999")
        self.assertEqual(wrong.status, 409)
        self.assertIn("Nothing was decided.", wrong.text)
        self.assertNotIn("999999", wrong.text)
        self.assertEqual(self.decide(cookie, request, "approve").status, 409)
        self.assertEqual(self.state(request), "pending")
        self.assertEqual(self.decide(cookie, request, "approve", pin="482913").status, 303)
        self.assertEqual(self.state(request), "approved")
        for log in self.folder.glob("*.log"):
            self.assertNotRegex(log.read_text(errors="replace"), "999999|482913")


class InABrowser(Scene):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        options = webdriver.ChromeOptions()
        for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,800",
                     "--disable-dev-shm-usage", "--host-resolver-rules=MAP evil.example 127.0.0.1"]:
            options.add_argument(word)
        options.binary_location = shutil.which("chromium")
        service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
        cls.browser = webdriver.Chrome(options=options, service=service)
        cls.addClassCleanup(cls.browser.quit)
        cls.browser.get(cls.inbox.link)

    def until(self, holds):
        return WebDriverWait(self.browser, WITHIN, 0.05, [NoSuchElementException, StaleElementReferenceException]).until(holds)

    def shown(self, request: dict):
        self.browser.get(f"{self.inbox.origin}/requests/{request['id']}")

    def heading(self) -> str:
        return self.browser.find_element(By.CSS_SELECTOR, ".card h2").text

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

    def look(self, width: int, height: int, scheme: str):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def tearDown(self):
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


if __name__ == "__main__":
    unittest.main()
