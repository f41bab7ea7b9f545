"""An issuer, an authenticator and cardholders for a test suite. The fixtures are in `plugin`."""

from .agent import Agent, Cardholder
from .clock import Clock
from .errors import ExpectationFailed, NoRequest, OobError, TooLate
from .issuer import Issuer, Purchase
from .programs import running

__all__ = [
    "Agent", "Cardholder", "Clock", "ExpectationFailed", "Issuer", "NoRequest", "OobError", "Purchase", "TooLate",
    "running",
]
