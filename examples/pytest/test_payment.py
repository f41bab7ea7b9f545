"""What a test of an ACS or a wallet looks like: something is bought, and the test says what the cardholder does."""

import pytest
from pytest_oob_authenticator import ExpectationFailed, NoRequest, OobError, TooLate


def test_an_approval_authenticates_the_payment(issuer, cardholder):
    payer = cardholder()
    purchase = issuer.purchase(payer, amount=100)
    request = payer.approve(purchase, expect_amount="USD 1.00", expect_merchant="CoffeeHouse2")
    assert request["transStatus"] == "Y"
    assert request["threeDSRequestorAppURL"] == "https://merchant.example/return"
    assert purchase.outcome() == "authenticated"


def test_a_denial_does_not(issuer, cardholder):
    payer = cardholder()
    purchase = issuer.purchase(payer)
    request = payer.deny(purchase, reason="suspectedFraud")
    assert (request["state"], request["reason"]) == ("denied", "suspectedFraud")
    assert purchase.outcome() == "notAuthenticated"


def test_another_amount_than_expected_is_not_approved(issuer, cardholder):
    payer = cardholder()
    purchase = issuer.purchase(payer, amount=1000)
    with pytest.raises(ExpectationFailed, match="the amount is USD 10.00, not USD 1.00"):
        payer.approve(purchase, expect_amount="USD 1.00")
    assert [request["acsTransId"] for request in payer.pending()] == [purchase.id]


def test_a_request_of_ten_minutes_expires_without_a_wait(issuer, cardholder, clock):
    payer = cardholder()
    purchase = issuer.purchase(payer, expires_in=600)
    clock.advance("10m")
    assert purchase.outcome() == "expired"
    with pytest.raises(TooLate):
        payer.approve(purchase)


def test_a_request_that_never_comes_is_not_waited_for_without_end(cardholder):
    with pytest.raises(NoRequest):
        cardholder().approve("4e293295-038e-49ba-9f46-d93b7cac444c", wait=1)


def test_an_error_has_the_number_and_the_sentence_of_oobctl(issuer, cardholder):
    payer = cardholder()
    with pytest.raises(OobError) as raised:
        payer.approve(issuer.purchase(payer), expect_amount="1,00")
    assert (raised.value.status, raised.value.code) == (64, 60002)
    assert "USD 1.00" in raised.value.message
