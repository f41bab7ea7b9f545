"""Pushes by the thousand, and garbage for minutes: what test_push.py does in small, for as long as you like.

Run with `.venv/bin/python Tests/Counterparts/push_campaign.py [--requests 10000] [--seconds 600] [--seed 1]` (`make
push-test`); OOB_BIN_DIR names the programs' directory. It ends with 1 where a promise did not hold.
"""

import argparse
import collections
import concurrent.futures
import json
import random
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import requests

from issuer import Request
from programs import Agent, free_port
from pushing import PushingIssuer

ENROLLMENTS = 20
# Pushes of a campaign to one enrollment, which takes 600 at once.
PUSHES = 500
SENDERS = 8
# Seconds; the agent cuts a sender after ten.
IDLE = 5


def receiving(folder: Path, *options: str) -> Agent:
    """An agent that takes pushes on loopback, and rarely polls of its own."""
    port = free_port()
    return Agent(folder, "--push-listen", f"localhost:{port}", "--push-url", f"http://localhost:{port}",
                 "--poll-interval-with-push", "3600", *options)


def enrolled(agent: Agent, issuer: PushingIssuer, *options: str) -> dict:
    return agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(), "--authn-type",
                      "presence", *options)


class Mismatch(AssertionError):
    """A promise that did not hold."""


def expect(holds: bool, promise: str):
    if not holds:
        raise Mismatch(promise)


def each_once(agent: Agent, issuer: PushingIssuer, cards: list[dict], count: int) -> dict:
    """Asks `count` times, pushes each request twice at once while polls bring the same, and looks for each in the
    journal. Gives what was seen."""
    over = threading.Event()
    polls = threading.Thread(target=polled, args=(agent, over))
    polls.start()
    began = time.monotonic()
    try:
        asked, sent = asked_and_pushed(issuer, cards, count)
    finally:
        over.set()
        polls.join()
    seconds = time.monotonic() - began
    agent.ctl("fetch")
    expect(sent == {201: 2 * count}, f"each push is taken: {sent}")
    expect_presented_once(agent, asked)
    ids = {card["id"] for card in cards}
    facts = [row["push"] for row in agent.json("enrollments") if row["id"] in ids]
    tally = {name: sum(fact[name] for fact in facts) for name in ("firstByPush", "firstByPoll", "duplicates")}
    expect(tally["firstByPush"] + tally["firstByPoll"] == count, f"each came first once: {tally}")
    expect(tally["duplicates"] >= count, f"what came again is counted: {tally}")
    return {"requests": count, "seconds": round(seconds, 1), **tally}


def polled(agent: Agent, over: threading.Event):
    while not over.is_set():
        agent.ctl("fetch")


