"""The page of oob-issuer serve: over HTTP, attacked, and in a browser.

Run with `.venv/bin/python Tests/Programs/test_sandbox_page.py`; OOB_BIN_DIR names the programs' directory.
"""

import functools
import html
import http.client
import http.server
import json
import re
import shutil
import subprocess
import threading
import unittest
import urllib.parse
import uuid

from axe_core_python.base import AXE_SCRIPT
from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from programs import BIN_DIR, Agent, Sandbox, started, temporary_folder

WITHIN = 60
FORM = "application/x-www-form-urlencoded"
PRESETS = {
    "coffee": ("CoffeeHouse2", "450", "840", "2"), "yen": ("Kissaten Kyoto", "1200", "392", "0"),
    "dinar": ("Manama Books", "12345", "048", "3"),
    "digits": ("Treasury", "123456789012345678901234567890123456789012345678", "840", "2"),
    "hostile": ("<img src=x onerror=alert(1)>\u202eknaB\u200b", "100", "840", "2"),
    "url": ("Return Shop", "100", "840", "2"),
}
OWN = {"merchant": "Own Shop", "amount": "99", "currency": "978", "exponent": "2"}


class Page:
    """The page of a sandbox, called as no browser does: with these fields and no others."""

    def __init__(self, sandbox: Sandbox):
        self.origin = sandbox.origin
        self.host = urllib.parse.urlsplit(sandbox.origin).netloc

    def call(self, method: str, path: str, body: str | None = None, **fields) -> http.client.HTTPResponse:
        """Its `text` is its body."""
        connection = http.client.HTTPConnection(self.host, timeout=WITHIN)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": self.host, **fields}.items():
            if value is not None:
                connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body.encode())))
        connection.endheaders(None if body is None else body.encode())
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def json(self, path: str):
        return json.loads(self.call("GET", path).text)

    def token(self) -> str:
        return re.search(r'name="token" value="([\w-]{43})"', self.call("GET", "/").text)[1]

    def post(self, path: str, origin: str | None = "", **form) -> http.client.HTTPResponse:
        """A form of the page, with its token unless another is given; one that is None is left out."""
        form = {"token": self.token(), **form}
        body = urllib.parse.urlencode({name: value for name, value in form.items() if value is not None})
        return self.call("POST", path, body, Origin=self.origin if origin == "" else origin, Content_Type=FORM)

    def bought(self, **form) -> dict:
        """The story of a purchase that a form made."""
        answer = self.post("/purchases", **form)
        assert answer.status == 303, answer.text
        return self.json("/sandbox" + answer.getheader("location"))

    def text_of(self, path: str) -> str:
        """What is to be read on a page, without its elements."""
        text = re.sub(r"<[^>]*>", " ", self.call("GET", path).text)
        return " ".join(html.unescape(text).split())

    def state(self):
        """All that a form can change."""
        clock = self.json("/sandbox/clock")["offsetSeconds"]
        listed = self.json("/sandbox/purchases?limit=1000")["purchases"]
        return [(each["acsTransId"], each["status"]) for each in listed], self.json("/sandbox/faults"), clock


class Scene(unittest.TestCase):
    """A sandbox, and an agent with an honest enrollment and one whose signatures do not hold."""

    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(cls.folder, *cls.OPTIONS))
        cls.page = Page(cls.sandbox)
        cls.agent = started(cls, Agent(cls.folder))
        cls.mallory = cls.enroll("--authn-type", "test", "--name", "mallory", "--persona", "badSignature")
        cls.kitchen = cls.enroll("--authn-type", "presence", "--name", "kitchen")

    @classmethod
    def enroll(cls, *words: str) -> str:
        """The authenticator's id at the sandbox."""
        run = subprocess.run([BIN_DIR / "oob-issuer", "code", "--issuer", cls.sandbox.origin], check=True,
                             capture_output=True, text=True, timeout=WITHIN)
        cls.agent.json("enroll", re.search(r"oob-enroll:\S+", run.stdout)[0], *words)
        return cls.page.json("/sandbox/authenticators")[-1]["id"]

    def decided(self, acs_trans_id: str, decision: str):
        self.agent.ctl("fetch")
        self.agent.json(decision, acs_trans_id)


