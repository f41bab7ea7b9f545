"""Assertions of type payment.get: the agent's, a browser's, and what the sandbox makes of either form.

Run with `.venv/bin/python Tests/Counterparts/test_spc.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import subprocess
import unittest
from pathlib import Path

from fido2.payment import CollectedClientPaymentData
from fido2.webauthn import AttestationObject

import spc
import verify
from issuer import Issuer
from programs import BIN_DIR, Agent, Sandbox, started, temporary_folder
from software_authenticator import MODEL, Enrolled, call
from verify import RelyingParty, decode, encode

VECTORS = Path(__file__).parent.parent / "Fixtures" / "Vectors"
USD_1 = {"currency": "USD", "value": "1.00"}
WAIT = ("--wait", "60")


class Browser:
    """A payment that was confirmed in Chromium."""

    origin = "http://localhost:18123"
    relying_party = RelyingParty(origin, "localhost")
    payee_name = "ACME & Co / Ltd"

    def __init__(self, currency: str):
        file = json.loads((VECTORS / "spc-chromium.json").read_text(encoding="utf-8"))
        self.challenge = bytes.fromhex(file["challenge_hex"])
        attested = AttestationObject(decode(file["attestationObject_b64u"])).auth_data.credential_data
        self.credential = verify.Credential(attested, 1, True, "none")
        vector = file["vectors"][currency]
        self.client_data = vector["cd"]
        self.response = {"id": vector["id"], "rawId": vector["id"], "type": "public-key", "response": {
            "clientDataJSON": encode(self.client_data.encode()), "authenticatorData": vector["ad"],
            "signature": vector["sig"], "userHandle": vector["uh"]}, "clientExtensionResults": {}}
        self.payment = self.asked(self.origin, {"JPY": "1000", "EUR": "12.30"}[currency], currency)

    @staticmethod
    def asked(origin: str, value: str, currency: str) -> spc.Payment:
        """What the page that asked gave to the browser."""
        return spc.Payment({"value": value, "currency": currency}, 'Visa € "4242" 中', f"{origin}/icon.png")

    @property
    def expected(self) -> dict:
        return self.payment.expected(self.payee_name, self.relying_party)

    @property
    def known(self) -> dict:
        return {"credential": self.credential, "challenge": self.challenge, "relying_party": self.relying_party}


class BrowserAssertions(unittest.TestCase):
    """What the checks themselves say yes to, and what they must not."""

    def test_a_browsers_assertions_hold(self):
        for currency, count in [("JPY", 2), ("EUR", 3)]:
            browser = Browser(currency)
            after = spc.assertion(browser.response, **browser.known, payment=browser.expected, require_uv=True)
            self.assertEqual(after.sign_count, count)

    def test_each_member_matters(self):
        browser = Browser("EUR")
        for change in [
            {"rpId": "issuer.example"}, {"topOrigin": "http://localhost:1"}, {"payeeName": "ACME"},
            {"payeeOrigin": None}, {"payeeOrigin": "https://other.example"},
            {"total": {"value": "12.3", "currency": "EUR"}}, {"total": {"value": "12.30", "currency": "USD"}},
            {"instrument": {**browser.expected["instrument"], "icon": "http://localhost:18123/other.png"}},
            {"instrument": {**browser.expected["instrument"], "displayName": "Visa"}},
        ]:
            with self.subTest(change), self.assertRaisesRegex(verify.Disagreement, f"payment.{list(change)[0]}"):
                spc.assertion(browser.response, **browser.known, payment={**browser.expected, **change})

    def test_a_member_that_was_changed_after_the_signing_is_noticed_by_each_party(self):
        browser = Browser("EUR")
        inner = {**browser.response["response"],
                 "clientDataJSON": encode(browser.client_data.replace("12.30", "92.30").encode())}
        signature = decode(inner["signature"])
        with self.assertRaises(Exception):
            spc.check_signature(inner, browser.credential, "localhost")
        with self.assertRaisesRegex(Exception, "fido2-assert"):
            spc.libfido2.verify_assertion({"response": inner}, browser.credential.cose_key, "localhost")
        with self.assertRaisesRegex(verify.Disagreement, "openssl"):
            spc.check_by_openssl(browser.credential.cose_key, b"something else", signature)


class WhatTheAgentSigned(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.agent = started(cls, Agent(temporary_folder(cls)))
        cls.issuer = cls.enterClassContext(Issuer())
        cls.enrollment = cls.agent.json(
            "enroll", "--issuer", cls.issuer.origin, "--code", cls.issuer.enrollment_code(),
            "--authn-type", "presence")

    def ask(self, payment: spc.Payment | None, transaction: dict | None = None, **how):
        return self.issuer.ask(
            self.enrollment["authenticatorId"], transaction or self.issuer.transaction(), payment=payment, **how)

    def approved(self, payment: spc.Payment, transaction: dict | None = None) -> tuple[dict, dict]:
        """The assertion, which the issuer verified as soon as it came; and the request as the agent shows it."""
        request = self.ask(payment, transaction)
        shown = self.agent.json("approve", request.transaction["acsTransId"], *WAIT)
        self.assertEqual((shown["state"], shown["transStatus"]), ("approved", "Y"), request.refusals)
        self.assertEqual((self.issuer.decided(request).trans_status, request.refusals), ("Y", []))
        return request.decision["credential"], shown

    def test_every_member_is_as_expected_and_the_signature_holds_with_every_party(self):
        for payment in [
            spc.Payment(USD_1), spc.Payment(USD_1, payee_origin=None),
            spc.Payment(USD_1, payee_origin="https://merchant.example:8443"),
            spc.Payment(USD_1, display_name="ø" * 64, icon="data:image/png;base64,iVBORw0KGgo="),
            spc.Payment(USD_1, icon=f"{self.issuer.origin}/icon.png"),
            spc.Payment(USD_1, icon="https://issuer.example/" + "i" * 2025),
        ]:
            with self.subTest(payment):
                self.approved(payment)

    def test_the_bytes_are_a_browsers_for_the_same_inputs(self):
        for currency, members in {
            "EUR": {"purchaseAmount": "1230", "purchaseCurrency": "978", "purchaseExponent": "2"},
            "JPY": {"purchaseAmount": "1000", "purchaseCurrency": "392", "purchaseExponent": "0"},
        }.items():
            with self.subTest(currency):
                browser = Browser(currency)
                asked = Browser.asked(self.issuer.origin, browser.payment.total["value"], currency)
                response, _ = self.approved(
                    asked, self.issuer.transaction(merchantName=browser.payee_name, **members))
                expected = browser.client_data.replace(browser.origin, self.issuer.origin).replace(
                    encode(browser.challenge), encode(verify.challenge_of(response)))
                self.assertEqual(decode(response["response"]["clientDataJSON"]).decode(), expected)

    def test_the_total_of_every_published_transaction_is_right(self):
        cases = json.loads((VECTORS / "challenge.json").read_text(encoding="utf-8"))
        paid = [case for case in cases if "total" in case]
        self.assertGreater(len(paid), 20)
        for case in paid:
            with self.subTest(case["jcs"]):
                _, shown = self.approved(spc.Payment(case["total"]), case["transaction"])
                self.assertEqual(shown["amount"], case["total"])

    def test_texts_are_escaped_as_webauthn_says(self):
        name = '\t"\\\u007f\u0085\u2028\u202e</script>é'
        response, shown = self.approved(spc.Payment(USD_1, display_name=name))
        bytes = decode(response["response"]["clientDataJSON"])
        self.assertIn('"displayName":"\\u0009\\"\\\\\u007f\u0085\u2028\u202e</script>é"}'.encode(), bytes)
        self.assertIn("hostileText", [warning["id"] for warning in shown["warnings"]])

    def test_payee_and_instrument_are_shown(self):
        request = self.ask(spc.Payment(USD_1, display_name="Visa \u202e4242"))
        acs_trans_id = request.transaction["acsTransId"]
        self.agent.json("deny", acs_trans_id, *WAIT)
        text = self.agent.json("show", acs_trans_id)["text"].splitlines()
        self.assertIn("Payee:      https://merchant.example", text)
        self.assertIn("Instrument: Visa \\u{202E}4242", text)
        # What is signed is what was shown.
        self.assertIn("Icon:       issuer.example", text)

    def test_the_server_libraries_refuse_the_form(self):
        credential = list(self.issuer.authenticators.values())[0].credential
        response, _ = self.approved(spc.Payment(USD_1))
        known = (credential, verify.challenge_of(response), self.issuer.relying_party, False)
        for check in [verify.assertion_by_py_webauthn, verify.assertion_by_python_fido2]:
            with self.subTest(check.__name__), self.assertRaisesRegex(Exception, "(?i)type"):
                check(response, *known)

    def test_a_plain_assertion_is_still_one(self):
        request = self.ask(None, extensions={"credProps": True})
        self.agent.json("approve", request.transaction["acsTransId"], *WAIT)
        self.assertEqual((self.issuer.decided(request).trans_status, request.refusals), ("Y", []))

    def test_an_extension_that_is_not_in_order_is_refused_and_not_shown(self):
        good = spc.Payment(USD_1)
        no_purchase = self.issuer.transaction(
            purchaseAmount=None, purchaseCurrency=None, purchaseExponent=None, purchaseDate=None)
        for payment, transaction, extensions in [
            (spc.Payment(USD_1, display_name="x" * 65), None, None),
            (spc.Payment(USD_1, payee_origin="http://merchant.example"), None, None),
            (spc.Payment(USD_1, icon="http://merchant.example/icon.png"), None, None),
            (good, None, {"payment": {**good.extension, "isPayment": False}}),
            (good, None, {"payment": None}),
            (good, no_purchase, None),
        ]:
            request = self.ask(payment, transaction, extensions=extensions)
            with self.subTest(request.transaction):
                self.assertEqual(
                    self.issuer.decided(request).decision, {"decision": "deny", "reason": "invalidRequest"})
                row = self.agent.json("show", request.transaction["acsTransId"])
                self.assertEqual((row["state"], row["refusal"]), ("refused", "paymentExtension"))


class WithTheSandbox(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(folder))
        cls.agent = started(cls, Agent(folder))
        cls.relying_party = RelyingParty(cls.sandbox.origin, "localhost")

    def code(self) -> dict:
        return self.post("/sandbox/enrollment-codes", {})

    def post(self, path: str, body: dict) -> dict:
        status, answer = call("POST", self.sandbox.origin + path, body)
        self.assertEqual(status, 201, answer)
        return answer

    def issuer(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oob-issuer", "purchase", "--issuer", self.sandbox.origin, *arguments],
            capture_output=True, text=True, timeout=60)

    def test_a_purchase_from_the_shell_is_confirmed_as_a_payment(self):
        enrollment = self.agent.json("enroll", self.code()["link"], "--authn-type", "presence")
        started_purchase = self.issuer(
            "--json", "--amount", "12345", "--currency", "978", "--exponent", "2", "--merchant", "Café",
            "--authenticator-id", enrollment["authenticatorId"], "--assertion", "payment.get",
            "--payee-origin", "https://merchant.example", "--instrument-name", "Visa 4242",
            "--instrument-icon", "https://issuer.example/icon.png")
        self.assertEqual(started_purchase.returncode, 0, started_purchase.stderr)
        acs_trans_id = json.loads(started_purchase.stdout)["acsTransId"]
        self.agent.json("approve", acs_trans_id, *WAIT)
        _, story = call("GET", f"{self.sandbox.origin}/sandbox/purchases/{acs_trans_id}?wait=30")
        self.assertEqual((story["status"], story["assertion"]), ("authenticated", "payment.get"))
        results = {check["check"]: check["result"] for check in story["verdict"]}
        self.assertEqual(
            {results[name] for name in
             ["paymentRpId", "paymentTopOrigin", "payeeName", "payeeOrigin", "total", "instrument"]}, {"passed"})
        _, known = call("GET", f"{self.sandbox.origin}/sandbox/authenticators/{enrollment['authenticatorId']}")
        registered = verify.registration(
            known["registration"], challenge=decode(known["expected"]["challenge"]), attestation_format="none",
            relying_party=self.relying_party)
        payment = spc.Payment({"value": "123.45", "currency": "EUR"})
        spc.assertion(
            story["credential"], credential=registered, challenge=decode(story["expected"]["challenge"]),
            relying_party=self.relying_party, payment=payment.expected("Café", self.relying_party))

    def test_the_shells_words_for_it_are_checked(self):
        what = ("--amount", "1", "--currency", "978", "--exponent", "2", "--merchant", "Café")
        for wrong, named in [
            (("--assertion", "other"), "--assertion"), (("--payee-origin", "https://merchant.example"), "--payee-origin"),
            (("--assertion", "payment.get", "--instrument-icon", "x"), "--instrument-icon"),
        ]:
            run = self.issuer(*what, *wrong)
            self.assertEqual(run.returncode, 64, run.stderr)
            self.assertIn(named, run.stderr)

    def test_what_python_fido2_writes_the_sandbox_takes_and_no_other_payment(self):
        enrolled = Enrolled(self.sandbox.origin, self.code()["code"], aaguid=MODEL)
        payment = spc.Payment(USD_1)
        expected = payment.expected("CoffeeHouse2", self.relying_party)
        instrument = {"displayName": payment.display_name, "icon": payment.icon}
        for change, check in [
            ({"payeeName": "CoffeeHouse3"}, "payeeName"), ({"total": {"value": "1", "currency": "USD"}}, "total"),
            ({"payeeOrigin": "https://merchant.example.org"}, "payeeOrigin"),
            ({"instrument": {**instrument, "displayName": "Visa"}}, "instrument"),
            ({"paymentEntitiesLogos": [{"url": "x", "label": "x"}]}, "paymentEntitiesLogos"), ({}, None),
        ]:
            with self.subTest(change):
                self.post("/sandbox/purchases", {
                    "assertion": "payment.get", "merchantName": "CoffeeHouse2", "payeeOrigin": payment.payee_origin,
                    "instrument": instrument, "authenticatorId": enrolled.id})
                (compact, *_) = enrolled.fetch()[1]["requests"][::-1]
                claims = json.loads(decode(compact.split(".")[1]))
                self.assertEqual(claims["publicKey"]["extensions"], {"payment": payment.extension})
                challenge = decode(claims["publicKey"]["challenge"])
                credential = self.signed(enrolled, challenge, {**expected, **change})
                status, answer = enrolled.decide(claims["jti"], {"decision": "approve", "credential": credential})
                if check is None:
                    self.assertEqual((status, answer), (200, {"transStatus": "Y"}))
                else:
                    self.assertEqual((status, answer["code"]), (422, "invalid_assertion"))
                    self.assertIn(check, answer["detail"])

    def signed(self, enrolled: Enrolled, challenge: bytes, payment: dict) -> dict:
        client_data = CollectedClientPaymentData.create(
            "payment.get", challenge, self.sandbox.origin, payment=payment)
        return enrolled.authenticator.sign(challenge, client_data=client_data)


if __name__ == "__main__":
    unittest.main()
