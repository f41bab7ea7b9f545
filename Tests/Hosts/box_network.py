"""Boxes that see each other by name, on a network that nothing outside of them is on."""

import subprocess
from pathlib import Path

from systemd_box import Box


class Network:
    """A bridge in the first box's network, to which the others are joined; `boxes` are by their names."""

    def __init__(self, folder: Path, shown: dict[str, list[str]]):
        """Each box sees what `shown` has for it, as `Box` takes it."""
        self.boxes: dict[str, Box] = {}
        for name, places in shown.items():
            self.boxes[name] = Box(folder / name, *places)
        (hub, *_) = self.boxes
        self.ip(hub, "link", "add", "bridge", "type", "bridge")
        self.address(hub, "bridge", 1)
        for number, name in enumerate([*self.boxes][1:], start=2):
            self.ip(hub, "link", "add", f"to{number}", "type", "veth", "peer", "name", "net", "netns", self.pid(name))
            self.ip(hub, "link", "set", f"to{number}", "master", "bridge", "up")
            self.address(name, "net", number)
        hosts = "127.0.0.1 localhost\n" + "".join(
            f"10.77.0.{number} {name}\n" for number, name in enumerate(self.boxes, start=1))
        for name, box in self.boxes.items():
            box.write("/etc/hosts", hosts)
            box.run("hostname", name)

    def pid(self, name: str) -> str:
        return (self.boxes[name].folder / "pid").read_text().strip()

    def ip(self, name: str, *words: str):
        """A command of iproute2 in a box's network, with this machine's processes."""
        subprocess.run(["nsenter", "--target", self.pid(name), "--net", "ip", *words], check=True, timeout=60)

    def address(self, name: str, device: str, number: int):
        self.ip(name, "address", "add", f"10.77.0.{number}/24", "dev", device)
        self.ip(name, "link", "set", device, "up")

    def down(self):
        for box in self.boxes.values():
            box.down()
