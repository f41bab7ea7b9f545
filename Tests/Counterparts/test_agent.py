"""The agent as it was built, against an issuer that shares no code with it.

Run with `.venv/bin/python Tests/Counterparts/test_agent.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import subprocess
import unittest
from pathlib import Path

from jwcrypto.jwk import JWK

from issuer import Issuer
from programs import BIN_DIR, Agent, started, temporary_folder
from verify import ALGORITHMS, decode, py_webauthn_has

VECTORS = Path(__file__).parent.parent / "Fixtures" / "Vectors" / "challenge.json"
WAIT = ("--wait", "60")


class AgainstTheAgent(unittest.TestCase):
    """One agent with an enrollment at each of two issuers, one of which asks for an attestation."""

    @classmethod
    def setUpClass(cls):
        cls.agent = started(cls, Agent(temporary_folder(cls)))
        cls.issuers, cls.enrollments = {}, {}
        for attestation in ["none", "direct"]:
            issuer = cls.issuers[attestation] = cls.enterClassContext(Issuer(attestation))
            cls.enrollments[attestation] = cls.agent.json(
                "enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(), "--authn-type", "presence",
                "--name", f"outside {attestation}")

    def ask(self, attestation: str = "none", transaction: dict | None = None, **how):
        issuer = self.issuers[attestation]
        return issuer.ask(
            self.enrollments[attestation]["authenticatorId"], transaction or issuer.transaction(), **how)

    def approved(self, request) -> dict:
        shown = self.agent.json("approve", request.transaction["acsTransId"], *WAIT)
        self.assertEqual((shown["state"], shown["delivery"], shown["transStatus"]), ("approved", "delivered", "Y"))
        return shown

    def listed(self, *arguments: str) -> dict:
        """The agent's requests by acsTransId."""
        rows = self.agent.json("list", "--limit", "1000", *arguments)
        return {row["acsTransId"]: row for row in rows}


