"""Approvals of several agents that share one PostgreSQL, over what pgbench gets from it with the same statements."""

import re
import secrets
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from http_client import Connection
from load import in_parallel
from postgres_proxy import PostgresProxy
from postgres_server import PROGRAMS, PostgresServer
from programs import Sandbox
from rows import Row, number
from world import PLACE, QUEUED, TRANSACTION, AgentProcess, enrolled, until

SCRIPT = Path(__file__).with_name("hosts.sql")
# Clients of all hosts together, and of pgbench; each has an enrollment of its own.
CLIENTS = 16


class Hosts:
    """A server, a sandbox, and so many agents on one database. A context manager."""

    def __init__(self, server: PostgresServer, count: int, way: Path | None = None):
        """`way` is the directory of the socket by which the agents reach the server, if it is another one."""
        self.server, self.stack = server, ExitStack()
        self.folder = Path(tempfile.mkdtemp(prefix="oob-", dir=PLACE))
        self.stack.callback(shutil.rmtree, self.folder)
        self.sandbox = Sandbox(self.folder)
        self.stack.callback(self.sandbox.stop)
        self.name = f"d{secrets.token_hex(6)}"
        url = server.create(self.name)
        if way:
            url = url.replace(str(server.folder), str(way))
        secret = self.folder / "secret"
        secret.touch(0o600)
        secret.write_bytes(secrets.token_bytes(32))
        self.agents = []
        for place in range(count):
            folder = self.folder / f"{place}"
            folder.mkdir()
            self.agents.append(AgentProcess(
                folder, "--database", url, "--host-name", f"host-{place}", "--secret-file", str(secret)))
            self.stack.callback(self.agents[-1].stop)
        self.merchant = self.stack.enter_context(Connection(self.sandbox.origin))

    def one(self, sql: str) -> int:
        return int(self.server.sql(sql, self.name)[0][0])

    def enroll(self, agent: AgentProcess, count: int) -> list[dict]:
        """Enrollments whose keys are within reach of this agent."""
        with agent.connection() as control:
            return [enrolled(control, self.merchant, self.sandbox.origin) for _ in range(count)]

    def buy(self, cards: list[dict], count: int) -> list[list[str]]:
        """The acsTransIds of so many requests that have come, by card."""
        found: list[list[str]] = [[] for _ in cards]
        for place in range(count):
            order = {**TRANSACTION, "authenticatorId": cards[place % len(cards)]["authenticatorId"], "expiresIn": 3600}
            bought = self.merchant.json("POST", "/sandbox/purchases", order)
            found[place % len(cards)].append(bought["acsTransId"])
        until("all requests", lambda: self.one("SELECT count(*) FROM request WHERE state = 'pending'") == count, pause=0.05)
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()


def approve_all(agent: AgentProcess, requests: list[str]):
    with agent.connection() as connection:
        for acs_trans_id in requests:
            connection.call("POST", f"/v1/requests/{acs_trans_id}/approve", {"deliveryTimeout": 0})


