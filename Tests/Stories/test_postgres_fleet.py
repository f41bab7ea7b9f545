"""Many cardholders in one PostgreSQL: what the agent asks for is found by index, whatever the store holds.

Run with `.venv/bin/python Tests/Stories/test_postgres_fleet.py`. FLEET=1000000,10000000 makes a store of so many enrollments
and past requests (an hour and 25 GB), and then the times are printed.
"""

import json
import os
import re
import secrets
import time
import unittest
import urllib.request

from postgres_fleet import Fleet, filling
from postgres_past import Past
from postgres_server import PostgresServer, needs_postgres
from programs import Agent, Sandbox, temporary_folder

ENROLLMENTS, REQUESTS = map(int, os.environ.get("FLEET", "3000,30000").split(","))
# Rows that a statement may look at: those of a page, of what is open, and of the 256 buckets twice.
FEW = 1_200
# What is counted or begun with for all enrollments, from an index alone or once at the start.
OF_ALL = [
    r"^SELECT COUNT\(\*\) FROM enrollment WHERE state <> 'ended'$", r"^SELECT state, COUNT\(\*\) FROM enrollment ",
    r"^SELECT marks, COUNT\(\*\) FROM enrollment ", r"^SELECT seq, id FROM enrollment WHERE state = 'active' ",
]
# A page of the periodic look, which passes through all enrollments in their order, and the rows of one.
PAGE, OF_A_PAGE = "SELECT seq, id, state FROM enrollment WHERE seq < $1 ORDER BY seq DESC LIMIT $2", 5_001
WITHIN = 120
EXPLAINED = [f"-c{name}={value}" for name, value in {
    "shared_preload_libraries": "auto_explain", "random_page_cost": 1.1, "auto_explain.log_analyze": "on",
"auto_explain.log_timing": "off",
    "auto_explain.log_format": "json", "auto_explain.log_level": "log",
    "shared_buffers": "256MB", "max_wal_size": "4GB", "log_line_prefix": "%a|"}.items()]


def scans(plan: dict):
    """Each look at a table in a plan: how, at which, and how many rows it went through."""
    if "Relation Name" in plan:
        gone = sum(plan.get(name, 0) for name in ["Rows Removed by Filter", "Rows Removed by Index Recheck"])
        yield plan["Node Type"], plan["Relation Name"], (plan["Actual Rows"] + gone) * plan["Actual Loops"]
    for each in plan.get("Plans", []):
        yield from scans(each)


