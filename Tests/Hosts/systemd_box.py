"""A systemd, booted in namespaces of its own by Tests/Hosts/box, with the programs, units and users of an
installation."""

import atexit
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from citations import page
from programs import BIN_DIR, READY_WITHIN

CHECKOUT = Path(__file__).resolve().parents[2]
SCRIPT = CHECKOUT / "Tests" / "Hosts" / "box"
UNITS = CHECKOUT / "systemd"
PROGRAMS = ["oob-agent", "oobctl", "oob-issuer", "oob-conform", "oob-inbox"]
AGENT = "oob-agent.service"
ISSUER = "http://localhost:8080"
# A restart, a promotion or a take-over in it, and the commands that look.
EVENTUALLY = 2 * READY_WITHIN
SECRET_FILE = "/etc/credstore/oob-agent.secret"
CONFIG = "/etc/oob-agent/config.yaml"


def page_blocks(heading: str, name: str = "systemd.md") -> list[str]:
    """The shell commands of a section of a page, block by block, without those of the sections in it."""
    text = page(name).read_text(encoding="utf-8")
    (section,) = re.findall(rf"^##+ {heading}$(.*?)(?=^##|\Z)", text, re.DOTALL | re.MULTILINE)
    return re.findall(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)


def why_not() -> str | None:
    """Why no box can be had here; None where one can."""
    run = subprocess.run([SCRIPT, "can"], capture_output=True, text=True, timeout=60)
    return run.stderr.strip() if run.returncode != 0 else None


