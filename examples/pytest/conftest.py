"""The fixtures: `oob` is a payer of the test's own, `sandbox` is who asks that payer.

One agent and one sandbox serve the whole run. Under pytest-xdist the process that starts the workers has them: so they
are started once, and stopped once, also when a worker crashes, which a lock file shared by the workers cannot promise.
"""

import contextlib

import pytest
from oobtest import Agent, Sandbox, running

ADDRESSES = pytest.StashKey[dict]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """pytest-xdist calls it in the first process, before each worker starts."""
    config = node.config
    if ADDRESSES not in config.stash:
        programs = contextlib.ExitStack()
        config.add_cleanup(programs.close)
        agent, sandbox = programs.enter_context(running())
        config.stash[ADDRESSES] = {"socket": agent.socket, "issuer": sandbox.origin}
    node.workerinput["oob"] = config.stash[ADDRESSES]


@pytest.fixture(scope="session")
def programs(request):
    shared = getattr(request.config, "workerinput", {}).get("oob")
    if shared is not None:
        yield Agent(shared["socket"]), Sandbox(shared["issuer"])
    else:
        with running() as both:
            yield both


@pytest.fixture
def agent(programs):
    return programs[0]


@pytest.fixture
def sandbox(programs):
    return programs[1]


@pytest.fixture
def oob(agent, sandbox):
    return agent.enroll(sandbox.link())