class FleetTests(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        needs_postgres()
        cls.folder = temporary_folder(cls)
        cls.server = PostgresServer(*EXPLAINED)
        cls.addClassCleanup(cls.server.remove)
        cls.sandbox = Sandbox(cls.folder)
        cls.addClassCleanup(cls.sandbox.stop)
        secret = secrets.token_bytes(32)
        (cls.folder / "secret").write_bytes(secret)
        (cls.folder / "secret").chmod(0o600)
        cls.options = ["--database", cls.server.create("fleet"), "--host-name", "alpha", "--secret-file",
                       str(cls.folder / "secret")]
        cls.agent = Agent(cls.folder, *cls.options)
        cls.card = cls.enrolled()
        cls.approve(cls.bought())
        cls.agent.stop()
        with filling(cls.server):
            fleet = Fleet(cls.server, "fleet", secret)
            fleet.enroll(ENROLLMENTS)
            Past(fleet, REQUESTS).remember()
        cls.took = {"start": time.monotonic()}
        cls.agent = Agent(cls.folder, *cls.options)
        cls.took["start"] = time.monotonic() - cls.took["start"]
        cls.addClassCleanup(lambda: cls.agent.process.poll() is None and cls.agent.stop())
        cls.server.sql("ALTER SYSTEM SET auto_explain.log_min_duration = 0", "postgres")
        cls.server.sql("SELECT pg_reload_conf()", "postgres")

    @classmethod
    def call(cls, path: str, order: dict) -> dict:
        request = urllib.request.Request(f"{cls.sandbox.origin}{path}", json.dumps(order).encode())
        with urllib.request.urlopen(request, timeout=WITHIN) as answer:
            return json.load(answer)

    @classmethod
    def enrolled(cls) -> dict:
        return cls.agent.json("enroll", cls.call("/sandbox/enrollment-codes", {})["link"], "--authn-type", "presence")

    @classmethod
    def bought(cls) -> str:
        """The acsTransId of a purchase, once its request is shown."""
        found = cls.call("/sandbox/purchases", {
            "merchantName": "CoffeeHouse2", "purchaseAmount": "100", "purchaseCurrency": "840", "purchaseExponent": "2",
            "purchaseDate": "20231017055638", "expiresIn": 3600, "authenticatorId": cls.card["authenticatorId"]})["acsTransId"]
        deadline = time.monotonic() + WITHIN
        while cls.agent.ctl("show", found).returncode != 0:
            if time.monotonic() > deadline:
                raise AssertionError(cls.agent.tail())
            time.sleep(0.1)  # Asks again; nothing depends on how long.
        return found

    @classmethod
    def approve(cls, request: str):
        shown = cls.agent.json("approve", request)
        if shown["delivery"] != "delivered":
            raise AssertionError(shown)

    def timed(self, name: str, *words: str):
        begin = time.monotonic()
        run = self.agent.ctl(name, *words)
        self.took[" ".join([name, *words])] = time.monotonic() - begin
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def expect_bound(self, shown: dict, other: str):
        """What the store has of a request is shown, and that of another one in its place is not."""
        self.assertEqual([shown["transaction"]["merchantName"], shown["state"]], ["CoffeeHouse2", "approved"])
        self.assertIn(f"Enrollment: {shown['enrollmentName']}\n", shown["text"])
        self.server.sql("UPDATE evidence SET bytes = (SELECT bytes FROM request JOIN evidence ON piece = message_piece "
                        f"WHERE id = '{other}') "
                        f"WHERE piece = (SELECT message_piece FROM request WHERE id = '{shown['id']}')", "fleet")
        damaged = self.agent.json("show", shown["id"])
        self.assertEqual([each["id"] for each in damaged["warnings"]], ["damaged"])
        self.assertNotIn("CoffeeHouse2", json.dumps(damaged))

    def test_what_the_agent_asks_for_is_found_by_index_whatever_the_store_holds(self):
        old, other = (name for (name,) in self.server.sql(
            "SELECT id FROM request ORDER BY seq OFFSET 7 LIMIT 2", "fleet"))
        self.assertEqual(json.loads(self.timed("status", "--json"))["enrollmentCount"], ENROLLMENTS + 1)
        self.timed("list")
        self.timed("list", "--all")
        shown = json.loads(self.timed("show", old, "--json"))
        begin = time.monotonic()
        request = self.bought()
        self.took["a request comes"] = time.monotonic() - begin
        begin = time.monotonic()
        self.approve(request)
        self.took["approve"] = time.monotonic() - begin
        self.agent.json("deny", self.bought())
        self.enrolled()
        self.expect_bound(shown, other)
        self.agent.stop()
        text = (self.server.folder / "log").read_text(errors="replace")
        found = [json.loads(each) for each in re.findall(r"^oob-agent\|LOG:.*? plan:\n(\t?\{.*?^\t\})$", text, re.M | re.S)]
        self.assertGreater(len(found), 300)
        problems = {}
        for each in found:
            statement = " ".join(each["Query Text"].split())
            for how, table, rows in scans(each["Plan"]):
                if rows <= FEW or how == "Index Only Scan" and any(re.search(some, statement) for some in OF_ALL):
                    continue
                # The enrollments that are known to be in trouble are handed in; here all are, as no issuer answers for them.
                if how == "Index Scan" and ("jsonb_array_elements_text" in statement or re.search(OF_ALL[3], statement)):
                    continue
                if how == "Index Scan" and statement == PAGE and rows <= OF_A_PAGE:
                    continue
                problems[statement[:300]] = (how, table, rows)
        self.assertEqual(problems, {})
        if "FLEET" in os.environ:
            size = self.server.sql("SELECT pg_size_pretty(pg_database_size('fleet'))", "fleet")[0][0]
            print(size, ", ".join(f"{name} {seconds:.2f} s" for name, seconds in self.took.items()))


if __name__ == "__main__":
    unittest.main()
