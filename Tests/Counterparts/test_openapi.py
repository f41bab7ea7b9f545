"""openapi/issuer.yaml: that it is valid, that its examples are true, and that the sandbox is what it describes; and
openapi/sandbox.yaml, of the sandbox's own calls.

Run with `.venv/bin/python Tests/Counterparts/test_openapi.py`; OOB_BIN_DIR names the programs' directory.
"""

import functools
import json
import os
import re
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

import openapi_spec_validator
import requests
import schemathesis
import yaml
from jwcrypto.jwk import JWKSet
from jwcrypto.jws import JWS
from openapi_schema_validator import OAS31Validator

import verify
from issuer import commitment
from programs import Sandbox, started, temporary_folder
from software_authenticator import Enrolled, SoftwareAuthenticator, enrollment_body
from test_sandbox import MODEL

HERE = Path(__file__).resolve().parent
FILE = HERE.parents[1] / "openapi" / "issuer.yaml"
DESCRIPTION = yaml.safe_load(FILE.read_text(encoding="utf-8"))
OWN_FILE = FILE.with_name("sandbox.yaml")
OWN = yaml.safe_load(OWN_FILE.read_text(encoding="utf-8"))

# What this sandbox never answers by itself, though an issuer may.
NOT_THE_SANDBOX = {("unenroll", "404", "unknown_authenticator")}


def resolved(node: dict) -> dict:
    """What a node stands for: itself, or what it refers to."""
    if "$ref" not in node:
        return node
    return functools.reduce(lambda inner, name: inner[name], node["$ref"].split("/")[1:], DESCRIPTION)


