"""Every version and channel of EMV 3-D Secure that the sandbox plays, with every outcome, through the programs as built.

Run with `.venv/bin/python Tests/Stories/test_emv_outcomes.py`; OOB_BIN_DIR names the programs' directory. With --update
it plays all of it and writes the case files, and the tables of docs/reference/emv-outcomes.md that are made of them.
"""

import json
import subprocess
import sys
import unittest
import uuid

import emv_cases
from citations import page
from issuer import EXAMPLE_TRANSACTION
from programs import BIN_DIR, Agent, Sandbox, started, temporary_folder
from software_authenticator import call

PIN, WRONG_PIN = "48315926", "48315927"
# Not every version and channel has a threeDSRequestorAppURL.
TRANSACTION = {name: value for name, value in EXAMPLE_TRANSACTION.items() if name != "threeDSRequestorAppURL"}
APP_URL = "https://merchant.example/return?transID=7"
PAGE = page("emv-outcomes.md")
# Longer than any purchase of these tests.
ALL_TIME = 8 * 86_400


class Played(unittest.TestCase):
    """A sandbox whose clock the test moves, and an agent."""

    # The agent has the machine's clock, so that it takes enrollments with a PIN; the sandbox's is moved when it is gone.
    agent_options: tuple[str, ...] = ()

    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.sandbox = started(type(self), Sandbox(self.folder, "--test-clock"))
        self.agent = Agent(self.folder, *self.agent_options)
        self.addCleanup(lambda: self.agent.process.poll() is None and self.agent.stop())
        for name, pin in [("pin", PIN), ("wrong", WRONG_PIN)]:
            file = self.folder / name
            file.write_text(pin + "\n")
            file.chmod(0o600)

    def enroll(self, *options: str) -> str:
        _, code = call("POST", f"{self.sandbox.origin}/sandbox/enrollment-codes", {})
        return self.agent.json("enroll", code["link"], *options)["authenticatorId"]

    def post(self, path: str, body: dict, status: int = 200) -> dict:
        answered, answer = call("POST", f"{self.sandbox.origin}/sandbox/{path}", body)
        self.assertEqual(answered, status, answer)
        return answer

    def purchase(self, **how) -> str:
        return self.post("purchases", {**TRANSACTION, "acsTransId": str(uuid.uuid4()), **how}, 201)["acsTransId"]

    def decide(self, verb: str, purchase: str, *options: str, status: int = 0):
        run = self.agent.ctl(verb, purchase, "--wait", "60", *options)
        self.assertEqual(run.returncode, status, run.stderr)

    def story(self, purchase: str, wait: int = 0) -> dict:
        return call("GET", f"{self.sandbox.origin}/sandbox/purchases/{purchase}?wait={wait}")[1]

    def ended(self, purchase: str) -> dict:
        while (story := self.story(purchase, wait=20))["status"] == "pending":
            pass
        return story

    def issuer_command(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BIN_DIR / "oob-issuer", *words, "--issuer", self.sandbox.origin], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120)


class Matrix(Played):
    def order(self, version: str, channel: str, authenticator: str, **more) -> str:
        order = {"emv": {**emv_cases.profile(version, channel), **more.pop("emv", {})}, **more}
        if channel == "app" and version != "2.1.0":
            order["threeDSRequestorAppURL"] = APP_URL
        return self.purchase(authenticatorId=authenticator, **order)

    def play(self) -> dict[tuple[str, str, str], list[dict]]:
        present = self.enroll("--authn-type", "presence", "--name", "presence")
        known = self.enroll("--authn-type", "pin", "--pin-file", str(self.folder / "pin"), "--name", "pin")
        purchases = {}
        decisions = {"approved": ["approve"], "denied": ["deny"], "denied as fraud": ["deny", "--reason", "suspectedFraud"]}
        self.block(known)
        for version, channel, outcome in emv_cases.cells():
            more = {}
            if outcome == "refused by the agent":
                more = {"userVerification": "required"}
            if outcome == "expired before the first CReq":
                more = {"emv": {"sdk": "noFirstCReq"}}
            if outcome != "agent unreachable":
                authenticator = known if outcome == "blocked after wrong PINs" else present
                purchase = self.order(version, channel, authenticator, **more)
                purchases[version, channel, outcome] = purchase
                if outcome in decisions:
                    verb, *options = decisions[outcome]
                    self.decide(verb, purchase, *options)
                if outcome == "cancelled in the challenge UI":
                    self.post(f"purchases/{purchase}/cancel", {})
                if outcome == "refused by the agent":
                    self.assertEqual(self.ended(purchase)["status"], "notAuthenticated")
        self.agent.stop()
        for version, channel, outcome in emv_cases.cells():
            if outcome == "agent unreachable":
                purchases[version, channel, outcome] = self.order(version, channel, present)
        self.post("clock", {"advanceSeconds": ALL_TIME})
        return {cell: emv_cases.without_identifiers(self.ended(purchase)["messages"])
                for cell, purchase in purchases.items()}

    def block(self, authenticator: str):
        purchase = self.purchase(authenticatorId=authenticator)
        for wrong in range(5):
            self.decide("approve", purchase, "--pin-file", str(self.folder / "wrong"), status=6 if wrong == 4 else 5)
        self.decide("approve", purchase, "--pin-file", str(self.folder / "pin"), status=6)

    def test_each_version_channel_and_outcome_has_the_messages_of_its_case_file(self):
        played, stored = self.play(), emv_cases.stored()
        self.assertEqual(sorted(played), sorted(emv_cases.cells()))
        self.assertEqual(sorted(stored), sorted(played))
        for cell, messages in played.items():
            with self.subTest(" ".join(cell)):
                self.assertEqual(messages, stored[cell])


