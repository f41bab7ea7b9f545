"""oob-inbox: its page over HTTP, and attacked there.

Run with `.venv/bin/python Tests/Stories/test_inbox.py`; OOB_BIN_DIR names the programs' directory.
"""

import html
import html.parser
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import types
import unittest
import urllib.parse

from inbox_scene import HOSTILE, ROOT, WITHIN, Inbox, PINScene, Scene
from programs import BIN_DIR, temporary_folder


def attributes(page: str) -> list[str]:
    """The names of all attributes of a page, as a parser of HTML finds them."""
    found = []
    parser = html.parser.HTMLParser()
    parser.handle_starttag = lambda _, members: found.extend(name for name, _ in members)
    parser.feed(page)
    return found


class OverHTTP(Scene):
    def test_a_link_works_once_and_the_next_one_is_made_on_demand(self):
        self.inbox.entered()
        count = len(self.inbox.links)
        unused = self.inbox.next_link()
        self.inbox.next_link()
        # No more than were asked for, and the newest alone works.
        self.assertEqual(len(self.inbox.links), count + 2)
        for link in [unused, self.inbox.links[count - 1]]:
            for again in [self.inbox.call("GET", link.removeprefix(self.inbox.origin)), self.inbox.enter(link)]:
                self.assertEqual(again.status, 403)
                self.assertIn("This link works no more", again.text)
                self.assertIn("send it SIGUSR1", again.text)
                self.assertNotIn("set-cookie", again.headers)
        self.assertNotIn(urllib.parse.urlsplit(self.inbox.link).query, again.text)

    def test_the_cookie_is_for_this_site_and_no_script_and_the_address_has_no_token(self):
        link = self.inbox.next_link()
        # Whatever looks at links, such as a preview or a browser that loads ahead, uses none up.
        for method in ["GET", "HEAD", "GET"]:
            page = self.inbox.call(method, link.removeprefix(self.inbox.origin))
            self.assertEqual((page.status, page.getheader("set-cookie")), (200, None))
            self.assertEqual(page.getheader("referrer-policy"), "origin")
        stranger = self.inbox.call("POST", "/enter", urllib.parse.urlsplit(link).query, Origin="http://evil.example")
        self.assertEqual(stranger.status, 403)
        answer = self.inbox.enter(link)
        self.assertEqual((answer.status, answer.getheader("location")), (303, "/"))
        self.assertRegex(answer.getheader("set-cookie"), r"^oob-inbox-\d+=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict$")
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
        for host in ["evil.example", f"evil.example:{self.inbox.port}", "localhost.evil.example", "127.0.0.1.nip.io",
                     "127.1", "127.0.0.256", "127.00.0.1", "2130706433", "localhost:", "localhost:x", "[::1", "[::2]", "",
                     "0.0.0.0", "[::ffff:127.0.0.1]", "localhost:65536", "localhost:-1", "evil@localhost"]:
            answer = self.inbox.call("GET", "/", cookie=cookie, Host=host)
            self.assertIn(answer.status, (400, 403), host)
            if answer.status == 403:
                self.assertIn("This address is not the inbox", answer.text)
                self.assertIn(f'<a href="{self.inbox.origin}/">To the inbox</a>', answer.text)
        self.assertEqual(self.inbox.call("GET", "/?q=nothing-like-it", cookie=cookie).status, 200)

    def test_every_name_of_the_loopback_and_every_port_of_a_tunnel_is_answered(self):
        for host in [f"localhost:{self.inbox.port}", "LOCALHOST:9000", "localhost", f"[::1]:{self.inbox.port}", "[::1]",
                     "127.0.0.1:9000", "127.9.8.7"]:
            entered = self.inbox.enter(self.inbox.next_link(), Host=host, Origin=f"http://{host.lower()}")
            self.assertEqual(entered.status, 303, host)
            cookie = entered.getheader("set-cookie").split(";")[0]
            request = self.purchase("Through A Tunnel")["id"]
            self.assertIn("Through A Tunnel", self.inbox.call("GET", f"/requests/{request}", cookie=cookie, Host=host).text)
            body = urllib.parse.urlencode({**self.form(cookie, request, Host=host), "decision": "approve"})
            path = f"/requests/{request}/decide"
            # A page of another port of the same name is another one.
            for origin in [self.inbox.origin.replace("127.0.0.1", "127.0.0.2"), f"http://{host.lower()}9", f"https://{host.lower()}"]:
                answer = self.inbox.call("POST", path, body, cookie=cookie, Host=host, Origin=origin)
                self.assertEqual(answer.status, 403, (host, origin))
            answer = self.inbox.call("POST", path, body, cookie=cookie, Host=host, Origin=f"http://{host.lower()}")
            self.assertEqual((answer.status, self.state(request)), (303, "approved"), host)

    def test_without_a_session_the_page_says_how_a_link_begins_in_this_browser(self):
        answer = self.inbox.call("GET", "/", Host="localhost:9000")
        self.assertIn(f"it begins with http://localhost:9000 instead of {self.inbox.origin}.", answer.text)
        self.assertNotIn("it begins with", self.inbox.call("GET", "/").text)

    def test_16_kib_of_cookies_of_other_programs_do_not_matter_and_more_is_said(self):
        own = self.inbox.entered()
        name = own.split("=")[0]
        many = "; ".join(f"other-{number}={'x' * 240}" for number in range(64))
        for foreign in [many, f"big={'x' * 16_379}", "; ".join(f"{name}={'y' * 43}" for _ in range(200))]:
            self.assertGreater(len(foreign), 12_000)
            for cookie in [f"{foreign}; {own}", f"{own}; {foreign}"]:
                self.assertEqual(self.inbox.call("GET", "/?q=nothing-like-it", cookie=cookie).status, 200)
        for size in [20_000, 40_000, 200_000]:
            answer = self.inbox.call("GET", "/", cookie=f"{own}; big={'x' * size}")
            self.assertEqual(answer.status, 431)
            self.assertIn("more than 16 KiB of cookies", answer.text)
            self.assertIn("frame-ancestors 'none'", answer.getheader("content-security-policy"))

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

    def test_only_a_test_enrollment_has_what_is_for_testers(self):
        page = self.inbox.call("GET", f"/requests/{self.purchase()['id']}", cookie=self.inbox.entered()).text
        self.assertNotIn("Who plays the cardholder", page)

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
        # The token of its forms stands on no page of it, and no decision comes as far as it is asked for.
        self.assertNotIn('name="form"', page)
        answer = looking.call("POST", f"/requests/{request}/decide", "form=x&digest=y&decision=approve", cookie=cookie,
                              origin=looking.origin)
        self.assertEqual(answer.status, 403)
        self.assertIn("it was started with --look", answer.text)
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

    def test_a_quotation_mark_with_a_combining_mark_ends_no_attribute(self):
        # The two are one character, and the quotation mark alone is what a browser sees.
        name = "\"\u0301 onclick=alert(1) x=\"\u0301<\u0301"
        request, cookie = self.purchase(name)["id"], self.inbox.entered()
        for path in [f"/requests/{request}", f"/requests/{request}?tab=wire", f"/requests/{request}?tab=events"]:
            page = self.inbox.call("GET", path + ("&" if "?" in path else "?") + "q=" + urllib.parse.quote(name), cookie=cookie)
            self.assertEqual([found for found in attributes(page.text) if found in ("onclick", "x")], [], path)
            self.assertIn("alert(1)", page.text)

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

    def test_sequence_and_events_tell_the_requests_life(self):
        request, cookie = self.purchase()["id"], self.inbox.entered()
        self.decide(cookie, request, "approve")
        page = self.inbox.call("GET", f"/requests/{request}?tab=sequence", cookie=cookie).text
        for words in ["authn request", "presented", "approve", "signed", "decision", "transStatus Y"]:
            self.assertIn(words, re.search(r"<pre.*?</pre>", page, re.DOTALL)[0])
        drawing = self.inbox.call("GET", f"/requests/{request}/sequence.svg", cookie=cookie)
        self.assertEqual(drawing.getheader("content-type"), "image/svg+xml")
        self.assertTrue(drawing.getheader("content-security-policy").startswith("default-src 'none'; style-src"))
        self.assertNotIn("script", drawing.getheader("content-security-policy"))
        self.assertIn("transStatus Y", drawing.text)
        events = self.inbox.call("GET", f"/requests/{request}?tab=events", cookie=cookie).text
        kinds = re.findall(r"<li><p><b>(\w+)</b>", events)
        self.assertEqual(kinds, ["presented", "decided", "answered"])
        self.assertIn("process <bdi>oob-inbox</bdi>", events)

    def test_the_evidence_can_be_checked_with_the_commands_on_the_page(self):
        request, cookie = self.purchase()["id"], self.inbox.entered()
        self.decide(cookie, request, "approve")
        page = self.inbox.call("GET", f"/requests/{request}?tab=evidence", cookie=cookie).text
        blocks = [html.unescape(block) for block in re.findall(r"<pre tabindex=.0. data-copy>(.*?)</pre>", page, re.DOTALL)]
        folder = temporary_folder(self)
        (folder / "oobctl").symlink_to(BIN_DIR / "oobctl")
        run = subprocess.run(["sh", "-e"], input="\n".join(blocks), capture_output=True, text=True, timeout=WITHIN, cwd=folder,
                             env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}",
                                  "OOB_AGENT_SOCKET": str(self.agent.socket)})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertGreaterEqual(run.stdout.count("holds: "), 6, run.stdout)
        self.assertNotIn("DOES NOT HOLD", run.stdout)

    def test_a_request_is_copied_as_commands_that_work(self):
        page = self.inbox.call("GET", f"/requests/{self.purchase('Copied')['id']}", cookie=self.inbox.entered()).text
        copies = {name: html.unescape(text) for name, text in
                  re.findall(r'<pre id="copy-(\w+)"[^>]*>(.*?)</pre>', page, re.DOTALL)}
        environment = {**os.environ, "PATH": f"{BIN_DIR}:{os.environ['PATH']}", "OOB_BIN_DIR": str(BIN_DIR),
                       "OOB_AGENT_SOCKET": str(self.agent.socket)}
        ran = subprocess.run(["sh", "-ec", copies["curl"]], capture_output=True, text=True, timeout=WITHIN, env=environment)
        self.assertEqual(json.loads(ran.stdout)["state"], "approved", ran.stdout)
        other = self.purchase("Copied")["id"]
        command = self.copied(other, "oobctl")
        self.assertEqual(subprocess.run(["sh", "-ec", command], env=environment, timeout=WITHIN).returncode, 0)
        self.assertEqual(self.state(other), "approved")
        folder = temporary_folder(self)
        (folder / "test_copied.py").write_text(copies["pytest"] + "\n")
        ran = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "pytest_oob_authenticator.plugin", folder],
                             capture_output=True, text=True, timeout=4 * WITHIN, cwd=folder,
                             env={**environment, "PYTHONPATH": str(ROOT / "integrations" / "pytest")})
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def copied(self, request: str, name: str) -> str:
        page = self.inbox.call("GET", f"/requests/{request}", cookie=self.inbox.entered()).text
        return html.unescape(re.search(rf'<pre id="copy-{name}"[^>]*>(.*?)</pre>', page, re.DOTALL)[1])

    def test_a_link_that_another_page_leads_to_opens_the_inbox_too(self):
        answer = self.inbox.call("GET", self.inbox.next_link().removeprefix(self.inbox.origin), Sec_Fetch_Site="cross-site")
        self.assertEqual(answer.status, 200)
        self.assertIn('<form method="post" action="/enter">', answer.text)

    def test_a_page_that_leads_on_leads_nowhere_else(self):
        for path in ["//evil.example/", "/requests/../..//evil.example", "/requests/%2F%2Fevil.example", "/x\"><b>"]:
            answer = self.inbox.call("GET", path, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document")
            self.assertIn('content="0; url=/"', answer.text, path)
        framed = self.inbox.call("GET", "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="iframe")
        self.assertEqual(framed.status, 403)

    def test_who_sends_half_a_request_holds_up_nobody(self):
        idle = [socket.create_connection(("127.0.0.1", self.inbox.port)) for _ in range(200)]
        for each in idle:
            self.addCleanup(each.close)
            each.sendall(b"GET / HTTP/1.1\r\nHost: ")
        cookie = self.inbox.entered()
        self.assertEqual(self.inbox.call("GET", "/?q=nothing-like-it", cookie=cookie).status, 200)

    def test_more_live_windows_than_there_are_places_for_are_refused_and_pages_still_come(self):
        cookie = self.inbox.entered()
        streams = [http.client.HTTPConnection("127.0.0.1", self.inbox.port, timeout=WITHIN) for _ in range(33)]
        statuses = []
        for stream in streams:
            self.addCleanup(stream.close)
            stream.request("GET", "/events", headers={"Cookie": cookie})
            statuses.append(stream.getresponse().status)
        self.assertEqual(statuses, [200] * 32 + [503])
        self.assertEqual(self.inbox.call("GET", "/?q=nothing-like-it", cookie=cookie).status, 200)

    def test_what_the_agent_says_is_on_the_page_if_it_refuses(self):
        cookie = self.inbox.entered()
        missing = self.inbox.call("GET", "/requests/00000000000000000000", cookie=cookie)
        self.assertEqual(missing.status, 404)
        self.assertIn("The agent has no such request.", missing.text)
        elsewhere = Inbox(temporary_folder(self), types.SimpleNamespace(socket=self.folder / "nobody.sock"))
        self.addCleanup(elsewhere.stop)
        absent = elsewhere.call("GET", "/", cookie=elsewhere.entered())
        self.assertEqual(absent.status, 502)
        self.assertIn("The agent does not answer", absent.text)
        self.assertIn("data-wait", absent.text)

    def test_what_it_may_not_listen_on_is_refused(self):
        self.assertEqual(self.run_inbox("--listen-socket", "x").returncode, 64)
        self.assertEqual(self.run_inbox("--listen-socket", "x", "--public-url", "https://inbox.example/path").returncode, 64)
        unknown = self.run_inbox("--allow-peer", "nobody-of-this-name")
        self.assertEqual(unknown.returncode, 64)
        self.assertIn('there is no user "nobody-of-this-name" on this host', unknown.stderr)
        self.assertEqual(self.run_inbox("--listen", "0.0.0.0:0", "--allow-peer", "root").returncode, 64)
        for address, status in [("0.0.0.0:8300", 64), ("192.0.2.1:1", 64), ("x", 64), (f"localhost:{self.inbox.port}", 69)]:
            run = self.run_inbox("--listen", address)
            self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)

    def run_inbox(self, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run([BIN_DIR / "oob-inbox", *options, "--socket", str(self.agent.socket)],
                              capture_output=True, text=True, timeout=WITHIN, stdin=subprocess.DEVNULL)


class Many(Scene):
    def test_every_one_of_500_is_reached_and_no_page_is_large(self):
        # Of each row the name is long in HTML, and the search in its link.
        name = "<😀😀😀" * 10
        self.buy(500, merchantName=name)
        cookie, path, seen, pages = self.inbox.entered(), "/?q=" + urllib.parse.quote(name), [], 0
        while path:
            answer = self.followed(path, cookie)
            self.assertEqual(answer.status, 200)
            self.assertLess(len(answer.text.encode()), 60_000)
            # The list alone has its own bound, with the links around it.
            self.assertLess(len(re.search(r"<nav.*?</nav>", answer.text, re.DOTALL)[0].encode()), 42_000)
            seen += re.findall(r'<li><a href="/requests/([0-9a-f]{20})', answer.text)
            older = re.search(r'<a href="([^"]+)" rel="next">', answer.text)
            path, pages = older and html.unescape(older[1]), pages + 1
        self.assertGreater(pages, 4)
        self.assertEqual((len(seen), len(set(seen))), (500, 500))
        pending = [row["id"] for row in self.agent.json("list", "--limit", "1000")]
        self.assertEqual(seen, pending[::-1])


class WithAPIN(PINScene):
    def test_a_pin_is_asked_for_and_a_wrong_one_decides_nothing_and_is_nowhere(self):
        request, cookie = self.purchase()["id"], self.inbox.entered()
        self.assertIn('name="pin" type="password"', self.inbox.call("GET", f"/requests/{request}", cookie=cookie).text)
        wrong = self.decide(cookie, request, "approve", pin="999999")
        self.assertEqual(wrong.status, 409)
        self.assertIn("Nothing was decided.", wrong.text)
        self.assertNotIn("999999", wrong.text)
        self.assertEqual(self.decide(cookie, request, "approve").status, 409)
        self.assertEqual(self.state(request), "pending")
        self.assertEqual(self.decide(cookie, request, "approve", pin=self.PIN).status, 303)
        self.assertEqual(self.state(request), "approved")
        for log in self.folder.glob("*.log"):
            self.assertNotRegex(log.read_text(errors="replace"), r"\b(999999|482913)\b")

    def test_five_wrong_pins_block_it_and_a_deny_is_still_taken(self):
        request, cookie = self.purchase()["id"], self.inbox.entered()
        answers = [self.decide(cookie, request, "approve", pin="000000") for _ in range(5)]
        self.assertIn("tries", answers[0].text)
        self.assertIn("blocked", answers[4].text)
        self.assertEqual(self.decide(cookie, request, "approve", pin=self.PIN).status, 409)
        self.assertEqual(self.state(request), "pending")
        self.assertEqual(self.decide(cookie, request, "deny").status, 303)
        self.assertEqual(self.state(request), "denied")


if __name__ == "__main__":
    unittest.main()
