"""Agents at a primary with a synchronous standby: what only the primary's disk has is nobody's to act upon."""

import json
import unittest
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from postgres_cluster import PostgresCluster
from test_postgres_hosts import WITHIN, Hosts


class LostPrimaryTests(Hosts):
    def setUp(self):
        self.cluster = PostgresCluster()
        self.addCleanup(self.cluster.remove)
        self.cluster.create("agents")
        self.name, self.url = "agents", self.cluster.url("agents", [server.port for server in self.cluster.servers])

    def sql(self, statement: str) -> list[list[str]]:
        return self.cluster.sql(statement, "agents")

    def story(self, acs_trans_id: str) -> dict:
        with urllib.request.urlopen(f"{self.sandbox.origin}/sandbox/purchases/{acs_trans_id}", timeout=WITHIN) as answer:
            return json.load(answer)

    def test_nobody_is_told_of_a_commit_that_the_standby_never_got_and_after_a_fail_over_it_is_decided_anew(self):
        hosts = {name: self.host(name) for name in ["alpha", "beta"]}
        self.enroll(hosts["alpha"])
        request = self.buy("Only on one disk")
        for host in hosts.values():
            self.waits(host, request)
        # Who polls for an enrollment delivers for it; the other one decides.
        [[worker]] = self.sql("SELECT host FROM journal WHERE entry LIKE '%\"presented\"%'")
        decider = next(host for name, host in hosts.items() if name != worker)
        worker = hosts[worker]
        self.cluster.standby.stop()
        with ThreadPoolExecutor(1) as callers:
            call = callers.submit(decider.ctl, "deny", request, "--delivery-timeout", "0")
            self.until(lambda: self.sql(
                "SELECT 1 FROM pg_stat_activity JOIN pg_locks USING (pid) "
                "WHERE wait_event = 'SyncRep' AND relation = 'evidence'::regclass"), "the commit waits for the standby")
            self.cluster.stop()
            self.cluster.start()
            self.assertEqual(self.sql("SELECT state FROM request"), [["denied"]])
            shown = worker.ctl("show", request, "--json")
            self.assertNotEqual(call.result().returncode, 0)
        self.cluster.stop()
        self.cluster.standby.start()
        self.cluster.promote()
        self.cluster.renew_standby()
        self.assertEqual(self.sql("SELECT state FROM request"), [["pending"]])
        self.assertNotEqual(shown.returncode, 0, shown.stdout)
        self.until(lambda: worker.ctl("approve", request).returncode == 0, worker.tail())
        self.until(lambda: worker.json("show", request)["delivery"] == "delivered", worker.tail())
        story = self.story(request)
        self.assertEqual((story["status"], [each["decision"]["conflicts"] for each in story["requests"]]),
                         ("authenticated", [0]))


if __name__ == "__main__":
    unittest.main()
