"""How long one waits while requests come at a steady pace: for an approval, and for the event of a push."""

import json
import shutil
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from http_client import Connection, Refused
from load import bought, in_parallel
from rows import Row, ms, percentile
from world import PLACE, ROOT, AgentProcess, World, until

sys.path.insert(0, str(ROOT / "Tests" / "Counterparts"))

from programs import free_port  # noqa: E402
from pushing import PushingIssuer  # noqa: E402

CARDS = 16
# Of requests that have come when the clock starts.
AHEAD = 2


def at_pace(rate: float, count: int, workers: int, opened, work):
    """Calls `work(thing, number, due)` for each number at its time, each worker with what `opened` gave it."""
    began = time.monotonic() + 0.2

    def run(first: int):
        with opened() as thing:
            for number in range(first, count, workers):
                due = began + number / rate
                time.sleep(max(0.0, due - time.monotonic()))
                work(thing, number, due)

    return [lambda first=first: run(first) for first in range(workers)]


def approve_row(rate: int, seconds: int) -> Row:
    with World(enrollments=CARDS) as world:
        count, waits = rate * seconds, []
        ids = [each for ids in bought(world, world.cards, AHEAD * rate) for each in ids] + [""] * count
        world.agent.rest()

        def buy(connection: Connection, number: int, _):
            ids[AHEAD * rate + number] = world.buy(world.cards[number % CARDS], connection)

        def approve(connection: Connection, number: int, due: float):
            until("the approval", lambda: approved(world, ids[number], connection), pause=0.005)
            waits.append(time.monotonic() - due)

        began = time.monotonic()
        in_parallel(at_pace(rate, count, 8, lambda: Connection(world.sandbox.origin), buy)
                    + at_pace(rate, count, 32, world.agent.connection, approve))
        pace = count / (time.monotonic() - began)
    return row(f"approve at {rate} per second, requests coming in as fast", waits, 5, pace, rate,
               f"{count:,} approvals over kept connections, each at its time whether those before are answered or not; "
               f"the wait is from that time to the answer; {CARDS} enrollments; as many purchases a second meanwhile")


def approved(world: World, acs_trans_id: str, connection: Connection) -> bool:
    """False if the request has not come, though it was bought seconds ago: nobody keeps up."""
    try:
        world.approve(acs_trans_id, connection)
    except Refused:
        return False
    return True


def row(measure: str, waits: list[float], goal: float, pace: float, rate: float, method: str) -> Row:
    middle, high = percentile(waits, 0.5), percentile(waits, 0.99)
    kept = "" if pace > 0.9 * rate else f"; it kept up with {pace:.0f} per second only"
    return Row(f"{measure}: p50 / p99", f"{ms(middle)} / {ms(high)} ms{kept}", high * 1000, goal, f"p99 ≤ {goal} ms",
               method)


class PushedAgent:
    """An agent that is pushed to, at an issuer of Python that pushes. A context manager."""

    def __init__(self, cards: int):
        self.stack = ExitStack()
        self.folder = Path(tempfile.mkdtemp(prefix="oob-", dir=PLACE))
        self.stack.callback(shutil.rmtree, self.folder)
        self.issuer = self.stack.enter_context(PushingIssuer())
        self.issuer.holds_polls = True
        port = free_port()
        self.agent = AgentProcess(
            self.folder, "--push-listen", f"localhost:{port}", "--push-url", f"http://localhost:{port}",
            "--poll-interval-with-push", "3600")
        self.stack.callback(self.agent.stop)
        self.origin = f"http://localhost:{port}"
        with self.agent.connection() as control:
            self.cards = [control.json("POST", "/v1/enrollments", {
                "issuer": self.issuer.origin, "code": self.issuer.enrollment_code(), "authnType": "presence"})
                for _ in range(cards)]

    def pushes(self, count: int) -> list[tuple[str, str, bytes, dict[str, str]]]:
        """Requests that wait to be pushed: jti, path, body and header fields of each."""
        return [self.push(self.cards[number % len(self.cards)]["authenticatorId"]) for number in range(count)]

    def push(self, authenticator: str) -> tuple[str, str, bytes, dict[str, str]]:
        request = self.issuer.ask(authenticator, self.issuer.transaction())
        subscription = self.issuer.subscriptions[authenticator]
        fields = {**self.issuer.authorization(subscription), "TTL": "60", "Content-Encoding": "aes128gcm"}
        return (request.jti, subscription["endpoint"].removeprefix(self.origin),
                self.issuer.encrypted(subscription, request.jws.encode()), fields)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()


def push_row(rate: int, seconds: int) -> Row:
    count, sent, heard = rate * seconds, {}, {}
    with PushedAgent(CARDS) as pushed, pushed.agent.connection() as reader:
        pushes = pushed.pushes(count)
        reader.send("GET", "/v1/events", fields={"Accept": "text/event-stream"})
        reader.head()
        listener = threading.Thread(target=listen, args=(reader, heard, count), daemon=True)
        listener.start()
        pushed.agent.rest()

        def push(connection: Connection, number: int, due: float):
            jti, path, body, fields = pushes[number]
            sent[jti] = due
            connection.send("POST", path, body, fields)
            connection.answer()

        began = time.monotonic()
        in_parallel(at_pace(rate, count, 8, lambda: Connection(pushed.origin), push))
        listener.join(60)
        pace = count / (time.monotonic() - began)
        assert len(heard) == count, f"{len(heard)} of {count} pushes were heard of"
    return row(f"push in → event out at {rate} per second", [heard[jti] - due for jti, due in sent.items()], 3, pace,
               rate, f"{count:,} requests, encrypted beforehand, each pushed at its time; the wait is from that time "
               f"until a reader of `/v1/events` has its `requestPresented`; {CARDS} enrollments")


def listen(reader: Connection, heard: dict[str, float], count: int):
    while len(heard) < count:
        line = reader.input.readline()
        if line.startswith(b"data:"):
            event = json.loads(line[5:])
            if event["event"] == "requestPresented":
                heard[event["request"]["jti"]] = time.monotonic()