class Box:
    """A box that is up; `folder / "files"` is /host inside."""

    def __init__(self, folder: Path, *shown: str):
        """Each of `shown` is FROM:TO, a file or directory that is seen inside at TO."""
        self.folder = folder
        # Whoever ends the tests ends the box with them; recorded.py sees to that itself.
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        atexit.register(self.down)
        subprocess.run([SCRIPT, "up", folder, *shown], check=True, timeout=180)

    def down(self):
        atexit.unregister(self.down)
        subprocess.run([SCRIPT, "down", self.folder], check=True, timeout=180)

    def run(self, *command: str, user: str | None = None, check: bool = True,
            stdin: str | None = None) -> subprocess.CompletedProcess:
        """A command inside, as root or as a user with that user's groups."""
        who = ["setpriv", "--reuid", user, "--regid", user, "--init-groups"] if user else []
        done = subprocess.run(
            [SCRIPT, "run", self.folder, *who, *command], input=stdin or "", capture_output=True, text=True,
            timeout=180, env={**os.environ, "HOME": "/root"})
        if check and done.returncode != 0:
            raise AssertionError(f"{command} exits {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def write(self, path: str, text: str, mode: str = "0644"):
        self.run("install", "-D", "-m", mode, "/dev/stdin", path, stdin=text)

    def systemctl(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess:
        return self.run("systemctl", "--no-pager", *arguments, check=check)

    def show(self, unit: str, name: str) -> str:
        return self.systemctl("show", "--value", "--property", name, unit).stdout.strip()

    def drop_in(self, unit: str, name: str, text: str):
        self.write(f"/etc/systemd/system/{unit}.d/{name}.conf", text)
        self.systemctl("daemon-reload")

    def journal(self, *arguments: str) -> list[dict]:
        self.run("journalctl", "--sync")
        printed = self.run("journalctl", "--no-pager", "--output", "json", *arguments).stdout
        return [json.loads(line) for line in printed.splitlines()]

    def eventually(self, look, what: str):
        """Looks until there is something; nothing depends on how long it takes."""
        deadline = time.monotonic() + EVENTUALLY
        while not (found := look()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{what}: not within {EVENTUALLY} s\n{self.lines()}")
            time.sleep(0.1)
        return found

    def lines(self, unit: str = "oob-agent*") -> str:
        """What a unit and systemd said of it last."""
        self.run("journalctl", "--sync")
        return self.run("journalctl", "--no-pager", "--output", "cat", "--unit", unit, "--lines", "40").stdout


def can_skip():
    """For a class or module: skipped where no box can be had, with the reason."""
    reason = why_not()
    return unittest.skipIf(reason is not None, f"no systemd can be booted here: {reason}")


@functools.cache
def installed() -> Box:
    """A module's box: all is installed by hand, as docs/how-to/systemd.md has it, and a sandbox issuer runs."""
    place = "/usr/share/oob-agent/systemd"
    folder = Path(tempfile.mkdtemp(prefix="oob-", dir="/tmp"))
    unittest.addModuleCleanup(shutil.rmtree, folder)
    box = Box(folder, *(f"{BIN_DIR / name}:/usr/bin/{name}" for name in PROGRAMS), f"{UNITS}:{place}")
    unittest.addModuleCleanup(box.down)
    # The programs are there.
    for block in page_blocks("Install by hand")[1:]:
        box.run("sh", "-ec", f"cd {place}/..\n{block}")
    box.run("sh", "-ec", "useradd alice; usermod --append --groups oob-approvers alice; useradd bob")
    box.systemctl("start", "oob-issuer.service")
    box.eventually(lambda: box.run("oob-issuer", "code", check=False).returncode == 0, "the issuer")
    return box


class Installed(unittest.TestCase):
    """Tests in the one box of their module, each with an agent as after its installation.

    Users: `oob-agent`, whom the agent runs as; alice, of the group oob-approvers; bob, of no group.
    """

    @classmethod
    def setUpClass(cls):
        cls.box = installed()

    def setUp(self):
        """An agent as after its installation, stopped: no state, no drop-in, nothing in the config but its group."""
        self.clean()
        self.addCleanup(self.clean)

    def clean(self):
        self.box.systemctl("stop", "oob-agent.service", "oob-agent@a.service", "oob-agent@b.service")
        self.box.run("sh", "-ec", f"""
            rm -rf /etc/systemd/system/oob-agent.service.d /etc/systemd/system/oob-agent@*.d /var/lib/oob-agent*
            rm -f /etc/credstore.encrypted/* /etc/credstore/oob-agent.[!s]* /etc/credstore/oob-agent-*
            rm -f /etc/oob-agent/[!c]* /var/backups/oob-agent*
            test -e {SECRET_FILE} || (umask 077; head -c 32 /dev/urandom > {SECRET_FILE})
            echo 'socket-group: oob-approvers' > {CONFIG}""")
        self.box.systemctl("daemon-reload")
        self.box.systemctl("reset-failed")

    def ctl(self, command: str, *arguments: str, user: str | None = None, check: bool = True,
            socket: str = "/run/oob-agent/control.sock"):
        return self.box.run("oobctl", *command.split(), "--socket", socket, *arguments, user=user, check=check)

    def json(self, command: str, *arguments: str, **how):
        return json.loads(self.ctl(command, "--json", *arguments, **how).stdout)

    def start(self, unit: str = "oob-agent.service"):
        started = self.box.systemctl("start", unit, check=False)
        self.assertEqual(started.returncode, 0, f"{started.stderr}{self.box.lines(unit)}")

    def enroll(self, *arguments: str, **how) -> dict:
        code = json.loads(self.box.run("oob-issuer", "code", "--json").stdout)["code"]
        self.codes = [*getattr(self, "codes", []), code]
        return self.json(
            "enroll", "--issuer", ISSUER, "--code", code, "--authn-type", "presence", *arguments, **how)

    def purchase(self, **how) -> str:
        """The acsTransId of a purchase, once its request is pending."""
        bought = self.box.run(
            "oob-issuer", "purchase", "--merchant", "Box", "--amount", "100", "--currency", "840", "--exponent", "2")
        purchase = bought.stdout.strip()
        self.box.eventually(lambda: self.ctl("show", purchase, check=False, **how).returncode == 0, "the request")
        return purchase

    def approve(self, purchase: str, *arguments: str, **how):
        # Longer than the default, of which a busy machine takes all.
        shown = self.json("approve", purchase, "--delivery-timeout", "60", *arguments, **how)
        self.assertEqual((shown["state"], shown["delivery"], shown["transStatus"]), ("approved", "delivered", "Y"))


class Pasted(Installed):
    """Commands of the pages, as somebody pastes them into a shell of root's."""

    def paste(self, heading: str, number: int = 0, page: str = "systemd.md", check: bool = True, **names: str):
        """Runs a block of a page; the shell goes on after what fails."""
        block = page_blocks(heading, page)[number]
        return self.box.run("env", *(f"{name}={value}" for name, value in names.items()), "bash", "-c", block, check=check)

    def fails(self, heading: str, number: int = 0, **how) -> str:
        run = self.paste(heading, number, check=False, **how)
        self.assertNotEqual(run.returncode, 0, f"{run.stdout}{run.stderr}")
        return run.stderr

    def names(self, folder: str) -> list[str]:
        return self.box.run("ls", folder).stdout.split()

    def digest(self, path: str) -> str:
        return self.box.run("sha256sum", path).stdout.split()[0]

    def enrolled(self) -> list[str]:
        return [row["id"] for row in self.json("enrollments")]
