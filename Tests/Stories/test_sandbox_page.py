"""The page of oob-issuer serve: purchases, their stories, enrollment codes, faults and the clock, over HTTP.

Run with `.venv/bin/python Tests/Stories/test_sandbox_page.py`; OOB_BIN_DIR names the programs' directory.
"""

import html
import json
import re
import threading
import unittest

from sandbox_page_scene import OWN, WITHIN, Scene

PRESETS = {
    "coffee": ("CoffeeHouse2", "450", "840", "2"), "yen": ("Kissaten Kyoto", "1200", "392", "0"),
    "dinar": ("Manama Books", "12345", "048", "3"),
    "digits": ("Treasury", "123456789012345678901234567890123456789012345678", "840", "2"),
    "hostile": ("<img src=x onerror=alert(1)>\u202eknaB\u200b", "100", "840", "2"),
    "url": ("Return Shop", "100", "840", "2"),
}


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
        # Several at once: the agent decides one after the other, and asks for the signCount after each refusal.
        paths = [f"/purchases/{self.page.bought(preset='coffee', authenticator=self.mallory)['acsTransId']}"
                 for _ in range(5)]
        undecided = self.page.bought(preset="coffee", authenticator=self.kitchen)["acsTransId"]
        self.agent.ctl("fetch")
        for path in paths:
            tag = None
            while "Refused: 422 invalid_assertion" not in (text := self.page.text_of(path)):
                # Answered as soon as something comes.
                tag = self.page.call("GET", path + "?wait=20", If_None_Match=tag).getheader("etag")
        self.assertIn("failed check: signature", text)
        self.assertIn("challenge: passed", text)
        self.assertIn("signCount: notReached", text)
        self.assertIn("pending", text)
        self.assertIn("Nothing has come yet.", self.page.text_of(f"/purchases/{undecided}"))

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
                                next="path=decision,kind=drop,times=2\r\npath=unenroll,status=503")
        self.assertEqual((answer.status, answer.getheader("location")), (303, "/"))
        faults = self.page.json("/sandbox/faults")
        self.assertEqual((faults["odds"], faults["planned"]), ("500=0.5,path=jwks,seed=7", 3))
        text = self.page.text_of("/")
        for line in ["odds: 500=0.5,path=jwks,seed=7", "next: path=decision,kind=drop,moment=before,times=2",
                     "next: path=unenroll,status=503"]:
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

    def test_whatever_happens_wakes_who_waits_for_the_first_page(self):
        made = []
        link = self.code()
        for event in [
            lambda: self.page.post("/page/codes"), lambda: self.page.post("/page/faults", odds="500=0.1,path=jwks"),
            lambda: self.page.post("/page/faults", do="clear"), lambda: made.append(self.page.bought(**OWN)["acsTransId"]),
            lambda: self.decided(made[0], "approve"),
            lambda: self.agent.json("enroll", link, "--authn-type", "test", "--name", "late", "--persona", "ask"),
            lambda: self.page.call(
                "POST", f"/sandbox/authenticators/{self.page.json('/sandbox/authenticators')[-1]['id']}/revoke", ""),
        ]:
            tag, answers = self.page.call("GET", "/").getheader("etag"), []
            waiting = threading.Thread(
                target=lambda: answers.append(self.page.call("GET", "/?wait=60", If_None_Match=tag)), daemon=True)
            waiting.start()
            event()
            # Who is not woken is answered after 60 s.
            waiting.join(WITHIN - 15)
            self.assertEqual([answer.status for answer in answers], [200])

    def test_the_page_is_small_however_much_there_is_to_show(self):
        for _ in range(25):
            self.page.bought(**{**OWN, "merchant": "\u200b" * 40, "amount": "9" * 48})
        self.assertLess(len(self.page.call("GET", "/").text.encode()), 60_000)
        emv = {"messageVersion": "2.3.1", "deviceChannel": "01", "oobAppURL": "https://issuer.example/" + "x" * 200}
        story = json.loads(self.page.call("POST", "/sandbox/purchases", json.dumps({
            "merchantName": "<" * 40, "emv": emv})).text)
        path = f"/purchases/{story['acsTransId']}"
        for _ in range(100):
            self.page.call("POST", f"/sandbox{path}/creq", "{}")
        answer = self.page.call("GET", path)
        self.assertLess(len(answer.text.encode()), 60_000)
        self.assertIn("There are more.", answer.text)
        self.assertIn(f'<a href="{path}/sequence.txt">', answer.text)
        self.assertIn("CReq", self.page.call("GET", path + "/sequence.txt").text)


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


if __name__ == "__main__":
    unittest.main()
