"""The fixtures: `issuer`, `agent`, `cardholder` and `clock`.

Each process that runs tests has an agent and a sandbox of its own, so that a clock that one test advances is no other's.
Under pytest-xdist the process that starts the workers has them: so they are stopped also if a worker crashes.
"""

import contextlib
import json

import pytest

from .agent import Agent
from .clock import Clock
from .issuer import Issuer
from .programs import running
from .shown import shown

STARTED = pytest.StashKey[contextlib.ExitStack]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """pytest-xdist calls it in the first process, before each worker starts."""
    config = node.config
    if STARTED not in config.stash:
        config.stash[STARTED] = contextlib.ExitStack()
        config.add_cleanup(config.stash[STARTED].close)
    node.workerinput["oob"] = config.stash[STARTED].enter_context(running())


@pytest.fixture(scope="session")
def oob_programs(request):
    """The agent's socket and the sandbox's origin, of programs that run as long as this process runs tests."""
    shared = getattr(request.config, "workerinput", {}).get("oob")
    if shared is not None:
        yield shared
    else:
        with running() as places:
            yield places


@pytest.fixture
def agent(oob_programs):
    """The authenticator: `agent.ctl("status")` is `oobctl status`."""
    return Agent(oob_programs[0])


@pytest.fixture
def issuer(oob_programs):
    """The sandbox, an issuer with an ACS and a merchant: `issuer.purchase(payer, amount=100)`."""
    return Issuer(oob_programs[1])


@pytest.fixture
def cardholder(agent, issuer):
    """Makes a cardholder: one who decides as the test says, or one with a persona.

    `cardholder()`, `cardholder("badSignature")`, `cardholder("autoApprove", times=1, delay=2)`.
    """
    def make(persona: str | None = None, *, times: int | None = None, delay: int | None = None):
        payer = agent.enroll(issuer.link())
        return payer if persona is None else payer.persona(persona, times=times, delay=delay)
    return make


@pytest.fixture
def clock(agent, issuer):
    """The clock of both: `clock.advance("10m")`."""
    return Clock(agent, issuer)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A failure's report has the messages of the purchases that its test has made."""
    report = yield
    made = getattr(item, "funcargs", {}).get("issuer")
    if report.when == "call" and report.failed and isinstance(made, Issuer):
        for purchase in made.purchases:
            report.sections.append((f"purchase {purchase.id}", story(purchase)))
    return report


def story(purchase) -> str:
    try:
        told = purchase.story()
    except (OSError, ValueError) as error:  # The sandbox is gone, or knows it no more.
        return shown(f"its messages are not known: {error}")
    messages = [json.dumps(message, ensure_ascii=False) for message in told.pop("messages", [])]
    return shown("\n".join([*messages, json.dumps(told, ensure_ascii=False, indent=1)]))
