"""The authenticator, and the cardholders that it holds."""

import json
import subprocess
from dataclasses import dataclass

from .errors import error_of
from .programs import program


@dataclass(frozen=True)
class Agent:
    """An agent that runs. `socket` is the path of its control socket."""

    socket: str

    def ctl(self, command: str, *words: str):
        """Runs `oobctl COMMAND --json WORDS`; returns what it prints, and raises what it says is wrong."""
        run = subprocess.run(
            [program("oobctl"), *command.split(), "--socket", self.socket, "--json", *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        if run.returncode != 0:
            raise error_of(run)
        return json.loads(run.stdout or "null")

    def enroll(self, link: str) -> "Cardholder":
        """A cardholder of its own: whoever tests in parallel takes one for each test. The link is the issuer's."""
        made = self.ctl("enroll", link, "--authn-type", "test")
        return Cardholder(self, made["id"], made["authenticatorId"])


@dataclass(frozen=True)
class Cardholder:
    """A cardholder's app at an issuer. It sees and decides its own requests only, whatever else the agent holds."""

    agent: Agent
    id: str
    authenticator_id: str

    def persona(self, name: str, *, times: int | None = None, delay: int | None = None) -> "Cardholder":
        """Has it answer by itself, as the persona of that name does (`oobctl persona list`).

        `times`: how many requests; `delay`: how many seconds after a request came.
        """
        words = [] if times is None else [f"--times={times}"]
        words += [] if delay is None else [f"--delay={delay}"]
        self.agent.ctl("persona set", name, "--enrollment", self.id, *words)
        return self

    def approve(self, purchase, *, expect_amount: str = "", expect_merchant: str = "", wait: int = 30) -> dict:
        """Waits for the request, approves it if it is as expected, and returns it once the issuer took it.

        `purchase` is a `Purchase`, or the acsTransId of an ACS of yours.
        """
        expected = [f"--expect-amount={expect_amount}"] * bool(expect_amount)
        # Given as it is shown: there a lone backslash is none.
        merchant = expect_merchant.replace("\\", "\\\\")
        expected += [f"--expect-merchant={merchant}"] * bool(merchant)
        return self.ctl("approve", str(purchase), f"--wait={wait}", *expected)

    def deny(self, purchase, *, reason: str = "userDenied", wait: int = 30) -> dict:
        """Waits for the request, and denies it."""
        return self.ctl("deny", str(purchase), f"--wait={wait}", f"--reason={reason}")

    def pending(self) -> list[dict]:
        """The requests that wait for a decision, oldest first."""
        return self.ctl("list")

    def ctl(self, command: str, *words: str):
        """`Agent.ctl` for its requests alone."""
        return self.agent.ctl(command, "--enrollment", self.id, *words)