def approvals_a_second(server: PostgresServer, hosts: int, count: int) -> tuple[float, float]:
    """Each client approves the requests of its own card at its own host: until the last is acknowledged, and until the
    last is delivered."""
    with Hosts(server, hosts) as world:
        cards = [(agent, card) for agent in world.agents for card in world.enroll(agent, CLIENTS // hosts)]
        bought = world.buy([card for _, card in cards], count)
        for agent in world.agents:
            agent.rest()
        began = time.monotonic()
        in_parallel([lambda agent=agent, mine=mine: approve_all(agent, mine)
                     for (agent, _), mine in zip(cards, bought)])
        acknowledged = time.monotonic() - began
        until("the last delivery", lambda: world.one(QUEUED) == 0, pause=0.01)
        return count / acknowledged, count / (time.monotonic() - began)


def ceiling(server: PostgresServer, clients: int, seconds: int) -> float:
    """Approvals a second of pgbench in a database that an agent has made, each client as a host of its own."""
    each = 1_500 * seconds // clients + 500
    with Hosts(server, 1) as world:
        card = world.enroll(world.agents[0], 1)
        ((request,),) = world.buy(card, 1)
        world.agents[0].stop()
        copy_rows(world, clients, each)
        run = subprocess.run(
            [PROGRAMS / "pgbench", "--no-vacuum", "--protocol=prepared", f"--client={clients}", "--jobs=2",
             f"--time={seconds}", "-D", "n=0", "-D", "head=0", f"--file={SCRIPT}", "-h", server.folder, "-U", "oob",
             world.name], capture_output=True, text=True, check=True, timeout=600)
    return float(re.search(r"tps = ([0-9.]+)", run.stdout)[1])


def copy_rows(world: Hosts, clients: int, each: int):
    """Hosts, enrollments and pending requests as the real ones are."""
    def copied(table: str, changes: dict[str, str], source: str):
        names = [name for (name,) in world.server.sql(
            f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' AND is_identity = 'NO' "
            "AND is_generated = 'NEVER' ORDER BY ordinal_position", world.name)]
        columns = ", ".join(f'"{name}"' for name in names)
        values = ", ".join(changes.get(name, f'{table}."{name}"') for name in names)
        world.server.sql(f"INSERT INTO {table} ({columns}) SELECT {values} FROM {table}, {source}", world.name)

    some = f"generate_series(0, {clients - 1}) AS c"
    copied("host", {"name": "'b' || c"}, some)
    copied("enrollment", {"id": "'b' || c", "credential_id": "convert_to('b' || c, 'UTF8')"}, some)
    copied("data_key", {"enrollment_id": "'b' || c"}, some)
    copied("request", {"id": "c || '-' || n", "enrollment_id": "'b' || c", "jti": "c || '-' || n",
                       "acs_trans_id": "c || '-' || n"}, f"{some}, generate_series(1, {each}) AS n")
    world.server.sql("ANALYZE", world.name)


def cost_row(server: PostgresServer) -> Row:
    """What one approval waits for, as its way to the database sees it."""
    way = PostgresProxy(server.folder)
    try:
        with Hosts(server, 1, way.folder) as world:
            cards = world.enroll(world.agents[0], 1)
            found = []
            for _ in range(10):
                ((request,),) = world.buy(cards, 1)
                world.agents[0].rest()
                done = len(way.ended)
                approve_all(world.agents[0], [request])
                until("the delivery", lambda: world.one(QUEUED) == 0, pause=0.01)
                found.append(next((waits, statements.count(b"COMMIT")) for waits, statements in way.ended[done:]
                                  if any(b"INSERT INTO evidence" in each for each in statements)))
    finally:
        way.remove()
    waits, commits = max(waits for waits, _ in found), max(commits for _, commits in found)
    return Row("with PostgreSQL: round trips / commits of a decision", f"{waits} / {commits}", max(waits / 3, commits), 1,
               "≤ 3 / 1", "the greatest of ten, one at a time, as a proxy on the agent's socket counts them")


def rows(plan: dict[int, int], seconds: int) -> tuple[list[Row], dict]:
    """`plan` says how many approvals so many hosts make together."""
    server = PostgresServer("-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB")
    try:
        most = [ceiling(server, CLIENTS, seconds)]
        rates = {hosts: approvals_a_second(server, hosts, count) for hosts, count in plan.items()}
        most.append(ceiling(server, CLIENTS, seconds))
        cost = cost_row(server)
    finally:
        server.remove()
    top = sum(most) / len(most)
    delivered = {hosts: rate for hosts, (_, rate) in rates.items()}
    rates = {hosts: rate for hosts, (rate, _) in rates.items()}
    ratios = ", ".join(number(rate / top) for rate in rates.values())
    return [Row(
        f"durable approvals per second of {', '.join(map(str, rates))} hosts on one PostgreSQL, over pgbench's",
        f"{ratios} ({', '.join(f'{rate:.0f}' for rate in rates.values())} over {top:,.0f} per second; "
        f"delivered {', '.join(f'{rate:.0f}' for rate in delivered.values())})",
        max(rates.values()) / top, 0.3, "best ≥ 0.3",
        f"{CLIENTS} clients, as many at each host, each with an enrollment, approve requests that have come already, until "
        "the last is acknowledged, and until it is delivered; agents, issuer, clients and database share the machine. "
        "Over: pgbench with the statements of a decision and of its delivery (`hosts.sql`), as many clients, before and "
        "after, fsync on", is_least=True),
        cost], {"approvals over hosts": rates, "deliveries over hosts": delivered}
