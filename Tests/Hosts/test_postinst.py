"""The packages' postinst, with stand-ins for systemd and debconf: what it says where a service does not start again.

Run with `.venv/bin/python Tests/Hosts/test_postinst.py`. In a real systemd it runs in test_installation.py.
"""

import subprocess
import unittest
from pathlib import Path

from programs import temporary_folder

SCRIPTS = Path(__file__).resolve().parents[2] / "packaging" / "debian"
TOOLS = ["systemd-sysusers", "systemd-tmpfiles", "systemctl", "deb-systemd-helper"]


class AfterAnUpgrade(unittest.TestCase):
    def run_postinst(self, *arguments: str, invoke: str, package: str = "oob-agent") -> subprocess.CompletedProcess:
        """`invoke` is the body of deb-systemd-invoke's stand-in."""
        folder = temporary_folder(type(self))
        (folder / "confmodule").write_text("db_stop() { :; }\n")
        (folder / "system").mkdir()
        for name in [*TOOLS, "deb-systemd-invoke"]:
            (folder / name).write_text("#!/bin/sh\n" + (invoke if name == "deb-systemd-invoke" else ":") + "\n")
            (folder / name).chmod(0o755)
        script = (SCRIPTS / package / "postinst").read_text()
        self.assertIn("/run/systemd/system", script)
        for path, ours in [("/usr/share/debconf/confmodule", folder / "confmodule"),
                           ("/run/systemd/system", folder / "system")]:
            script = script.replace(path, str(ours))
        (folder / "postinst").write_text(script)
        return subprocess.run(["sh", folder / "postinst", *arguments], capture_output=True, text=True, timeout=60,
                              env={"PATH": f"{folder}:/usr/bin:/bin"})

    def test_a_service_that_does_not_start_again_is_said_and_the_package_is_configured(self):
        for arguments, verb in [(("configure", "1.0"), "try-restart"), (("abort-upgrade", "1.0"), "start")]:
            with self.subTest(verb):
                run = self.run_postinst(*arguments, invoke="echo 'Job for oob-agent.service failed.' >&2; exit 1")
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn("Job for oob-agent.service failed.", run.stderr)
                self.assertIn(f"oob-agent: the package is installed, but '{verb}' failed for a service", run.stderr)
                self.assertIn("systemctl status oob-agent.service", run.stderr)
                run = self.run_postinst(*arguments, invoke="exit 1", package="oob-testkit")
                self.assertEqual((run.returncode, run.stderr), (0, (
                    f"oob-testkit: the package is installed, but '{verb}' failed: see systemctl status "
                    "oob-issuer.service\n")))

    def test_nothing_is_said_where_all_goes_well(self):
        for package in ["oob-agent", "oob-testkit"]:
            run = self.run_postinst("configure", "1.0", invoke=":", package=package)
            self.assertEqual((run.returncode, run.stdout + run.stderr), (0, ""))

    def test_it_restarts_what_runs_of_the_agent_and_its_instances_or_the_sandbox(self):
        # With a version there is no secret to make, which would be in /etc.
        run = self.run_postinst("configure", "1.0", invoke='echo "$@" >&2')
        self.assertEqual(run.stderr, "try-restart oob-agent.service oob-agent@*.service\n")
        run = self.run_postinst("configure", "1.0", invoke='echo "$@" >&2', package="oob-testkit")
        self.assertEqual(run.stderr, "try-restart oob-issuer.service\n")


if __name__ == "__main__":
    unittest.main()
