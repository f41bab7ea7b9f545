"""Many cardholders: `pytest -n auto` runs these side by side, and nothing of one is seen by another."""

import pytest
from pytest_oob_authenticator import NoRequest

SHOPPERS = range(8)


@pytest.mark.parametrize("shopper", SHOPPERS)
def test_each_sees_and_decides_its_own_requests_only(issuer, cardholder, shopper):
    payer, merchant = cardholder(), f"Shop {shopper}"
    first, second = (issuer.purchase(payer, amount=amount, merchantName=merchant) for amount in [100, 200])
    payer.approve(second, expect_amount="USD 2.00", expect_merchant=merchant)
    assert second.outcome() == "authenticated"
    # It stays pending, for all the others to overlook.
    assert [(request["acsTransId"], request["merchantName"]) for request in payer.pending()] == [(first.id, merchant)]


def test_another_cardholders_request_cannot_be_decided(issuer, cardholder):
    payer, stranger = cardholder(), cardholder()
    purchase = issuer.purchase(payer)
    with pytest.raises(NoRequest):
        stranger.approve(purchase, wait=0)
    payer.approve(purchase)
