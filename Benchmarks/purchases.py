#!/usr/bin/env python3
"""Starts purchases at a sandbox at a steady rate, and prints what became of them as JSON.

usage: Benchmarks/purchases.py --rate N --for SECONDS [--issuer URL] [--drain SECONDS]

Each purchase is started when it is due, also if earlier ones have no answer yet. Latency counts from when it was due to its
decision, so that a slow answer is not hidden. Exit status 1: some were refused, or sent more than a second late.
"""

import argparse
import json
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from http_client import Connection, Refused

IN_FLIGHT = 256  # Calls that have no answer yet, each on a connection of its own.
DECIDED = {"authenticated", "notAuthenticated"}


class Load:
    def __init__(self, issuer: str):
        self.issuer, self.kept = issuer, threading.local()
        self.late: dict[str, float] = {}  # By acsTransId, in seconds.
        self.refused: Counter = Counter()
        self.latest = 0.0

    def call(self, method: str, path: str, body: dict | None = None):
        """On the connection of this thread."""
        if not hasattr(self.kept, "connection"):
            self.kept.connection = Connection(self.issuer, patience=30)
        return self.kept.connection.json(method, path, body)

    def start(self, authenticator: str, due: float):
        late = time.monotonic() - due
        self.latest = max(self.latest, late)
        try:
            answer = self.call("POST", "/sandbox/purchases", {"authenticatorId": authenticator})
            self.late[answer["acsTransId"]] = late
        except (OSError, Refused) as error:
            self.kept.__dict__.clear()
            self.refused[str(error)] += 1

    def send(self, rate: int, seconds: int):
        active = [each["id"] for each in self.call("GET", "/sandbox/authenticators") if each["state"] == "active"]
        if not active:
            sys.exit("no authenticator is enrolled: enroll one first")
        began = time.monotonic()
        with ThreadPoolExecutor(IN_FLIGHT) as threads:
            for number in range(rate * seconds):
                due = began + number / rate
                time.sleep(max(0.0, due - time.monotonic()))
                threads.submit(self.start, active[number % len(active)], due)

    def drain(self, seconds: float):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.call("GET", "/sandbox/purchases?status=pending&limit=1")["purchases"]:
            time.sleep(0.5)

    def ended(self):
        """Those of this run, the newest first."""
        missing, after = set(self.late), ""
        while missing:
            page = self.call("GET", f"/sandbox/purchases?limit=1000{after}")
            yield from (each for each in page["purchases"] if each["acsTransId"] in missing)
            missing -= {each["acsTransId"] for each in page["purchases"]}
            if "next" not in page:
                break
            after = f"&after={page['next']}"

    def report(self) -> dict:
        purchases = list(self.ended())
        times = sorted(
            each["completedAtMilliseconds"] - each["startedAtMilliseconds"] + round(1000 * self.late[each["acsTransId"]])
            for each in purchases if each["status"] in DECIDED)
        ranks = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1}
        return {
            "started": len(self.late), "refused": self.refused, "latestSeconds": round(self.latest, 3),
            "outcomes": Counter(each["status"] for each in purchases),
            "latencyMilliseconds": {
                name: times[max(0, -int(-rank * len(times) // 1) - 1)] for name, rank in ranks.items() if times}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--issuer", default="http://localhost:8080")
    parser.add_argument("--rate", type=int, required=True, help="purchases a second")
    parser.add_argument("--for", dest="seconds", type=int, required=True)
    parser.add_argument("--drain", type=int, default=30, help="seconds to wait for pending ones at the end")
    words = parser.parse_args()
    load = Load(words.issuer)
    load.send(words.rate, words.seconds)
    load.drain(words.drain)
    print(json.dumps(load.report()))
    sys.exit(1 if load.refused or load.latest > 1 else 0)


if __name__ == "__main__":
    main()