def operations():
    """(path, method, operation) of all."""
    for path, item in DESCRIPTION["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def examples(content: dict):
    """(schema, value) of all examples of a body."""
    for media in content.values():
        several = media.get("examples") or {"": {"value": media["example"]}}
        for each in several.values():
            yield media["schema"], each["value"]


def example(operation_id: str, status: str | None = None) -> dict:
    """The first example of an operation's answer, or of its request."""
    (operation,) = (each for _, _, each in operations() if each["operationId"] == operation_id)
    body = resolved(operation["responses"][status]) if status else operation["requestBody"]
    return next(value for _, value in examples(body["content"]))


def check(schema: dict, value):
    OAS31Validator({**schema, "components": DESCRIPTION["components"]}).validate(value)


def claims_schema(typ: str) -> dict:
    name = {"oob-authn-request+jwt": "AuthnRequestClaims", "oob-authn-cancel+jwt": "CancellationClaims"}[typ]
    return {"$ref": f"#/components/schemas/{name}"}


def read(compact: str, keys: dict) -> tuple[str, dict]:
    """(typ, claims) of a JWS that one of the keys has signed."""
    token = JWS()
    token.deserialize(compact)
    key = JWKSet.from_json(json.dumps(keys)).get_key(token.jose_header["kid"])
    token.verify(key, alg="ES256")
    return token.jose_header["typ"], json.loads(token.payload)


class TheDescription(unittest.TestCase):
    def test_it_is_openapi_3_1(self):
        openapi_spec_validator.validate(DESCRIPTION)
        self.assertEqual(DESCRIPTION["openapi"], "3.1.0")

    def test_every_example_is_of_its_schema(self):
        found = []
        for _, _, operation in operations():
            bodies = [resolved(answer) for answer in operation["responses"].values()]
            for body in bodies + [operation.get("requestBody", {})]:
                found += examples(body.get("content", {}))
            found += [(each["schema"], each["example"]) for each in operation.get("parameters", [])]
        for schema in DESCRIPTION["components"]["schemas"].values():
            found += [(schema, value) for value in schema.get("examples", [])]
        self.assertGreater(len(found), 40)
        for schema, value in found:
            check(schema, value)

    def test_the_examples_are_one_true_story(self):
        relying_party = verify.RelyingParty("https://issuer.example", "issuer.example")
        options = example("enrollmentOptions", "200")["publicKey"]
        credential = verify.registration(
            example("enroll")["credential"], challenge=verify.decode(options["challenge"]),
            relying_party=relying_party, attestation_format="none")
        (compact,) = example("fetch", "200")["requests"]
        typ, claims = read(compact, example("keys", "200"))
        self.assertEqual([claims], DESCRIPTION["components"]["schemas"]["AuthnRequestClaims"]["examples"])
        self.assertEqual(claims["aud"], example("enroll", "201")["authenticatorId"])
        challenge = commitment(verify.decode(claims["nonce"]), claims["transaction"])
        self.assertEqual(verify.decode(claims["publicKey"]["challenge"]), challenge)
        approval = example("decide")["credential"]
        verify.assertion(approval, credential=credential, challenge=challenge, relying_party=relying_party)
        self.assertEqual(approval["response"]["userHandle"], options["user"]["id"])
        (compact,) = example("batchFetch", "200")["results"][0]["requests"]
        typ, cancellation = read(compact, example("keys", "200"))
        self.assertEqual([cancellation], DESCRIPTION["components"]["schemas"]["CancellationClaims"]["examples"])
        self.assertEqual((typ, cancellation["cancels"]), ("oob-authn-cancel+jwt", claims["jti"]))


class TheSandbox(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(cls.folder))
        cls.schema = schemathesis.openapi.from_path(str(FILE))
        cls.paths = {each["operationId"]: (path, method) for path, method, each in operations()}
        cls.seen = set()
        # Batch fetch is optional for an issuer.
        cls.absent = set() if "batchFetchEndpoint" in cls.json("discovery") else {"batchFetch"}

    @classmethod
    def call(cls, operation_id: str, body=None, *, token: str | None = None, jti: str = "", **query):
        """One call, whose answer must be one that the description has for it."""
        path, method = cls.paths[operation_id]
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        answer = requests.request(
            method, cls.sandbox.origin + path.format(jti=jti), params=query, data=data, headers=headers, timeout=60)
        cls.schema[path][method.upper()].validate_response(answer)
        is_problem = answer.status_code >= 400
        cls.seen.add((operation_id, str(answer.status_code), answer.json()["code"] if is_problem else None))
        return answer

    @classmethod
    def json(cls, *call, **how) -> dict:
        return cls.call(*call, **how).json()

    def sandbox_json(self, path: str, body: dict | None = None) -> dict:
        url = f"{self.sandbox.origin}/sandbox/{path}"
        answer = requests.get(url, timeout=60) if body is None else requests.post(url, json=body, timeout=60)
        self.assertLess(answer.status_code, 300, answer.text)
        return answer.json()

    def enroll(self) -> tuple[SoftwareAuthenticator, dict]:
        code = self.sandbox_json("enrollment-codes", {})["code"]
        options = self.json("enrollmentOptions", {"enrollmentCode": code})
        authenticator = SoftwareAuthenticator(self.sandbox.origin)
        challenge = verify.decode(options["publicKey"]["challenge"])
        body = enrollment_body(
            options["ceremonyId"], authenticator.attest(challenge, packed=False, aaguid=MODEL))
        check({"$ref": "#/components/schemas/Enrollment"}, json.loads(body))
        enrolled = self.json("enroll", body)
        self.assertEqual(self.json("enroll", body), enrolled)
        self.assertEqual(self.call("enroll", body + b" ").status_code, 410)
        return authenticator, enrolled

    def purchase(self, enrolled: dict, **how) -> tuple[str, dict]:
        """(acsTransId, claims) of a new purchase, as it is listed."""
        story = self.sandbox_json("purchases", {"authenticatorId": enrolled["authenticatorId"], **how})
        typ, claims = read(story["requests"][0]["jws"], self.json("keys"))
        check(claims_schema(typ), claims)
        return story["acsTransId"], claims

    def test_every_answer_in_the_description_is_one_that_it_gives(self):
        authenticator, enrolled = self.enroll()
        token = enrolled["accessToken"]
        self.decisions(authenticator, enrolled)
        self.cancellations(authenticator, enrolled)
        self.refusals(token)
        if not self.absent:
            self.batches(enrolled)
        self.assertEqual(self.json("authenticator", token=token)["signCount"], authenticator.sign_count)
        self.subscriptions(token)
        self.call("unenroll", token=token)
        for operation_id in ["unenroll", "authenticator", "fetch", "unsubscribe"]:
            self.call(operation_id, token=token)
        self.call("subscribe", example("subscribe"), token=token)
        self.call("decide", {}, token=token, jti="none")
        described = {
            (operation["operationId"], status, value.get("code"))
            for _, _, operation in operations() if operation["operationId"] not in self.absent
            for status, answer in operation["responses"].items() if status not in {"429", "503"}
            for _, value in examples(resolved(answer).get("content", {})) or [(None, {})]
        }
        described |= {(operation_id, "204", None) for operation_id in ["unenroll", "subscribe", "unsubscribe"]}
        self.assertEqual(self.seen, described - NOT_THE_SANDBOX)

    def decisions(self, authenticator: SoftwareAuthenticator, enrolled: dict):
        known = {"token": enrolled["accessToken"]}
        _, claims = self.purchase(enrolled)
        jti, challenge = claims["jti"], verify.decode(claims["publicKey"]["challenge"])
        self.assertEqual(len(self.json("fetch", **known)["requests"]), 1)
        for wrong in [authenticator.sign(bytes(32)), {**authenticator.sign(challenge), "rawId": "AAAA"}]:
            self.call("decide", {"decision": "approve", "credential": wrong}, jti=jti, **known)
        approval = {"decision": "approve", "credential": authenticator.sign(challenge)}
        check({"$ref": "#/components/schemas/Decision"}, approval)
        for _ in range(2):
            self.assertEqual(self.json("decide", approval, jti=jti, **known), {"transStatus": "Y"})
        denial = {"decision": "deny", "reason": "userDenied"}
        self.call("decide", denial, jti=jti, **known)
        self.call("decide", denial, jti="none", **known)
        acs_trans_id, claims = self.purchase(enrolled, expiresIn=1)
        self.sandbox_json(f"purchases/{acs_trans_id}?wait=30")
        self.call("decide", denial, jti=claims["jti"], **known)

    def cancellations(self, authenticator: SoftwareAuthenticator, enrolled: dict):
        known = {"token": enrolled["accessToken"]}
        acs_trans_id, claims = self.purchase(enrolled)
        cursor = self.json("fetch", **known)["cursor"]
        self.sandbox_json(f"purchases/{acs_trans_id}/cancel", {})
        (compact,) = self.json("fetch", **known, wait=30, after=cursor)["requests"]
        typ, cancellation = read(compact, self.json("keys"))
        check(claims_schema(typ), cancellation)
        self.assertEqual((typ, cancellation["cancels"]), ("oob-authn-cancel+jwt", claims["jti"]))
        self.call("decide", {"decision": "deny", "reason": "userDenied"}, jti=claims["jti"], **known)

    def subscriptions(self, token: str):
        self.assertEqual(self.call("subscribe", example("subscribe"), token=token).status_code, 204)
        self.call("subscribe", {**example("subscribe"), "endpoint": "https://push.example/x"}, token=token)
        self.call("subscribe", b" " * (2 << 20), token=token)
        for _ in range(2):
            self.assertEqual(self.call("unsubscribe", token=token).status_code, 204)

    def refusals(self, token: str):
        large = b" " * (2 << 20)
        self.call("enrollmentOptions", {"enrollmentCode": "AAAA-AAAA"})
        self.call("fetch", token=token, after="0")
        self.call("fetch", token=token, wait=61)
        for operation_id in ["enrollmentOptions", "enroll"]:
            self.call(operation_id, b"{")
            self.call(operation_id, large)
        self.call("decide", large, token=token, jti="none")
        code = self.sandbox_json("enrollment-codes", {})["code"]
        ceremony = self.json("enrollmentOptions", {"enrollmentCode": code})["ceremonyId"]
        stranger = SoftwareAuthenticator(self.sandbox.origin).attest(bytes(32), packed=False)
        self.call("enroll", enrollment_body(ceremony, stranger))

    def batches(self, enrolled: dict):
        other = {"authenticatorId": "nobody", "accessToken": "bm9ib2R5"}
        self.purchase(enrolled)
        self.assertEqual(len(self.json("batchFetch", {"wait": 0, "authenticators": [enrolled, other]})["results"]), 2)
        self.call("batchFetch", {"wait": 61, "authenticators": []})
        self.call("batchFetch", b" " * (2 << 20))

    def test_schemathesis_finds_no_call_that_it_answers_otherwise(self):
        _, enrolled = self.enroll()
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1",
            "SCHEMATHESIS_HOOKS": "openapi_hooks",
            "OOB_TEST_ISSUER": self.sandbox.origin, "OOB_TEST_TOKEN": enrolled["accessToken"],
            "OOB_TEST_AUTHENTICATOR": enrolled["authenticatorId"],
        }
        command = [
            sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()",
            "--config-file", str(HERE / "schemathesis.toml"), "run", str(FILE), "--url", self.sandbox.origin,
            "--checks", "all", "--no-color",
        ]
        for operation_id in self.absent:
            command += ["--exclude-operation-id", operation_id]
        run = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=500)
        self.assertEqual(run.returncode, 0, run.stdout[-20_000:] + run.stderr)
        tested = len(self.paths) - len(self.absent)
        self.assertIn(f"Tested: {tested}\n", run.stdout)


