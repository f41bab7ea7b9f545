"""Hosts that reach their database through Debian's PgBouncer, which gives them a connection for one database transaction."""

import os
import shutil
import subprocess
import unittest

from programs import unpacked
from test_postgres_hosts import WITHIN, Hosts

PGBOUNCER = unpacked("pgbouncer")
# Fewer than the hosts have connections of their own: whoever keeps one holds the others up.
POOL = 3


@unittest.skipIf(PGBOUNCER is None, "there is no pgbouncer here: Scripts/bootstrap --tests unpacks it")
class Pooled(Hosts):
    SERVER_OPTIONS = ("-c", "log_statement=all")

    def through(self, **settings: str) -> str:
        """The URL of the test's database through a PgBouncer of its own."""
        folder = self.place()
        # Its socket is for the agents, whoever they run as.
        folder.chmod(0o755)
        self.folder.chmod(0o755)
        (folder / "users").write_text('"oob" ""\n')
        settings = {
            "auth_type": "trust", "auth_file": f"{folder}/users", "unix_socket_dir": f"{folder}", "listen_port": "5432",
            "pool_mode": "transaction", "default_pool_size": f"{POOL}", "logfile": f"{folder}/log", **settings}
        (folder / "ini").write_text(
            f"[databases]\n* = host={self.server.folder}\n[pgbouncer]\n"
            + "".join(f"{name} = {value}\n" for name, value in settings.items()))
        if os.geteuid() == 0:  # It refuses to run as root.
            shutil.chown(folder, "postgres", "postgres")
        process = subprocess.Popen([*self.server.through, PGBOUNCER, "-q", folder / "ini"], stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait, WITHIN)
        self.addCleanup(process.terminate)
        self.until((folder / ".s.PGSQL.5432").exists, "PgBouncer does not listen")
        return f"postgres://oob@/{self.name}?host={folder}"


class TransactionPoolTests(Pooled):
    def test_two_hosts_work_through_a_pool_of_fewer_connections_than_they_have(self):
        self.url = self.through()
        alpha, beta = self.host("alpha"), self.host("beta")
        self.enroll(alpha)
        for number in range(6):
            request = self.buy(f"Shop {number}")
            self.waits(beta, request)
            decider = [alpha, beta][number % 2]
            self.assertEqual(decider.json("deny", request)["state"], "denied")
            self.until(lambda: beta.json("show", request)["delivery"] == "delivered", beta.tail())
        for host in [alpha, beta]:
            self.assertEqual(host.ctl("audit verify").returncode, 0)

    def test_a_write_has_its_limits_though_the_connection_has_none(self):
        self.url = self.through()
        self.enroll(self.host("alpha"))
        log = (self.server.folder / "log").read_text(errors="replace")
        for limit in ["statement_timeout', '5000", "lock_timeout', '3000", "idle_in_transaction_session_timeout', '5000"]:
            self.assertIn(f"set_config('{limit}', true)", log)

    def test_a_database_that_restarts_behind_it_is_waited_for(self):
        self.url = self.through()
        alpha = self.host("alpha")
        self.enroll(alpha)
        request = self.buy("Before")
        self.waits(alpha, request)
        self.server.stop()
        self.server.start()
        self.until(lambda: alpha.ctl("deny", request).returncode == 0, alpha.tail())

    def test_one_that_drops_the_limits_in_silence_is_refused_and_nothing_is_made(self):
        run = self.refused(*self.options("alpha", database=self.through(ignore_startup_parameters="options")))
        self.assertEqual(run.returncode, 70, run.stderr)
        self.assertIn("take options out of PgBouncer's ignore_startup_parameters", run.stderr)
        self.assertEqual(self.server.sql("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace",
                                         self.name), [])


if __name__ == "__main__":
    unittest.main()
