"""Many polls of one bad issuer: the agent's memory and descriptors are shared out, and all else goes on.

Run with `.venv/bin/python Tests/Stories/test_issuer_shares.py`; OOB_BIN_DIR names the programs' directory. With
OOB_FULL_SIZE=1 it has the sizes of the promise, and takes ten minutes.
"""

import concurrent.futures
import os
import re
import subprocess
import time
import unittest
from pathlib import Path

import hungry_issuer
from hungry_issuer import HungryIssuer
from programs import BIN_DIR, Agent, Sandbox, started, temporary_folder

IS_FULL = os.environ.get("OOB_FULL_SIZE") == "1"
ORDER = ["--amount", "100", "--currency", "840", "--exponent", "2", "--merchant", "Shop"]
PROGRAMS = ["oob-agent", "oobctl", "oob-inbox", "oob-issuer", "oob-conform"]


def limited(files: int, *command: str) -> tuple[str, ...]:
    """Starts a command that may open so many files, by the soft and by the hard limit."""
    return "sh", "-c", f'ulimit -n {files} && exec "$0" "$@"', *command


def enroll(agent: Agent, issuer: HungryIssuer, count: int):
    def one(number: int):
        run = agent.ctl("enroll", "--issuer", issuer.origin, "--code", f"ABCD-{number:04d}")
        if run.returncode != 0:
            raise AssertionError(f"enroll exits {run.returncode}: {run.stderr}\n{agent.tail()}")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in pool.map(one, range(count)):
            pass


def resident(agent: Agent, which: str) -> int:
    """MB: VmRSS now, VmHWM at most."""
    status = Path(f"/proc/{agent.process.pid}/status").read_text()
    return int(re.search(rf"{which}:\s+(\d+) kB", status)[1]) // 1024


def within(seconds: float, condition, what: str):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.1)  # Asks again; nothing depends on how long.


class IssuerSharesTest(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)

    def approve_elsewhere(self, agent: Agent, sandbox: Sandbox) -> float:
        """The seconds that a purchase at another issuer takes from its start to its end."""
        begun = time.monotonic()
        buyer = subprocess.Popen(
            [BIN_DIR / "oob-issuer", "purchase", *ORDER, "--issuer", sandbox.origin, "--wait"], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        run = agent.ctl("approve", "--next", "--wait", "60")
        self.assertEqual(run.returncode, 0, run.stderr)
        said, _ = buyer.communicate(timeout=120)
        self.assertEqual(buyer.returncode, 0, said)
        return time.monotonic() - begun

    def starve(self, polls, count: int, most: int):
        """All enrollments of one issuer are answered badly at once: the agent has at most so many MB, and approves."""
        sandbox = started(self, Sandbox(self.folder))
        agent = started(self, Agent(self.folder))
        code = subprocess.run([BIN_DIR / "oob-issuer", "code", "--issuer", sandbox.origin], capture_output=True,
                              text=True, check=True).stdout.split()[0]
        run = agent.ctl("enroll", "--issuer", sandbox.origin, "--code", code, "--authn-type", "presence")
        self.assertEqual(run.returncode, 0, run.stderr)
        before = resident(agent, "VmRSS")
        with HungryIssuer(polls) as issuer:
            enroll(agent, issuer, count)
            within(120, lambda: len(issuer.polled) >= min(count, 150), "the polls come")
            seconds = self.approve_elsewhere(agent, sandbox)
            if IS_FULL:
                time.sleep(60)
            peak = resident(agent, "VmHWM")
            print(f"{count} enrollments, {polls.__name__}: {before} MB before, {peak} MB at most; approved in {seconds:.1f} s")
            self.assertLess(peak, most)
            # No longer than the command itself waits for a request.
            self.assertLess(seconds, 60)
            self.assertEqual(agent.ctl("status").returncode in (0, 1), True)

    def test_an_issuer_that_drips_long_lists_to_all_its_polls_does_not_fill_the_agent(self):
        self.starve(hungry_issuer.drip, 500 if IS_FULL else 100, 200)

    def test_an_issuer_whose_header_fields_never_end_does_not_fill_the_agent(self):
        self.starve(hungry_issuer.swell, 500 if IS_FULL else 40, 200)

    def test_more_enrollments_than_descriptors_are_all_polled_and_the_control_socket_answers(self):
        files, count = (1_024, 1_100) if IS_FULL else (96, 120)
        agent = started(self, Agent(self.folder, through=limited(files)))
        with HungryIssuer(hungry_issuer.hold if IS_FULL else hungry_issuer.hold_shortly) as issuer:
            enroll(agent, issuer, count)
            begun = time.monotonic()
            slowest = 0.0

            def all_polled() -> bool:
                nonlocal slowest
                asked = time.monotonic()
                status = agent.json("status")
                slowest = max(slowest, time.monotonic() - asked)
                self.assertEqual([reason for reason in status["reasons"] if "descriptor" in reason], [])
                return sum(polls[-1] >= begun for polls in list(issuer.polled.values())) == count

            within(180, all_polled, f"each of {count} is polled:\n{agent.tail()}")
            seconds = time.monotonic() - begun
            if IS_FULL:
                time.sleep(max(0, 60 - seconds))
                self.assertLess(slowest, 1)
            open_files = len(os.listdir(f"/proc/{agent.process.pid}/fd"))
            print(f"{count} enrollments, {files} files: {open_files} open, all polled in {seconds:.1f} s, status in {slowest:.2f} s")
            self.assertLess(open_files, files)
            self.assertNotIn("host name", agent.log.read_text())

    def test_with_too_few_files_each_program_says_so(self):
        for program in PROGRAMS:
            for files in [10, 14, 16, 20, 22, 40, 63]:
                run = subprocess.run(limited(files, BIN_DIR / program, "--version"), capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stdout), (71, ""), program)
                self.assertEqual(
                    run.stderr, f"{program}: this process may open {files} files and needs 64: raise the limit "
                    "(ulimit -n, or LimitNOFILE= of a unit)\n")
            for files in [64, 70]:
                run = subprocess.run(limited(files, BIN_DIR / program, "--version"), capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stderr), (0, ""), program)

    def test_with_the_fewest_files_an_approval_goes_through(self):
        sandbox = started(self, Sandbox(self.folder, through=limited(64)))
        agent = started(self, Agent(self.folder, through=limited(64)))
        code = subprocess.run([BIN_DIR / "oob-issuer", "code", "--issuer", sandbox.origin], capture_output=True,
                              text=True, check=True).stdout.split()[0]
        run = agent.ctl("enroll", "--issuer", sandbox.origin, "--code", code, "--authn-type", "presence")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.approve_elsewhere(agent, sandbox)

    def test_the_soft_limit_is_raised(self):
        agent = started(self, Agent(self.folder, through=("sh", "-c", 'ulimit -S -n 40 && exec "$0" "$@"')))
        limits = Path(f"/proc/{agent.process.pid}/limits").read_text()
        soft, hard = re.search(r"Max open files\s+(\d+)\s+(\d+)", limits).groups()
        self.assertEqual(soft, hard)


if __name__ == "__main__":
    unittest.main(verbosity=2)
