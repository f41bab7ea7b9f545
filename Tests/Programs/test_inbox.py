"""oob-inbox: its page over HTTP, and attacked there.

Run with `.venv/bin/python Tests/Programs/test_inbox.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import re
import subprocess
import unittest
import urllib.parse

from inbox_scene import HOSTILE, WITHIN, Inbox, Scene
from programs import BIN_DIR, temporary_folder


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
        for odd in ["/?before=..", "/?before=" + "f" * 65, "/?tab=nothing", "/?state=&q=%00%FF", "/?q=" + "x" * 4000]:
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
                      "<td>flags</td><td>UP (00000001)</td>", "signCount"]:
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

if __name__ == "__main__":
    unittest.main()
