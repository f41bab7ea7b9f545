"""The PostgreSQL of several hosts: a primary with its synchronous standby, or one server alone, over TLS on loopback."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from postgres_server import PostgresServer
from programs import free_port

SYNCHRONOUS_WITHIN = 60

class PostgresCluster:
    """What is asked and what is stopped is the primary. Which of `servers` that is changes with each promotion."""

    def __init__(self, has_standby: bool = True):
        # The server's certificate, which is its own CA; only the key is not to be read.
        self.folder = Path(tempfile.mkdtemp(prefix="oob-pg-", dir="/tmp"))
        self.folder.chmod(0o755)
        self.certificate = self.folder / "server.crt"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=database", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", self.folder / "server.key",
             "-out", self.certificate], check=True, capture_output=True, timeout=60)
        self.servers: list[PostgresServer] = []
        try:
            self.primary = self.add(None)
            self.standby = self.add(self.primary) if has_standby else None
            if has_standby:
                self.wait_for_standby()
        except BaseException:
            self.remove()
            raise

    def add(self, primary: PostgresServer | None) -> PostgresServer:
        key = self.folder / f"{len(self.servers)}.key"
        shutil.copyfile(self.folder / "server.key", key)
        key.chmod(0o600)
        if os.geteuid() == 0:
            shutil.chown(key, "postgres", "postgres")
        settings = {"listen_addresses": "127.0.0.1", "ssl": "on", "ssl_cert_file": self.certificate, "ssl_key_file": key,
                    # A standby that was away for a while finds all that it has missed.
                    "wal_keep_size": "1GB", "wal_retrieve_retry_interval": "1s"}
        server = PostgresServer(*[word for name, value in settings.items() for word in ["-c", f"{name}={value}"]],
                                port=free_port(), primary=primary)
        self.servers.append(server)
        return server

    def url(self, database: str, ports: list[int]) -> str:
        """For an agent that reaches the servers through these ports."""
        places = ",".join(f"127.0.0.1:{port}" for port in ports)
        return f"postgres://oob@{places}/{database}?sslrootcert={self.certificate}"

    def create(self, name: str):
        self.primary.create(name)

    def sql(self, statement: str, database: str) -> list[list[str]]:
        return self.primary.sql(statement, database)

    def stop(self, signal: int = 3):
        self.primary.stop(signal)

    def start(self):
        self.primary.start()

    def promote(self):
        """Makes the standby the primary, which goes on alone; the old one must be stopped, and does not come back."""
        self.primary, self.standby = self.standby, self.primary
        self.wait_for(self.primary, "")
        self.primary.sql("SELECT pg_promote()", "postgres")

    def renew_standby(self):
        """Makes the server that is not the primary its standby, from a copy."""
        self.standby.copy(self.primary)
        self.standby.start()
        self.wait_for_standby()

    def wait_for_standby(self):
        """No commit returns any more before the standby has it."""
        self.wait_for(self.primary, "*")
        deadline = time.monotonic() + SYNCHRONOUS_WITHIN
        while self.sql("SELECT state, sync_state FROM pg_stat_replication", "postgres") != [["streaming", "sync"]]:
            if time.monotonic() > deadline:
                raise AssertionError("the standby does not follow")
            time.sleep(0.05)  # Asks again; nothing depends on how long.
        # Who tells all that they have to wait is the checkpointer, once it has read the settings: now it has.
        self.sql("CHECKPOINT", "postgres")

    @staticmethod
    def wait_for(server: PostgresServer, standbys: str):
        """Sets for which standbys a commit waits."""
        server.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{standbys}'", "postgres")
        server.sql("SELECT pg_reload_conf()", "postgres")

    def remove(self):
        for server in self.servers:
            server.remove()
        shutil.rmtree(self.folder)
