"""The secret that the hosts of a database share, and its change while they fail."""

import os
import time
from pathlib import Path

from host_world import Host, Secrets

CHANGED_WITHIN = 60
# A host says one of these once nothing is under the previous secret any more.
OVER = (b"remove the previous one", b"remove it")


class SecretChanges:
    """As high-availability.md says: all get both secrets, start again, and then have the new one alone."""

    def __init__(self, folder: Path, hosts: list[Host]):
        self.folder, self.hosts = folder, hosts
        self.made = 0
        self.secrets = Secrets(self.another())
        self.give(self.secrets)

    def another(self) -> Path:
        self.made += 1
        secret = self.folder / f"secret-{self.made}"
        secret.touch(0o600)
        secret.write_bytes(os.urandom(32))
        return secret

    def give(self, secrets: Secrets):
        """From now on each host that starts has these."""
        self.secrets = secrets
        for host in self.hosts:
            host.secrets = secrets

    def have_all(self) -> bool:
        return all(host.started_with == self.secrets for host in self.hosts)

    def begin(self):
        self.give(Secrets(self.another(), self.secrets.present))

    def end_if_over(self) -> bool:
        """Whether a host has said since that it is over; then those that start again have the new one alone."""
        if not any(host.started_with == self.secrets and any(words in host.said() for words in OVER)
                   for host in self.hosts):
            return False
        self.give(Secrets(self.secrets.present))
        return True

    def finish(self) -> bool:
        """Starts all again, one by one, if a change is under way; whether one was."""
        if self.secrets.previous is None:
            return False
        # Those that started while others had the old secret alone have to start once more.
        for host in self.hosts * 2:
            self.again(host)
        self.wait()
        for host in self.hosts:
            self.again(host)
        return True

    def restart_those_without(self):
        """Starts those again that have not got the present secret: one that was paused may have missed a whole change."""
        for host in self.hosts:
            if host.started_with.present != self.secrets.present:
                self.again(host)

    @staticmethod
    def again(host: Host):
        host.kill()
        host.revive()

    def wait(self):
        deadline = time.monotonic() + CHANGED_WITHIN
        while not self.end_if_over():
            if time.monotonic() > deadline:
                raise AssertionError("the secret is not changed:\n" + "\n".join(
                    f"--- {host.name}\n{host.tail()}" for host in self.hosts))
            time.sleep(0.2)  # Looks again; nothing depends on how long.
