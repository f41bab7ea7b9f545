"""What many clients get: approvals a second, syncs of the disk, how long one waits, and what it leaves in memory."""

import time
from concurrent.futures import ThreadPoolExecutor

from history import journal_rows, size_row, sizes
from http_client import Connection
from reference import Reference
from rows import Row, ms, number
from world import MEMORY_PAUSE, World, until

CLIENTS = (1, 8, 64)
MERCHANTS = 4


def bought(world: World, cards: list[dict], count: int) -> list[list[str]]:
    """The acsTransIds of so many requests that have come, by card."""
    found: list[list[str]] = [[] for _ in cards]

    def buy(merchant: int):
        with Connection(world.sandbox.origin) as connection:
            for number in range(merchant, count, MERCHANTS):
                place = number % len(cards)
                found[place].append(world.buy(cards[place], connection))

    before = pending(world)
    in_parallel([lambda merchant=merchant: buy(merchant) for merchant in range(MERCHANTS)])
    until("all requests", lambda: pending(world) == before + count, pause=0.01)
    return found


def pending(world: World) -> int:
    return world.one("SELECT count(*) FROM request WHERE state = 'pending'")


def in_parallel(works: list):
    """All at once, each on a thread; what one raises is raised."""
    with ThreadPoolExecutor(len(works)) as threads:
        for future in [threads.submit(work) for work in works]:
            future.result()


def approvals_a_second(world: World, clients: int, count: int) -> float:
    """Each client approves the requests of its own card, one after the other; until the last is delivered."""
    chosen = bought(world, world.cards[:clients], count)
    world.agent.rest()

    def approve(requests: list[str]):
        with world.agent.connection() as connection:
            for acs_trans_id in requests:
                world.approve(acs_trans_id, connection)

    began = time.monotonic()
    in_parallel([lambda requests=requests: approve(requests) for requests in chosen])
    world.until_delivered()
    return count / (time.monotonic() - began)


def busy(reference: Reference, plan: dict[int, int], in_all: int) -> tuple[list[Row], dict]:
    """`plan` says how many approvals each number of clients makes; then as many more as make `in_all`."""
    with World(enrollments=max(CLIENTS), counted=True) as world:
        world.agent.rest()
        idle, rates, empty = world.agent.private_memory(), {}, sizes(world)
        memory = {0: idle}
        for clients, count in plan.items():
            reference.measure()
            before, spent = world.counts.now()["syncs"], world.agent.cpu()
            rates[clients] = approvals_a_second(world, clients, count)
            syncs = (world.counts.now()["syncs"] - before) / count
            spent = (world.agent.cpu() - spent) / count
        done, busiest = sum(plan.values()), 0
        while done < in_all:
            step = min(in_all // 4, in_all - done)
            approvals_a_second(world, max(CLIENTS), step)
            done += step
            busiest = max(busiest, world.agent.private_memory())
            memory[done] = world.agent.kept_memory()
        after = list(memory.values())[-1]
        rows = [
            throughput_row(rates, reference.commit_rate, spent),
            Row(f"fdatasync per approval at {max(CLIENTS)} clients, all steps", number(syncs), syncs, 0.3, "≤ 0.3",
                "fsync and fdatasync of the agent (`counting.c`) from the first purchase to the last delivery, over "
                "the approvals"),
            Row(f"private memory after {done:,} requests", f"{number(after / 1e6)} MB ("
                + ", ".join(f"{size / 1e6:.1f} after {count:,}" for count, size in memory.items())
                + f"; {busiest / 1e6:.1f} as soon as the last was delivered)",
                after / 1e6, 12, "≤ 12 MB, flat",
                f"RssAnon of the agent that has approved them for {max(CLIENTS)} clients, {MEMORY_PAUSE + 2} s after the "
                f"last: within {MEMORY_PAUSE} s it gives back what a busy time has left"),
            size_row(world, empty, done), *readers(world)]
        return rows, {"throughput": rates, "memory over requests": memory}


def throughput_row(rates: dict[int, float], commits: float, spent: float) -> Row:
    """`spent`: the seconds of the agent's processor for an approval, with the most clients."""
    most = rates[max(rates)] / commits
    ratios = ", ".join(number(rate / commits) for rate in rates.values())
    return Row(
        f"durable approvals per second with {', '.join(map(str, rates))} clients, over SQLite's commits per second",
        f"{ratios} ({', '.join(f'{rate:.0f}' for rate in rates.values())} over {commits:,.0f} per second; with "
        f"{max(rates)} an approval takes {ms(spent)} ms of the agent's CPU)", most, 0.2,
        f"{max(rates)} clients ≥ 0.2",
        "clients with a connection and an enrollment each approve requests that have come already, until the last is "
        "delivered; agent, issuer and clients share the machine. Commits: one row each, WAL, synchronous FULL, in the "
        "same minutes (`floor.c`)", is_least=True)


def readers(world: World) -> list[Row]:
    """Who reads all that was: each event, each entry of the journal."""
    world.agent.rest()
    before, (events, seconds) = world.agent.cpu(), replayed(world)
    each = (world.agent.cpu() - before) / events
    return [
        Row("`watch --since 0`, per event", f"{ms(each)} ms CPU ({ms(seconds / events)} ms to wait)", each * 1000, 0.05,
            "≤ 0.05 ms", f"one reader of all {events:,} events: the agent's CPU clock over the events"),
        *journal_rows(world),
    ]


def replayed(world: World) -> tuple[int, float]:
    """How many events one reader is told of from the beginning on, and in how many seconds."""
    last = world.one("SELECT max(seq) FROM journal WHERE entry LIKE '%\"entry\":\"answered\"%'")
    began, count = time.monotonic(), 0
    with world.agent.connection() as connection:
        connection.send("GET", "/v1/events?since=0", fields={"Accept": "text/event-stream"})
        connection.head()
        for sequence in sequences(connection):
            count += 1
            if sequence >= last:
                break
    return count, time.monotonic() - began


def sequences(connection: Connection):
    """The numbers of the events that come."""
    for line in connection.input:
        if line.startswith(b"id:"):
            yield int(line[3:])
