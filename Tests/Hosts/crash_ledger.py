"""What must hold between an agent and its issuer after any crash: the promises, as a list of what breaks them.

The ledger knows what was asked of the agent and what it acknowledged. It is held against the issuer's own record, the
agent's answers and its database.
"""

import random
import sqlite3
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

from crash_world import DyingAgent, Issuer

PAGE = 1000  # Of a list of requests.
STATES = {"approve": ("approved", "Y", "authenticated"), "deny": ("denied", "N", "notAuthenticated")}


@dataclass
class Purchase:
    acs_trans_id: str
    authenticator: str
    terms: dict  # What it was ordered with.
    refused: bool = False  # The agent has to refuse it.
    expires_at: float | None = None  # None: it does not, while anyone looks.
    cancelled: bool = False
    asked_again: bool = False  # Under another jti as well.
    conflicts: int = 0  # Other transactions under its acsTransId.
    attempted: str | None = None
    acknowledged: bool = False
    rests: bool = False  # Everything was well when it was over.
    is_taken: bool = False  # Someone is at it.


@dataclass
class Enrollment:
    id: str
    authenticator: str
    is_leaving: bool = False  # Someone asked to unenroll it.
    is_erased: bool = False  # And to erase its personal data.


@dataclass
class Ledger:
    issuer: Issuer
    name: str  # What the names of the agent's enrollments begin with, so that several agents can share an issuer.
    enrollments: list[Enrollment] = field(default_factory=list)
    purchases: list[Purchase] = field(default_factory=list)
    erased: set[str] = field(default_factory=set)  # Enrollments of which the agent said so.
    lock: threading.Lock = field(default_factory=threading.Lock)

    def problems(self, agent: DyingAgent) -> list[str]:
        """What does not hold (yet: a delivery may be on its way)."""
        status = agent.call("GET", "/status")
        if status["queued"] > 0:
            return [f"{status['queued']} decisions are still on their way"]
        found = self.enrollment_problems(status["enrollments"])
        found += self.disk_problems(agent)
        audit = agent.call("GET", "/audit/verify")
        found += [] if audit["whole"] else [f"the journal: {audit['fault']}"]
        rows: dict[str, list] = {}
        for row in all_requests(agent):
            rows.setdefault(row["acsTransId"].lower(), []).append(row)
        for purchase in [each for each in self.purchases if not each.rests]:
            story = self.issuer.call("GET", f"/purchases/{purchase.acs_trans_id}")
            problems = purchase_problems(purchase, rows.pop(purchase.acs_trans_id, []), story)
            found += [f"purchase {purchase.acs_trans_id}: {problem}" for problem in problems]
        if not found:
            found += self.count_problems(status["enrollments"])
        if not found:
            for purchase in self.purchases:
                purchase.rests = purchase.acknowledged or purchase.cancelled or purchase.refused
        return found

    def look_at_all(self):
        for purchase in self.purchases:
            purchase.rests = False

    @contextmanager
    def one_of(self, rng: random.Random, only_undecided: bool):
        """A purchase that nobody else is at meanwhile; None where there is none."""
        with self.lock:
            free = [each for each in self.purchases if not each.is_taken and not each.refused and not each.cancelled
                    and not (only_undecided and each.attempted)]
            purchase = rng.choice(free) if free else None
            if purchase is not None:
                purchase.is_taken, purchase.rests = True, False
        try:
            yield purchase
        finally:
            if purchase is not None:
                purchase.is_taken = False

    def leave(self, enrollment: Enrollment):
        """It is over, and so is what it was asked."""
        self.enrollments.remove(enrollment)
        if enrollment.is_erased:
            self.erased.add(enrollment.id)
        self.purchases = [each for each in self.purchases if each.authenticator != enrollment.authenticator]

    def authenticators(self) -> set[str]:
        return {each.authenticator for each in self.enrollments}

    def issuers_view(self) -> list[dict]:
        return [each for each in self.issuer.call("GET", "/authenticators") if each["name"].startswith(self.name)]

    def enrollment_problems(self, enrollments: list[dict]) -> list[str]:
        """Both sides have the same enrollments, and each that was acknowledged is one of them."""
        found = []
        active = {each["id"] for each in self.issuers_view() if each["state"] == "active"}
        for each in enrollments:
            if each["state"] != "active":
                found.append(f"enrollment {each['id']} is {each['state']}")
            elif each["authenticatorId"] not in self.authenticators():
                self.enrollments.append(Enrollment(each["id"], each["authenticatorId"]))
            if any(warning["id"] not in {"testAuthenticator"} for warning in each.get("warnings", [])):
                found.append(f"enrollment {each['id']} has the warnings {each['warnings']}")
        own = {each.get("authenticatorId") for each in enrollments}
        if own != active:
            found.append(f"the agent is enrolled as {own}, the issuer knows {active}")
        if self.authenticators() != active:
            found.append(f"acknowledged enrollments are {self.authenticators()}, the issuer knows {active}")
        return found

    def count_problems(self, enrollments: list[dict]) -> list[str]:
        """Each approval took the next signCount, and no other was used."""
        found = []
        accepted = {each["id"]: each["signCount"] for each in self.issuers_view()}
        for each in enrollments:
            name = each["authenticatorId"]
            approvals = sum(
                purchase.authenticator == name and purchase.attempted == "approve" for purchase in self.purchases)
            if not each["signCount"] == accepted[name] == approvals:
                found.append(
                    f"enrollment {each['id']}: its signCount is {each['signCount']}, the issuer's {accepted[name]}, "
                    f"and {approvals} were approved")
        return found

    def disk_problems(self, agent: DyingAgent) -> list[str]:
        """The database is whole, and each enrollment that is not over has a sealed key, and no other has one."""
        database = sqlite3.connect(f"file:{agent.state}/agent.db?mode=ro", uri=True, timeout=10)
        try:
            report = [row[0] for row in database.execute("PRAGMA integrity_check")]
            odd = database.execute(
                "SELECT id, state FROM enrollment WHERE (state <> 'ended') <> (sealed_key IS NOT NULL)").fetchall()
            named = {row[0] for row in database.execute("SELECT id FROM enrollment WHERE name <> x''")}
            named |= {row[0] for row in database.execute("SELECT enrollment_id FROM data_key")}
        finally:
            database.close()
        found = [] if report == ["ok"] else [f"integrity_check: {report}"]
        if named & self.erased:
            found.append(f"what was said to be erased still has a name or a data key: {named & self.erased}")
        if odd:
            found.append(f"enrollments without a key, or ended ones with one: {odd}")
        hidden = lambda: {path.name for path in agent.state.iterdir() if path.name.startswith(".")}
        left = hidden()
        # The agent notes its head there every ten seconds: such a file is soon gone, and what is left is not.
        deadline = time.monotonic() + 5
        while left and time.monotonic() < deadline:
            time.sleep(0.05)
            left &= hidden()
        return found + ([f"there is left in the state directory: {left}"] if left else [])