class OverHTTP(Scene):
    def test_each_preset_makes_the_purchase_that_it_names(self):
        for preset, (merchant, amount, currency, exponent) in PRESETS.items():
            made = self.page.bought(preset=preset)["transaction"]
            self.assertEqual(
                (made["merchantName"], made["purchaseAmount"], made["purchaseCurrency"], made["purchaseExponent"]),
                (merchant, amount, currency, exponent))
            self.assertEqual(len(made.get("threeDSRequestorAppURL", "")), 211 if preset == "url" else 0)
        first = self.page.call("GET", "/").text
        self.assertEqual(set(re.findall(r'name="preset" value="(\w+)"', first)), PRESETS.keys())

    def test_a_purchase_of_ones_own_is_the_one_that_was_written(self):
        url = "https://merchant.example/?a=1&b=2"
        story = self.page.bought(**OWN, url=url, authenticator=self.mallory)
        made = story["transaction"]
        self.assertEqual((made["merchantName"], made["purchaseAmount"], made["purchaseCurrency"]), ("Own Shop", "99", "978"))
        self.assertEqual((made["threeDSRequestorAppURL"], story["authenticatorId"]), (url, self.mallory))
        self.assertEqual(self.page.bought(**OWN)["authenticatorId"], self.kitchen)

    def test_wrong_input_is_told_with_what_is_allowed_and_stays_in_its_field(self):
        before = self.page.state()
        for path, form, sentence in [
            ("/purchases", {**OWN, "amount": "1.5"}, "Amount is not 1 to 48 ASCII digits"),
            ("/purchases", {**OWN, "merchant": "x" * 41}, "Merchant has 41 characters; 1 to 40 are allowed"),
            ("/purchases", {**OWN, "merchant": ""}, "Merchant has 0 characters; 1 to 40 are allowed"),
            ("/purchases", {**OWN, "url": "x" * 300}, "App URL"),
            ("/purchases", {**OWN, "authenticator": "nobody"}, "Authenticator: no such authenticator"),
            ("/purchases", {"preset": "tea"}, "preset: must be one of coffee, yen, dinar, digits, hostile, url"),
            ("/page/faults", {"odds": "500=2"}, "Odds: 500: must be odds of 0 to 1"),
            ("/page/faults", {"next": "path=decision"}, "Next calls: each needs a status or a kind"),
            ("/page/faults", {}, "Next calls: missing"),
            ("/page/clock", {"advance": "-3"}, "Advance by: "),
        ]:
            with self.subTest(form):
                answer = self.page.post(path, **form)
                self.assertIn(answer.status, (400, 404))
                told = html.unescape(re.search(r'role="alert">([^<]*)<', answer.text)[1])
                self.assertTrue(told.startswith(sentence), told)
                if "merchant" in form:
                    self.assertIn(f'name="merchant" value="{form["merchant"]}"', answer.text)
        self.assertEqual(self.page.state(), before)

    def test_a_refused_decision_is_in_the_ledger_with_the_check_that_failed(self):
        story = self.page.bought(preset="coffee", authenticator=self.mallory)
        path = f"/purchases/{story['acsTransId']}"
        self.assertIn("Nothing has come yet.", self.page.text_of(path))
        self.agent.ctl("fetch")
        tag = None
        while "Refused: 422 invalid_assertion" not in (text := self.page.text_of(path)):
            # Answered as soon as something comes.
            tag = self.page.call("GET", path + "?wait=20", If_None_Match=tag).getheader("etag")
        self.assertIn("failed check: signature", text)
        self.assertIn("challenge: passed", text)
        self.assertIn("signCount: notReached", text)
        self.assertIn("pending", text)

    def test_a_decision_that_was_taken_is_in_the_ledger_with_its_checks(self):
        for decision, title in [("approve", "Taken: approve, transStatus Y"),
                                ("deny", "Taken: deny (userDenied), transStatus N")]:
            story = self.page.bought(preset="coffee")
            self.decided(story["acsTransId"], decision)
            text = self.page.text_of(f"/purchases/{story['acsTransId']}")
            self.assertIn(title, text)
            self.assertEqual("signature: passed" in text, decision == "approve")
            for kind in ["AReq", "ARes", "CReq", "RReq"]:
                self.assertIn(f'{kind} {{ "messageType": "{kind}"', text)

    def test_a_purchase_is_cancelled_and_replayed(self):
        story = self.page.bought(preset="coffee")
        path = f"/purchases/{story['acsTransId']}"
        replayed = self.page.post(path + "/replay")
        self.assertEqual((replayed.status, replayed.getheader("location")), (303, path))
        self.assertEqual(self.page.post(path + "/cancel").status, 303)
        self.assertEqual(self.page.json("/sandbox" + path)["status"], "cancelled")
        again = self.page.post(path + "/cancel")
        self.assertEqual(again.status, 409)
        self.assertIn("the purchase is completed already: cancelled", again.text)
        fresh = self.page.post(path + "/again").getheader("location")
        self.assertNotEqual(fresh, path)
        made = self.page.json("/sandbox" + fresh)
        self.assertEqual((made["status"], made["transaction"]["merchantName"]), ("pending", "CoffeeHouse2"))

    def test_the_sequence_is_a_picture_and_a_text(self):
        path = f"/purchases/{self.page.bought(preset='hostile')['acsTransId']}"
        picture = self.page.call("GET", path + "/sequence.svg")
        self.assertEqual((picture.status, picture.getheader("content-type")), (200, "image/svg+xml"))
        self.assertTrue(picture.text.startswith("<svg ") and "AReq" in picture.text and "<img" not in picture.text)
        text = self.page.call("GET", path + "/sequence.txt")
        self.assertEqual(text.getheader("content-type"), "text/plain; charset=utf-8")
        self.assertIn("authn request", text.text)

    def test_faults_are_set_listed_and_cleared(self):
        self.addCleanup(self.page.post, "/page/faults", do="clear")
        answer = self.page.post("/page/faults", odds="500=0.5,path=jwks,seed=7",
                                next="path=decision,kind=drop,times=2\r\npath=fetch,status=503")
        self.assertEqual((answer.status, answer.getheader("location")), (303, "/"))
        faults = self.page.json("/sandbox/faults")
        self.assertEqual((faults["odds"], faults["planned"]), ("500=0.5,path=jwks,seed=7", 3))
        text = self.page.text_of("/")
        for line in ["odds: 500=0.5,path=jwks,seed=7", "next: path=decision,kind=drop,moment=before,times=2",
                     "next: path=fetch,status=503"]:
            self.assertIn(line, text)
        self.assertEqual(self.page.post("/page/faults", do="clear").status, 303)
        self.assertEqual(self.page.json("/sandbox/faults"), {"planned": 0, "next": []})
        self.assertIn("Nothing goes wrong on purpose.", self.page.text_of("/"))

    def test_a_code_is_made_and_its_command_enrolls(self):
        self.assertEqual(self.page.post("/page/codes").status, 303)
        command = html.unescape(re.search(r'<label>Command <input readonly value="([^"]+)"', self.page.call("GET", "/").text)[1])
        link = re.fullmatch(r"oobctl enroll '(oob-enroll:\S+)'", command)[1]
        self.agent.json("enroll", link, "--authn-type", "test", "--name", "by the page", "--persona", "ask")
        text = self.page.text_of("/")
        self.assertIn("by the page", text)
        self.assertNotIn(link, text)
        self.page.call("POST", f"/sandbox/authenticators/{self.page.json('/sandbox/authenticators')[-1]['id']}/revoke", "")

    def test_the_clock_of_the_machine_is_not_moved(self):
        self.assertIn("the machine's clock", self.page.text_of("/"))
        self.assertNotIn('action="/page/clock"', self.page.call("GET", "/").text)
        answer = self.page.post("/page/clock", advance="10m")
        self.assertEqual(answer.status, 409)
        self.assertIn("oob-issuer serve --test-clock", answer.text)

    def test_a_page_that_has_not_changed_is_waited_for(self):
        story = self.page.bought(preset="coffee")
        path = f"/purchases/{story['acsTransId']}"
        tag = self.page.call("GET", path).getheader("etag")
        self.assertEqual(self.page.call("GET", path + "?wait=1", If_None_Match=tag).status, 304)
        answers = []
        waiting = threading.Thread(
            target=lambda: answers.append(self.page.call("GET", path + "?wait=60", If_None_Match=tag)))
        waiting.start()
        self.page.post(path + "/cancel")
        waiting.join(WITHIN)
        self.assertEqual(answers[0].status, 200)
        self.assertIn("cancelled", answers[0].text)
        for odd in ["0", "-1", "61", "99999999999999999999", "x", ""]:
            self.assertEqual(self.page.call("GET", f"/?wait={odd}", If_None_Match='"x"').status, 200, odd)

    def test_the_page_is_small_however_much_there_is_to_show(self):
        for _ in range(25):
            self.page.bought(**{**OWN, "merchant": "\u200b" * 40, "amount": "9" * 48})
        self.assertLess(len(self.page.call("GET", "/").text.encode()), 60_000)
        story = self.page.bought(**{**OWN, "merchant": "<" * 40})
        path = f"/purchases/{story['acsTransId']}"
        for _ in range(100):
            self.page.call("POST", f"/sandbox{path}/creq", "{}")
        answer = self.page.call("GET", path)
        self.assertLess(len(answer.text.encode()), 60_000)
        self.assertIn("There are more.", answer.text)
        self.assertIn(f'<a href="{path}/sequence.txt">', answer.text)
        self.assertIn("CReq", self.page.call("GET", path + "/sequence.txt").text)


