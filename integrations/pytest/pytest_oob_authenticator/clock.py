"""The clock of agent and sandbox, which a test sets forward."""

import contextlib
from dataclasses import dataclass
from datetime import datetime

from .agent import Agent
from .errors import OobError
from .issuer import Issuer


@dataclass(frozen=True)
class Clock:
    agent: Agent
    issuer: Issuer

    @property
    def now(self) -> datetime:
        return datetime.fromisoformat(self.agent.ctl("clock")["now"])

    def advance(self, duration: str):
        """Sets both forward, by a time such as `10m` or `1h30m`: what is due by then happens at once.

        What was bought before has come to the cardholder before: the agent fetches first.
        """
        with contextlib.suppress(OobError):  # An issuer that does not answer, such as one with faults.
            self.agent.ctl("fetch")
        ahead = self.agent.ctl("clock advance", duration)["offsetSeconds"]
        # The agent goes first: what the sandbox says is never from its future.
        behind = ahead - self.issuer.call("/sandbox/clock")["offsetSeconds"]
        self.issuer.call("/sandbox/clock", {"advanceSeconds": behind})
