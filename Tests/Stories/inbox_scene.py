"""oob-inbox with a sandbox, an agent and a browser, for the tests of its page."""

import http.client
import json
import re
import signal
import subprocess
import threading
import unittest
import urllib.parse
from pathlib import Path


from chromium import WithChromium, clicked, followed
from programs import BIN_DIR, READY_WITHIN, Agent, Program, Sandbox, started, temporary_folder

ROOT = Path(__file__).resolve().parents[2]
WITHIN = 60
HOSTILE = "<img src=x onerror=alert(1)><b id=evil>"


class Inbox(Program):
    """`oob-inbox`; `link` is the newest that it printed."""

    def __init__(self, folder: Path, agent: Agent, *options: str, **how):
        where = () if "--listen" in options else ("--listen", "localhost:0")
        super().__init__(folder, "oob-inbox", *where, "--socket", str(agent.socket), *options, **how)
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

    def next_link(self) -> str:
        """A link that is asked for, and works."""
        count = len(self.links)
        self.process.send_signal(signal.SIGUSR1)
        self.wait_for_link(count + 1)
        return self.link

    def enter(self, link: str, **fields) -> http.client.HTTPResponse:
        """Presses the button of a link's page."""
        return self.call("POST", "/enter", urllib.parse.urlsplit(link).query, **{"Origin": self.origin, **fields})

    def entered(self) -> str:
        """The cookie of a new session."""
        answer = self.enter(self.next_link())
        assert answer.status == 303, answer.text
        return answer.getheader("set-cookie").split(";")[0]


def opened(browser, link: str):
    """Follows a link in a browser, presses the button of its page, and waits for the page that follows."""
    browser.get(link)
    followed(browser, lambda: clicked(browser, "button.enter"))


class Scene(unittest.TestCase):
    """A sandbox, an agent with an enrollment, and an inbox."""

    AUTHN_TYPE = ["--authn-type", "presence"]
    AGENT_OPTIONS: tuple[str, ...] = ()
    SANDBOX_OPTIONS: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(cls.folder, *cls.SANDBOX_OPTIONS))
        cls.agent = Agent(cls.folder, *cls.AGENT_OPTIONS)
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

    @classmethod
    def buy(cls, count: int, **members) -> None:
        """So many purchases at once, all of which the agent has fetched."""
        body = json.dumps({"merchantName": "CoffeeHouse2", "purchaseAmount": "100", "purchaseCurrency": "840",
                           "purchaseExponent": "2", **members})
        connection = http.client.HTTPConnection(cls.sandbox.origin.removeprefix("http://"), timeout=WITHIN)
        for _ in range(count):
            connection.request("POST", "/sandbox/purchases", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert answer.status < 300, answer.read()
            answer.read()
        connection.close()
        while cls.agent.json("status")["pending"] < count:
            cls.agent.ctl("fetch")

    def evidence(self, request: dict) -> dict:
        cookie = self.inbox.entered()
        return json.loads(self.inbox.call("GET", f"/requests/{request['id']}/evidence.json", cookie=cookie).text)

    def form(self, cookie: str, request: str, **fields: str) -> dict[str, str]:
        """The hidden fields of a request's page."""
        page = self.inbox.call("GET", f"/requests/{request}", cookie=cookie, **fields).text
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


class PINScene(Scene):
    """An enrollment that takes a PIN."""

    PIN = "482913"

    @classmethod
    def setUpClass(cls):
        file = temporary_folder(cls) / "pin"
        file.write_text(cls.PIN + "\n")
        file.chmod(0o600)
        cls.AUTHN_TYPE = ["--authn-type", "pin", "--pin-file", str(file)]
        super().setUpClass()


class BrowserScene(Scene, WithChromium):
    """The same, with a browser that has followed the link."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        opened(cls.browser, cls.inbox.link)

    def shown(self, request: dict):
        self.browser.get(f"{self.inbox.origin}/requests/{request['id']}")

    def heading(self) -> str:
        return self.text(".card h2")
