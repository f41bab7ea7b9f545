"""The page of oob-issuer serve with an agent and a browser, and a page that attacks it, for the tests of the page."""

import functools
import html
import http.client
import http.server
import json
import re
import threading
import unittest
import urllib.parse

from selenium.webdriver.common.by import By

from chromium import WithChromium
from programs import Agent, Sandbox, started, temporary_folder

WITHIN = 60
FORM = "application/x-www-form-urlencoded"
OWN = {"merchant": "Own Shop", "amount": "99", "currency": "978", "exponent": "2"}


class Page:
    """The page of a sandbox, called as no browser does: with these fields and no others."""

    def __init__(self, origin: str):
        self.origin = origin
        self.host = urllib.parse.urlsplit(origin).netloc

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
        super().setUpClass()
        cls.folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(cls.folder, *cls.OPTIONS))
        cls.page = Page(cls.sandbox.origin)
        cls.agent = started(cls, Agent(cls.folder))
        cls.mallory = cls.enroll("--authn-type", "test", "--name", "mallory", "--persona", "badSignature")
        cls.kitchen = cls.enroll("--authn-type", "presence", "--name", "kitchen")

    @classmethod
    def code(cls) -> str:
        return json.loads(cls.page.call("POST", "/sandbox/enrollment-codes", "{}").text)["link"]

    @classmethod
    def enroll(cls, *words: str) -> str:
        """The authenticator's id at the sandbox."""
        cls.agent.json("enroll", cls.code(), *words)
        return cls.page.json("/sandbox/authenticators")[-1]["id"]

    def decided(self, acs_trans_id: str, decision: str):
        self.agent.ctl("fetch")
        self.agent.json(decision, acs_trans_id)


class BrowserScene(Scene, WithChromium):
    """The same, and a browser."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()

    def find(self, selector: str):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def home(self):
        self.browser.get(self.page.origin + "/")

    def on_a_purchase(self, merchant: str) -> str:
        """The acsTransId of the purchase whose page is there."""
        self.until(lambda browser: merchant in self.find("h2 .name").text and "/purchases/" in browser.current_url)
        return self.browser.current_url.rpartition("/")[2]


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
