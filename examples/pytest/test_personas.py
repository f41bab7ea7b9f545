"""Cardholders who are not honest, or slow: what an ACS must notice, without a wait."""


def test_a_bad_signature_is_refused_and_the_purchase_expires(issuer, cardholder, clock):
    purchase = issuer.purchase(cardholder("badSignature"))
    assert purchase.refusal()["code"] == "invalid_assertion"
    clock.advance("10m")
    assert purchase.outcome() == "expired"


def test_a_cardholder_takes_five_minutes(issuer, cardholder, clock):
    purchase = issuer.purchase(cardholder("autoApprove", delay=300))
    clock.advance("5m")
    assert purchase.outcome() == "authenticated"
