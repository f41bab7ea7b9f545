"""Personas, rules and tags: who plays a cardholder, and what the sandbox makes of it.

Run with `.venv/bin/python Tests/Counterparts/test_personas.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
import urllib.request
from pathlib import Path

from programs import BIN_DIR, Agent, Sandbox, started, temporary_folder

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "reference" / "personas"
PLUGIN = ROOT / "integrations" / "pytest"


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


class Bench(unittest.TestCase):
    """One agent and one sandbox for all tests of a class."""

    SETTINGS: tuple[str, ...] = ()
    # The sandbox's.
    CLOCK: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(cls.folder, *cls.CLOCK))
        cls.agent = started(cls, Agent(cls.folder, *cls.SETTINGS))

    def call(self, path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.sandbox.origin + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=75) as answer:
            return json.load(answer)

    def enroll(self, *words: str, authn_type: str = "test") -> dict:
        link = self.call("/sandbox/enrollment-codes", {})["link"]
        return self.agent.json("enroll", link, "--authn-type", authn_type, *words)

    def purchase(self, enrollment: dict, merchant: str = "CoffeeHouse2", amount: int = 100, **members) -> str:
        return self.call("/sandbox/purchases", {
            "merchantName": merchant, "purchaseAmount": str(amount), "purchaseCurrency": "840",
            "purchaseExponent": "2", "authenticatorId": enrollment["authenticatorId"], **members})["acsTransId"]

    def outcome(self, acs: str) -> str:
        return self.call(f"/sandbox/purchases/{acs}?wait=60")["status"]

    def waiting(self, acs: str) -> dict:
        """The request of a purchase once the agent has presented it."""
        deadline = time.monotonic() + 60
        while True:
            for request in self.agent.json("list"):
                if request["acsTransId"] == acs:
                    return request
            self.assertLess(time.monotonic(), deadline, self.agent.tail())
            time.sleep(0.05)  # Looks again; nothing depends on how long.

    def refused(self, status: int, command: str, *words: str) -> str:
        run = self.agent.ctl(command, *words)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run.stderr


class Pages(unittest.TestCase):
    def test_the_tests_of_the_pages_pass(self):
        folder = temporary_folder(type(self))
        names = sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "README")
        for name in names:
            (block,) = re.findall(r"```python\n(.*?)```", page(name), re.DOTALL)
            (folder / f"test_{name}.py").write_text(block, encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytest_oob_authenticator.plugin",
             f"--rootdir={folder}", "-n", "2", "--durations=0", "-q", str(folder)],
            env={**os.environ, "OOB_BIN_DIR": str(BIN_DIR), "PYTHONPATH": str(PLUGIN)}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=560)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn(f"{len(names)} passed", ran.stdout)


class AnyLanguage(Bench):
    SETTINGS = ("--test-clock",)
    CLOCK = ("--test-clock",)

    def test_the_recipe_for_any_other_language_works(self):
        text = (ROOT / "docs" / "how-to" / "test-suites.md").read_text(encoding="utf-8")
        set_persona, advance = re.search(r"```\n(oobctl persona set .*)\n(oobctl fetch .*)\n```", text).groups()
        payer = self.enroll()
        environment = {**os.environ, "PATH": f"{BIN_DIR}:/usr/bin:/bin", "OOB_AGENT_SOCKET": str(self.agent.socket),
                       "enrollment": payer["id"], "issuer": self.sandbox.origin}

        def do(line: str):
            subprocess.run(["bash", "-euc", line], env=environment, check=True, capture_output=True, timeout=60)
        do(set_persona)
        acs = self.purchase(payer, expiresIn=600)
        do(advance)
        self.assertEqual(self.outcome(acs), "expired")


class TheList(Bench):
    def test_each_persona_has_its_page_and_each_page_its_persona(self):
        known = {each["name"]: each["summary"] for each in self.agent.json("persona list")["known"]}
        pages = {path.stem for path in PAGES.glob("*.md")} - {"README"}
        self.assertEqual(pages, set(known))
        index = page("README")
        for name in known:
            self.assertTrue(page(name).startswith(f"# {name}\n"), name)
            self.assertIn(f"| [`{name}`]({name}.md) | ", index)

    def test_what_is_set_is_listed_until_it_is_cleared(self):
        payer = self.enroll("--persona", "autoApprove", "--times", "3", "--delay", "1")
        (listed,) = [each for each in self.agent.json("persona list")["set"] if each["enrollment"] == payer["id"]]
        self.assertEqual((listed["persona"], listed["times"], listed["delay"]), ("autoApprove", 3, 1))
        cleared = self.agent.json("persona clear", "--enrollment", payer["id"])
        self.assertEqual(cleared, {"enrollment": payer["id"], "wasSet": True})
        self.assertEqual(self.agent.json("persona clear", "--enrollment", payer["id"])["wasSet"], False)
        self.assertNotIn(payer["id"], [each["enrollment"] for each in self.agent.json("persona list")["set"]])


class Setting(Bench):
    def test_a_persona_is_for_test_enrollments_alone(self):
        payer = self.enroll(authn_type="presence")
        told = self.refused(64, "persona set", "badSignature", "--enrollment", payer["id"])
        self.assertIn("goes with authnType test only; this enrollment is of authnType presence", told)
        link = self.call("/sandbox/enrollment-codes", {})["link"]
        told = self.refused(64, "enroll", link, "--authn-type", "presence", "--persona", "ask")
        self.assertIn("goes with authnType test only", told)
        # The code was not used up.
        self.agent.json("enroll", link, "--authn-type", "test", "--persona", "ask")

    def test_a_key_that_the_agent_did_not_make_is_not_played_with(self):
        key = self.folder / "own.key"
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key],
                       check=True, capture_output=True)
        key.chmod(0o600)
        payer = self.enroll("--key-uri", f"file:{key}")
        told = self.refused(64, "persona set", "badSignature", "--enrollment", payer["id"])
        self.assertIn("with a key of the agent's own", told)

    def test_what_there_is_not_is_told_with_what_there_is(self):
        payer = self.enroll()
        told = self.refused(64, "persona set", "badSignatur", "--enrollment", payer["id"])
        self.assertIn("did you mean badSignature? Allowed are ask, autoApprove", told)
        for words, what in [(["--odds", "1.5"], "odds"), (["--times", "0"], "times"), (["--delay", "90000"], "delay")]:
            told = self.refused(64, "persona set", "ask", "--enrollment", payer["id"], *words)
            self.assertIn(what, told)
        (odds,) = [self.agent.json("persona set", "ask", "--enrollment", payer["id"], "--odds", "0.25")["odds"]]
        self.assertEqual(odds, 0.25)
        self.agent.json("persona clear", "--enrollment", payer["id"])
        self.refused(3, "persona set", "ask", "--enrollment", "nobody")
        self.assertNotIn(payer["id"], [each["enrollment"] for each in self.agent.json("persona list")["set"]])

    def test_a_persona_answers_as_often_as_it_was_set_for(self):
        payer = self.enroll("--persona", "autoApprove", "--times", "1")
        self.assertEqual(self.outcome(self.purchase(payer)), "authenticated")
        second = self.purchase(payer)
        request = self.waiting(second)
        told = self.agent.json("explain", request["id"])
        self.assertEqual((told["by"], told["settled"]), ("nobody", True))
        self.assertIn("has answered the 1 requests", told["reason"])
        # A person may decide it.
        self.agent.json("deny", request["id"])
        self.assertEqual(self.outcome(second), "notAuthenticated")

    def test_who_decided_stands_in_the_journal(self):
        payer = self.enroll("--persona", "denyAsFraud")
        self.assertEqual(self.outcome(self.purchase(payer)), "notAuthenticated")
        entries = map(json.loads, self.agent.ctl("audit export").stdout.splitlines())
        (decided,) = [each for each in entries if each["entry"] == "decided" and each["enrollment"] == payer["id"]]
        self.assertEqual((decided["by"], decided["persona"], decided["shown"]), ("persona", "denyAsFraud", "nothing"))
        self.assertEqual(self.agent.ctl("audit verify").returncode, 0)

    def test_a_request_that_came_before_is_left_to_a_person(self):
        payer = self.enroll()
        acs = self.purchase(payer)
        request = self.waiting(acs)
        self.agent.json("persona set", "autoDeny", "--enrollment", payer["id"])
        self.agent.json("approve", request["id"])
        self.assertEqual(self.outcome(acs), "authenticated")


class Tags(Bench):
    SETTINGS = ("--persona-tags", "true")

    def test_a_transaction_may_name_its_persona(self):
        payer = self.enroll("--persona", "autoApprove")
        self.assertEqual(self.outcome(self.purchase(payer, merchant="Shop [persona:autoDeny]")), "notAuthenticated")
        tagged = self.purchase(payer, oobPersona="denyAsFraud")
        self.assertEqual(self.outcome(tagged), "notAuthenticated")
        told = self.agent.json("explain", tagged)
        self.assertEqual((told["by"], told["persona"]), ("tag", "denyAsFraud"))
        misspelt = self.purchase(payer, oobPersona="denyAsFruad")
        request = self.waiting(misspelt)
        self.assertIn("did you mean denyAsFraud?", self.agent.json("explain", request["id"])["reason"])
        self.agent.json("approve", request["id"])
        self.assertEqual(self.outcome(self.purchase(payer)), "authenticated")


class Rules(Bench):
    RULES = """
        rules:
          - name: coffee
            when: {merchantName: "Coffee*", currency: USD, maxAmount: 10.00}
            then: approve
            times: 1
          - name: the rest
            when:
              merchantName: "Coffee*"
            then: deny
        """

    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.config = cls.folder / "config.yaml"
        cls.config.write_text(cls.RULES, encoding="utf-8")
        cls.sandbox = started(cls, Sandbox(cls.folder))
        cls.agent = started(cls, Agent(cls.folder, "--config", str(cls.config)))

    def test_rules_decide_and_a_bad_file_keeps_the_old_ones(self):
        payer = self.enroll()
        dear = self.purchase(payer, amount=1001)
        self.assertEqual(self.outcome(dear), "notAuthenticated")
        told = self.agent.json("explain", dear)
        self.assertEqual((told["by"], told["rule"]), ("rule", "the rest"))
        self.assertIn("coffee: the amount is above maxAmount", told["reason"])
        self.assertEqual(self.outcome(self.purchase(payer, amount=1000)), "authenticated")
        # The first rule was for one request.
        self.assertEqual(self.outcome(self.purchase(payer, amount=1000)), "notAuthenticated")

        self.config.write_text(self.RULES.replace("then: deny", "then: dny"), encoding="utf-8")
        bad = self.refused(64, "rules reload")
        self.assertIn(f"{self.config}:10: then: did you mean deny? Allowed are approve, deny, ask", bad)
        self.assertEqual(self.outcome(self.purchase(payer, amount=1001)), "notAuthenticated")

        self.config.write_text("rules: []", encoding="utf-8")
        self.agent.process.send_signal(signal.SIGHUP)
        acs = self.purchase(payer, amount=1)
        request = self.waiting(acs)
        self.assertEqual(self.agent.json("explain", request["id"])["by"], "nobody")
        self.agent.json("approve", request["id"])
        self.assertEqual(self.outcome(acs), "authenticated")
        explained = self.agent.json("explain", "--all", "--limit", "1000")
        self.assertEqual([each["by"] for each in explained if each["request"] == request["id"]], ["nobody"])

    def test_a_rule_is_for_test_enrollments_alone(self):
        payer = self.enroll(authn_type="presence")
        acs = self.purchase(payer, amount=1)
        request = self.waiting(acs)
        told = self.agent.json("explain", request["id"])
        self.assertEqual((told["by"], told["settled"]), ("nobody", False))
        self.assertIn("only enrollments of authnType test are played", told["reason"])
        self.agent.json("approve", request["id"])
        self.assertEqual(self.outcome(acs), "authenticated")


if __name__ == "__main__":
    unittest.main()
