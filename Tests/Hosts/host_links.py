"""Links of a host to its database and to its issuer, which a test cuts and stalls.

A host has its issuer and its database on loopback, so it gets a network of its own (a namespace, as root) whose loopback
leads through links. As a program, this is what listens there: `host_links.py PORT=SOCKET ...`.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

PIECE = 65_536


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, flows: asyncio.Event):
    with contextlib.suppress(OSError):
        while data := await reader.read(PIECE):
            await flows.wait()
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.write_eof()


async def relay(one: tuple, other: tuple, flows: asyncio.Event):
    try:
        await asyncio.gather(pump(one[0], other[1], flows), pump(other[0], one[1], flows))
    finally:
        for _, writer in [one, other]:
            writer.transport.abort()


class Links:
    """The thread on which all links of a test run."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def call(self, act):
        """Runs on the thread, and waits for it."""
        async def once():
            return act()
        return self.run(once())

    def close(self):
        self.call(lambda: [task.cancel() for task in asyncio.all_tasks() if task is not asyncio.current_task()])
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(60)


class Link:
    """From a Unix socket that it makes to another one, or to a port of this network."""

    def __init__(self, links: Links, path: Path, target: Path | int):
        self.links, self.path, self.target = links, path, target
        self.is_closed, self.under_way = False, set()
        links.run(self.begin())

    async def begin(self):
        self.flows = asyncio.Event()
        self.flows.set()
        self.server = await asyncio.start_unix_server(self.connect, str(self.path), backlog=256)

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        task = asyncio.current_task()
        self.under_way.add(task)
        try:
            if self.is_closed:
                return
            await self.flows.wait()
            if isinstance(self.target, int):
                other = await asyncio.open_connection("localhost", self.target)
            else:
                other = await asyncio.open_unix_connection(str(self.target))
            await relay((reader, writer), other, self.flows)
        except (OSError, asyncio.CancelledError):
            pass  # It is cut.
        finally:
            writer.transport.abort()
            self.under_way.discard(task)

    def cut(self):
        """Ends what is under way, and takes nothing until it is restored."""
        def act():
            self.is_closed = True
            for task in self.under_way:
                task.cancel()
        self.links.call(act)

    def stall(self):
        """Nothing arrives any more, and nobody is told."""
        self.links.call(self.flows.clear)

    def restore(self):
        def act():
            self.is_closed = False
            self.flows.set()
        self.links.call(act)

    def close(self):
        self.cut()
        self.links.call(self.server.close)


class Network:
    """Ports of loopback that lead to Unix sockets: in a namespace where one can be made, and else among all others."""

    def __init__(self, ways: dict[int, Path]):
        self.is_own = Network.can_be_made()
        self.process = subprocess.Popen(
            [*(["unshare", "--net"] if self.is_own else []), sys.executable, "-B", __file__,
             *[f"{port}={path}" for port, path in ways.items()]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "listening\n":
            raise AssertionError("nothing listens on the ports of a host")

    @staticmethod
    def can_be_made() -> bool:
        return os.geteuid() == 0 and subprocess.run(
            ["unshare", "--net", "ip", "link", "set", "lo", "up"], capture_output=True).returncode == 0

    @property
    def through(self) -> list[str]:
        return ["nsenter", f"--net=/proc/{self.process.pid}/ns/net"] if self.is_own else []

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


async def listen(port: int, path: str) -> list[asyncio.Server]:
    flows = asyncio.Event()
    flows.set()
    under_way = set()  # The event loop itself does not hold them.

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        under_way.add(task := asyncio.current_task())
        with contextlib.suppress(OSError):
            await relay((reader, writer), await asyncio.open_unix_connection(path), flows)
        writer.transport.abort()
        under_way.discard(task)

    return [await asyncio.start_server(connect, host, port, backlog=256) for host in ["127.0.0.1", "::1"]]


async def serve(ways: list[str]):
    servers = [server for way in ways for server in await listen(int(way.split("=")[0]), way.split("=")[1])]
    print("listening", flush=True)
    await asyncio.gather(*[server.serve_forever() for server in servers])


if __name__ == "__main__":
    if Network.can_be_made():
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    asyncio.run(serve(sys.argv[1:]))
