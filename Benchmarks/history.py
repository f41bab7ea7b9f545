"""What the past costs: requests, messages and journal entries that are over, and clients that only wait."""

import secrets
import selectors
import sqlite3
import statistics
import threading
import time
import uuid
from contextlib import ExitStack, contextmanager

import journal
from approvals import cycle
from data_keys import DataKey, of_file, of_piece
from rows import Row, ms, number
from world import World

PAGE = 10_000
# The most past requests of one enrollment: what is stored of one has a bound.
OF_ONE = 10_000
DAY = 86_400
# The pieces of a request's evidence; a column of its row has the number of each.
PIECES = ["message", "text", "decision"]


def with_past(world: World, count: int):
    """Makes one request that is over into so many, each with its message and its evidence; not in the journal, which
    has a chain and a signature."""
    while world.one("SELECT count(*) FROM request") < 1:
        acs_trans_id = world.buy(world.cards[0])
        world.until_received(acs_trans_id)
        world.approve(acs_trans_id)
        world.until_delivered()
    for _ in range(count // OF_ONE):
        world.enroll()
    world.stop_agent()
    database = sqlite3.connect(world.folder / "state" / "agent.db")
    secret = (world.folder / "state" / "secret").read_bytes()
    copy_requests(database, secret, count - database.execute("SELECT count(*) FROM request").fetchone()[0])
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    world.start_agent()
    world.until_checkpoints()


def copy_requests(database: sqlite3.Connection, secret: bytes, count: int):
    request, message = Copied(database, "request"), Copied(database, "message")
    owners = [row[0] for row in database.execute("SELECT id FROM enrollment ORDER BY seq")]
    keys = {owner: of_file(database, secret, owner) for owner in owners}
    pieces = [opened_piece(database, keys[request.row["enrollment_id"]], request.row, piece) for piece in PIECES]
    start, first = int(time.time()) - 100 * DAY, request.newest + 1
    piece = database.execute("SELECT max(piece) FROM evidence").fetchone()[0] + 1
    for begin in range(0, count, PAGE):
        ids = [(first + number, secrets.token_hex(10), secrets.token_hex(16), str(uuid.uuid4()),
                start + 99 * DAY * number // count) for number in range(begin, min(begin + PAGE, count))]
        with database:
            request.add({"seq": seq, "id": own, "jti": jti, "enrollment_id": owners[seq % len(owners)],
                         "acs_trans_id": acs, "iat": at, "exp": at + 3600, "received_at": at, "decided_at": at,
                         **{f"{name}_piece": piece + (seq - first) * len(PIECES) + place for place, name in enumerate(PIECES)}}
                        for seq, own, jti, acs, at in ids)
            message.add({"jti": jti, "request_id": own, "seen_at": at, "enrollment_id": owners[seq % len(owners)]}
                        for seq, own, jti, _, at in ids)
            database.executemany("INSERT INTO evidence VALUES (?, ?)", (
                (piece + (seq - first) * len(PIECES) + place,
                 keys[owner].closed(plain, of_piece(owner, own, PIECES[place])))
                for seq, own, *_ in ids for owner in [owners[seq % len(owners)]] for place, plain in enumerate(pieces)))


def opened_piece(database: sqlite3.Connection, key: DataKey, request: dict, piece: str) -> bytes:
    ((value,),) = database.execute("SELECT bytes FROM evidence WHERE piece = ?", (request[f"{piece}_piece"],)).fetchall()
    return key.opened(value, of_piece(request["enrollment_id"], request["id"], piece))


class Copied:
    """The first row of a table, again and again but for some columns."""

    def __init__(self, database: sqlite3.Connection, table: str):
        self.database, self.table = database, table
        found = database.execute(f"SELECT * FROM {table} LIMIT 1")
        self.columns = [column[0] for column in found.description]
        self.row = dict(zip(self.columns, found.fetchone()))

    @property
    def newest(self) -> int:
        return self.database.execute(f"SELECT max(seq) FROM {self.table}").fetchone()[0]

    def add(self, changes):
        marks = ", ".join(f":{column}" for column in self.columns)
        self.database.executemany(
            f"INSERT INTO {self.table} VALUES ({marks})", ({**self.row, **each} for each in changes))


def in_turn(worlds: list[World], count: int, rounds: int) -> list[dict[str, float]]:
    """The CPU seconds of each step of an approval in each world; medians.

    The worlds take turns, so that minutes in which the machine is slow come to all of them.
    """
    for world in worlds:
        cycle(world, count, world.agent.cpu)
    found = [[cycle(world, count, world.agent.cpu) for world in worlds] for _ in range(rounds)]
    return [{step: statistics.median(each[step] for each in ours) for step in ours[0]} for ours in zip(*found)]


def past_row(pasts: tuple[int, ...], count: int, rounds: int) -> tuple[list[Row], dict]:
    with ExitStack() as stack:
        worlds = [stack.enter_context(World()) for _ in pasts]
        for world, past in zip(worlds, pasts):
            if past:
                with_past(world, past)
        spent = {past: steps["receive"] + steps["approve"]
                 for past, steps in zip(pasts, in_turn(worlds, count, rounds))}
    most = max(pasts)
    ratio = spent[most] / spent[0]
    told = ", ".join(f"{ms(seconds)} with {past:,}" for past, seconds in spent.items())
    return [Row(
        f"receive + decide with {most:,} past requests over none", f"{number(ratio)} ({told} ms)", ratio, 1.2, "≤ 1.2",
        "CPU of the steps as in the first row, in turn with agents whose database has so many requests that are over, "
        "with their messages and evidence, copied in by SQL from one that was real; not with their journal")], {
            "CPU over history": spent}


def day_row(messages: int, count: int, rounds: int) -> Row:
    """`messages` and what is measured are together below the 20,000 that an enrollment may have in a day."""
    with World() as without, World() as world:
        cycle(world, count, world.agent.cpu)
        world.stop_agent()
        database = sqlite3.connect(world.folder / "state" / "agent.db")
        row, now = Copied(database, "message"), int(time.time())
        with database:
            row.add({"jti": secrets.token_hex(16), "seen_at": now - number % 3600} for number in range(messages))
        database.close()
        world.start_agent()
        before, after = in_turn([without, world], count, rounds)
        added = after["receive"] - before["receive"]
    return Row(
        f"counting a day's messages at {messages:,}: added to each receive", f"{ms(added)} ms CPU", added * 1000, 0.1,
        "≤ 0.1 ms", f"receive as in the first row, with {messages:,} messages of the last hour copied in by SQL, and "
        "without, in turn")


def waiting_row(waiters: int, count: int, rounds: int) -> Row:
    with World() as alone, World() as waited_for, World() as read, others(waited_for, waiters, wait_for_another), \
            others(read, waiters, read_events):
        none, *more = (sum(steps.values()) for steps in in_turn([alone, waited_for, read], count, rounds))
    added = [(spent - none) / waiters for spent in more]
    return Row(
        "each waiting client / each event reader, added to every request", f"{' / '.join(map(ms, added))} ms CPU",
        max(added) * 1000, 0.02, "≤ 0.02 ms", f"an approval as in the first row, with {waiters} clients that wait for "
        "a request that does not come (`wait`), or that read `/v1/events`, and without, in turn; the difference over "
        "their number")


@contextmanager
def others(world: World, waiters: int, send):
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        for _ in range(waiters):
            connection = stack.enter_context(world.agent.connection())
            send(connection)
            selector.register(connection.socket, selectors.EVENT_READ)
        over = threading.Event()
        thread = threading.Thread(target=drain, args=(selector, over))
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def drain(selector: selectors.BaseSelector, over: threading.Event):
    """Reads what comes, and does nothing with it."""
    while not over.is_set():
        for key, _ in selector.select(0.1):
            if not key.fileobj.recv(65_536):
                selector.unregister(key.fileobj)


def wait_for_another(connection):
    connection.send("POST", f"/v1/requests/{uuid.uuid4()}/approve", b'{"wait": 3600}')


def read_events(connection):
    connection.send("GET", "/v1/events", fields={"Accept": "text/event-stream"})
    connection.head()


def size_row(world: World, before: dict[str, int], requests: int) -> Row:
    """Of a world that has taken so many requests since `before`."""
    world.until_checkpoints()
    after = sizes(world)
    each = {table: (size - before.get(table, 0)) / requests for table, size in after.items()}
    whole = sum(each.values())
    parts = ", ".join(f"{table} {size:,.0f}" for table, size in sorted(each.items(), key=lambda item: -item[1])
                      if size > 20)
    return Row("bytes of database per past request", f"{whole:,.0f} ({parts})", whole, 6_000, "≤ 6,000",
               f"SQLite's dbstat before and after {requests:,} approvals: pages of each table with its indexes")


def sizes(world: World) -> dict[str, int]:
    """The bytes of each table with its indexes."""
    return dict(world.database.execute(
        "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_master ON dbstat.name = sqlite_master.name "
        "GROUP BY tbl_name"))


def prefix_row(world: World, past: int) -> Row:
    """One character that many requests begin with: the answer is 409, or one of few."""
    world.agent.rest()
    before = world.agent.cpu()
    for digit in "0123456789":
        world.control.send("GET", f"/v1/requests/{digit}")
        world.control.any_answer()
    each = (world.agent.cpu() - before) / 10
    return Row(f"`show` of a one-character prefix at {past:,}", f"{ms(each)} ms CPU", each * 1000, 5, "≤ 5 ms",
               "the agent's CPU clock over ten calls, one of each digit")


def large(past: int, count: int, rounds: int) -> tuple[list[Row], dict]:
    rows, points = past_row((0, past), count, rounds)
    with World() as world:
        with_past(world, past)
        rows.append(prefix_row(world, past))
        world.stop_agent()
        journal.lengthen(world.folder / "state", past)
        world.start_agent()
        return [*rows, *journal_rows(world)], points


def journal_rows(world: World) -> list[Row]:
    """Of one whose journal is as long as its history."""
    past, entries = world.one("SELECT count(*) FROM request"), world.one("SELECT seq FROM journal_mark WHERE name = 'head'")
    world.until_checkpoints()
    some = world.one("SELECT id FROM request ORDER BY seq LIMIT 1")
    world.agent.rest()
    began = time.monotonic()
    with world.agent.connection(patience=3_600) as patient:
        patient.call("GET", f"/v1/requests/{some}/evidence")
        evidence, before = time.monotonic() - began, world.agent.cpu()
        assert patient.json("GET", "/v1/audit/verify")["whole"], "the journal is not whole"
    entry = (world.agent.cpu() - before) / entries
    return [
        Row(f"`audit verify`, per entry of {entries:,}", f"{number(entry * 1e6)} µs CPU", entry * 1e6, 5,
            "≤ 5 µs from signed checkpoints", "the agent's CPU clock over one call"),
        Row(f"evidence of one request at {past:,}", f"{ms(evidence)} ms", evidence * 1000, 50, "≤ 50 ms",
            "one call until it is answered; the journal is as long as that of so many (`journal.py`)"),
    ]
