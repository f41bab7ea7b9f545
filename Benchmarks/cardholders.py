"""What a store of very many cardholders in PostgreSQL costs one agent: its start, and what is asked of it then."""

import statistics
import time

from hosts import Hosts, approve_all
from postgres_fleet import Fleet
from postgres_server import PostgresServer
from rows import Row, ms
from world import AgentProcess

CALLS = {"status": "/v1/status", "list": "/v1/requests"}


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


def rows(enrollments: int, past: int, times: int) -> tuple[list[Row], dict]:
    server = PostgresServer("-c", "shared_buffers=512MB", "-c", "max_wal_size=8GB", "-c", "random_page_cost=1.1")
    try:
        with Hosts(server, 1) as world:
            agent = world.agents[0]
            cards = world.enroll(agent, 1)
            decided(world, cards)
            agent.stop()
            fleet = Fleet(server, world.name, (world.folder / "secret").read_bytes(),
                          agent.folder / "state" / "keys")
            fleet.enroll(enrollments)
            fleet.remember(past)
            size = server.sql(f"SELECT pg_size_pretty(pg_database_size('{world.name}'))", "postgres")[0][0]
            # The callback of the first one stops what has ended.
            world.agents[0] = agent = AgentProcess(agent.folder, *agent.options)
            world.stack.callback(agent.stop)
            with agent.connection() as control:
                found = {"exec → ready": agent.start_seconds,
                         **{name: median(times, lambda path=path: control.call("GET", path)) for name, path in CALLS.items()},
                         "purchase → approved": median(times, lambda: decided(world, cards))}
            memory = agent.private_memory()
    finally:
        server.remove()
    told = ", ".join(f"{name} {ms(seconds)}" for name, seconds in found.items())
    return [Row(
        f"with PostgreSQL, {enrollments:,} enrollments and {past:,} past requests: start, status, list, one request",
        f"{told} ms; private memory {memory / 1e6:.0f} MB, database {size}", max(found.values()), 1, "each ≤ 1 s",
        "one call at a time; medians. The enrollments and requests are copies of real ones, with seals, tokens and keys of "
        "their own (`postgres_fleet.py`), at an issuer that does not answer; meanwhile the agent looks at each key and asks "
        "for each signCount")], {}