class Tables(unittest.TestCase):
    def test_the_tables_are_made_of_the_case_files(self):
        text = PAGE.read_text(encoding="utf-8")
        for channel in emv_cases.CHANNELS:
            with self.subTest(channel):
                self.assertEqual(emv_cases.replaced(text, channel, emv_cases.table(channel, emv_cases.stored())), text)


class Decoupled(Played):
    agent_options = ("--test-clock",)

    def advance(self, seconds: int):
        self.agent.json("clock advance", f"{seconds}s")
        self.post("clock", {"advanceSeconds": seconds})

    def test_seven_days_of_it_pass_at_once_and_end_with_one_result_message(self):
        self.enroll("--authn-type", "test")
        run = self.issuer_command(
            "purchase", "--amount", "100", "--currency", "840", "--exponent", "2", "--merchant", "CoffeeHouse2",
            "--emv", "deviceChannel=03", "--decoupled", "10080")
        self.assertEqual(run.returncode, 0, run.stderr)
        purchase = run.stdout.strip()
        for day in range(1, 8):
            # Each day's request ends undecided at the authenticator, and the issuer has asked again by then.
            self.assertEqual(len(self.story(purchase)["requests"]), day)
            self.assertEqual(self.story(purchase)["status"], "pending")
            self.advance(86_400 if day < 7 else 86_000)
        self.decide("approve", purchase)
        story = self.ended(purchase)
        self.assertEqual([story["status"], len(story["requests"])], ["authenticated", 7])
        kinds = [message.get("messageType") for message in story["messages"]]
        self.assertEqual(kinds, ["AReq", "ARes", None, "RReq", "RRes"])
        self.assertEqual(story["messages"][0]["threeDSRequestorDecMaxTime"], "10080")

    def test_it_ends_at_the_requestors_time_with_one_result_message(self):
        self.enroll("--authn-type", "test")
        purchase = self.purchase(
            emv={"threeDSRequestorDecReqInd": "Y", "threeDSRequestorDecMaxTime": "00060", "messageVersion": "2.3.1"})
        # The sandbox's clock goes on meanwhile: half of the time is left for that.
        self.post("clock", {"advanceSeconds": 1_800})
        self.assertEqual(self.story(purchase)["status"], "pending")
        self.post("clock", {"advanceSeconds": 1_800})
        story = self.story(purchase)
        self.assertEqual([message["messageType"] for message in story["messages"]], ["AReq", "ARes", "RReq", "RRes"])
        result = story["messages"][2]
        self.assertEqual([result["transStatus"], result["transStatusReason"], result["challengeCancel"]], ["N", "24", "03"])
        self.assertNotIn("interactionCounter", result)


