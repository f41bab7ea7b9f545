"""The page of oob-issuer serve under attack: other hosts, origins and forms, and names that are markup.

Run with `.venv/bin/python Tests/Stories/test_sandbox_page_attacks.py`; OOB_BIN_DIR names the programs' directory.
"""

import html
import json
import re
import unittest
import urllib.parse
import uuid

from programs import Program, free_port, started, temporary_folder
from sandbox_page_scene import FORM, OWN, Page, Scene


class Attacked(Scene):
    def test_another_host_name_sees_no_page_and_changes_nothing(self):
        port, before = self.page.host.rpartition(":")[2], self.page.state()
        for host in ["evil.example", f"evil.example:{port}", "localhost.evil.example", "127.1", "127.0.0.1.nip.io", ""]:
            answer = self.page.call("GET", "/", Host=host)
            self.assertIn(answer.status, (400, 403), host)
            if answer.status == 403:
                self.assertIn(f'<a href="http://localhost:{port}/">', answer.text)
            self.assertNotIn('name="token"', answer.text)
            form = urllib.parse.urlencode({"token": self.page.token(), "preset": "coffee"})
            posted = self.page.call("POST", "/purchases", form, Host=host, Origin=f"http://{host}", Content_Type=FORM)
            self.assertIn(posted.status, (400, 403), host)
        tunnel = f"localhost:{int(port) % 65535 + 1}"
        for host in [f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", tunnel, "localhost", f"127.0.0.2:{port}"]:
            self.assertEqual(self.page.call("GET", "/", Host=host).status, 200, host)
            # A page at another port of the same name, or by another name, is another one.
            for origin in [f"http://{host}9", f"https://{host}", "http://[::1]:1"]:
                form = urllib.parse.urlencode({"token": self.page.token(), "preset": "coffee"})
                posted = self.page.call("POST", "/purchases", form, Host=host, Origin=origin, Content_Type=FORM)
                self.assertEqual(posted.status, 403, (host, origin))
                called = self.page.call("POST", "/sandbox/purchases", "{}", Host=host, Origin=origin)
                self.assertEqual(called.status, 403, (host, origin))
        self.assertEqual(self.page.state(), before)
        form = urllib.parse.urlencode({"token": self.page.token(), "preset": "coffee"})
        taken = self.page.call("POST", "/purchases", form, Host=tunnel, Origin=f"http://{tunnel}", Content_Type=FORM)
        self.assertNotEqual(taken.status, 403, taken.text)

    def test_a_link_on_another_page_leads_to_a_notice_with_a_link(self):
        answer = self.page.call("GET", "/", Sec_Fetch_Site="cross-site")
        self.assertEqual(answer.status, 403)
        self.assertIn("A page of another origin has led here.", answer.text)
        self.assertIn('<a href="/">', answer.text)
        self.assertEqual(self.page.call("GET", "/", Sec_Fetch_Site="same-origin").status, 200)

    def test_behind_a_proxy_the_public_address_is_one_of_its_own(self):
        port = free_port()
        program = started(self, Program(temporary_folder(self), "oob-issuer", "serve", "--listen", f"127.0.0.1:{port}",
                                        "--public-url", "https://bank.example"))
        self.assertEqual(program.process.stdout.readline(), "listening on https://bank.example\n")
        page = Page(f"http://localhost:{port}")
        for host, origin, status in [("bank.example", "https://bank.example", 409), (page.host, page.origin, 409),
                                     ("bank.example", "http://bank.example", 403), ("bank.example", "https://evil.example", 403),
                                     (f"bank.example:{port}", f"https://bank.example:{port}", 403)]:
            form = urllib.parse.urlencode({"token": page.token(), "preset": "coffee"})
            # Nobody is enrolled, so that a purchase that is taken up is a conflict.
            self.assertEqual(page.call("POST", "/purchases", form, Host=host, Origin=origin).status, status, (host, origin))

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
        put = self.page.call("PUT", "/", "", Origin=self.page.origin)
        self.assertEqual((put.status, put.getheader("allow")), (405, "GET, POST, HEAD"))

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


if __name__ == "__main__":
    unittest.main()
