"""What an agent under a real systemd speaks to. See Tests/Hosts/box; it needs root.

Run with `.venv/bin/python Tests/Hosts/test_systemd_reach.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import unittest

from systemd_box import AGENT, CONFIG, UNITS, Installed, can_skip


@can_skip()
class Reach(Installed):
    """All that an agent speaks to, under the units and the drop-ins for it."""

    def drop(self, name: str, more: str = ""):
        self.box.drop_in(AGENT, name, (UNITS / "drop-ins" / f"{name}.conf").read_text() + more)

    def test_tls_and_pushes_go_through_on_loopback_alone(self):
        self.drop("loopback")
        self.drop("low-port")
        self.box.write(CONFIG, "push-listen: 127.0.0.1:90\npush-url: http://localhost:90\n")
        self.box.run("sh", "-ec", """
            cd /host && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost -days 2 -keyout k.pem -out c.pem 2> /dev/null
            install -m 0644 c.pem /usr/local/share/ca-certificates/box.crt && update-ca-certificates > /dev/null 2>&1
            systemd-run --quiet --unit tls-issuer oob-issuer serve --listen localhost:8443 --tls-cert /host/c.pem \
                --tls-key /host/k.pem""")
        self.addCleanup(self.box.systemctl, "stop", "tls-issuer.service")
        self.start()
        at = ("--issuer", "https://localhost:8443")
        issuer = lambda *words: self.box.run("oob-issuer", *words, *at, check=False)  # noqa: E731
        code = self.box.eventually(lambda: issuer("code").stdout, "the issuer").splitlines()[0]
        self.ctl("enroll", *at, "--code", code, "--authn-type", "presence")
        bought = issuer("purchase", "--push", "only", "--merchant", "Box", "--amount", "100", "--currency", "840",
                        "--exponent", "2")
        self.approve(bought.stdout.strip(), "--wait", "60")

    def test_a_key_on_a_token_signs(self):
        environment = "SOFTHSM2_CONF=/etc/oob-tokens.conf"
        self.drop("pkcs11", f"[Service]\nReadWritePaths=/var/lib/oob-tokens\nEnvironment={environment}\n")
        self.box.write("/etc/oob-tokens.conf", "directories.tokendir = /var/lib/oob-tokens\nlog.level = ERROR\n")
        module = "/usr/lib/softhsm/libsofthsm2.so"
        self.box.write(CONFIG, f"pkcs11-module: {module}\n")
        self.box.run("sh", "-ec", f"""
            install -d -o oob-agent -m 0700 /var/lib/oob-tokens
            as() {{ setpriv --reuid oob-agent --regid oob-agent --init-groups env {environment} "$@"; }}
            as softhsm2-util --init-token --free --label box --so-pin 12345678 --pin 2468
            as p11tool --provider {module} --generate-privkey ecc --curve secp256r1 --no-mark-private --label card \
                --id 07 --login --set-pin 2468 --batch pkcs11:token=box""")
        self.start()
        self.enroll("--key-uri", "pkcs11:token=box;object=card")
        self.approve(self.purchase())

    def test_a_key_in_the_tpm_signs(self):
        """A TPM of software, on a socket, for there is no device here: the rest of the drop-in is as it stands."""
        self.drop("tpm", "Environment=TSS2_LOG=all+none\n")
        self.box.run("sh", "-ec", """
            install -d -m 0755 /run/tpm && swtpm socket --tpm2 --daemon --tpmstate dir=/run/tpm \
                --server type=unixio,path=/run/tpm/s,mode=0660 --ctrl type=unixio,path=/run/tpm/s.ctrl,mode=0660 \
                --flags not-need-init,startup-clear
            chgrp tss /run/tpm/s /run/tpm/s.ctrl
            export TPM2TOOLS_TCTI=swtpm:path=/run/tpm/s TSS2_LOG=all+none
            tpm2_createprimary -Q -C o -G ecc -c /run/tpm/primary
            tpm2_create -Q -C /run/tpm/primary -G ecc256 -u /run/tpm/u -r /run/tpm/r
            tpm2_flushcontext -t
            tpm2_load -Q -C /run/tpm/primary -u /run/tpm/u -r /run/tpm/r -c /run/tpm/key
            tpm2_flushcontext -t
            tpm2_evictcontrol -Q -C o -c /run/tpm/key 0x81000001
            tpm2_flushcontext -t""")
        self.addCleanup(self.box.run, "swtpm_ioctl", "-s", "--unix", "/run/tpm/s.ctrl")
        self.box.write(CONFIG, "tpm-tcti: swtpm:path=/run/tpm/s\n")
        self.start()
        self.enroll("--key-uri", "handle:0x81000001")
        self.approve(self.purchase())

    def make_database(self):
        """A server of Debian's as the page has it: TLS and a password over TCP, the user's own name on the socket."""
        self.box.run("sh", "-ec", """
            rm -rf /etc/postgresql/15 /var/lib/postgresql/15
            pg_createcluster 15 main -- --encoding=UTF8 > /dev/null
            cd /etc/postgresql/15/main
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost -days 2 -keyout server.key -out server.crt 2> /dev/null
            chown postgres server.key && install -m 0644 server.crt /etc/oob-agent/db-ca.pem
            printf '%s\n' "ssl_cert_file = '$PWD/server.crt'" "ssl_key_file = '$PWD/server.key'" \
                'ssl = on' 'shared_buffers = 16MB' >> postgresql.conf
            printf '%s\n' 'local all postgres peer' 'local oob oob-agent peer' \
                'hostssl oob oob-agent localhost scram-sha-256' > pg_hba.conf
            systemctl start postgresql@15-main
            (umask 077; printf '%s' 0123456789abcdef > /etc/credstore/oob-agent.database-password)""")
        self.addCleanup(self.box.run, "pg_dropcluster", "--stop", "15", "main")
        self.addCleanup(self.box.systemctl, "stop", AGENT)
        self.box.run("psql", "--quiet", "-c", "CREATE ROLE \"oob-agent\" LOGIN PASSWORD '0123456789abcdef'",
                     "-c", "CREATE DATABASE oob OWNER \"oob-agent\" TEMPLATE template0 ENCODING 'UTF8'", user="postgres")

    def test_a_store_in_postgresql_is_reached_over_tls_with_a_password_that_systemd_hands_over(self):
        self.make_database()
        self.drop("postgresql")
        self.box.write(CONFIG, """socket-group: oob-approvers
