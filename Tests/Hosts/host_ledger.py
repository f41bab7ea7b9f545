"""What must hold between several hosts and the issuer after any faults: the promises, as a list of what breaks them.

It knows what clients asked of which host and what they were told, and holds that against the issuer's own record, the
rows of the agents, and what their journals say.
"""

import json
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from crash_world import Issuer
from host_world import Host
from postgres_cluster import PostgresCluster

STATES = {"approve": ("approved", "authenticated"), "deny": ("denied", "notAuthenticated")}
PIN_GUESSES, FIRST_BLOCK = 5, 60
PAGE = 1000


@dataclass
class Purchase:
    acs_trans_id: str
    card: str
    told: list[str] = field(default_factory=list)  # What was said to be decided.
    unknown: set[str] = field(default_factory=set)  # What was asked for without an answer, or with one that leaves it open.


@dataclass
class Ledger:
    issuer: Issuer
    server: PostgresCluster
    database: str
    purchases: list[Purchase] = field(default_factory=list)
    wrong_pins: int = 0  # Of which a client was told that they were wrong.
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, purchase: Purchase, decision: str, answer: tuple[int, dict] | None) -> str:
        """What a client was told: `told`, `unknown`, or the token of a no."""
        with self.lock:
            if answer is None or token(answer) == "storage_in_doubt":
                purchase.unknown.add(decision)
                return "unknown"
            if answer[0] < 300:
                purchase.told.append(decision)
                return "told"
        return token(answer)

    def problems(self, hosts: list[Host], cards: set[str]) -> list[str]:
        """What does not hold (yet: something may be on its way)."""
        rows: dict[str, list[dict]] = defaultdict(list)
        for row in all_requests(hosts[0]):
            rows[row["acsTransId"].lower()].append(row)
        entries = self.journals(hosts)
        of_request: dict[str, Counter] = defaultdict(Counter)
        for entry in entries:
            of_request[entry.get("request", "")][entry["entry"]] += 1
        found = []
        for purchase in self.purchases:
            story = self.issuer.call("GET", f"/purchases/{purchase.acs_trans_id}")
            own = rows.pop(purchase.acs_trans_id, [])
            problems = purchase_problems(purchase, own, story, of_request)
            found += [f"purchase {purchase.acs_trans_id}: {problem}" for problem in problems]
        found += [f"nobody asked for {acs}, and there is {row}" for acs, row in rows.items()]
        found += self.sign_count_problems(entries, cards)
        return found + self.pin_problems(entries)

    @staticmethod
    def journals(hosts: list[Host]) -> list[dict]:
        """The entries of all hosts' chains."""
        return [json.loads(line) for line in {line for host in hosts for line in journal(host)}]

    def sign_count_problems(self, entries: list[dict], cards: set[str]) -> list[str]:
        """Each is used once, and the row and the issuer have the greatest."""
        used: dict[str, list[int]] = defaultdict(list)
        for entry in entries:
            if entry["entry"] == "decided" and "signCount" in entry:
                used[entry["enrollment"]].append(entry["signCount"])
        rows = {card: int(count) for card, count in
                self.server.sql("SELECT id, sign_count FROM enrollment", self.database)}
        names = dict(self.server.sql("SELECT authenticator_id, id FROM enrollment", self.database))
        accepted = {names[each["id"]]: each["signCount"] for each in self.issuer.call("GET", "/authenticators")
                    if each["id"] in names}
        found = []
        for card in cards:
            counts, greatest = used[card], max(used[card], default=0)
            if len(set(counts)) != len(counts):
                found.append(f"enrollment {card} used a signCount twice: {sorted(counts)}")
            if not rows[card] >= greatest == accepted[card]:
                found.append(f"enrollment {card} has signCount {rows[card]}, used {greatest}, "
                             f"and the issuer accepted {accepted[card]}")
        return found

    def pin_problems(self, entries: list[dict]) -> list[str]:
        """Five wrong PINs in a row are tried, and the sixth not before the first block is over."""
        times = sorted(datetime.fromisoformat(entry["at"]) for entry in entries if entry["entry"] == "notVerified")
        found = []
        if len(times) < self.wrong_pins:
            found.append(f"{self.wrong_pins} PINs were said to be wrong, and {len(times)} are counted")
        if len(times) > PIN_GUESSES:
            between = (times[PIN_GUESSES] - times[PIN_GUESSES - 1]).total_seconds()
            if between < FIRST_BLOCK - 1:
                found.append(f"a sixth PIN was tried {between} s after the fifth")
        return found


def token(answer: tuple[int, dict]) -> str:
    return (answer[1] or {}).get("code", "") if answer[0] >= 300 else ""


def journal(host: Host) -> list[str]:
    """The lines of its chain, page by page."""
    lines: list[str] = []
    while True:
        page = host.lines(f"/audit?after={json.loads(lines[-1])['seq'] if lines else 0}&limit={PAGE}")
        lines += page
        if len(page) < PAGE:
            return lines


def all_requests(host: Host) -> list[dict]:
    """The newest page first."""
    found: list[dict] = []
    while True:
        before = f"&before={found[0]['id']}" if found else ""
        answer = host.ask("GET", f"/requests?all=true&limit={PAGE}{before}")
        if answer is None or answer[0] != 200:
            raise AssertionError(f"{host.name} does not list its requests: {answer}\n{host.tail()}")
        found = answer[1] + found
        if len(answer[1]) < PAGE:
            return found


def purchase_problems(purchase: Purchase, rows: list[dict], story: dict, of_request: dict[str, Counter]) -> list[str]:
    if len(rows) != 1:
        return [f"the hosts have it {len(rows)} times"]
    (row,) = rows
    said = of_request[row["id"]]
    found = [f"it was {kind} {said[kind]} times" for kind in ["presented", "decided", "answered"] if said[kind] > 1]
    found += [] if said["presented"] == 1 else ["it was not presented"]
    decisions = [request["decision"] for request in story["requests"] if "decision" in request]
    if any("refusedAssertions" in request for request in story["requests"]):
        found.append("the issuer refused an assertion")
    if any(decision["conflicts"] for decision in decisions):
        found.append("a decision was sent with other bytes than before")
    if len(purchase.told) > 1:
        found.append(f"it was said to be decided {len(purchase.told)} times")
    if row["state"] == "pending":
        if purchase.told or decisions:
            found.append(f"it is undecided; {purchase.told} was acknowledged, and the issuer was told {decisions}")
        return found
    possible = purchase.told or sorted(purchase.unknown)
    ends = {STATES[decision] for decision in possible}
    if (row["state"], story["status"]) not in ends or row["delivery"] != "delivered" or len(decisions) != 1:
        found.append(f"{possible} was asked for ({len(purchase.told)} acknowledged), the hosts say {row['state']}, "
                     f"{row['delivery']}, the issuer {story['status']}, and was told {decisions}")
    return found