class SeveralAtOnce(AgainstTheAgent):
    def decided_at_once(self, command: str, *arguments: str, count: int) -> list[dict]:
        """What as many runs print that are started together, of which each takes what is next."""
        runs = [
            subprocess.Popen(
                [BIN_DIR / "oobctl", command, "--next", "--json", "--delivery-timeout", "60", *arguments, "--socket",
                 str(self.agent.socket)],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(count)]
        said = [run.communicate(timeout=100) for run in runs]
        return [{"exit": run.returncode, **json.loads(output or error)} for run, (output, error) in zip(runs, said)]

    def test_each_takes_one_that_no_other_has_taken(self):
        for command, arguments in [("approve", ()), ("deny", ()), ("approve", WAIT)]:
            asked = [self.ask(attestation) for attestation in ["none", "direct"] * 5]
            self.agent.json("fetch")
            answers = self.decided_at_once(command, *arguments, count=len(asked))
            self.assertEqual({each["exit"] for each in answers}, {0}, answers)
            self.assertEqual({each["acsTransId"] for each in answers}, {each.transaction["acsTransId"] for each in asked})

    def test_what_is_expected_is_expected_of_the_one_that_is_decided(self):
        issuer = self.issuers["none"]
        for amount in ["100", "100", "100", "999"]:
            last = self.ask(transaction=issuer.transaction(purchaseAmount=amount))
            self.agent.json("fetch")
        answers = self.decided_at_once("approve", "--expect-amount", "USD 1.00", count=6)
        self.assertEqual(sorted(each["exit"] for each in answers), [0, 0, 0, 4, 4, 4], answers)
        self.assertEqual(list(self.listed()), [last.transaction["acsTransId"]])
        self.agent.json("deny", "--next")


class Enrollments(AgainstTheAgent):
    def test_both_libraries_verified_the_registration_that_was_asked_for(self):
        for attestation, form in [("none", "none"), ("direct", "packed")]:
            (enrolled,) = self.issuers[attestation].authenticators.values()
            self.assertEqual(enrolled.credential.attestation_format, form)
            self.assertFalse(enrolled.credential.user_verified, "presence must not claim user verification")
            self.assertEqual(enrolled.description["platform"], "linux")
            self.assertEqual(enrolled.description["authnType"], "presence")
            view = self.enrollments[attestation]
            self.assertEqual(view["authenticatorId"], enrolled.id)
            self.assertEqual(decode(view["credentialId"]), enrolled.credential.data.credential_id)
            self.assertEqual((view["state"], view["algorithm"], view["authnType"]), ("active", -7, "presence"))

    def test_two_enrollments_have_nothing_in_common_but_the_model(self):
        first, second = (list(issuer.authenticators.values())[0].credential for issuer in self.issuers.values())
        self.assertNotEqual(first.data.credential_id, second.data.credential_id)
        self.assertNotEqual(first.cose_key, second.cose_key)
        self.assertEqual(first.data.aaguid, second.data.aaguid)

    def test_a_wrong_code_enrolls_nothing(self):
        before = self.agent.json("enrollments")
        run = self.agent.ctl("enroll", "--issuer", self.issuers["none"].origin, "--code", "AAAA-AAAA", "--json")
        self.assertEqual(run.returncode, 9, run.stderr)
        self.assertEqual(json.loads(run.stderr)["error"]["code"], 70005)
        self.assertEqual([row["id"] for row in self.agent.json("enrollments")], [row["id"] for row in before])


class Algorithms(unittest.TestCase):
    """One agent; each test enrolls it at issuers of its own."""

    @classmethod
    def setUpClass(cls):
        cls.agent = started(cls, Agent(temporary_folder(cls)))

    def enroll(self, attestation: str, algorithms: tuple[int, ...]) -> tuple[Issuer, dict]:
        issuer = self.enterContext(Issuer(attestation, algorithms=algorithms))
        return issuer, self.agent.json(
            "enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(), "--authn-type", "presence")

    def check(self, algorithm: int):
        """Registrations in both forms and an approval verify with every party that has the algorithm."""
        for attestation in ["none", "direct"]:
            with self.subTest(attestation):
                issuer, view = self.enroll(attestation, (algorithm,))
                self.assertEqual(view["algorithm"], algorithm)
                for count in [1, 2]:
                    transaction = issuer.transaction()
                    request = issuer.ask(view["authenticatorId"], transaction)
                    shown = self.agent.json("approve", transaction["acsTransId"], *WAIT)
                    self.assertEqual((shown["state"], shown["transStatus"]), ("approved", "Y"))
                    self.assertEqual((issuer.decided(request).trans_status, request.refusals), ("Y", []))
                    credential = issuer.authenticators[view["authenticatorId"]].credential
                    self.assertEqual((credential.algorithm, credential.sign_count), (algorithm, count))

    def test_es256(self):
        self.check(-7)

    def test_es384(self):
        """With python-fido2 and libfido2: once py_webauthn has it as well, verify.py asks it by itself."""
        self.check(-35)
        self.assertEqual([one for one in ALGORITHMS if not py_webauthn_has(one)], [-35])

    def test_eddsa(self):
        self.check(-8)

    def test_the_first_of_the_issuers_list_that_the_agent_has_is_taken(self):
        for algorithms in [(-8, -7), (-7, -8), (-35, -8, -7), (-257, -36, -8, -35, -7)]:
            with self.subTest(algorithms):
                _, view = self.enroll("direct", algorithms)
                self.assertEqual(view["algorithm"], next(one for one in algorithms if one in ALGORITHMS))

    def test_where_there_is_none_in_common_the_agent_says_which_it_has_and_makes_no_key(self):
        issuer = self.enterContext(Issuer(algorithms=(-257, -36, -19, 7)))
        run = self.agent.ctl("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(), "--json")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("(ES256, ES384, EdDSA)", json.loads(run.stderr)["error"]["message"])
        self.assertEqual(issuer.authenticators, {})
        self.assertNotIn(issuer.origin, [row["issuer"] for row in self.agent.json("enrollments")])


class Decisions(AgainstTheAgent):
    def test_an_approval_is_verified_by_both_libraries(self):
        for attestation in ["none", "direct"]:
            with self.subTest(attestation):
                request = self.ask(attestation)
                shown = self.approved(request)
                self.assertEqual(shown["amount"], {"currency": "USD", "value": "1.00"})
                self.assertEqual(shown["transaction"], request.transaction)
                self.assertEqual(self.issuers[attestation].decided(request).trans_status, "Y")
                self.assertEqual(request.refusals, [])

    def test_the_return_url_is_all_that_a_plain_approval_prints(self):
        request = self.ask()
        run = self.agent.ctl("approve", request.transaction["acsTransId"], *WAIT)
        self.assertEqual((run.returncode, run.stdout), (0, request.transaction["threeDSRequestorAppURL"] + "\n"))

    def test_a_jti_that_begins_with_a_dash_is_an_id_and_no_option(self):
        """Each 64th random one does. An `h` in it printed the help, and exited 0."""
        for jti in ["-hYkR2fuQc2RjziHg4Ingg", "--Wait5", "-o_", "-0"]:
            with self.subTest(jti):
                request = self.ask(jti=jti)
                shown = self.agent.json("approve", *WAIT, jti)
                self.assertEqual((shown["jti"], shown["state"], shown["transStatus"]), (jti, "approved", "Y"))
                self.assertEqual(self.issuers["none"].decided(request).trans_status, "Y")
                self.assertEqual(self.agent.json("show", jti)["id"], shown["id"])

    def test_a_part_of_one_is_an_id_too(self):
        request = self.ask(jti="-habcDEF7", transaction=self.issuers["none"].transaction(merchantName="-x"))
        self.agent.json("fetch")
        run = self.agent.ctl("approve", "-habcDEF7", "--expect-merchant", "-y", *WAIT)
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assertEqual(self.agent.json("show", "-habc")["jti"], request.jti)
        shown = self.agent.json("approve", "--expect-merchant", "-x", "-habc")
        self.assertEqual((shown["jti"], shown["state"]), (request.jti, "approved"))

    def test_a_jti_that_is_an_option_or_next_is_refused_for_a_script_would_decide_another(self):
        other = self.ask()
        for jti in ["--next", "next", "--help", "-h"]:
            request = self.ask(jti=jti)
            self.assertEqual(self.issuers["none"].decided(request).decision["reason"], "invalidRequest")
            self.assertIn("jtiReserved", [row.get("refusal") for row in self.agent.json("list", "--all", "--limit", "1000")
                                          if row["jti"] == jti])
        self.assertEqual(self.listed("--all")[other.transaction["acsTransId"]]["state"], "pending")

    def test_ids_that_begin_with_a_dash_stay_in_their_order(self):
        urls = ["app1://done", "app2://done", "app3://done"]
        for jti, url in zip(["-2h", "a3-h", "-B1"], urls):
            self.ask(jti=jti, transaction=self.issuers["none"].transaction(threeDSRequestorAppURL=url))
        run = self.agent.ctl("approve", "-2h", *WAIT, "a3-h", "--", "-B1")
        self.assertEqual((run.returncode, run.stdout.split()), (0, urls), run.stderr)

    def test_an_id_that_begins_with_a_dash_is_no_value_of_an_option_that_has_one(self):
        request = self.ask(jti="-Equals7")
        shown = self.agent.json("approve", "--wait=60", "-Equals7")
        self.assertEqual((shown["jti"], shown["state"]), (request.jti, "approved"))

    def test_a_merchants_name_that_begins_with_a_dash_can_be_expected(self):
        request = self.ask(jti="-Name1", transaction=self.issuers["none"].transaction(merchantName="-5H"))
        run = self.agent.ctl("approve", "-Name1", *WAIT, "--expect-merchant", "-5")
        self.assertEqual(run.returncode, 4, run.stderr)
        shown = self.agent.json("approve", "--expect-merchant", "-5H", "-Name1")
        self.assertEqual((shown["jti"], shown["state"]), (request.jti, "approved"))

    def test_the_signature_counter_only_grows(self):
        counts = []
        for _ in range(3):
            self.approved(self.ask())
            (enrolled,) = self.issuers["none"].authenticators.values()
            counts.append(enrolled.credential.sign_count)
        self.assertEqual(counts, sorted(set(counts)))

    def test_a_denial_arrives_as_one(self):
        for arguments, reason in [([], "userDenied"), (["--reason", "suspectedFraud"], "suspectedFraud")]:
            with self.subTest(reason):
                request = self.ask()
                shown = self.agent.json("deny", request.transaction["acsTransId"], *WAIT, *arguments)
                self.assertEqual((shown["state"], shown["transStatus"]), ("denied", "N"))
                decision = self.issuers["none"].decided(request).decision
                self.assertEqual(decision, {"decision": "deny", "reason": reason})

    def test_what_requires_user_verification_is_refused_where_nobody_can_be_verified(self):
        request = self.issuers["none"].decided(self.ask(user_verification="required"))
        self.assertEqual(request.decision, {"decision": "deny", "reason": "policy"})
        self.assertNotIn(request.transaction["acsTransId"], self.listed())


class Commitments(AgainstTheAgent):
    def test_any_member_that_the_challenge_does_not_commit_to_makes_the_agent_refuse(self):
        for change in [
            {"purchaseAmount": "1000"}, {"merchantName": "CoffeeHouse3"}, {"merchantName": "CoffeeHouse2 (Dæmø) "},
            {"purchaseDate": "20231017055639"}, {"threeDSRequestorAppURL": None}, {"note": "one member more"},
        ]:
            with self.subTest(change):
                committed = self.issuers["none"].transaction()
                sent = {name: value for name, value in {**committed, **change}.items() if value is not None}
                request = self.issuers["none"].decided(self.ask(transaction=sent, committed=committed))
                self.assertEqual(request.decision, {"decision": "deny", "reason": "invalidRequest"})
                self.assertNotIn(sent["acsTransId"], self.listed(), "was offered for approval")
                self.assertEqual(self.listed("--all")[sent["acsTransId"]]["state"], "refused")

    def test_the_agent_agrees_with_rfc8785_on_every_published_commitment(self):
        for case in json.loads(VECTORS.read_text(encoding="utf-8")):
            with self.subTest(case["jcs"]):
                request = self.ask(transaction=case["transaction"], nonce=decode(case["nonce"]))
                shown = self.approved(request)
                self.assertEqual(shown.get("amount"), case.get("total"))
                self.assertEqual(request.challenge, decode(case["challenge"]))


class Forgeries(AgainstTheAgent):
    def test_a_request_under_the_issuers_kid_by_another_key_never_shows(self):
        forged = self.ask(key=JWK.generate(kty="EC", crv="P-256"))
        # The list is in order: once this one is decided, the agent has read the forged one as well.
        self.approved(self.ask())
        run = self.agent.ctl("show", forged.transaction["acsTransId"])
        self.assertEqual(run.returncode, 3, run.stdout)
        self.assertNotIn(forged.transaction["acsTransId"], self.listed("--all"))
        self.assertEqual((forged.decision, forged.refusals), (None, []))

    def test_a_request_of_one_issuer_cannot_be_signed_by_another(self):
        forged = self.ask(key=self.issuers["direct"].key)
        self.approved(self.ask())
        self.assertNotIn(forged.transaction["acsTransId"], self.listed("--all"))
        self.assertEqual((forged.decision, forged.refusals), (None, []))


class Ends(AgainstTheAgent):
    def test_an_enrollment_that_was_ended_is_gone_at_the_issuer(self):
        enrollment = self.enrollments["direct"]["id"]
        self.assertEqual(self.agent.ctl("unenroll", enrollment).returncode, 0)
        self.assertEqual(self.issuers["direct"].authenticators, {})
        self.assertEqual(self.agent.ctl("unenroll", enrollment).returncode, 0, "a second time is no error")


if __name__ == "__main__":
    unittest.main()
