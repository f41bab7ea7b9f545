"""Rounds of faults: hosts that share a database, clients that decide at any of them, and all that can go wrong meanwhile."""

import math
import random
import secrets
import signal
import threading
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from crash_world import Issuer
from host_ledger import Ledger, Purchase
from host_links import Link, Links
from host_secrets import SecretChanges
from host_world import Host
from postgres_cluster import PostgresCluster

CARDS, CLIENTS = 3, 4
PIN, WRONG = "918273645", "918273646"
TRANSACTION = {"merchantName": "Hosts & Söhne", "purchaseAmount": "12345", "purchaseCurrency": "978",
               "purchaseExponent": "2", "purchaseDate": "20260102030405", "expiresIn": 3600}
SETTLED_WITHIN = 180
# What waits to be delivered.
OUTBOX = ("SELECT enrollment_id FROM request WHERE state IN ('approved', 'denied', 'refused') AND delivery = 'queued' "
          "UNION ALL SELECT enrollment_id FROM message WHERE answer_until IS NOT NULL")
# How often each fault of a host comes, of 100.
FAULTS = {"kill at a point": 24, "kill": 8, "freeze": 16, "stop": 4, "database cut": 14, "database stalled": 10,
          "issuer cut": 12, "clock": 12}
# Seconds for which a host is stopped, whatever its lease is; short ones as often as long ones (log-uniform).
STOPS = (1, 60)
# In how many seconds after the last fault all that was acknowledged is delivered, and each enrollment fetched for.
LIVE_WITHIN = 20
# How many enrollments clients make in a round, and how many purchases they decide at once while a host is stopped.
MORE_CARDS, BURST = 12, 160
POINTS = ["", "send unix", "send unix", "send tcp"]
# The same of a database that is one server, and of a primary with a standby. One of `ALL_SUFFER` faults is such a one.
SERVER_FAULTS = {"database killed": 3, "database restarted": 1}
PAIR_FAULTS = {"standby promoted": 4, "standby behind promoted": 2, "database killed": 2, "database restarted": 1,
               "standby killed": 1}
ALL_SUFFER = 15


class Broken(AssertionError):
    """A promise does not hold."""


