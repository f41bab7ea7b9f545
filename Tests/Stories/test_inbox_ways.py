"""oob-inbox: the other ways to its page (a proxy, a desktop's browser, a file), and what testers do on it.

Run with `.venv/bin/python Tests/Stories/test_inbox_ways.py`; OOB_BIN_DIR names the programs' directory.
"""

import http.client
import json
import os
import pty
import re
import socket
import stat
import subprocess
import time
import unittest
import urllib.parse
from pathlib import Path

from inbox_scene import HOSTILE, WITHIN, BrowserScene, Inbox, Scene
from programs import BIN_DIR, READY_WITHIN, Program, free_port, started, temporary_folder, unpacked

NGINX = unpacked("nginx")


class ATestersPage(Scene):
    """What is on the page of a `test` enrollment alone."""

    AUTHN_TYPE = ["--authn-type", "test"]
    AGENT_OPTIONS = ("--test-clock",)
    SANDBOX_OPTIONS = ("--test-clock",)

    def act(self, request: str, action: str, **fields) -> http.client.HTTPResponse:
        cookie = self.inbox.entered()
        body = urllib.parse.urlencode({"form": self.form(cookie, request)["form"], **fields})
        return self.inbox.call("POST", f"/requests/{request}/{action}", body, cookie=cookie, origin=self.inbox.origin)

    def test_a_persona_is_set_and_cleared(self):
        request = self.purchase()["id"]
        self.assertEqual(self.act(request, "persona", persona="badSignature").status, 303)
        self.assertEqual([each["persona"] for each in self.agent.json("persona list")["set"]], ["badSignature"])
        page = self.inbox.call("GET", f"/requests/{request}", cookie=self.inbox.entered()).text
        self.assertIn('<option value="badSignature" selected>', page)
        self.assertEqual(self.act(request, "persona", persona="").status, 303)
        self.assertEqual(self.agent.json("persona list")["set"], [])
        wrong = self.act(request, "persona", persona="nobodyKnowsIt")
        self.assertGreaterEqual(wrong.status, 400)
        self.assertIn('role="alert"', wrong.text)

    def test_the_agents_clock_is_set_forward_and_the_page_counts_by_it(self):
        request = self.purchase()["id"]
        before = self.agent.json("clock show")["offsetSeconds"]
        self.assertEqual(self.act(request, "clock", advance="2m").status, 303)
        self.assertEqual(self.agent.json("clock show")["offsetSeconds"], before + 120)
        page = self.inbox.call("GET", f"/requests/{request}", cookie=self.inbox.entered()).text
        self.assertIn(f'data-clock-offset="{before + 120}"', page)
        wrong = self.act(request, "clock", advance="yesterday")
        self.assertEqual(wrong.status, 400)
        self.assertEqual(self.agent.json("clock show")["offsetSeconds"], before + 120)

    def test_the_sandbox_lists_a_request_again_or_sells_the_same_again(self):
        request = self.purchase("Replayed Shop")
        self.agent.json("deny", request["id"])
        self.assertEqual(self.act(request["id"], "replay", **{"as": "same"}).status, 303)
        self.assertEqual(len(self.of("Replayed Shop")), 1)
        self.assertEqual(self.act(request["id"], "replay", **{"as": "new"}).status, 303)
        self.assertEqual(sorted(each["state"] for each in self.of("Replayed Shop")), ["denied", "pending"])

    def of(self, merchant: str) -> list[dict]:
        return [each for each in self.agent.json("list", "--all") if each["merchantName"] == merchant]