def asked_and_pushed(issuer: PushingIssuer, cards: list[dict], count: int) -> tuple[list[Request], dict]:
    """Two senders at a time push each request, over connections of their own; gives how often each status came."""
    local = threading.local()

    def push(request: Request) -> int:
        # A connection that was idle for long on a busy machine may be cut, and a push over it fails.
        if time.monotonic() - getattr(local, "used", 0) > IDLE:
            local.session = requests.Session()
        local.used = time.monotonic()
        return issuer.push_request(request, local.session).status_code

    def ask(number: int) -> tuple[Request, list[concurrent.futures.Future]]:
        card = cards[number % len(cards)]
        request = issuer.ask(card["authenticatorId"], issuer.transaction(), expires_in=3_000)
        return request, [senders.submit(push, request) for _ in range(2)]

    asked, statuses = [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(SENDERS) as senders:
        for first in range(0, count, SENDERS):
            batch = [ask(number) for number in range(first, min(first + SENDERS, count))]
            asked += [request for request, _ in batch]
            statuses.update(future.result() for _, futures in batch for future in futures)
    return asked, dict(statuses)


def expect_presented_once(agent: Agent, asked: list[Request]):
    """By the journal, which leaves nothing out."""
    run = agent.ctl("audit export")
    expect(run.returncode == 0, f"the journal can be read: {run.stderr}")
    entries = map(json.loads, run.stdout.splitlines())
    presented = collections.Counter(entry["jti"] for entry in entries if entry["entry"] == "presented")
    wrong = {request.jti: presented[request.jti] for request in asked if presented[request.jti] != 1}
    expect(not wrong, f"each request is presented once, but these are not: {wrong}")


class Garbage:
    """Bytes that begin as a good push to a real endpoint, and go wrong somewhere; each connection is for one of them."""

    def __init__(self, pushes: list[tuple[SplitResult, bytes]], seed: int):
        self.pushes, self.random = pushes, random.Random(seed)
        self.url, self.push = pushes[0]
        self.sent = 0

    def piece(self) -> bytes:
        self.sent += 1
        return self.random.choice([self.noise, self.flipped, self.cut, self.doubled, self.other_length, self.chunks])()

    def noise(self) -> bytes:
        return self.random.choice([b"", b"\x16\x03\x01", b"POST "]) + self.random.randbytes(self.random.randint(1, 9_000))

    def flipped(self) -> bytes:
        changed = bytearray(self.push)
        for _ in range(self.random.randint(1, 8)):
            changed[self.random.randrange(len(changed))] = self.random.randrange(256)
        return bytes(changed)

    def cut(self) -> bytes:
        return self.push[: self.random.randrange(len(self.push))]

    def doubled(self) -> bytes:
        start, end = sorted(self.random.randrange(len(self.push)) for _ in range(2))
        return self.push[:end] + self.push[start:end] * self.random.randint(1, 50) + self.push[end:]

    def other_length(self) -> bytes:
        length = self.random.choice([-1, 0, 1, 4_096, 4_097, 2**31, 2**63, 2**64, 10**40])
        return self.push.replace(b"Content-Length: ", b"Content-Length: %d" % length, 1)

    def chunks(self) -> bytes:
        head, _, body = self.push.partition(b"\r\n\r\n")
        head = head.replace(b"Content-Length", b"X-Length") + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
        size = self.random.choice([b"%x" % len(body), b"-1", b"f" * 40, b"", b"%x" % self.random.randrange(2**33)])
        return head + size + b"\r\n" + body + b"\r\n" + self.random.choice([b"0\r\n\r\n", b"", b"\r\n" * 900])

    def spread(self, over: threading.Event):
        while not over.is_set():
            self.url, self.push = self.random.choice(self.pushes)
            try:
                with socket.create_connection((self.url.hostname, self.url.port), 5) as peer:
                    for _ in range(self.random.randint(1, 3)):
                        peer.sendall(self.piece())
                    if self.random.random() < 0.5:
                        peer.shutdown(socket.SHUT_WR)
                        peer.settimeout(2)
                        while peer.recv(4_096):
                            pass
            except OSError:
                pass  # The receiver has cut it, or keeps it waiting.


def raw_push(issuer: PushingIssuer, subscription: dict) -> bytes:
    """A good push as it goes over the wire."""
    body = issuer.encrypted(subscription, b"hint")
    url = urlsplit(subscription["endpoint"])
    fields = {"Host": url.netloc, "Content-Encoding": "aes128gcm", "TTL": "60", "Content-Length": str(len(body)),
              **issuer.authorization(subscription)}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST {url.path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def amid_garbage(agent: Agent, issuer: PushingIssuer, cards: list[dict], seconds: float, seed: int) -> dict:
    """Sends garbage from several threads to the endpoints of the cards, while each request to the second is to be taken
    and presented."""
    attacked = [issuer.subscriptions[card["authenticatorId"]] for card in cards[:1] + cards[2:]]
    pushes = [(urlsplit(each["endpoint"]), raw_push(issuer, each)) for each in attacked]
    sources = [Garbage(pushes, seed + number) for number in range(4)]
    over = threading.Event()
    threads = [threading.Thread(target=source.spread, args=(over,)) for source in sources]
    for thread in threads:
        thread.start()
    asked, end, slowest, session = [], time.monotonic() + seconds, 0.0, requests.Session()
    try:
        while time.monotonic() < end:
            request = issuer.ask(cards[1]["authenticatorId"], issuer.transaction(), expires_in=30)
            began = time.monotonic()
            answer = issuer.push_request(request, session)
            slowest = max(slowest, time.monotonic() - began)
            expect(answer.status_code == 201, f"a good push is taken: {answer.status_code} {answer.text}")
            asked.append(request)
            over.wait(0.11)  # A pace, so that one enrollment's pushes and undecided requests stay below their bounds.
    finally:
        over.set()
        for thread in threads:
            thread.join()
    expect(agent.process.poll() is None, "the agent is up")
    expect_presented_once(agent, asked)
    expect(agent.json("status")["state"] == "ready", "the agent is ready")
    return {"seconds": seconds, "garbage": sum(source.sent for source in sources), "good": len(asked),
            "slowest good push, s": round(slowest, 2), "private memory, MB": private_memory(agent),
            "log lines": len(agent.log.read_text(errors="replace").splitlines())}


def private_memory(agent: Agent) -> float:
    lines = Path(f"/proc/{agent.process.pid}/status").read_text().splitlines()
    (kilobytes,) = [int(line.split()[1]) for line in lines if line.startswith("RssAnon:")]
    return round(kilobytes / 1_024, 1)


def campaign(name: str, enrollments: int, work) -> bool:
    with tempfile.TemporaryDirectory(prefix="oob-", dir="/tmp") as folder, PushingIssuer() as issuer:
        agent = receiving(Path(folder))
        try:
            issuer.holds_polls = True
            cards = [enrolled(agent, issuer) for _ in range(enrollments)]
            print(name, json.dumps(work(agent, issuer, cards)), flush=True)
            return True
        except Mismatch as mismatch:
            print(f"{name}: not so: {mismatch}\n{agent.tail()}", file=sys.stderr)
            return False
        finally:
            agent.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=10_000, help="how many are each pushed twice, and polled")
    parser.add_argument("--seconds", type=float, default=600, help="how long garbage is sent")
    parser.add_argument("--seed", type=int, default=1, help="of the garbage")
    how = parser.parse_args()
    enrollments = max(ENROLLMENTS, 2 * how.requests // PUSHES)
    once = campaign("each once:", enrollments, lambda *parts: each_once(*parts, how.requests))
    garbage = campaign("amid garbage:", ENROLLMENTS, lambda *parts: amid_garbage(*parts, how.seconds, how.seed))
    return 0 if once and garbage else 1


if __name__ == "__main__":
    sys.exit(main())