class Attacked(Scene):
    def test_another_host_name_sees_no_page_and_changes_nothing(self):
        port, before = self.page.host.rpartition(":")[2], self.page.state()
        for host in ["evil.example", f"evil.example:{port}", "localhost", f"localhost:{int(port) % 65535 + 1}",
                     f"127.0.0.2:{port}", ""]:
            answer = self.page.call("GET", "/", Host=host)
            self.assertIn(answer.status, (400, 403), host)
            self.assertNotIn('name="token"', answer.text)
            form = urllib.parse.urlencode({"token": self.page.token(), "preset": "coffee"})
            posted = self.page.call("POST", "/purchases", form, Host=host, Origin=f"http://{host}", Content_Type=FORM)
            self.assertIn(posted.status, (400, 403), host)
        for host in [f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"]:
            self.assertEqual(self.page.call("GET", "/", Host=host).status, 200, host)
        self.assertEqual(self.page.state(), before)

    def test_the_calls_are_answered_under_any_host_name(self):
        for path in ["/.well-known/oob-authenticator", "/sandbox/purchases", "/sandbox/clock"]:
            known = self.page.call("GET", path).status
            self.assertEqual(self.page.call("GET", path, Host="issuer.example").status, known)

    def test_a_form_from_elsewhere_or_without_the_token_changes_nothing(self):
        story = self.page.bought(preset="coffee")
        path, before = f"/purchases/{story['acsTransId']}", self.page.state()
        forms = [("/purchases", {"preset": "coffee"}), (path + "/cancel", {}), (path + "/again", {}),
                 ("/page/faults", {"odds": "500=1"}), ("/page/codes", {}), ("/page/clock", {"advance": "1h"})]
        for action, form in forms:
            with self.subTest(action):
                for origin in [None, "null", "http://evil.example", "https://" + self.page.host,
                               "http://localhost:1", f"{self.page.origin}, {self.page.origin}"]:
                    self.assertEqual(self.page.post(action, origin, **form).status, 403, origin)
                for token in [None, "", "A" * 43, self.page.token()[:-1]]:
                    answer = self.page.post(action, **form, token=token)
                    self.assertEqual(answer.status, 403)
                    self.assertIn("Nothing was done", answer.text)
                for site in ["cross-site", "same-site"]:
                    body = urllib.parse.urlencode({"token": self.page.token(), **form})
                    answer = self.page.call("POST", action, body, Origin=self.page.origin, Sec_Fetch_Site=site)
                    self.assertEqual(answer.status, 403)
                self.assertIn(self.page.call("GET", action, Origin=self.page.origin).status, (303, 404))
        self.assertEqual(self.page.call("GET", "/", Sec_Fetch_Site="cross-site").status, 403)
        self.assertEqual(self.page.state(), before)

    def test_a_page_of_another_origin_makes_no_call_of_the_sandbox(self):
        before = self.page.state()
        for origin in ["http://evil.example", "null", "http://localhost:1", f"https://{self.page.host}", ""]:
            answer = self.page.call("POST", "/sandbox/purchases", "{}", Origin=origin, Content_Type="text/plain")
            self.assertEqual((answer.status, answer.getheader("content-type")), (403, "application/problem+json"))
            self.assertTrue(json.loads(answer.text)["detail"].startswith("Origin: "))
            self.assertEqual(self.page.call("DELETE", "/sandbox/faults?odds=true", Origin=origin).status, 403)
        self.assertEqual(self.page.state(), before)
        for origin in [None, self.page.origin]:
            self.assertEqual(self.page.call("POST", "/sandbox/purchases", "{}", Origin=origin).status, 201)

    def test_a_form_that_is_none_is_told_and_changes_nothing(self):
        before, token = self.page.state(), self.page.token()
        for body, status, sentence in [
            ("", 403, "Nothing was done"), ("x", 400, "each of its fields may be there once"),
            (f"token={token}&amount=1&amount=2", 400, "each of its fields may be there once"),
            ("&".join(f"f{number}=1" for number in range(17)), 400, "cannot be read"), ("token=%ZZ", 400, "cannot be read"),
            (f"token={token}&merchant=" + "x" * 9000, 413, "8192 bytes are allowed"),
        ]:
            answer = self.page.call("POST", "/purchases", body, Origin=self.page.origin, Content_Type=FORM)
            self.assertEqual(answer.status, status, body[:60])
            self.assertIn(sentence, answer.text)
        self.assertEqual(self.page.state(), before)

    def test_what_does_not_exist_is_not_found(self):
        absent = f"/purchases/{uuid.uuid4()}"
        for path in [absent, absent + "/sequence.svg", absent + "/sequence.txt", "/purchases/x", "/purchases/%00%FF",
                     "/purchases/" + "x" * 4000, absent + "/other", "/page/", "/page/x.js", "/purchases/a/b/c"]:
            answer = self.page.call("GET", path)
            self.assertEqual((answer.status, answer.getheader("content-type")), (404, "text/html; charset=utf-8"), path)
        for path in [absent + "/cancel", absent + "/burn", "/page/burn", "/purchases/x/replay"]:
            self.assertEqual(self.page.post(path).status, 404, path)
        self.assertEqual(self.page.call("PUT", "/", "", Origin=self.page.origin).status, 405)

    def test_every_answer_forbids_frames_foreign_content_and_keeping(self):
        purchase = f"/purchases/{self.page.bought(preset='coffee')['acsTransId']}"
        for path in ["/", purchase, "/page/style.css", "/page/sandbox.css", "/page/sandbox.js", "/purchases/x",
                     purchase + "/sequence.svg", purchase + "/sequence.txt"]:
            answer = self.page.call("GET", path)
            policy = answer.getheader("content-security-policy")
            self.assertTrue(policy.startswith("default-src 'none';"), policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertEqual("unsafe" in policy, path.endswith(".svg"))
            self.assertNotIn("script-src 'unsafe", policy)
            self.assertEqual(answer.getheader("cache-control"), "no-store")
            self.assertEqual(answer.getheader("x-content-type-options"), "nosniff")
            self.assertEqual(answer.getheader("referrer-policy"), "same-origin")
            self.assertIsNone(answer.getheader("access-control-allow-origin"))

    def test_a_name_from_outside_ends_no_attribute(self):
        # With the mark that follows, the quotation mark is one character of another kind.
        for quote in ['"', '"\u0301', "'\u0301", '">', "&quot;"]:
            name = quote + " id=evil x="
            answer = self.page.post("/purchases", **{**OWN, "merchant": name, "amount": "none"})
            value = re.search(r'name="merchant" value="([^"]*)">', answer.text)[1]
            self.assertEqual(html.unescape(value), name)
            self.assertNotIn("<", value)


class WithATestClock(Scene):
    OPTIONS = ("--test-clock",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kitchen = cls.enroll("--authn-type", "test", "--name", "pantry", "--persona", "ask")

    def test_a_test_clock_is_moved_and_a_purchase_expires_on_it(self):
        path = f"/purchases/{self.page.bought(preset='coffee')['acsTransId']}"
        self.assertIn("a test's clock", self.page.text_of("/"))
        before = self.page.json("/sandbox/clock")["offsetSeconds"]
        self.assertEqual(self.page.post("/page/clock", advance="1h30m").status, 303)
        self.assertEqual(self.page.json("/sandbox/clock")["offsetSeconds"], before + 5400)
        self.assertIn("expired", self.page.text_of(path))
        wrong = self.page.post("/page/clock", advance="soon")
        self.assertEqual(wrong.status, 400)
        self.assertIn("Advance by: ", wrong.text)


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

    def until(self, holds):
        return WebDriverWait(self.browser, WITHIN, 0.05, [NoSuchElementException, StaleElementReferenceException]).until(holds)

    def find(self, selector: str):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def home(self):
        self.browser.get(self.page.origin + "/")

    def on_a_purchase(self, merchant: str) -> str:
        """The acsTransId of the purchase whose page is there."""
        self.until(lambda browser: merchant in self.find("h2 .name").text and "/purchases/" in browser.current_url)
        return self.browser.current_url.rpartition("/")[2]

    def test_a_purchase_is_made_by_keyboard_and_its_sequence_grows_when_the_agent_approves(self):
        self.home()
        field = self.find("input[name=merchant]")
        field.clear()
        field.send_keys("Keyboard Shop")
        Select(self.find("#who")).select_by_value(self.kitchen)
        self.find("input[name=url]").send_keys(Keys.TAB, Keys.ENTER)
        purchase = self.on_a_purchase("Keyboard Shop")
        self.find("#sequence-text summary").send_keys(Keys.ENTER)
        self.until(lambda _: "authn request" in self.find("#sequence-text pre").text)
        self.assertNotIn("RReq", self.find("#sequence-text pre").text)
        picture = self.find("#sequence img").get_attribute("src")
        self.decided(purchase, "approve")
        # Without a reload, and what was open is open.
        self.until(lambda _: "RReq" in self.find("#sequence-text pre").text)
        self.assertNotEqual(self.find("#sequence img").get_attribute("src"), picture)
        self.until(lambda browser: browser.execute_script("return document.querySelector('#sequence img').naturalHeight"))
        self.assertEqual(self.find("h2 .state").text, "authenticated")
        self.assertIn("Taken: approve, transStatus Y", self.find("#ledger").text)
        self.assertEqual(self.find("#news").text, "The purchase is authenticated.")
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "button[formaction$=cancel]"), [])

    def test_what_happens_elsewhere_comes_to_the_first_page_by_itself(self):
        self.home()
        self.find("input[name=merchant]").send_keys(" is being written")
        self.page.bought(**{**OWN, "merchant": "Made Elsewhere"})
        self.until(lambda _: "Made Elsewhere" in self.find("#purchases").text)
        name = "fresh " + uuid.uuid4().hex[:6]
        enrolled = self.enroll("--authn-type", "test", "--name", name, "--persona", "ask")
        self.until(lambda _: name in self.find("#authenticators").text and name in self.find("#who").text)
        self.page.call("POST", f"/sandbox/authenticators/{enrolled}/revoke", "")
        self.until(lambda _: name not in self.find("#authenticators").text)
        self.assertEqual(self.find("input[name=merchant]").get_attribute("value"), "CoffeeHouse2 is being written")

    def test_it_works_without_javascript(self):
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setScriptExecutionDisabled", {"value": False})
        self.home()
        self.find("button[value=dinar]").click()
        purchase = self.on_a_purchase("Manama Books")
        self.find("button[formaction$=cancel]").click()
        self.until(lambda _: self.find("h2 .state").text == "cancelled")
        self.assertEqual(self.page.json(f"/sandbox/purchases/{purchase}")["status"], "cancelled")

    def test_the_odds_are_set_by_the_enter_key_and_cleared_by_a_button(self):
        self.home()
        self.find("input[name=odds]").send_keys("503=0.25,path=jwks,seed=1", Keys.ENTER)
        self.until(lambda _: "odds: 503=0.25,path=jwks,seed=1" in self.find("#faults").text)
        self.find("button[value=clear]").click()
        self.until(lambda _: "Nothing goes wrong on purpose." in self.find("#faults").text)

    def test_a_hostile_merchant_makes_no_element_and_runs_nothing(self):
        self.home()
        self.find("button[value=hostile]").click()
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
                        self.browser.execute_script(AXE_SCRIPT)
                        found = self.browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
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


class Attacker:
    """A page on a port of its own that tries what a page can."""

    def __init__(self, origin: str, acs_trans_id: str):
        page = f"""<!DOCTYPE html><body><iframe name=framed src="{origin}/"></iframe>
            <iframe name=answered></iframe>
            <form id=form method=post action="{origin}/purchases/{acs_trans_id}/cancel" target=answered></form><script>
            window.came = [];
            const call = (path, options) => fetch('{origin}' + path, {{credentials: 'include', ...options}}).then(
                () => window.came.push('read'), () => window.came.push('refused'));
            const text = {{method: 'POST', headers: {{'Content-Type': 'text/plain'}}}};
            call('/');
            call('/sandbox/purchases', {{...text, body: '{{}}'}});
            call('/sandbox/faults', {{...text, body: '{{"odds": "500=1"}}'}});
            call('/sandbox/purchases/{acs_trans_id}/cancel', {{...text, body: '{{}}'}});
            call('/purchases', {{method: 'POST', body: new URLSearchParams({{preset: 'coffee'}})}});
            document.getElementsByName('answered')[0].onload = () => window.came.push('refused');
            document.getElementById('form').submit();
            </script>""".encode()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, page))
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def __init__(self, page: bytes, *how):
        self.page = page
        super().__init__(*how)

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    unittest.main()