database: "postgres://oob-agent@localhost/oob?sslrootcert=/etc/oob-agent/db-ca.pem"
database-password-file: /run/credentials/oob-agent.service/database-password
host-name: box
""")
        self.start()
        self.enroll()
        self.approve(self.purchase())
        seen = self.box.run("psql", "-XAtq", "-d", "oob", "-c", "SELECT bool_and(ssl), count(*) > 0 FROM pg_stat_ssl "
                            "JOIN pg_stat_activity USING (pid) WHERE usename = 'oob-agent'", user="postgres").stdout
        self.assertEqual(seen, "t|t\n")

    def test_a_store_in_postgresql_is_reached_by_its_socket_as_the_services_user(self):
        self.make_database()
        self.box.write(CONFIG, """socket-group: oob-approvers
database: "postgres://oob-agent@/oob?host=/run/postgresql"
host-name: box
""")
        self.start()
        self.enroll()
        self.approve(self.purchase())

    def test_a_user_has_an_agent_of_their_own(self):
        self.box.run(
            "install", "-D", "-m", "0644", "-t", "/etc/systemd/user", "/usr/share/oob-agent/systemd/user/oob-agent.service")
        # A box has no sessions, which would make the directory.
        self.box.drop_in("user-runtime-dir@.service", "box", (
            "[Service]\nExecStart=\nExecStart=install -d -m 0700 -o %i -g %i /run/user/%i\nExecStop=\n"))
        uid = self.box.run("id", "-u", "bob").stdout.strip()
        self.box.systemctl("start", f"user@{uid}.service")
        self.addCleanup(self.box.systemctl, "stop", f"user@{uid}.service")
        place = f"XDG_RUNTIME_DIR=/run/user/{uid}"
        self.box.run("install", "-d", "-o", "bob", "-g", "bob", "/home/bob")
        self.box.run("env", place, "systemctl", "--user", "start", "oob-agent.service", user="bob")
        said = self.box.run("env", place, "HOME=/home/bob", "oobctl", "status", "--json", user="bob").stdout
        self.assertEqual(json.loads(said)["state"], "ready")
        self.assertEqual(self.box.run("stat", "-c", "%U", "/home/bob/.local/state/oob-agent").stdout, "bob\n")


if __name__ == "__main__":
    unittest.main()