def all_requests(agent: DyingAgent) -> list[dict]:
    """Every request that the agent knows, page by page: an agent that lives on has more than fit one."""
    found: list[dict] = []
    while True:
        after = f"&after={found[-1]['id']}" if found else ""
        page = agent.call("GET", f"/requests?all=true&limit={PAGE}{after}")
        found += page
        if len(page) < PAGE:
            return found


def purchase_problems(purchase: Purchase, rows: list[dict], story: dict) -> list[str]:
    """What breaks a promise about one purchase; resolves an attempt of which no acknowledgement came."""
    stories = [story, *story.get("others", [])]
    found = [
        f"the issuer refused an assertion: {request['refusedAssertions']}" for each in stories
        for request in each["requests"] if "refusedAssertions" in request]
    taken = [request["decision"] for request in story["requests"] if "decision" in request]
    if any(decision["conflicts"] for each in stories for request in each["requests"]
           if (decision := request.get("decision"))):
        found.append("a decision was sent with other bytes than before")
    refused = [row for row in rows if row["state"] == "refused"]
    others = [row for row in rows if row["state"] != "refused"]
    if len(refused) != purchase.conflicts + purchase.refused:
        found.append(f"{len(refused)} requests were refused")
    if any(row["delivery"] != "delivered" for row in refused):
        found.append("a refusal is not delivered")
    if purchase.refused:
        said = [(decision["decision"], decision["reason"]) for decision in taken]
        right = others == [] and said == [("deny", "policy")]
        return found + ([] if right else [f"it was not refused: {rows}, {said}"])
    words = [decision for decision in taken if decision.get("reason") != "duplicate"]
    if len(words) != len(taken) and not purchase.asked_again:
        found.append(f"it was asked once, and answered as a duplicate: {taken}")
    return found + life_problems(purchase, others, words, story)


def life_problems(purchase: Purchase, rows: list[dict], words: list[dict], story: dict) -> list[str]:
    is_expired = purchase.expires_at is not None and time.time() > purchase.expires_at
    if not rows and (is_expired or purchase.cancelled):
        return [] if not words else [f"the agent does not know it, and answered {words}"]
    if len(rows) != 1:
        return [f"the agent has it {len(rows)} times"]
    (row,) = rows
    if purchase.attempted and not purchase.acknowledged and row["state"] == "pending":
        # The agent died before it decided: that is as if nobody had asked.
        purchase.attempted = None
    if purchase.attempted:
        state, trans_status, status = STATES[purchase.attempted]
        told = [(word["decision"], word["transStatus"]) for word in words]
        right = (row["state"], row["delivery"], told, story["status"]) == (
            state, "delivered", [(purchase.attempted, trans_status)], status)
        purchase.acknowledged = purchase.acknowledged or right
        return [] if right else [describe(purchase, row, words, story)]
    ends = "cancelled" if purchase.cancelled else "expired" if is_expired else "pending"
    right = (row["state"], row["delivery"], words, story["status"]) == (ends, "none", [], ends)
    return [] if right else [describe(purchase, row, words, story)]


def describe(purchase: Purchase, row: dict, words: list[dict], story: dict) -> str:
    said = f"{purchase.attempted} was asked for" if purchase.attempted else "nothing was asked for"
    return (f"{said}{' and acknowledged' if purchase.acknowledged else ''}; the agent says {row['state']}, "
            f"{row['delivery']}; the issuer says {story['status']} and was told {words}")