class Round:
    """All choices of faults come from the seed; when they meet what the clients do does not."""

    def __init__(self, folder: Path, libraries: tuple[Path, Path], seed: int, hosts: int, lease: int, has_standby: bool,
                 stops: tuple[float, float] = STOPS, live_within: float = LIVE_WITHIN, only_stops: bool = False):
        """With `only_stops` nothing else happens to a host, and much to the others meanwhile."""
        self.rng, self.lease = random.Random(seed), lease / 1000
        self.stops, self.live_within, self.only_stops = stops, live_within, only_stops
        self.deadline: float | None = None
        self.lived = 0.0
        self.stopping = threading.Lock()
        folder.mkdir()
        self.folder = folder
        self.faults, self.answers = Counter(), Counter()
        self.closing: list = []
        self.over = threading.Event()
        self.failure: BaseException | None = None
        try:
            self.set_up(libraries, hosts, lease, has_standby)
        except BaseException:
            self.close()
            raise

    def set_up(self, libraries: tuple[Path, Path], hosts: int, lease: int, has_standby: bool):
        self.server = self.closed(PostgresCluster(has_standby), "remove")
        self.issuer = Issuer(self.folder, "--faults", f"duplicate=0.4,reorder=0.4,drop-after=0.03,503=0.02,seed={self.rng.randrange(1 << 32)}")
        self.closed(self.issuer.program, "stop")
        self.links = self.closed(Links(), "close")
        database = f"d{secrets.token_hex(6)}"
        self.server.create(database)
        port = int(self.issuer.place.rsplit(":", 1)[1])
        self.hosts = [self.closed(Host(f"host-{number}", self.folder / f"h{number}", libraries, self.links,
                                       self.server, port), "close") for number in range(hosts)]
        self.secrets = SecretChanges(self.folder, self.hosts)
        for host in self.hosts:
            host.use(database, lease)
            host.revive()
        self.ledger = Ledger(self.issuer, self.server, database)
        self.cards = [self.enroll("presence") for _ in range(CARDS)]
        self.attacked = self.enroll("pin")
        # Whatever a client tries, this one is never approved.
        self.bait = self.purchase(self.attacked)

    def closed(self, thing, how: str):
        self.closing.append(getattr(thing, how))
        return thing

    def close(self):
        self.over.set()
        for close in reversed(self.closing):
            close()

    def enroll(self, kind: str) -> tuple[str, str]:
        """(id, the issuer's name for it) of a new enrollment, whose key every host has."""
        first = self.hosts[0]
        deadline = time.monotonic() + SETTLED_WITHIN
        while True:
            code = self.issuer.call("POST", "/enrollment-codes", {})["code"]
            command = {"issuer": self.issuer.origin, "code": code, "authnType": kind, "name": uuid.uuid4().hex}
            answer = first.ask("POST", "/enrollments", command | ({"pin": PIN} if kind == "pin" else {}), 90)
            if answer is not None and answer[0] < 300:
                break
            if time.monotonic() > deadline:
                raise AssertionError(f"it is not enrolled: {answer}\n{first.tail()}")
        return answer[1]["id"], answer[1]["authenticatorId"]

    # What clients do.

    def purchase(self, card: tuple[str, str]) -> Purchase:
        purchase = Purchase(str(uuid.uuid4()), card[0])
        with self.ledger.lock:
            self.ledger.purchases.append(purchase)
        self.issuer.call("POST", "/purchases", {
            **TRANSACTION, "acsTransId": purchase.acs_trans_id, "authenticatorId": card[1]})
        return purchase

    def client(self, rng: random.Random):
        while not self.over.is_set():
            host, act = rng.choice(self.hosts), rng.random()
            if act < 0.15:
                self.purchase(rng.choice(self.cards))
            elif act < 0.2:
                self.guess(host)
            elif act < 0.22:
                self.enroll_another(host)
            else:
                with self.ledger.lock:
                    # Several clients may be at the same one, at different hosts.
                    recent = [each for each in self.ledger.purchases[-12:] if each is not self.bait and not each.told]
                if recent:
                    self.decide(host, rng.choice(recent), rng.choice(["approve", "approve", "deny"]))
            self.over.wait(rng.uniform(0, 0.2))

    def enroll_another(self, host: Host):
        """Only what was acknowledged counts."""
        if len(self.cards) >= CARDS + MORE_CARDS:
            return
        command = {"issuer": self.issuer.origin, "code": self.issuer.call("POST", "/enrollment-codes", {})["code"],
                   "authnType": "presence", "name": uuid.uuid4().hex}
        answer = host.ask("POST", "/enrollments", command)
        if answer is not None and answer[0] < 300 and answer[1].get("authenticatorId"):
            self.cards.append((answer[1]["id"], answer[1]["authenticatorId"]))

    def decide(self, host: Host, purchase: Purchase, decision: str) -> str:
        # Whether it was delivered is looked at when all is over.
        answer = host.ask("POST", f"/requests/{purchase.acs_trans_id}/{decision}", {"deliveryTimeout": 0})
        said = self.ledger.note(purchase, decision, answer)
        self.answers[said] += 1
        return said

    def guess(self, host: Host):
        answer = host.ask("POST", f"/requests/{self.bait.acs_trans_id}/approve", {"pin": WRONG})
        if answer is None:
            return
        if answer[0] < 300:
            raise Broken("a wrong PIN was taken")
        if answer[1].get("code") == "user_not_verified":
            with self.ledger.lock:
                self.ledger.wrong_pins += 1

    # What goes wrong.

    def count(self, kind: str):
        with self.ledger.lock:
            self.faults[kind] += 1

    def suffer(self, host: Host, rng: random.Random, faults: int):
        """One fault after the other at one host."""
        kinds = {"stop": 1} if self.only_stops else {
            kind: weight for kind, weight in FAULTS.items() if kind != "issuer cut" or host.issuer is not None}
        for _ in range(faults):
            if self.is_late():
                return
            kind = rng.choices(list(kinds), list(kinds.values()))[0]
            host.attend()
            if getattr(self, kind.replace(" ", "_"))(host, rng):
                self.count(kind)
            self.over.wait(rng.uniform(0, min(self.lease, 5)))
            if self.over.is_set():
                return

    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def kill_at_a_point(self, host: Host, rng: random.Random) -> bool:
        label = rng.choice(POINTS)
        host.shim.order(label, rng.randrange(1, 40), rng.choice(["kill-before", "kill-after"]), 0)
        is_dead = host.dies_within(5)
        host.shim.clear()
        # It may have come to the point just now.
        if is_dead or host.process.poll() is not None:
            host.bury()
            self.over.wait(rng.uniform(0, 2 * self.lease))
            host.revive()
        return is_dead

    def kill(self, host: Host, rng: random.Random) -> bool:
        self.over.wait(rng.uniform(0, 0.2))
        host.kill()
        self.over.wait(rng.uniform(0, 3 * self.lease))
        host.revive()
        return True

    def freeze(self, host: Host, rng: random.Random) -> bool:
        host.freeze()
        time.sleep(self.lease * rng.uniform(1.2, 4))  # What is tested is that it takes longer than a lease.
        host.thaw()
        return True

    def stop(self, host: Host, rng: random.Random) -> bool:
        """It is paused while the others go on: it keeps its part if its lease is longer, and has missed what they wrote."""
        seconds = math.exp(rng.uniform(*map(math.log, self.stops)))
        if not self.only_stops:
            self.stop_for(host, seconds, lambda end: None)
            return True
        # One at a time: the others have to write much meanwhile.
        with self.stopping:
            other = rng.choice([each for each in self.hosts if each is not host])
            purchases = self.presented(rng)
            self.stop_for(host, seconds, lambda end: self.burst(other, purchases, end))
        return True

    @staticmethod
    def stop_for(host: Host, seconds: float, meanwhile):
        end = time.monotonic() + seconds
        host.freeze()
        try:
            meanwhile(end)
            while (left := end - time.monotonic()) > 0:
                time.sleep(left)  # What is tested is that it takes so long.
        finally:
            host.thaw()

    def presented(self, rng: random.Random) -> list[Purchase]:
        """Purchases that the hosts have, also the one that is about to be stopped; those that come late are left alone."""
        purchases = [self.purchase(rng.choice(self.cards)) for _ in range(BURST)]
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and not self.over.is_set():
            came = {row[0] for row in self.server.sql("SELECT acs_trans_id FROM request", self.ledger.database)}
            if all(each.acs_trans_id in came for each in purchases):
                break
            time.sleep(0.1)  # Asks again; nothing depends on how long.
        return purchases

    def burst(self, host: Host, purchases: list[Purchase], end: float):
        """At one host, an enrollment and as many decisions as make a journal with a checkpoint."""
        self.enroll_another(host)
        for purchase in purchases:
            if time.monotonic() > end or self.over.is_set():
                return
            self.decide(host, purchase, "approve")

    @staticmethod
    def ways(host: Host, rng: random.Random) -> list[Link]:
        """To all servers of the database, or to one."""
        return rng.choice([host.databases, [rng.choice(host.databases)]])

    def database_cut(self, host: Host, rng: random.Random) -> bool:
        links = self.ways(host, rng)
        for link in links:
            link.cut()
        self.over.wait(rng.choice([0, self.lease * rng.uniform(0.5, 3)]))
        for link in links:
            link.restore()
        return True

    def database_stalled(self, host: Host, rng: random.Random) -> bool:
        links = self.ways(host, rng)
        for link in links:
            link.stall()
        self.over.wait(self.lease * rng.uniform(0.5, 4))
        is_cut = rng.random() < 0.5
        for link in links:
            if is_cut:
                link.cut()
            link.restore()
        return True

    def issuer_cut(self, host: Host, rng: random.Random) -> bool:
        rng.choice([host.issuer.cut, host.issuer.stall])()
        self.over.wait(self.lease * rng.uniform(0.5, 4))
        host.issuer.cut()
        host.issuer.restore()
        return True

    def clock(self, host: Host, rng: random.Random) -> bool:
        host.clock.set(rng.choice([-1, 1]) * rng.randrange(45, 8_000))
        self.over.wait(rng.uniform(1, 3))
        host.clock.set(0)
        return True

    def all_suffer(self, rng: random.Random, faults: int):
        """One fault after the other at the database. If it has a standby, the first is that it is promoted."""
        kinds = SERVER_FAULTS if self.server.standby is None else PAIR_FAULTS
        for number in range(0 if self.only_stops else faults):
            self.over.wait(rng.uniform(1, 6))
            if self.over.is_set() or self.is_late():
                return
            kind = rng.choices(list(kinds), list(kinds.values()))[0] if number > 0 else next(iter(kinds))
            getattr(self, kind.replace(" ", "_"))(rng)
            self.count(kind)

    def database_killed(self, rng: random.Random):
        """SIGQUIT ends it as a power cut does but for the disk."""
        self.server.stop(signal.SIGQUIT)
        self.over.wait(rng.uniform(0, 2 * self.lease))
        self.server.start()

    def database_restarted(self, rng: random.Random):
        """SIGINT ends connections in order."""
        self.server.stop(signal.SIGINT)
        self.over.wait(rng.uniform(0, 2 * self.lease))
        self.server.start()

    def standby_killed(self, rng: random.Random):
        """Nothing is committed meanwhile."""
        self.server.standby.stop(signal.SIGQUIT)
        self.over.wait(rng.uniform(0, 4 * self.lease))
        self.server.standby.start()
        self.server.wait_for_standby()

    def standby_promoted(self, rng: random.Random):
        """The primary is lost, and all that was acknowledged is on the standby."""
        self.server.wait_for_standby()
        self.server.stop(signal.SIGQUIT)
        self.fail_over(rng)

    def standby_behind_promoted(self, rng: random.Random):
        """The primary comes up with commits that its standby has not, of which nobody was told, and is lost with them."""
        self.server.wait_for_standby()
        self.server.standby.stop(signal.SIGQUIT)
        self.over.wait(rng.uniform(0, 2 * self.lease))
        self.database_killed(rng)
        self.over.wait(rng.uniform(0, 4 * self.lease))
        self.server.stop(signal.SIGQUIT)
        self.server.standby.start()
        self.fail_over(rng)

    def fail_over(self, rng: random.Random):
        """As high-availability.md says, with a new standby in place of the old primary."""
        self.over.wait(rng.uniform(0, 2 * self.lease))
        self.server.promote()
        self.over.wait(rng.uniform(0, 4 * self.lease))
        self.server.renew_standby()

    def change_secrets(self, rng: random.Random):
        """One change after the other; the faults start the hosts again."""
        while not self.over.wait(rng.uniform(2, 8)):
            if not self.secrets.have_all():
                continue
            self.secrets.begin()
            while not self.over.wait(0.2):
                if self.secrets.end_if_over():
                    self.count("secret changed")
                    break

    # A round.

    def run(self, faults: int, seconds: float | None = None):
        """So many faults of all hosts together, or as many as come in that time, and then everything must hold."""
        self.deadline = None if seconds is None else time.monotonic() + seconds
        each = max(1, faults // len(self.hosts))
        sufferers = [self.hand(self.suffer, host, random.Random(self.rng.randrange(1 << 32)), each) for host in self.hosts]
        sufferers.append(self.hand(self.all_suffer, random.Random(self.rng.randrange(1 << 32)), max(1, faults // ALL_SUFFER)))
        clients = [self.hand(self.client, random.Random(self.rng.randrange(1 << 32))) for _ in range(CLIENTS)]
        # Where hosts are only stopped none starts again.
        changer = [] if self.only_stops else [self.hand(self.change_secrets, random.Random(self.rng.randrange(1 << 32)))]
        for sufferer in sufferers:
            sufferer.join()
        self.over.set()
        for other in clients + changer:
            other.join()
        if self.failure is not None:
            raise self.failure
        self.secrets.restart_those_without()
        # Before the change is finished, as a host that starts again is no longer stuck.
        self.expect_life()
        if self.secrets.finish():
            self.count("secret changed at the end")
        self.settle()

    def expect_life(self):
        """Nobody asks for anything any more: the hosts have to deliver and to fetch by themselves."""
        began = time.monotonic()
        probes = [self.purchase(card) for card in [*self.cards, self.attacked]]
        while lags := self.lags(probes):
            for host in self.hosts:
                host.attend()
            if time.monotonic() - began > self.live_within:
                raise Broken(f"{self.live_within} s after the last fault: " + "; ".join(lags[:20]) + f"\n{self.tails()}")
            time.sleep(0.2)  # Asks again; nothing depends on how long.
        self.lived = time.monotonic() - began

    def lags(self, probes: list[Purchase]) -> list[str]:
        """What is not delivered, and for whom nothing is fetched."""
        waiting = self.server.sql(f"SELECT enrollment_id, count(*) FROM ({OUTBOX}) AS waiting GROUP BY 1", self.ledger.database)
        came = {row[0] for row in self.server.sql("SELECT acs_trans_id FROM request", self.ledger.database)}
        return [f"{count} decisions of {card} are not delivered" for card, count in waiting] + [
            f"nothing is fetched for {probe.card}" for probe in probes if probe.acs_trans_id not in came]

    def hand(self, work, *arguments) -> threading.Thread:
        def run():
            try:
                work(*arguments)
            except BaseException as error:
                self.failure = self.failure or error
                self.over.set()
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def settle(self):
        """Decides what nobody has decided, and waits until every promise holds."""
        with ThreadPoolExecutor(CLIENTS) as clients:
            try:
                list(clients.map(self.end, range(len(self.ledger.purchases)), self.ledger.purchases))
            except BaseException:
                # One that cannot be decided ends the round: the others are not waited for.
                clients.shutdown(wait=False, cancel_futures=True)
                raise
        deadline = time.monotonic() + SETTLED_WITHIN
        while problems := self.problems():
            if time.monotonic() > deadline:
                raise Broken("\n".join(problems[:20]) + f"\n{self.tails()}")
            time.sleep(0.2)  # Asks again; nothing depends on how long.

    def end(self, number: int, purchase: Purchase):
        """Sees that a purchase is decided."""
        # Each has its own time, however many there are: a slow machine breaks no promise.
        deadline = time.monotonic() + SETTLED_WITHIN
        # A no of the host means that someone has decided it, or that it has not come yet.
        while not purchase.told:
            host = self.hosts[number % len(self.hosts)]
            host.attend()
            said = self.decide(host, purchase, "deny")
            if said in {"told", "no_longer_decidable"}:
                return
            if time.monotonic() > deadline:
                raise Broken(f"purchase {purchase.acs_trans_id} of {purchase.card} cannot be decided: {host.name} says "
                             f"{said}, the database {self.stored(purchase)}\n{self.tails()}")
            time.sleep(0.1)  # Asks again; nothing depends on how long.

    def stored(self, purchase: Purchase) -> list:
        """What the database has of a purchase, and what came for its enrollment and was not presented."""
        return [*self.server.sql("SELECT id, state, jti, delivery FROM request WHERE acs_trans_id = "
                                 f"'{purchase.acs_trans_id}'", self.ledger.database),
                *self.server.sql("SELECT id, state, jti FROM request WHERE acs_trans_id IS NULL AND enrollment_id = "
                                 f"'{purchase.card}'", self.ledger.database)]

    def problems(self) -> list[str]:
        found = []
        for host in self.hosts:
            host.attend()
            health = host.ask("GET", "/audit/verify", patience=60)
            if health is None or health[0] != 200 or not health[1]["whole"]:
                found.append(f"{host.name}: audit verify says {health}")
        waiting = self.server.sql(f"SELECT count(*) FROM ({OUTBOX}) AS waiting", self.ledger.database)
        if waiting != [["0"]]:
            return [*found, f"{waiting[0][0]} decisions are still on their way"]
        shares = self.server.sql(
            "SELECT count(*), count(DISTINCT host) FROM lease WHERE valid_until > clock_timestamp()", self.ledger.database)
        if shares != [["256", str(len(self.hosts))]]:
            return [*found, f"{shares[0][0]} parts of the work are held by {shares[0][1]} hosts"]
        return found + self.ledger.problems(self.hosts, {card for card, _ in [*self.cards, self.attacked]})

    def tails(self) -> str:
        return "\n".join(f"--- {host.name}\n{host.tail()}" for host in self.hosts)
