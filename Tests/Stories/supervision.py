"""What a service manager does for a program that it has started, as sd_notify(3) has it: it listens."""

import socket
import threading
from pathlib import Path


class Manager:
    """Listens at a path, or with `@` in front at a name in no directory. A context manager."""

    def __init__(self, place: Path | str):
        self.place = str(place)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.place.replace("@", "\0"))
        self.changed = threading.Condition()
        self.told: list[dict[str, str]] = []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while bytes := self.socket.recv(8192):
            with self.changed:
                self.told.append(dict(line.split("=", 1) for line in bytes.decode().split("\n")))
                self.changed.notify_all()

    def until(self, look, what: str, after: int = 0, seconds: float = 60):
        """The place in `told` after the first news at or after `after` for which `look` holds."""
        with self.changed:
            if not self.changed.wait_for(lambda: any(map(look, self.told[after:])), seconds):
                raise AssertionError(f"{what}: not told within {seconds} s, but {self.told[after:]}")
            return next(place for place, news in enumerate(self.told) if place >= after and look(news)) + 1

    def until_status(self, start: str, after: int = 0) -> int:
        return self.until(lambda news: news.get("STATUS", "").startswith(start), f"a status {start}", after)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self.place.replace("@", "\0"))
        self.socket.close()
