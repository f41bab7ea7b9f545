"""The sums of docs/reference/limits.md: that every row of its bounds names one, that every sum is proved, and that those
which no other test reaches hold.

Run with `.venv/bin/python Tests/Stories/test_sums.py`; OOB_BIN_DIR names the programs' directory.
"""

import contextlib
import re
import socket
import time
import unittest

import citations
from programs import Agent, free_port, started, temporary_folder
from push_campaign import private_memory

PAGE = citations.page("limits.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its first two lines."""
    section = re.split(rf"^#+ {heading}$", PAGE, flags=re.MULTILINE)[1]
    section = re.split(r"^#+ ", section, flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


class ThePage(unittest.TestCase):
    """A bound on one thing says of which sum it is a part."""

    def setUp(self):
        self.bounds, self.sums = rows("Bounds"), rows("Sums")
        self.assertGreater(len(self.bounds), 30)
        self.assertGreater(len(self.sums), 8)

    def test_every_bound_is_part_of_a_sum(self):
        names = {sum[0] for sum in self.sums}
        for bound in self.bounds:
            with self.subTest(bound=bound[0]):
                parts = [part.strip() for part in bound[-1].split(",")]
                self.assertLessEqual(set(parts), names)

    def test_every_sum_has_a_bound_says_who_shares_it_and_cites_a_test_that_reaches_it(self):
        tests = citations.parts(citations.page("limits.md"))[1].split("- [Sums](#sums)")[1]
        for name, bound, shared, past in self.sums:
            with self.subTest(sum=name):
                self.assertRegex(bound, r"\d|free")
                self.assertTrue(shared)
                listed = re.search(rf"^  - {re.escape(name)}: (.*?)(?=^ *- |\Z)", tests, re.DOTALL | re.MULTILINE)
                self.assertTrue(listed, "it is not in the list of tests")
                found = " ".join(listed[1].split())
                self.assertTrue(citations.swift_tests(found) or citations.outside_tests(found))

    def test_every_sum_has_a_part(self):
        parts = {part.strip() for bound in self.bounds for part in bound[-1].split(",")}
        self.assertEqual([sum[0] for sum in self.sums if sum[0] not in parts], [])


def clients(stack: contextlib.ExitStack, count: int, connect, sent: bytes) -> list[socket.socket]:
    """Connections that have sent all but the last byte of a request."""
    made = []
    for _ in range(count):
        connection = stack.enter_context(connect())
        connection.settimeout(120)
        # A connection that was closed for another one ends here.
        with contextlib.suppress(ConnectionError):
            connection.sendall(sent)
        made.append(connection)
    return made


class HalfRequests(unittest.TestCase):
    """All places are taken by requests of which the last byte is missing."""

    PLACES = 256

    def greatest_memory(self, agent: Agent, seconds: float) -> float:
        """MB; while it is measured the agent answers."""
        greatest, end = 0.0, time.monotonic() + seconds
        while time.monotonic() < end:
            self.assertEqual(agent.json("status")["state"], "ready")
            greatest = max(greatest, private_memory(agent))
        return greatest

    def test_on_the_control_socket_they_hold_their_bytes_and_no_more(self):
        agent = started(type(self), Agent(temporary_folder(type(self))))
        head = "POST /v1/enrollments HTTP/1.1\r\nhost: agent\r\ncontent-type: application/json\r\ncontent-length: 65536\r\n"
        fields = "".join(f"x-{number}: {'f' * 7_500}\r\n" for number in range(2))
        sent = (head + fields + "\r\n").encode() + b" " * 65_535

        def connect() -> socket.socket:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(agent.socket))
            return connection

        before = private_memory(agent)
        with contextlib.ExitStack() as stack:
            clients(stack, self.PLACES, connect, sent)
            # 256 of 80 KiB are 20 MiB; buffers grow by doubling.
            self.assertLess(self.greatest_memory(agent, 3) - before, 60)

    def test_on_the_push_port_they_hold_their_bytes_and_no_more(self):
        port = free_port()
        agent = started(type(self), Agent(
            temporary_folder(type(self)), "--push-listen", f"localhost:{port}", "--push-url", f"http://localhost:{port}"))
        head = "POST /p/unknown HTTP/1.1\r\nhost: localhost\r\ncontent-encoding: aes128gcm\r\ncontent-length: 4096\r\n"
        fields = "".join(f"x-{number}: {'f' * 5_000}\r\n" for number in range(3))
        sent = (head + fields + "\r\n").encode() + b" " * 4_095
        before = private_memory(agent)
        with contextlib.ExitStack() as stack:
            clients(stack, self.PLACES, lambda: socket.create_connection(("localhost", port)), sent)
            # 256 of 20 KiB are 5 MiB.
            self.assertLess(self.greatest_memory(agent, 3) - before, 40)


if __name__ == "__main__":
    unittest.main()