class AsAFile(BrowserScene):
    def export(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([BIN_DIR / "oob-inbox", "export", *words, "--socket", str(self.agent.socket)],
                              capture_output=True, text=True, timeout=WITHIN, stdin=subprocess.DEVNULL)

    def test_a_request_is_one_page_that_loads_nothing_and_shows_all(self):
        request = self.purchase(HOSTILE, app_url="ms-msdt:/id?PCWDiagnostic")
        self.agent.json("approve", request["id"])
        file = temporary_folder(self) / "request.html"
        run = self.export("--request", request["acsTransId"], str(file))
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.browser.get(file.as_uri())
        text = self.browser.find_element("tag name", "body").text
        self.assertNotIn("<a href=", self.browser.page_source)
        self.assertIn("ms-msdt:/id?PCWDiagnostic", text)
        allowed = self.export("--request", request["id"], "-", "--open-scheme", "ms-msdt").stdout
        self.assertIn('<a href="ms-msdt:/id?PCWDiagnostic"', allowed)
        self.assertEqual(self.export("--request", request["id"], "-", "--open-scheme", "1").returncode, 64)
        for words in [HOSTILE, "Approved; the issuer answered Y", "What the challenge commits to", "Check it without"]:
            self.assertIn(words, text)
        self.assertTrue(self.browser.execute_script("return document.querySelector('.diagram').naturalWidth > 100"))
        self.assertEqual(self.browser.execute_script(
            "return performance.getEntriesByType('resource').filter(each => !each.name.startsWith('data:')).length"), 0)
        self.assertEqual(self.browser.find_elements("css selector", "#evil, script, form, main img:not(.diagram)"), [])
        self.assertEqual([entry for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"], [])
        self.assertEqual(self.export("--request", request["id"], "-").stdout.rstrip()[-7:], "</html>")

    def test_what_cannot_be_written_is_said_and_a_file_that_is_there_stays(self):
        file = temporary_folder(self) / "request.html"
        file.write_text("kept")
        self.assertEqual(self.export("--request", "0" * 20, str(file)).returncode, 3)
        missing = self.export("--request", self.purchase()["id"], str(file.parent / "no" / "such.html"))
        self.assertEqual(missing.returncode, 1)
        self.assertIn("no such file or directory", missing.stderr)
        nobody = subprocess.run([BIN_DIR / "oob-inbox", "export", "--request", "x", str(file), "--socket", str(file) + ".s"],
                                capture_output=True, text=True, timeout=WITHIN)
        self.assertEqual(nobody.returncode, 69)
        self.assertEqual(file.read_text(), "kept")
        with open("/dev/full", "wb") as full:
            cut = subprocess.run(
                [BIN_DIR / "oob-inbox", "export", "--request", self.purchase()["id"], "-", "--socket", self.agent.socket],
                stdout=full, stderr=subprocess.PIPE, text=True, timeout=WITHIN, stdin=subprocess.DEVNULL)
        self.assertEqual(cut.returncode, 1)
        self.assertIn("no space left", cut.stderr.lower())


class OnADesktop(BrowserScene):
    def test_the_browser_gets_a_file_of_the_users_own_and_no_process_shows_the_link(self):
        folder = temporary_folder(self)
        opener = folder / "xdg-open"
        opener.write_text(f"#!/bin/sh\nprintf %s \"$1\" >{folder}/argument.new\nmv {folder}/argument.new {folder}/argument\n")
        opener.chmod(0o755)
        inbox = self.desktop_inbox(folder)
        page = Path(self.written(folder / "argument"))
        self.assertNotIn("token", str(page))
        self.assertEqual(stat.S_IMODE(page.stat().st_mode), 0o600)
        self.browser.get(page.as_uri())
        self.until(lambda browser: browser.find_elements("css selector", "button.enter"))[0].click()
        self.until(lambda browser: browser.find_elements("css selector", "nav[aria-label=Requests]"))
        inbox.stop()
        self.assertFalse(page.exists())

    def test_without_a_browser_the_link_is_printed_and_why_none_was_opened(self):
        folder = temporary_folder(self)
        inbox = self.desktop_inbox(folder, path=str(folder))
        self.assertRegex(inbox.link, r"/enter\?token=")
        self.until(lambda _: "no browser was opened: xdg-open" in inbox.log.read_text())
        inbox.stop()

    def desktop_inbox(self, folder: Path, path: str | None = None) -> Inbox:
        return started(self, Inbox(folder, self.agent, "--open", DISPLAY=":0", XDG_RUNTIME_DIR=str(folder), PATH=path or f"{folder}:/usr/bin:/bin"))

    def written(self, file: Path) -> str:
        deadline = time.monotonic() + READY_WITHIN
        while not file.exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)  # Asks again; nothing depends on how long.
        return file.read_text()

    def test_only_at_a_terminal_a_browser_is_opened_by_itself(self):
        folder = temporary_folder(self)
        (folder / "xdg-open").write_text(f"#!/bin/sh\n: >{folder}/opened\n")
        (folder / "xdg-open").chmod(0o755)
        inbox = Inbox(folder, self.agent, DISPLAY=":0", XDG_RUNTIME_DIR=str(folder), PATH=str(folder))
        inbox.stop()
        self.assertEqual([each.name for each in folder.glob("*.html")], [])
        leader, follower = pty.openpty()
        run = subprocess.Popen([BIN_DIR / "oob-inbox", "--listen", "localhost:0", "--socket", str(self.agent.socket)],
                               stdout=follower, stderr=follower, stdin=subprocess.DEVNULL,
                               env={**os.environ, "DISPLAY": ":0", "XDG_RUNTIME_DIR": str(folder), "PATH": f"{folder}:/usr/bin:/bin"})
        self.addCleanup(os.close, leader)
        os.close(follower)
        self.written(folder / "opened")
        run.terminate()
        self.assertEqual(run.wait(WITHIN), 0)


@unittest.skipUnless(os.geteuid() == 0, "only root can become other users")
class AUserWhoMayOnlyLook(Scene):
    # They need no account: a number is enough.
    DECIDES, LOOKS, GROUP = 40_001, 40_002, 40_100
    AGENT_OPTIONS = ("--socket-group", str(GROUP), "--may-decide", f"{DECIDES}, group:0")

    def test_sees_the_request_and_the_agents_refusal_of_a_decision(self):
        self.folder.chmod(0o711)
        folder = temporary_folder(self)
        through = ("setpriv", f"--reuid={self.LOOKS}", f"--regid={self.LOOKS}", f"--groups={self.GROUP}")
        looking = started(self, Inbox(folder, self.agent, through=through))
        request, cookie = self.purchase("Only Looked At")["id"], looking.entered()
        page = looking.call("GET", f"/requests/{request}", cookie=cookie).text
        self.assertIn("Only Looked At", page)
        fields = dict(re.findall(r'name="(form|digest)" value="([^"]+)"', page))
        body = urllib.parse.urlencode({**fields, "decision": "approve"})
        answer = looking.call("POST", f"/requests/{request}/decide", body, cookie=cookie, origin=looking.origin)
        self.assertEqual(answer.status, 403)
        self.assertIn(f"user id {self.LOOKS} may look and not decide", answer.text)
        self.assertEqual(self.state(request), "pending")


class BehindAProxy(Scene):
    def start(self, group: str | None = None) -> tuple[Path, list[str], Program]:
        """`group`: whose the directory of the socket is, and so the socket; its user of the same name may connect."""
        folder = temporary_folder(self)
        if group:
            subprocess.run(["install", "-d", "-g", group, "-m", "2750", folder], check=True)
        path = folder / "inbox.sock"
        program = Program(folder, "oob-inbox", "--listen-socket", str(path), "--public-url", "https://inbox.example",
                          *(["--allow-peer", group] if group else []), "--socket", str(self.agent.socket))
        self.addCleanup(program.stop)
        return path, program.process.stdout.readline().strip(), program

    def call(self, path: Path, url: str, body: str | None = None, **fields) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("inbox.example")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(path))
        connection.request("POST" if body else "GET", url, body, headers={name.replace("_", "-"): value for name, value in fields.items()})
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def test_it_listens_on_a_socket_of_its_own_and_answers_by_the_proxys_name(self):
        path, link, _ = self.start()
        self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0)
        self.assertRegex(link, r"^https://inbox\.example/enter\?token=[\w-]{43}$")
        entered = self.call(path, "/enter", link.split("?")[1], Origin="https://inbox.example")
        self.assertRegex(entered.getheader("set-cookie"), r"^__Host-oob-inbox=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Secure$")
        cookie = entered.getheader("set-cookie").split(";")[0]
        self.assertEqual(self.call(path, "/?q=nothing-like-it", Cookie=cookie).status, 200)
        self.assertEqual(self.call(path, "/", Cookie=cookie, Host="evil.example").status, 403)

    @unittest.skipIf(NGINX is None, "Debian's nginx is not there")
    def test_nginx_hands_the_page_on_to_workers_of_its_own_user(self):
        path, link, _ = self.start(group="www-data")
        subprocess.run(["chmod", "g+rw", path], check=True)
        port = free_port()
        folder = path.parent
        places = " ".join(f"{name}_temp_path {folder}/{name};" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        documented = re.search(r"```nginx\n(.*?)```", (Path(__file__).parents[2] / "docs/how-to/inbox.md").read_text(), re.DOTALL)[1]
        server = documented.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};").replace("/run/oob-inbox/inbox.sock", str(path))
        server = re.sub(r"\s*ssl_certificate\S* .*;", "", server)
        configuration = folder / "nginx.conf"
        configuration.write_text(f"daemon off; user www-data; pid {folder}/nginx.pid; error_log stderr; events {{}}\n"
                                 f"http {{ access_log off; {places}\n{server} }}")
        proxy = Program(folder, "nginx", "-e", "stderr", "-c", str(configuration), program=NGINX)
        self.addCleanup(proxy.stop)
        deadline = time.monotonic() + READY_WITHIN
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WITHIN)
                connection.request("GET", link.removeprefix("https://inbox.example"), headers={"Host": "inbox.example"})
                break
            except OSError:
                self.assertLess(time.monotonic(), deadline, proxy.tail())
                time.sleep(0.05)  # Asks again; nothing depends on how long.
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()

    def test_a_socket_that_is_in_use_is_left_alone(self):
        path, _, _ = self.start()
        second = subprocess.run([BIN_DIR / "oob-inbox", "--listen-socket", str(path), "--public-url", "https://inbox.example",
                                 "--socket", str(self.agent.socket)], capture_output=True, text=True, timeout=WITHIN)
        self.assertEqual(second.returncode, 69, second.stderr)
        self.assertIn(str(path), second.stderr)
        self.assertEqual(self.call(path, "/").status, 403)
        other = path.parent / "file"
        other.write_text("kept")
        third = subprocess.run([BIN_DIR / "oob-inbox", "--listen-socket", str(other), "--public-url", "https://inbox.example",
                                "--socket", str(self.agent.socket)], capture_output=True, text=True, timeout=WITHIN)
        self.assertEqual((third.returncode, other.read_text()), (69, "kept"), third.stderr)


if __name__ == "__main__":
    unittest.main()
