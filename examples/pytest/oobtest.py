"""An agent and a sandbox issuer for a test suite: started, enrolled, and told what the payer decides.

Standard library only. OOB_BIN_DIR names the directory that holds oob-agent, oobctl and oob-issuer; without it they are
looked for on PATH. What they log goes to a temporary directory, or to OOB_LOG_DIR, which is kept.
"""

import json
import os
import shutil
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

READY_WITHIN = 60  # seconds, for a machine that is busy; a start takes a fraction of one


class OobError(Exception):
    """What oobctl could not do: `code` is its error number, `message` its sentence, `status` its exit status."""

    def __init__(self, status: int, code: int, message: str):
        super().__init__(f"{message} (exit status {status}, code {code})")
        self.status, self.code, self.message = status, code, message


class NoRequest(OobError):
    """No request of that ID came in time."""


class ExpectationFailed(OobError):
    """The request is not what the test expected: nothing was decided, and it is still pending."""


class TooLate(OobError):
    """The request has expired, or was cancelled, refused or decided before."""


@dataclass(frozen=True)
class Sandbox:
    """An issuer with an ACS and a merchant. `origin` is its URL."""

    origin: str

    def link(self) -> str:
        """What `Agent.enroll` takes: a new enrollment code, in a link."""
        return self._call("/sandbox/enrollment-codes", {})["link"]

    def purchase(self, enrollment: "Enrollment", amount: int = 100, expires_in: int = 600, **members: str) -> str:
        """Buys something in USD cents with a card of that enrollment's payer; returns the acsTransId.

        `members` are the transaction's, such as `merchantName` or `purchaseCurrency`.
        """
        transaction = {
            "merchantName": "CoffeeHouse2", "purchaseAmount": str(amount), "purchaseCurrency": "840",
            "purchaseExponent": "2", "threeDSRequestorAppURL": "https://merchant.example/return", **members,
        }
        who = {"authenticatorId": enrollment.authenticator_id, "expiresIn": expires_in}
        return self._call("/sandbox/purchases", {**transaction, **who})["acsTransId"]

    def outcome(self, acs_trans_id: str) -> str:
        """Waits until the purchase is decided or has expired, a minute at most; returns its status.

        That is `authenticated`, `notAuthenticated`, `expired`, `cancelled`, or still `pending`.
        """
        return self._call(f"/sandbox/purchases/{acs_trans_id}?wait=60")["status"]

    def _call(self, path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        call = urllib.request.Request(self.origin + path, data, {"Content-Type": "application/json"})
        to_loopback = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with to_loopback.open(call, timeout=75) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            raise ValueError(f"the sandbox refuses {path}: {refusal.read().decode()}") from None


@dataclass(frozen=True)
class Agent:
    """An agent that runs. `socket` is the path of its control socket."""

    socket: str

    def ctl(self, command: str, *words: str):
        """Runs `oobctl COMMAND --json WORDS`; returns what it prints, and raises what it says is wrong."""
        run = subprocess.run(
            [program("oobctl"), command, "--socket", self.socket, "--json", *words], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120)
        if run.returncode != 0:
            raise error_of(run)
        return json.loads(run.stdout or "null")

    def enroll(self, link: str) -> "Enrollment":
        """A payer of its own: whoever tests in parallel takes one for each test. The link is the issuer's."""
        made = self.ctl("enroll", link, "--authn-type", "presence")
        return Enrollment(self, made["id"], made["authenticatorId"])


@dataclass(frozen=True)
class Enrollment:
    """A payer's app at an issuer. It sees and decides its own requests only, whatever else the agent holds."""

    agent: Agent
    id: str
    authenticator_id: str

    def approve(self, acs_trans_id: str, *, expect_amount: str = "", expect_merchant: str = "", wait: int = 30) -> dict:
        """Waits for the request, approves it if it is as expected, and returns it once the issuer took it."""
        expected = [f"--expect-amount={expect_amount}"] * bool(expect_amount)
        expected += [f"--expect-merchant={expect_merchant}"] * bool(expect_merchant)
        return self._ctl("approve", acs_trans_id, f"--wait={wait}", *expected)

    def deny(self, acs_trans_id: str, *, reason: str = "userDenied", wait: int = 30) -> dict:
        return self._ctl("deny", acs_trans_id, f"--wait={wait}", f"--reason={reason}")

    def pending(self) -> list[dict]:
        return self._ctl("list")

    def _ctl(self, command: str, *words: str):
        return self.agent.ctl(command, "--enrollment", self.id, *words)


@contextmanager
def running():
    """Starts a sandbox and an agent, side by side; stops both at the end. Gives `(agent, sandbox)`."""
    with ExitStack() as stack:
        # Short, for the path of a socket has 103 bytes at most.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="oob-")))
        logs = Path(os.environ.get("OOB_LOG_DIR") or folder)
        issuer = stack.enter_context(Program(logs, "oob-issuer", "serve", "--listen", "localhost:0"))
        agent = stack.enter_context(
            Program(logs, "oob-agent", "--state-dir", f"{folder}/state", "--socket", f"{folder}/control.sock"))
        yield Agent(agent.address()), Sandbox(issuer.address())


class Program:
    """A program that runs until the end of a `with`, and says `listening on ADDRESS` when it is ready."""

    def __init__(self, logs: Path, name: str, *words: str):
        self.log = logs / f"{name}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [program(name), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)

    def address(self) -> str:
        """Waits for the line: no polling, and if the program ends instead, so does the wait."""
        watchdog = threading.Timer(READY_WITHIN, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        if not line.startswith("listening on "):
            raise RuntimeError(f"{self.log.stem} did not start:\n{self.log.read_text(errors='replace')}")
        return line.removeprefix("listening on ").rstrip("\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.process:  # Which waits for its end.
            self.process.terminate()


def program(name: str) -> str:
    found = shutil.which(name, path=os.environ.get("OOB_BIN_DIR"))
    if found is None:
        raise RuntimeError(f"there is no {name} in $OOB_BIN_DIR, or without that on PATH")
    return found


def error_of(run: subprocess.CompletedProcess) -> OobError:
    kind = {3: NoRequest, 4: ExpectationFailed, 7: TooLate}.get(run.returncode, OobError)
    try:
        error = json.loads(run.stderr)["error"]
    except (ValueError, KeyError):  # It was decided, but is not delivered, or not taken: then the request is printed.
        return kind(run.returncode, 70001, (run.stderr or run.stdout).strip())
    return kind(run.returncode, error["code"], error["message"])
