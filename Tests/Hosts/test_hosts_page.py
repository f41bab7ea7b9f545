"""The commands of the page about several hosts, on hosts with a systemd each: see Tests/Hosts/box. It needs root.

Run with `.venv/bin/python Tests/Hosts/test_hosts_page.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import shutil
import tempfile
import threading
import time
import unittest
from pathlib import Path

from box_network import Network
from programs import BIN_DIR
from systemd_box import AGENT, PROGRAMS, UNITS, can_skip, page_blocks

PAGE = "high-availability.md"
PLACE = "/usr/share/oob-agent/systemd"
ISSUER = "https://issuer:8443"
FILES = {
    "db-1": ["db-ca.pem", "db-1.crt", "db-1.key", "database-password", "replication-password"],
    "db-2": ["db-ca.pem", "db-2.crt", "db-2.key", "database-password", "replication-password"],
    "agent-1": ["db-ca.pem", "database-password", "secret"], "agent-2": ["db-ca.pem", "database-password", "secret"],
}
PROMOTED_WITHIN = 180


@can_skip()
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not Path("/usr/bin/pgbackrest").exists() or not Path("/usr/bin/pg_createcluster").exists():
            raise unittest.SkipTest("no pgbackrest or no postgresql-15 here: Scripts/bootstrap --tests installs them")
        folder = Path(tempfile.mkdtemp(prefix="oob-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, folder)
        programs = [f"{BIN_DIR / name}:/usr/bin/{name}" for name in PROGRAMS]
        agent = [*programs, f"{UNITS}:{PLACE}"]
        cls.network = Network(folder, {"issuer": programs, "db-1": [], "db-2": [], "agent-1": agent, "agent-2": agent})
        cls.addClassCleanup(cls.network.down)
        cls.blocks = {}

    def run_block(self, host: str, heading: str, number: int, **names: str):
        """A block of the page in a shell of root's, in the directory that has the host's files."""
        block = page_blocks(heading, PAGE)[number]
        self.done.add((heading, number))
        words = "".join(f"{name}='{value}'\n" for name, value in names.items())
        run = self.box(host).run("bash", "-c", f"cd /root\nset -e\n{words}{block}", check=False)
        self.assertEqual(run.returncode, 0, f"{host}: {heading} {number}: {run.stdout}{run.stderr}"
                         f"{self.box(host).lines(AGENT)}")
        return run.stdout

    def box(self, host: str):
        return self.network.boxes[host]

    def ctl(self, host: str, *words: str, check: bool = True):
        return self.box(host).run("oobctl", *words, "--socket", "/run/oob-agent/control.sock", check=check)

    def json(self, host: str, *words: str):
        return json.loads(self.ctl(host, *words, "--json").stdout)

    def issuer(self, *words: str) -> str:
        return self.box("issuer").run("oob-issuer", *words, "--issuer", ISSUER).stdout.strip()

    def buy(self, *hosts: str) -> str:
        """The acsTransId of a purchase, once its request is shown by each of the hosts."""
        bought = self.issuer("purchase", "--merchant", "Box", "--amount", "100", "--currency", "840", "--exponent", "2")
        for host in hosts:
            self.until(lambda host=host: self.ctl(host, "show", bought, check=False).returncode == 0, "the request", host)
        return bought

    def until(self, look, what: str, host: str = "agent-1"):
        return self.box(host).eventually(look, what)

    def approve(self, host: str, request: str):
        shown = self.json(host, "approve", request, "--delivery-timeout", "60")
        self.assertEqual((shown["state"], shown["delivery"], shown["transStatus"]), ("approved", "delivered", "Y"))

    # The parts of the set-up, in the page's order.

    def start_issuer(self):
        """With a certificate of the same CA."""
        box = self.box("issuer")
        box.run("bash", "-ec", """
            cd /root
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=issuer -addext subjectAltName=DNS:issuer \
                -keyout issuer.key -out issuer.csr 2> /dev/null
            openssl x509 -req -in issuer.csr -CA db-ca.pem -CAkey db-ca.key -CAcreateserial -copy_extensions copy -days 2 \
                -out issuer.crt 2> /dev/null
            install -m 0644 db-ca.pem /usr/local/share/ca-certificates/box.crt && update-ca-certificates > /dev/null 2>&1
            systemd-run --quiet --unit issuer oob-issuer serve --listen issuer:8443 --tls-cert /root/issuer.crt \
                --tls-key /root/issuer.key --database /root/issuer.db""")
        box.eventually(lambda: box.run("oob-issuer", "code", "--issuer", ISSUER, check=False).returncode == 0, "the issuer")

    def hand_out(self):
        """What the page has copied to the other hosts."""
        self.run_block("issuer", "Certificates", 0)
        for host, names in FILES.items():
            for name in names:
                source = self.box("issuer").folder / "files" / name
                self.box("issuer").run("cp", f"/root/{name}", f"/host/{name}")
                shutil.copyfile(source, self.box(host).folder / "files" / name)
                self.box(host).run("install", "-m", "0600", f"/host/{name}", f"/root/{name}")

    def make_databases(self):
        self.assertEqual(page_blocks("The primary", PAGE)[0], "apt install postgresql-15 pgbackrest\n")
        self.done.add(("The primary", 0))
        for host in ["db-1", "db-2"]:
            # As the package leaves it, whatever this machine has of it.
            self.box(host).run("sh", "-ec", """
                rm -rf /etc/postgresql/15 /var/lib/postgresql/15 /etc/pgbackrest.conf
                install -d -o postgres -g postgres -m 0750 /var/lib/pgbackrest
                pg_createcluster 15 main > /dev/null && systemctl start postgresql@15-main""")
            self.run_block(host, "The primary", 1)
        self.run_block("db-1", "The primary", 2)

    def make_standby(self, host: str, primary: str):
        (block, *_) = page_blocks("The standby", PAGE)
        self.assertIn("primary=db-1\n", block)
        self.done.add(("The standby", 0))
        run = self.box(host).run(
            "bash", "-c", f"cd /root\nset -e\n{block.replace('primary=db-1', f'primary={primary}')}", check=False)
        self.assertEqual(run.returncode, 0, f"{run.stdout}{run.stderr}")
        self.run_block(primary, "The standby", 1)

    def make_agents(self):
        for host in ["agent-1", "agent-2"]:
            # Root's own agent, if this machine has had one, is not this one.
            self.box(host).run("rm", "-rf", "/root/.local/state/oob-agent")
            for block in page_blocks("Install by hand")[1:3]:
                self.box(host).run("sh", "-ec", f"cd {PLACE}/..\n{block}")
            self.box(host).run("sh", "-ec", "install -m 0644 /host/db-ca.pem /usr/local/share/ca-certificates/box.crt && "
                               "update-ca-certificates > /dev/null 2>&1")
            self.run_block(host, "The agents", 0)

    def enroll(self):
        code = json.loads(self.box("issuer").run("oob-issuer", "code", "--json", "--issuer", ISSUER).stdout)["code"]
        card = self.json("agent-1", "enroll", "--issuer", ISSUER, "--code", code, "--authn-type", "presence")
        return card["id"]

    def sign_count(self, database: str) -> int:
        return int(self.sql(database, "SELECT max(sign_count) FROM enrollment"))

    def sql(self, host: str, statement: str) -> str:
        return self.box(host).run("psql", "-XAtq", "-d", "oob", "-c", statement, user="postgres").stdout.strip()

    def test_the_page_sets_up_hosts_that_survive_a_restore_and_the_loss_of_the_primary(self):
        self.done: set[tuple[str, int]] = set()
        self.hand_out()
        self.start_issuer()
        self.make_databases()
        self.make_standby("db-2", "db-1")
        self.make_agents()
        self.enroll()
        for host in ["agent-1", "agent-2"]:
            self.approve(host, self.buy("agent-1", "agent-2"))
        self.back_up_and_restore()
        self.fail_over()
        self.upgrade()
        all_blocks = {(heading, number) for heading in [
            "Certificates", "The primary", "The standby", "The agents", "Backups", "Fail over", "Restore", "Upgrade"]
            for number in range(len(page_blocks(heading, PAGE)))}
        self.assertEqual(self.done, all_blocks)

    def back_up_and_restore(self):
        for_later = self.buy("agent-1")
        self.run_block("db-1", "Backups", 0)
        before = self.sign_count("db-1")
        # pgBackRest takes a backup whose end is in an earlier second.
        self.sql("db-1", "SELECT pg_sleep(2)")
        moment = self.sql("db-1", "SELECT clock_timestamp()")
        lost = self.buy("agent-1")
        self.approve("agent-1", lost)
        self.assertEqual(self.sign_count("db-1"), before + 1)
        for host in ["agent-1", "agent-2"]:
            self.run_block(host, "Restore", 0)
        self.run_block("db-1", "Restore", 1, moment=moment)
        self.assertEqual(self.sign_count("db-1"), before)
        self.make_standby("db-2", "db-1")
        # Before the issuer has said which signCount it accepted, nothing is signed.
        self.box("issuer").systemctl("kill", "--signal=STOP", "issuer.service")
        # A host that was not told of the restore notices it: agent-2 has written since, too.
        self.box("agent-2").systemctl("start", AGENT)
        self.assertIn("restored: ", " ".join(self.json("agent-2", "status")["reasons"]))
        self.box("agent-2").systemctl("stop", AGENT)
        self.run_block("agent-1", "Restore", 2)
        self.assertNotEqual(self.ctl("agent-1", "approve", for_later, check=False).returncode, 0)
        self.box("issuer").systemctl("kill", "--signal=CONT", "issuer.service")
        self.run_block("agent-2", "Restore", 2)
        self.until(lambda: self.ctl("agent-1", "approve", for_later, check=False).returncode == 0, "an approval")
        self.assertGreater(self.sign_count("db-1"), before + 1)
        self.approve("agent-2", self.buy("agent-2"))

    def fail_over(self):
        """The primary is killed while both hosts decide; what was acknowledged is on the other."""
        requests = [self.buy("agent-1", "agent-2") for _ in range(6)]
        told: list[str] = []

        def decide(host: str, mine: list[str]):
            for each in mine:
                run = self.ctl(host, "approve", each, "--json", "--delivery-timeout", "0", check=False)
                if run.stdout and json.loads(run.stdout)["state"] == "approved":
                    told.append(each)

        callers = [threading.Thread(target=decide, args=(host, requests[place::2]))
                   for place, host in enumerate(["agent-1", "agent-2"])]
        for caller in callers:
            caller.start()
        self.until(lambda: told, "the first approval")
        self.box("db-1").systemctl("kill", "--signal=KILL", "--kill-whom=all", "postgresql@15-main")
        self.run_block("db-1", "Fail over", 0)
        for caller in callers:
            caller.join(PROMOTED_WITHIN)
        self.assertEqual(self.run_block("db-2", "Fail over", 1), "t\nt\n")
        for host in ["agent-1", "agent-2"]:
            self.until(lambda host=host: self.ctl(host, "show", requests[0], check=False).returncode == 0, "the store", host)
        for each in told:
            self.until(lambda each=each: self.json("agent-2", "show", each)["delivery"] == "delivered", "delivery")
            self.assertEqual(self.json("agent-2", "show", each)["state"], "approved")
        for each in set(requests) - set(told):
            self.until(lambda each=each: self.ctl("agent-1", "approve", each, check=False).returncode == 0
                       or self.json("agent-1", "show", each)["state"] == "approved", "an approval")
            self.until(lambda each=each: self.json("agent-1", "show", each)["delivery"] == "delivered", "delivery")
        self.make_standby("db-1", "db-2")
        self.run_block("db-2", "Backups", 0)
        self.approve("agent-2", self.buy("agent-2"))

    def upgrade(self):
        """test_installation.py upgrades by the package; here it is a restart, while the other host decides."""
        self.assertEqual(page_blocks("Upgrade", PAGE), ["apt install ./oob-agent_*.deb\noobctl status\n"])
        self.done.add(("Upgrade", 0))
        for host, other in [("agent-1", "agent-2"), ("agent-2", "agent-1")]:
            self.box(host).systemctl("stop", AGENT)
            self.approve(other, self.buy(other))
            self.box(host).systemctl("start", AGENT)


if __name__ == "__main__":
    unittest.main()
