"""The sandbox: an issuer with an ACS and a merchant."""

import contextlib
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field

from .agent import Cardholder
from .errors import NoRequest
from .shown import shown


@dataclass(frozen=True)
class Issuer:
    """A sandbox that runs. `origin` is its URL; `purchases` are those that were made through this object."""

    origin: str
    purchases: list["Purchase"] = field(default_factory=list, repr=False, compare=False)

    def link(self) -> str:
        """What `Agent.enroll` takes: a new enrollment code, in a link."""
        return self.call("/sandbox/enrollment-codes", {})["link"]

    def purchase(self, cardholder: Cardholder, amount: int = 100, expires_in: int = 600, **members: str) -> "Purchase":
        """Buys something in USD cents with a card of that cardholder.

        `members` are the transaction's, such as `merchantName` or `purchaseCurrency`.
        """
        transaction = {
            "merchantName": "CoffeeHouse2", "purchaseAmount": str(amount), "purchaseCurrency": "840",
            "purchaseExponent": "2", "threeDSRequestorAppURL": "https://merchant.example/return", **members,
        }
        who = {"authenticatorId": cardholder.authenticator_id, "expiresIn": expires_in}
        purchase = Purchase(self, cardholder, self.call("/sandbox/purchases", {**transaction, **who})["acsTransId"])
        self.purchases.append(purchase)
        return purchase

    def call(self, path: str, body: dict | None = None) -> dict:
        """One call of the sandbox (openapi/sandbox.yaml); with a body it is a POST."""
        data = None if body is None else json.dumps(body).encode()
        call = urllib.request.Request(self.origin + path, data, {"Content-Type": "application/json"})
        to_loopback = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with to_loopback.open(call, timeout=75) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            raise ValueError(f"the sandbox refuses {path}: {shown(refusal.read(65_536).decode(errors='replace'))}") from None


@dataclass(frozen=True)
class Purchase:
    """A purchase that a cardholder is to approve. `id` is its acsTransId."""

    issuer: Issuer = field(repr=False, compare=False)
    cardholder: Cardholder = field(repr=False, compare=False)
    id: str

    def __str__(self) -> str:
        return self.id

    def outcome(self) -> str:
        """Waits until the purchase is decided or has expired, a minute at most; returns its status.

        That is `authenticated`, `notAuthenticated`, `expired`, `cancelled`, or still `pending`.
        """
        return self.story(wait=60)["status"]

    def refusal(self, wait: float = 30) -> dict:
        """Waits until the issuer has refused a decision, and returns the refusal: its `code`, `status` and `detail`.

        A purchase whose decisions are refused stays pending until it expires.
        """
        return self._first("refusedDecisions", wait)

    def failed_check(self, wait: float = 30) -> str:
        """Waits until the issuer has refused an assertion, and returns the check that failed, such as `signature`."""
        verdict = self._first("refusedAssertions", wait)["verdict"]
        return next(each["check"] for each in verdict if each["result"] == "failed")

    def is_presented(self, wait: float = 30) -> bool:
        """Waits until the cardholder's app shows the request."""
        return until(self._is_shown, wait, f"{self.id} was not presented")

    def when(self, condition, wait: float = 30) -> dict:
        """Waits until the condition holds for the story, and returns that; what is not there yet does not hold."""
        def look() -> dict | None:
            told = self.story()
            with contextlib.suppress(LookupError):
                return told if condition(told) else None
        return until(look, wait, f"it did not come so far with {self.id}")

    def _first(self, kind: str, wait: float) -> dict:
        """The first of what was refused, in whichever of its requests."""
        def look() -> list[dict]:
            return [each for request in self.story()["requests"] for each in request.get(kind, [])]
        return until(look, wait, f"nothing about {self.id} was refused")[0]

    def _is_shown(self) -> bool:
        with contextlib.suppress(NoRequest):
            self.cardholder.ctl("show", self.id)
            return True
        return False

    def story(self, wait: int = 0) -> dict:
        """All that the sandbox knows of it: its messages in EMV's names, the decision, and how that was judged."""
        return self.issuer.call(f"/sandbox/purchases/{self.id}" + (f"?wait={wait}" if wait else ""))


def until(look, wait: float, otherwise: str):
    """Looks again and again until something is found."""
    deadline = time.monotonic() + wait
    while not (found := look()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{otherwise} within {wait} s")
        time.sleep(0.02)
    return found
