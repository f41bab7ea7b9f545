"""The merchants that wait for a return URL and a result: Checkout.com, Braintree, Braintree's driver, Braintree Connect.

Through the programs as they were built, and byte for byte; docs/reference/merchants.md has what is theirs and what is ours.
Run with `.venv/bin/python Tests/Counterparts/test_merchants.py`; OOB_BIN_DIR names the programs' directory.
"""

import base64
import json
import subprocess
import unittest
import uuid

from issuer import EXAMPLE_TRANSACTION
from programs import BIN_DIR, Agent, Sandbox, started, temporary_folder
from software_authenticator import call

# 211 bytes, so that the SDK's transID makes 256 of them: EMV's bound.
CHECKOUT_URL = "https://merchant.example/3ds/return/" + "c" * 175
BRAINTREE_URL = "com.your-company.Your-App.payments://x-callback-url/braintree/threeDSecure/Return?Nonce=AbC%2Fd"
CONNECT_URL = "com.example.app.braintree://return"


class Merchants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(cls.folder, "--test-clock"))
        cls.agent = started(cls, Agent(cls.folder, "--test-clock"))
        _, code = call("POST", f"{cls.sandbox.origin}/sandbox/enrollment-codes", {})
        cls.agent.json("enroll", code["link"], "--authn-type", "test")

    def issuer(self, command: str, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oob-issuer", *command.split(), *arguments, "--issuer", self.sandbox.origin],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def post(self, path: str, body: dict, status: int) -> dict:
        answered, answer = call("POST", f"{self.sandbox.origin}/sandbox/{path}", body)
        self.assertEqual(answered, status, answer)
        return answer

    def purchase(self, **how) -> dict:
        """A purchase's story; without a return URL unless there is one in the order."""
        order = {**EXAMPLE_TRANSACTION, "acsTransId": str(uuid.uuid4()), "threeDSRequestorAppURL": None, **how}
        return self.post("purchases", order, 201)

    def story(self, purchase: dict) -> dict:
        return call("GET", f"{self.sandbox.origin}/sandbox/purchases/{purchase['acsTransId']}")[1]

    def decide(self, verb: str, purchase: dict, *options: str) -> str:
        """What `oobctl` prints: the return URL and a line feed, or nothing."""
        run = self.agent.ctl(verb, purchase["acsTransId"], "--wait", "60", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def fetch(self):
        """The agent has every request when this returns."""
        run = self.agent.ctl("fetch")
        self.assertEqual(run.returncode, 0, run.stderr)

    def ended(self, how: str, **order) -> dict:
        """The merchant's part of a purchase that ended so."""
        purchase = self.purchase(**order)
        match how:
            case "approved": self.decide("approve", purchase)
            case "denied": self.decide("deny", purchase)
            case "fraud": self.decide("deny", purchase, "--reason", "suspectedFraud")
            case "cancelled": self.post(f"purchases/{purchase['acsTransId']}/cancel", {}, 200)
            case "timed out at the SDK": self.issuer("cancel", purchase["acsTransId"], "--sdk-timed-out")
            case "invalid CReq": self.issuer("creq", purchase["acsTransId"], "--invalid")
            case "expired": self.forward("10m")
            case "pending": pass
        return self.story(purchase)["merchant"]

    def forward(self, time: str):
        """On both clocks."""
        self.assertEqual(self.issuer("clock advance", time).returncode, 0)
        self.assertEqual(self.agent.ctl("clock advance", time).returncode, 0)


class Checkout(Merchants):
    def test_the_sdks_trans_id_makes_256_bytes_of_211_and_comes_back_byte_for_byte(self):
        self.assertEqual(len(CHECKOUT_URL), 211)
        run = self.issuer(
            "purchase", "--merchant", "Checkout", "--amount", "100", "--currency", "840", "--exponent", "2", "--json",
            "--app-url", CHECKOUT_URL, "--append-trans-id")
        self.assertEqual(run.returncode, 0, run.stderr)
        purchase = json.loads(run.stdout)
        # What the SDK has sent, and so what its app waits for.
        sdk = purchase["messages"][0]["sdkTransID"]
        self.assertEqual(str(uuid.UUID(sdk)), sdk)
        expected = f"{CHECKOUT_URL}?transID={sdk}"
        self.assertEqual(len(expected), 256)
        self.assertEqual(purchase["messages"][2]["threeDSRequestorAppURL"], expected)
        self.assertEqual(self.decide("approve", purchase), expected + "\n")

    def test_a_url_of_212_bytes_is_refused_for_what_the_sdk_appends(self):
        run = self.issuer(
            "purchase", "--merchant", "Checkout", "--amount", "100", "--currency", "840", "--exponent", "2",
            "--app-url", CHECKOUT_URL + "c", "--append-trans-id")
        self.assertEqual((run.returncode, run.stdout), (64, ""))
        self.assertIn("--app-url must have at most 211 bytes here, it has 212; with the transID", run.stderr)
        order = {"threeDSRequestorAppURL": CHECKOUT_URL + "c", "appendTransID": True}
        self.assertIn("at most 211 bytes", self.post("purchases", order, 400)["detail"])

    def test_a_url_of_257_bytes_is_refused_also_if_nothing_is_appended(self):
        at = CHECKOUT_URL + "?transID=" + "0" * 36
        self.assertEqual(self.decide("deny", self.purchase(threeDSRequestorAppURL=at)), at + "\n")
        run = self.issuer("purchase", "--merchant", "Checkout", "--amount", "100", "--currency", "840", "--exponent", "2",
                          "--app-url", at + "0")
        self.assertEqual((run.returncode, run.stdout), (64, ""))
        self.assertIn("--app-url is not 1 to 256 bytes long", run.stderr)

    def test_a_trans_id_without_a_url_is_refused(self):
        run = self.issuer("purchase", "--merchant", "Checkout", "--amount", "100", "--currency", "840", "--exponent", "2",
                          "--append-trans-id")
        self.assertEqual(run.returncode, 64)
        self.assertIn("--append-trans-id must come with a threeDSRequestorAppURL", run.stderr)

    def test_the_result_is_successful_failed_or_an_error(self):
        for how, result in {
                "approved": {"result": "successful"}, "denied": {"result": "failed"}, "fraud": {"result": "failed"},
                "cancelled": {"result": "error", "error": "userCanceled"},
                "timed out at the SDK": {"result": "error", "error": "challengeTimedOut"},
                "expired": {"result": "error", "error": "challengeTimedOut"},
                "invalid CReq": {"result": "error", "error": "protocolError"}}.items():
            with self.subTest(how):
                self.assertEqual(self.ended(how).get("checkout"), result)

    def test_there_is_no_result_before_the_end_and_none_without_a_challenge_in_an_app(self):
        self.assertNotIn("checkout", self.ended("pending"))
        self.assertNotIn("checkout", self.ended("approved", emv={"deviceChannel": "02"}))
        decoupled = {"deviceChannel": "03", "threeDSRequestorDecReqInd": "Y", "threeDSRequestorDecMaxTime": "00010"}
        self.assertNotIn("checkout", self.ended("approved", emv=decoupled))

    def test_the_result_comes_once_whatever_comes_twice(self):
        """A lost answer, so that the decision is delivered again; replays, CReqs, a cancellation, looks, time."""
        purchase = self.purchase(threeDSRequestorAppURL=CHECKOUT_URL, appendTransID=True)
        acs = purchase["acsTransId"]
        self.assertEqual(self.issuer("faults set", "--next", "path=decision,kind=drop,moment=after,times=2").returncode, 0)
        url = self.decide("approve", purchase)
        self.assertEqual(url, purchase["transaction"]["threeDSRequestorAppURL"] + "\n")
        first = self.story(purchase)
        self.assertEqual(first["merchant"]["checkout"], {"result": "successful"})
        for again in [("approve",), ("deny",)]:
            run = self.agent.ctl(again[0], acs)
            self.assertNotEqual(run.returncode, 0)
            self.assertEqual(run.stdout, "", "the app is opened once")
        for command in [("replay", acs), ("creq", acs), ("cancel", acs), ("cancel", acs, "--sdk-timed-out")]:
            self.issuer(*command)
        self.agent.ctl("fetch")
        self.forward("1h")
        for _ in range(20):
            story = self.story(purchase)
            for name in ["merchant", "status", "transStatus", "completedAt"]:
                self.assertEqual(story[name], first[name])
            self.assertNotIn("others", story)
            self.assertEqual(len([m for m in story["messages"] if m.get("messageType") == "RReq"]), 1)
        self.assertEqual(self.story(purchase)["decision"]["repeats"], 2)

    def test_a_warning_has_an_id_a_message_and_a_severity(self):
        purchase = self.purchase(merchantName="Sh\u202eop")
        self.fetch()
        shown = self.agent.json("show", purchase["acsTransId"])
        self.decide("deny", purchase)
        kinds = {"show": shown["warnings"], "status": self.agent.json("status")["warnings"], "doctor": self.agent.json("doctor")}
        for kind, warnings in kinds.items():
            with self.subTest(kind):
                self.assertTrue(warnings)
                for warning in warnings:
                    # Some are about one enrollment.
                    self.assertEqual(set(warning) - {"enrollment"}, {"id", "message", "severity"})
                    self.assertIn(warning["severity"], {"low", "medium", "high"})
                    self.assertRegex(warning["id"], r"^[a-z][A-Za-z]+$")
                    self.assertTrue(warning["message"])
        self.assertIn(("hostileText", "medium"), [(warning["id"], warning["severity"]) for warning in kinds["show"]])


class Braintree(Merchants):
    def test_a_scheme_with_capitals_comes_back_byte_for_byte(self):
        for verb in ["approve", "deny"]:
            purchase = self.purchase(threeDSRequestorAppURL=BRAINTREE_URL)
            self.assertEqual(purchase["messages"][2]["threeDSRequestorAppURL"], BRAINTREE_URL)
            self.assertEqual(self.decide(verb, purchase), BRAINTREE_URL + "\n")
            self.assertEqual(self.agent.json("show", purchase["acsTransId"])["threeDSRequestorAppURL"], BRAINTREE_URL)

    def test_cancelled_is_told_from_failed_and_each_has_its_liability(self):
        for how, (status, is_shifted, is_possible) in {
                "approved": ("authenticate_successful", True, True), "denied": ("authenticate_failed", False, True),
                "fraud": ("authenticate_failed", False, True), "cancelled": ("canceled", False, True),
                "timed out at the SDK": ("exceededTimeoutLimit", False, True),
                "expired": ("authenticate_failed", False, True), "pending": ("challenge_required", False, True),
                "invalid CReq": ("authenticate_unable_to_authenticate", False, True)}.items():
            with self.subTest(how):
                merchant = self.ended(how)
                self.assertEqual(merchant["braintree"], {
                    "status": status, "liabilityShifted": is_shifted, "liabilityShiftPossible": is_possible})
                self.assertEqual(merchant["liabilityShifted"], is_shifted)

    def test_a_decoupled_one_is_still_to_come_until_the_result(self):
        decoupled = {"deviceChannel": "03", "threeDSRequestorDecReqInd": "Y", "threeDSRequestorDecMaxTime": "00010"}
        self.assertEqual(self.ended("pending", emv=decoupled)["braintree"]["status"], "challenge_required")
        self.assertEqual(self.ended("approved", emv=decoupled)["braintree"]["status"], "authenticate_successful")


class Driver(Merchants):
    AMOUNTS = {
        ("100", "840", "2"): "USD 1.00", ("1", "978", "2"): "EUR 0.01", ("1050", "392", "0"): "JPY 1050",
        ("1", "048", "3"): "BHD 0.001", ("12345678", "978", "2"): "EUR 123456.78",
        ("9" * 48, "826", "2"): "GBP " + "9" * 46 + ".99",
    }

    def test_the_amount_that_is_shown_is_the_amount_that_is_authenticated(self):
        for (amount, currency, exponent), shown in self.AMOUNTS.items():
            with self.subTest(shown):
                purchase = self.purchase(purchaseAmount=amount, purchaseCurrency=currency, purchaseExponent=exponent)
                self.fetch()
                text = self.agent.ctl("show", purchase["acsTransId"]).stdout
                # Digits are grouped for reading.
                line = text.splitlines()[0].removeprefix("Amount:").strip()
                self.assertEqual(line.replace("\u202f", "").replace(" ", "").replace(",", "").replace("'", ""),
                                 shown.replace(" ", ""), text)
                run = self.agent.ctl("approve", purchase["acsTransId"])
                self.assertIn(f"Approved {shown} to ", run.stderr)
                story = self.story(purchase)
                # The request's signature covers these digits, and its challenge, which the assertion signs, too.
                signed = json.loads(base64.urlsafe_b64decode(story["requests"][0]["jws"].split(".")[1] + "=="))
                for transaction in [signed["transaction"], story["transaction"]]:
                    self.assertEqual([transaction[f"purchase{name}"] for name in ["Amount", "Currency", "Exponent"]],
                                     [amount, currency, exponent])
                checks = {check["check"]: check["result"] for check in story["verdict"]}
                self.assertEqual((checks["challenge"], checks["signature"]), ("passed", "passed"))
                self.assertEqual(story["status"], "authenticated")

    def test_a_request_is_completed_once(self):
        purchase = self.purchase(threeDSRequestorAppURL=CONNECT_URL)
        self.assertEqual(self.decide("approve", purchase), CONNECT_URL + "\n")
        for verb in ["approve", "deny"]:
            run = self.agent.ctl(verb, purchase["acsTransId"])
            self.assertEqual(run.stdout, "")
            self.assertNotEqual(run.returncode, 0)
        request = self.agent.json("show", purchase["acsTransId"])["id"]
        journal = [json.loads(line) for line in self.agent.ctl("audit export").stdout.splitlines()]
        kinds = [entry["entry"] for entry in journal if entry.get("request") == request]
        self.assertEqual([kinds.count(kind) for kind in ["presented", "decided", "answered"]], [1] * 3)
        self.assertEqual(self.story(purchase)["decision"]["conflicts"], 0)
        self.assertEqual(len(self.story(purchase)["requests"]), 1)


class Connect(Merchants):
    def test_nothing_is_added_to_a_custom_scheme(self):
        for verb in ["approve", "deny"]:
            purchase = self.purchase(threeDSRequestorAppURL=CONNECT_URL)
            self.assertEqual(self.decide(verb, purchase), CONNECT_URL + "\n")

    def test_a_fragment_an_empty_query_and_a_trailing_slash_stay(self):
        for url in [CONNECT_URL + "/", CONNECT_URL + "?", CONNECT_URL + "?#", CONNECT_URL + "/a/../b//c?x=%41#Y"]:
            with self.subTest(url):
                self.assertEqual(self.decide("approve", self.purchase(threeDSRequestorAppURL=url)), url + "\n")


if __name__ == "__main__":
    unittest.main()
