"""What a store of very many cardholders in PostgreSQL costs one agent: its start, and what is asked of it then."""

import statistics
import time

from hosts import Hosts, approve_all
from postgres_fleet import Fleet, filling
from postgres_past import Past
from postgres_server import PostgresServer
from rows import Row, ms
from world import AgentProcess

CALLS = {"status": "/v1/status", "list": "/v1/requests"}
SERVER = ("-c", "shared_buffers=1GB", "-c", "max_wal_size=4GB", "-c", "random_page_cost=1.1")


def median(times: int, call) -> float:
    found = []
    for _ in range(times):
        began = time.monotonic()
        call()
        found.append(time.monotonic() - began)
    return statistics.median(found)


def decided(world: Hosts, cards: list[dict]):
    """One request of the agent's own enrollment, from its purchase to its approval."""
    ((request,),) = world.buy(cards, 1)
    approve_all(world.agents[0], [request])


def restarted(world: Hosts) -> AgentProcess:
    """The agent, which was stopped; the callback of the first one stops what has ended."""
    agent = world.agents[0]
    world.agents[0] = AgentProcess(agent.folder, *agent.options)
    world.stack.callback(world.agents[0].stop)
    return world.agents[0]


def filled(world: Hosts, enrollments: int, past: int) -> list[dict]:
    """Leaves the agent stopped, and the store with so many more; the agent's own enrollment."""
    cards = world.enroll(world.agents[0], 1)
    decided(world, cards)
    world.agents[0].stop()
    with filling(world.server):
        fleet = Fleet(world.server, world.name, (world.folder / "secret").read_bytes())
        fleet.enroll(enrollments)
        Past(fleet, past).remember()
    return cards


def figures(world: Hosts, cards: list[dict], times: int) -> tuple[dict[str, float], int]:
    """Seconds, and the agent's private memory in bytes afterwards."""
    agent = restarted(world)
    with agent.connection() as control:
        found = {"exec → ready": agent.start_seconds,
                 **{name: median(times, lambda path=path: control.call("GET", path)) for name, path in CALLS.items()},
                 "purchase → approved": median(times, lambda: decided(world, cards))}
    return found, agent.private_memory()


def rows(enrollments: int, past: int, times: int) -> tuple[list[Row], dict]:
    server = PostgresServer(*SERVER)
    try:
        with Hosts(server, 1) as world:
            cards = filled(world, enrollments, past)
            size = server.sql(f"SELECT pg_size_pretty(pg_database_size('{world.name}'))", "postgres")[0][0]
            found, memory = figures(world, cards, times)
    finally:
        server.remove()
    told = ", ".join(f"{name} {ms(seconds)}" for name, seconds in found.items())
    return [Row(
        f"with PostgreSQL, {enrollments:,} enrollments and {past:,} past requests: start, status, list, one request",
        f"{told} ms; private memory {memory / 1e6:.0f} MB, database {size}", max(found.values()), 1, "each ≤ 1 s",
        "one call at a time; medians. The enrollments and requests are copies of real ones, with seals, tokens and keys of "
        "their own (`postgres_fleet.py`, `postgres_past.py`), at an issuer that does not answer; none of the requests has entries "
        "in the journal. Meanwhile the agent looks at each key and asks for each signCount")], {}
