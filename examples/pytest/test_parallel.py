"""One agent, many payers: `pytest -n auto` runs these side by side, and nothing of one is seen by another."""

import pytest
from oobtest import NoRequest

SHOPPERS = range(8)


@pytest.mark.parametrize("shopper", SHOPPERS)
def test_each_sees_and_decides_its_own_requests_only(oob, sandbox, shopper):
    merchant = f"Shop {shopper}"
    first, second = (sandbox.purchase(oob, amount=amount, merchantName=merchant) for amount in [100, 200])
    oob.approve(second, expect_amount="USD 2.00", expect_merchant=merchant)
    assert sandbox.outcome(second) == "authenticated"
    # It stays pending, for all the others to overlook.
    assert [(request["acsTransId"], request["merchantName"]) for request in oob.pending()] == [(first, merchant)]


def test_another_payers_request_cannot_be_decided(oob, agent, sandbox):
    acs_trans_id = sandbox.purchase(oob)
    stranger = agent.enroll(sandbox.link())
    with pytest.raises(NoRequest):
        stranger.approve(acs_trans_id, wait=0)
    oob.approve(acs_trans_id)