class TheSandboxsOwnCalls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(cls.folder, "--test-clock"))
        cls.schema = schemathesis.openapi.from_path(str(OWN_FILE))
        cls.paths = {each["operationId"]: (path, method.upper()) for path, item in OWN["paths"].items()
                     for method, each in item.items()}
        cls.seen = set()

    def call(self, operation_id: str, status: int, body: dict | None = None, *, query: dict | None = None, **parts):
        """One call, whose answer must have that status and be as it is described."""
        path, method = self.paths[operation_id]
        answer = requests.request(
            method, self.sandbox.origin + path.format(**parts), params=query, json=body, timeout=60)
        self.assertEqual(answer.status_code, status, answer.text)
        self.schema[path][method].validate_response(answer)
        self.seen.add((operation_id, str(status)))
        return answer.json()

    def test_it_is_openapi_3_1(self):
        openapi_spec_validator.validate(OWN)
        self.assertEqual(OWN["openapi"], "3.1.0")

    def test_every_answer_in_the_description_is_one_that_it_gives(self):
        nobody = str(uuid.uuid4())
        self.call("makeCode", 400, {"expiresIn": -1})
        self.call("makeCode", 404, {"sameCardholderAs": "nobody"})
        code = self.call("makeCode", 201, {"attestation": "none"})["code"]
        self.call("purchase", 409, {})
        Enrolled(self.sandbox.origin, code, aaguid=MODEL)
        (authenticator,) = self.call("authenticators", 200)
        self.call("authenticator", 200, id=authenticator["id"])
        self.call("authenticator", 404, id="nobody")
        self.call("purchase", 400, {"expiresIn": 0})
        self.call("purchase", 404, {"authenticatorId": "nobody"})
        for ending, order in [("cancelled", {}), ("expired", {"expiresIn": 1})]:
            purchase = self.call("purchase", 201, order)["acsTransId"]
            if ending == "cancelled":
                cancelled = purchase
                self.call("story", 400, acsTransId=purchase, query={"wait": 61})
                self.call("cancel", 200, acsTransId=purchase)
            self.assertEqual(self.call("story", 200, acsTransId=purchase, query={"wait": 30})["status"], ending)
            self.call("cancel", 409, acsTransId=purchase)
        self.call("replay", 409, {}, acsTransId=purchase)
        # Not of the expired one: a purchase made anew is open for as long as the first was, here a second.
        anew = self.call("replay", 201, {"asNew": True}, acsTransId=cancelled)["acsTransId"]
        self.call("replay", 200, {}, acsTransId=anew)
        self.call("replay", 400, {"asNew": 1}, acsTransId=anew)
        for operation in ["story", "cancel", "replay", "challengeRequest"]:
            self.call(operation, 404, acsTransId=nobody)
        self.call("challengeRequest", 200, {"oobContinue": "01"}, acsTransId=anew)
        self.call("challengeRequest", 400, {"oobAppStatus": "01"}, acsTransId=anew)
        self.call("challengeRequest", 409, acsTransId=cancelled)
        self.call("cancel", 400, {"challengeCancel": "02"}, acsTransId=anew)
        listed = self.call("purchases", 200, query={"limit": 2})
        self.assertEqual([each["acsTransId"] for each in listed["purchases"]], [anew, purchase])
        self.assertEqual(listed["next"], purchase)
        self.call("purchases", 400, query={"status": "open"})
        self.call("purchases", 404, query={"after": nobody})
        self.faults()
        self.clock()
        self.call("revoke", 200, id=authenticator["id"])
        self.call("revoke", 404, id="nobody")
        described = {(each["operationId"], status) for item in OWN["paths"].values() for each in item.values()
                     for status in each["responses"]}
        self.assertEqual(self.seen, described)

    def faults(self):
        self.call("planFaults", 400, {"next": [{"path": "fetch", "kind": "teapot"}]})
        plan = [{"path": "decision", "kind": "drop", "moment": "after", "times": 2},
                {"path": "jwks", "status": 503, "retryAfter": 7, "moment": "before", "times": 1}]
        self.assertEqual(self.call("planFaults", 200, {"next": plan}), {"planned": 3})
        self.assertEqual(self.call("plannedFaults", 200), {"planned": 3, "next": plan})
        self.assertEqual(self.call("clearFaults", 200), {"cleared": 3, "planned": 0})
        self.call("planFaults", 200, {"odds": "500=0.5,path=unenroll,seed=1"})
        self.assertEqual(self.call("plannedFaults", 200)["odds"], "500=0.5,path=unenroll,seed=1")
        self.call("clearFaults", 400, query={"odds": "all"})
        self.call("clearFaults", 200, query={"odds": "true"})
        self.assertEqual(self.call("plannedFaults", 200), {"planned": 0, "next": []})

    def clock(self):
        before = self.call("clock", 200)["offsetSeconds"]
        self.assertEqual(self.call("advanceClock", 200, {"advanceSeconds": 60})["offsetSeconds"], before + 60)
        self.call("advanceClock", 400, {"advanceSeconds": 0})
        self.call("advanceClock", 409, {"advanceSeconds": 34_560_000})

    def test_schemathesis_finds_no_call_that_it_answers_otherwise(self):
        # A sandbox of its own: schemathesis moves the clock, plans faults and revokes what is enrolled.
        folder = temporary_folder(type(self))
        sandbox = started(type(self), Sandbox(folder, "--test-clock"))
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1",
            "SCHEMATHESIS_HOOKS": "sandbox_hooks", "OOB_TEST_ISSUER": sandbox.origin,
        }
        command = [
            sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()",
            "--config-file", str(HERE / "schemathesis_sandbox.toml"), "run", str(OWN_FILE), "--url", sandbox.origin,
            "--checks", "all", "--no-color",
        ]
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stdout[-20_000:] + run.stderr)
        self.assertIn(f"Tested: {len(self.paths)}\n", run.stdout)

    def test_every_path_of_the_program_is_in_it(self):
        source = "".join(path.read_text(encoding="utf-8") for path in (HERE.parents[1] / "Sources/TestKit/Sandbox").rglob("*.swift"))
        for path in OWN["paths"]:
            self.assertEqual(requests.request("PATCH", self.sandbox.origin + path, timeout=60).status_code, 405, path)
        named = {"/sandbox/" + name for name in re.findall(r'= prefix \+ "([a-z-]+)"', source)}
        self.assertEqual(named, {"/".join(path.split("/")[:3]) for path in OWN["paths"]})


if __name__ == "__main__":
    unittest.main()
