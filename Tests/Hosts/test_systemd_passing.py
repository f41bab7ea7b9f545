"""What passes, under a real systemd: a port that is taken, a full disk. See Tests/Hosts/box; it needs root.

Run with `.venv/bin/python Tests/Hosts/test_systemd_passing.py`; OOB_BIN_DIR names the programs' directory.
"""

import unittest

from systemd_box import AGENT, CONFIG, Box, Installed, can_skip


def fails_often(box: Box, status: str):
    """More often than a limit of ten would let it, each time with this status."""
    for times in range(1, 14):
        box.eventually(lambda times=times: int(box.show(AGENT, "NRestarts")) >= times, f"restart {times}")
    # While the next one runs there is none.
    box.eventually(lambda: box.show(AGENT, "ExecMainStatus") == status, f"status {status}")


@can_skip()
class Passing(Installed):
    """Faults that pass, and starts by hand: there is no limit."""

    def setUp(self):
        super().setUp()
        self.box.drop_in(AGENT, "fast", "[Service]\nRestartSec=10ms\n")

    def test_a_fault_that_passes_is_outlasted_however_often_it_failed(self):
        # 8080 is the issuer's, until it is stopped.
        self.box.write(CONFIG, "push-listen: 127.0.0.1:8080\npush-url: http://localhost:8080\n")
        self.box.systemctl("start", "--no-block", AGENT)
        fails_often(self.box, "69")
        self.addCleanup(self.box.systemctl, "start", "oob-issuer.service")
        self.box.systemctl("stop", "oob-issuer.service")
        self.box.eventually(lambda: self.box.show(AGENT, "ActiveState") == "active", "the agent")

    def test_starts_by_hand_are_not_counted(self):
        for _ in range(12):
            self.box.systemctl("restart", AGENT)
        self.assertEqual(self.json("status")["state"], "ready")


@can_skip()
class FullDisk(Installed):
    def setUp(self):
        super().setUp()
        self.box.run("sh", "-ec", """
            mkdir -p /var/lib/oob-agent && mount -t tmpfs -o size=4m,mode=0700 small /var/lib/oob-agent""")
        self.addCleanup(self.box.run, "sh", "-c", "systemctl stop oob-agent; umount /var/lib/oob-agent")

    def fill(self):
        self.box.run("sh", "-c", "cat /dev/zero >> /var/lib/oob-agent/ballast 2>/dev/null || true")

    def purchases_on_a_full_disk(self) -> tuple[str, str]:
        """Two that are pending. The reserve beside the database is still kept."""
        self.start()
        self.enroll()
        purchases = self.purchase(), self.purchase()
        self.fill()
        return purchases

    def sign_of_life(self) -> int:
        return int(self.box.show(AGENT, "WatchdogTimestampMonotonic"))

    def test_a_full_disk_is_told_loses_nothing_and_is_recovered_from(self):
        self.box.drop_in(AGENT, "watchdog", "[Service]\nWatchdogSec=20s\n")
        first, second = self.purchases_on_a_full_disk()
        # The first is decided in the room of the reserve. The disk is full again, and now there is none.
        self.approve(first)
        self.fill()
        refused = self.ctl("approve", second, "--json", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("full", refused.stderr)
        self.box.eventually(lambda: self.box.show(AGENT, "StatusText").startswith("Degraded: "), "the trouble")
        self.assertIn("full", self.box.show(AGENT, "StatusText"))
        # It is no reason to be killed: signs of life go on coming, until the deadline of what was refused is long past.
        for _ in range(5):
            before = self.sign_of_life()
            self.box.eventually(lambda before=before: self.sign_of_life() > before, "a sign of life")
        self.assertEqual(self.box.show(AGENT, "NRestarts"), "0")
        self.box.run("rm", "/var/lib/oob-agent/ballast")
        self.box.eventually(lambda: self.json("status")["state"] == "ready", "the recovery")
        self.approve(second)
        self.assertEqual(self.box.show(AGENT, "NRestarts"), "0")

    def test_an_agent_that_is_killed_on_a_full_disk_starts_in_the_room_of_its_reserve(self):
        self.box.drop_in(AGENT, "fast", "[Service]\nRestartSec=10ms\n")
        purchase, _ = self.purchases_on_a_full_disk()
        self.kill()
        # Until systemd has noticed the death, the unit is still the active one of before.
        self.box.eventually(
            lambda: (self.box.show(AGENT, "NRestarts"), self.box.show(AGENT, "ActiveState")) == ("1", "active"), "the agent")
        self.approve(purchase)
        self.assertEqual(self.box.show(AGENT, "NRestarts"), "1")

    def test_an_agent_that_is_killed_on_a_full_disk_without_reserve_comes_back_once_there_is_room(self):
        self.box.drop_in(AGENT, "fast", "[Service]\nRestartSec=10ms\n")
        first, second = self.purchases_on_a_full_disk()
        self.approve(first)
        self.fill()
        self.kill()
        fails_often(self.box, "74")
        self.box.run("rm", "/var/lib/oob-agent/ballast")
        self.box.eventually(lambda: self.box.show(AGENT, "ActiveState") == "active", "the agent")
        self.approve(second)

    def kill(self):
        self.box.run("kill", "-KILL", self.box.show(AGENT, "MainPID"))


if __name__ == "__main__":
    unittest.main()