class AppSwitching(Played):
    def test_each_return_without_a_result_gets_the_instructions_again_and_is_counted(self):
        self.enroll("--authn-type", "presence")
        purchase = self.purchase(threeDSRequestorAppURL=APP_URL)
        for _ in range(2):
            run = self.issuer_command("creq", purchase)
            self.assertEqual(run.returncode, 0, run.stderr)
        self.decide("approve", purchase)
        story = self.ended(purchase)
        counters = [[message.get("sdkCounterStoA"), message.get("acsCounterAtoS")] for message in story["messages"]
                    if message.get("messageType") in ("CReq", "CRes")]
        self.assertEqual(counters, [pair for count in ["000", "001", "002", "003"]
                                    for pair in [[count, None], [None, count]]])
        self.assertEqual(story["challengeRequests"], 4)

    def test_a_creq_after_the_time_out_gets_an_erro_402(self):
        self.enroll("--authn-type", "presence")
        purchase = self.purchase()
        self.post("clock", {"advanceSeconds": 600})
        run = self.issuer_command("creq", purchase, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        messages = json.loads(run.stdout)["messages"]
        self.assertEqual([message["messageType"] for message in messages[-4:]], ["RReq", "RRes", "CReq", "Erro"])
        self.assertEqual([messages[-1]["errorComponent"], messages[-1]["errorCode"]], ["A", "402"])

    def test_an_sdk_that_comes_back_after_the_result_fetches_it_then(self):
        self.enroll("--authn-type", "presence")
        purchase = self.purchase(emv={"sdk": "noReturn"})
        self.decide("approve", purchase)
        messages = self.ended(purchase)["messages"]
        self.assertEqual([message.get("messageType") for message in messages[-3:]], [None, "RReq", "RRes"])
        self.assertEqual(self.issuer_command("creq", purchase).returncode, 0)
        messages = self.story(purchase)["messages"]
        self.assertEqual([message["messageType"] for message in messages[-2:]], ["CReq", "CRes"])
        self.assertEqual(messages[-1]["transStatus"], "Y")
        again = self.issuer_command("creq", purchase)
        self.assertEqual(again.returncode, 1)
        self.assertIn("completed already", again.stderr)

    def test_an_issuers_app_that_does_not_open_is_told_with_oob_app_status(self):
        self.enroll("--authn-type", "presence")
        purchase = self.purchase(
            emv={"messageVersion": "2.3.1", "oobAppURL": "bank://approve?id=7", "oobAppStatus": "01"})
        kinds = [(message["messageType"], message.get("oobAppStatus")) for message in self.story(purchase)["messages"]]
        self.assertEqual(kinds[2:], [("CReq", None), ("CRes", None), ("CReq", "01"), ("CRes", None)])

    def test_an_invalid_creq_ends_the_authentication_with_u(self):
        self.enroll("--authn-type", "presence")
        purchase = self.purchase()
        run = self.issuer_command("creq", purchase, "--invalid")
        self.assertEqual(run.returncode, 0, run.stderr)
        messages = self.story(purchase)["messages"]
        self.assertEqual([message["messageType"] for message in messages[4:]], ["CReq", "Erro", "RReq", "RRes"])
        self.assertEqual([messages[-2]["transStatus"], messages[-2]["challengeCancel"]], ["U", "06"])
        purchase = self.purchase(emv={"messageVersion": "2.3.1"})
        self.assertEqual(self.issuer_command("creq", purchase, "--invalid").returncode, 0)
        erro, rreq = self.story(purchase)["messages"][-3:-1]
        self.assertEqual([rreq["challengeCancel"], rreq["challengeErrorReporting"]], ["10", erro])

    def test_an_sdk_that_waited_too_long_says_so_with_an_erro(self):
        self.enroll("--authn-type", "presence")
        purchase = self.purchase()
        self.assertEqual(self.issuer_command("cancel", purchase, "--sdk-timed-out").returncode, 0)
        messages = self.story(purchase)["messages"]
        self.assertEqual([message["messageType"] for message in messages[4:]], ["Erro", "RReq", "RRes"])
        self.assertEqual([messages[4]["errorComponent"], messages[4]["errorCode"]], ["C", "402"])
        self.assertEqual(messages[5]["challengeCancel"], "08")


class Refusals(Played):
    def test_an_app_url_in_2_1_0_is_refused_with_the_erro_of_an_acs(self):
        self.enroll("--authn-type", "presence")
        answer = self.post(
            "purchases", {"threeDSRequestorAppURL": APP_URL, "emv": {"messageVersion": "2.1.0"}}, 400)
        self.assertIn("a CReq of 2.1.0 does not have it", answer["detail"])
        self.assertEqual(
            [answer["erro"][name] for name in ["messageType", "errorCode", "errorComponent", "errorDetail"]],
            ["Erro", "203", "A", "threeDSRequestorAppURL"])

    def test_what_a_version_or_channel_does_not_have_is_refused_with_the_reason(self):
        decoupled = {"threeDSRequestorDecReqInd": "Y"}
        for emv, words in [
            ({"trustListStatus": "Y"}, "emv/trustListStatus: 2.2.0 has whiteListStatus in its place"),
            ({"deviceBindingStatus": "11"}, "emv/deviceBindingStatus: only 2.3.1 has it"),
            ({"authenticationMethod": ["07"]}, "emv/authenticationMethod: only 2.3.1, and 2.2.0 with bridging, have it"),
            ({"messageVersion": "2.1.0", "whiteListStatus": "Y"}, "emv/whiteListStatus: 2.1.0 does not have it"),
            ({"messageVersion": "2.1.0", **decoupled, "threeDSRequestorDecMaxTime": "00001"},
             "emv/threeDSRequestorDecReqInd: 2.1.0 has no decoupled authentication"),
            ({"messageVersion": "2.3.1", "bridging": True}, "emv/bridging: the Bridging extension is one of 2.2.0"),
            ({"messageVersion": "2.3.1", "deviceChannel": "02", "oobAppURL": "bank://x"}, "emv/oobAppURL: only the app channel"),
            ({"deviceChannel": "03"}, "emv/deviceChannel: in the channel 03 a cardholder is asked decoupled"),
            ({"messageVersion": "2.1.0", "deviceChannel": "03"}, "emv/deviceChannel: in 2.1.0 the channel 03 cannot ask"),
            ({"messageVersion": "2.4.0"}, "emv/messageVersion: must be one of 2.1.0, 2.2.0, 2.3.1"),
            ({"messageVersoin": "2.3.1"}, "emv/messageVersoin: no such member; did you mean messageVersion?"),
            ({**decoupled}, "emv/threeDSRequestorDecMaxTime: it must be there"),
            ({**decoupled, "threeDSRequestorDecMaxTime": "00000"}, "00001 to 10080 (minutes"),
            ({**decoupled, "threeDSRequestorDecMaxTime": "10081"}, "00001 to 10080 (minutes"),
            ({**decoupled, "threeDSRequestorDecMaxTime": "60"}, "must be five digits"),
            ({"threeDSRequestorDecMaxTime": "00060"}, "it takes threeDSRequestorDecReqInd Y"),
            ({"messageVersion": "2.3.1", "oobAppURL": "javascript:x"}, "emv/oobAppURL: has a scheme that is not allowed"),
            ({"messageVersion": "2.3.1", "oobAppURL": "bank://x", "oobAppLabel": "x" * 46}, "1 to 45 characters"),
        ]:
            with self.subTest(emv=emv):
                self.assertIn(words, self.post("purchases", {"emv": emv}, 400)["detail"])

    def test_the_command_names_the_flag(self):
        payment = ["purchase", "--amount", "1", "--currency", "840", "--exponent", "2", "--merchant", "M"]
        for words, message in [
            (["--decoupled", "0"], "--decoupled must be 1 to 10080"),
            (["--decoupled", "10081"], "--decoupled must be 1 to 10080"),
            (["--emv", "trustListStatus=Y"], "--emv trustListStatus: 2.2.0 has whiteListStatus in its place"),
            (["--emv", "messageVersion"], "--emv must be NAME=VALUE"),
            (["--non-payment"], "--amount is of a payment"),
        ]:
            with self.subTest(words=words):
                run = self.issuer_command(*payment, *words)
                self.assertEqual(run.returncode, 64, run.stdout + run.stderr)
                self.assertIn(message, run.stderr)


def update():
    test = Matrix()
    test.setUp()
    try:
        emv_cases.store(test.play())
    finally:
        test.doCleanups()
        Matrix.doClassCleanups()
    text = PAGE.read_text(encoding="utf-8")
    for channel in emv_cases.CHANNELS:
        text = emv_cases.replaced(text, channel, emv_cases.table(channel, emv_cases.stored()))
    PAGE.write_text(text, encoding="utf-8")


class ListedAgain(Played):
    def again(self, purchase: str, status: int, **how) -> dict:
        return self.post("purchases", {**TRANSACTION, "acsTransId": purchase, **how}, status)

    def test_a_purchase_listed_again_stays_what_its_first_order_made_it(self):
        self.enroll("--authn-type", "presence", "--name", "presence")
        silent = self.purchase(emv={"sdk": "noFirstCReq"})
        story = self.again(silent, 201, repeat=1)
        self.assertEqual(story["requests"], [])
        hour = {"threeDSRequestorDecReqInd": "Y", "threeDSRequestorDecMaxTime": "00060"}
        decoupled = self.purchase(emv=hour)
        first, second = self.again(decoupled, 201, newJti=True)["requests"]
        self.assertEqual(first["exp"], second["exp"])
        self.post("clock", {"advanceSeconds": 3_600})
        self.assertIn("threeDSRequestorDecMaxTime is over", self.again(decoupled, 409, newJti=True, emv=hour)["detail"])

    def test_a_late_creq_keeps_its_oob_app_status(self):
        self.enroll("--authn-type", "presence", "--name", "presence")
        emv = {"messageVersion": "2.3.1", "oobAppURL": "https://bank.example/oob"}
        purchase = self.purchase(emv=emv, expiresIn=5)
        self.post("clock", {"advanceSeconds": 60})
        messages = self.post(f"purchases/{purchase}/creq", {"oobAppStatus": "01"})["messages"]
        last = [message for message in messages if message.get("messageType") == "CReq"][-1]
        self.assertEqual((last.get("oobAppStatus"), last.get("oobContinue")), ("01", None))


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
