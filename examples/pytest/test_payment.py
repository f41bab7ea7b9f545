"""What a test of an ACS or a wallet looks like: something is bought, and the test says what the payer does."""

import pytest
from oobtest import ExpectationFailed, NoRequest, OobError, TooLate


def test_an_approval_authenticates_the_payment(oob, sandbox):
    acs_trans_id = sandbox.purchase(oob, amount=100)
    request = oob.approve(acs_trans_id, expect_amount="USD 1.00", expect_merchant="CoffeeHouse2")
    assert request["transStatus"] == "Y"
    assert request["threeDSRequestorAppURL"] == "https://merchant.example/return"
    assert sandbox.outcome(acs_trans_id) == "authenticated"


def test_a_denial_does_not(oob, sandbox):
    acs_trans_id = sandbox.purchase(oob)
    request = oob.deny(acs_trans_id, reason="suspectedFraud")
    assert (request["state"], request["reason"]) == ("denied", "suspectedFraud")
    assert sandbox.outcome(acs_trans_id) == "notAuthenticated"


def test_another_amount_than_expected_is_not_approved(oob, sandbox):
    acs_trans_id = sandbox.purchase(oob, amount=1000)
    with pytest.raises(ExpectationFailed, match="the amount is USD 10.00, not USD 1.00"):
        oob.approve(acs_trans_id, expect_amount="USD 1.00")
    assert [request["acsTransId"] for request in oob.pending()] == [acs_trans_id]


def test_a_request_that_has_expired_cannot_be_approved(oob, sandbox):
    acs_trans_id = sandbox.purchase(oob, expires_in=3)
    assert sandbox.outcome(acs_trans_id) == "expired"
    with pytest.raises(TooLate):
        oob.approve(acs_trans_id)


def test_a_request_that_never_comes_is_not_waited_for_without_end(oob):
    with pytest.raises(NoRequest):
        oob.approve("4e293295-038e-49ba-9f46-d93b7cac444c", wait=1)


def test_an_error_has_the_number_and_the_sentence_of_oobctl(oob, sandbox):
    with pytest.raises(OobError) as raised:
        oob.approve(sandbox.purchase(oob), expect_amount="1,00")
    assert (raised.value.status, raised.value.code) == (64, 60002)
    assert "USD 1.00" in raised.value.message
