"""openapi/agent.yaml and docs/reference/control-api.md: that they are true, and that the agent is what they describe.

Run with `.venv/bin/python Tests/Counterparts/test_control_api.py`; OOB_BIN_DIR names the programs' directory.
"""

import copy
import functools
import http.client
import itertools
import json
import os
import re
import socket
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

import openapi_spec_validator
import requests
import schemathesis
import yaml
from openapi_schema_validator import OAS31Validator

from citations import page
from programs import BIN_DIR, Agent, Sandbox, free_port, started, temporary_folder
from unix_http import Bridge

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILE = ROOT / "openapi" / "agent.yaml"
DESCRIPTION = yaml.safe_load(FILE.read_text(encoding="utf-8"))
PAGE = page("control-api.md").read_text(encoding="utf-8")
METHODS = ["GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE"]
PROBLEM = {"$ref": "#/components/schemas/Problem"}


def resolved(node: dict) -> dict:
    """What a node stands for: itself, or what it refers to."""
    if "$ref" not in node:
        return node
    return functools.reduce(lambda inner, name: inner[name], node["$ref"].split("/")[1:], DESCRIPTION)


def operations():
    """(path, method, operation) of all."""
    for path, item in DESCRIPTION["paths"].items():
        for method, operation in item.items():
            yield path, method.upper(), operation


def closed(node):
    """The same schema, where a member that it does not list is an error."""
    if isinstance(node, list):
        return [closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    inner = {name: closed(each) for name, each in node.items()}
    if "properties" in inner and inner.get("type") == "object":
        inner.setdefault("additionalProperties", False)
    return inner


COMPONENTS = DESCRIPTION["components"]
CLOSED = closed(copy.deepcopy(COMPONENTS))


def check(schema: dict, value):
    """Raises unless the value is of the schema, with no member that the schema does not list."""
    OAS31Validator({**closed(copy.deepcopy(schema)), "components": CLOSED}).validate(value)


def schema_of(operation: dict, status: int) -> tuple[str, dict]:
    """(media type, schema) of an answer."""
    ((media_type, media),) = resolved(operation["responses"][str(status)])["content"].items()
    return media_type, media["schema"]


class TheDescription(unittest.TestCase):
    def test_it_is_openapi_3_1(self):
        openapi_spec_validator.validate(DESCRIPTION)
        self.assertEqual(DESCRIPTION["openapi"], "3.1.0")

    def test_every_example_is_of_its_schema(self):
        found = [(each["schema"], each["example"]) for each in COMPONENTS["parameters"].values()]
        for _, _, operation in operations():
            bodies = [resolved(answer) for answer in operation["responses"].values()]
            for body in bodies + [operation.get("requestBody", {})]:
                media = [each for each in body.get("content", {}).values() if "example" in each]
                found += [(each["schema"], each["example"]) for each in media]
        for schema in COMPONENTS["schemas"].values():
            found += [(schema, value) for value in schema.get("examples", [])]
        self.assertGreater(len(found), 100)
        for schema, value in found:
            check(schema, value)

    def test_every_status_of_an_answer_is_in_the_problem_that_stands_for_it(self):
        for name, answer in COMPONENTS["responses"].items():
            example = answer["content"].get("application/problem+json", {}).get("example")
            if example is None:
                continue
            used = {
                status for _, _, operation in operations() for status, each in operation["responses"].items()
                if each.get("$ref") == f"#/components/responses/{name}"
            }
            self.assertEqual(used, {str(example["status"])}, name)


class WithAnAgent(unittest.TestCase):
    takes_push = True

    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.sandbox = started(cls, Sandbox(cls.folder))
        port = free_port()
        pushed = ["--push-listen", f"localhost:{port}", "--push-url", f"http://localhost:{port}"]
        cls.agent = started(cls, Agent(cls.folder, *(pushed if cls.takes_push else [])))
        cls.bridge = cls.enterClassContext(Bridge(cls.agent.socket))
        cls.schema = schemathesis.openapi.from_path(str(FILE))
        cls.by_id = {each["operationId"]: (path, method, each) for path, method, each in operations()}

    @classmethod
    def code(cls) -> str:
        return requests.post(f"{cls.sandbox.origin}/sandbox/enrollment-codes", json={}, timeout=60).json()["code"]

    @classmethod
    def enroll(cls, **more) -> dict:
        return cls.call("enroll", {"issuer": cls.sandbox.origin, "code": cls.code(), "name": f"test {uuid.uuid4()}", **more}).json()

    @classmethod
    def purchase(cls, enrollment: dict, **members) -> dict:
        """A purchase whose request has come to the agent."""
        body = {"authenticatorId": enrollment["authenticatorId"], **members}
        story = requests.post(f"{cls.sandbox.origin}/sandbox/purchases", json=body, timeout=60).json()
        cls.call("fetch", {})
        return cls.call("request", id=story["acsTransId"]).json()

    @classmethod
    def call(cls, operation_id: str, body=None, *, id: str = "", headers: dict | None = None, **query):
        """One call, whose answer must be one that the description has for it, to the last member."""
        path, method, operation = cls.by_id[operation_id]
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        own = {} if data is None else {"Content-Type": "application/json"}
        answer = requests.request(
            method, cls.bridge.origin + path.format(id=id), params=query, data=data,
            headers={**own, **(headers or {})}, timeout=60)
        if str(answer.status_code) not in operation["responses"]:
            raise AssertionError(f"{operation_id}: {answer.status_code} is not described: {answer.text}")
        media_type, schema = schema_of(operation, answer.status_code)
        if answer.headers["content-type"] != media_type:
            raise AssertionError(f"{operation_id}: {answer.headers['content-type']}, not {media_type}")
        if media_type.endswith("json") and "ndjson" not in media_type:
            check(schema, answer.json())
        return answer

    def refused(self, status: int, code: str, operation_id: str, *call, **how) -> dict:
        answer = self.call(operation_id, *call, **how)
        problem = answer.json()
        self.assertEqual((answer.status_code, problem["code"]), (status, code), problem)
        self.assertEqual(problem["status"], status)
        return problem


class TheList(WithAnAgent):
    takes_push = False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.card = cls.enroll()
        cls.ids = [cls.purchase(cls.card)["id"] for _ in range(5)]

    def walk(self, **query) -> list[list[str]]:
        """The pages of a list, as its links lead from one to the next."""
        answer, pages = self.call("requests", limit=2, **query), []
        while True:
            pages.append([row["id"] for row in answer.json()])
            if "next" not in answer.links:
                return pages
            path, query = answer.links["next"]["url"].split("?")
            self.assertEqual(path, "/v1/requests")
            answer = self.call("requests", **dict(pair.split("=") for pair in query.split("&")))

    def test_the_pending_ones_go_on_with_the_newer_and_all_with_the_older(self):
        first, second, third, fourth, fifth = self.ids
        self.assertEqual(self.walk(), [[first, second], [third, fourth], [fifth]])
        self.assertEqual(self.walk(all="true"), [[fourth, fifth], [second, third], [first]])
        self.assertEqual(self.walk(after=second), [[third, fourth], [fifth]])
        self.assertEqual(self.walk(before=fourth), [[second, third], [first]])
        self.assertEqual(self.walk(all="true", after=first, before=fifth), [[second, third], [fourth]])
        self.refused(404, "not_found", "requests", after="0" * 20)
        self.refused(400, "invalid_argument", "requests", before=first[:5])

    def test_oobctl_says_that_there_are_more_and_how_to_see_them(self):
        fourth = self.ids[3]
        for options, query in [
                ([], {}), (["--all"], {"all": "true"}), (["--before", fourth], {"before": fourth})]:
            pages, words = [], ["--limit", "2", *options]
            while words:
                run = self.agent.ctl("list", "--json", *words)
                pages.append([row["id"] for row in json.loads(run.stdout)])
                command = re.fullmatch(r"There are more: oobctl list (.*)\n", run.stderr)
                words = command[1].split() if command else []
            self.assertEqual(pages, self.walk(**query))
            self.assertEqual(run.stderr, "")
        # As elsewhere an ID may be cut short.
        run = self.agent.ctl("list", "--json", "--after", self.ids[3][:12])
        self.assertEqual([row["id"] for row in json.loads(run.stdout)], self.ids[4:])

    def test_the_command_that_oobctl_names_for_more_keeps_the_enrollment(self):
        run = self.agent.ctl("list", "--json", "--limit", "2", "--enrollment", self.card["id"])
        self.assertEqual([row["id"] for row in json.loads(run.stdout)], self.ids[:2])
        more = f"list --limit 2 --enrollment {self.card['id']} --after {self.ids[1]}"
        self.assertEqual(run.stderr, f"There are more: oobctl {more}\n")
        run = self.agent.ctl(*more.split(), "--json")
        self.assertEqual([row["id"] for row in json.loads(run.stdout)], self.ids[2:4])


class ManyEnrollments(WithAnAgent):
    takes_push = False

    def test_enrollments_come_in_pages_and_status_counts_them(self):
        ids = [self.enroll()["id"] for _ in range(3)]
        page = self.call("enrollments", limit=2)
        self.assertEqual([row["id"] for row in page.json()], ids[:2])
        self.assertEqual(page.links["next"]["url"], f"/v1/enrollments?limit=2&after={ids[1]}")
        rest = self.call("enrollments", limit=2, after=ids[1])
        self.assertEqual(([row["id"] for row in rest.json()], rest.links), (ids[2:], {}))
        self.assertEqual([row["id"] for row in self.call("enrollments").json()], ids)
        self.assertEqual(self.call("status").json()["enrollmentCount"], 3)
        self.assertEqual([row["id"] for row in json.loads(self.agent.ctl("enrollments", "--json").stdout)], ids)
        self.refused(404, "not_found", "enrollments", after="0" * 20)
        self.refused(400, "invalid_argument", "enrollments", after=ids[0][:5])
        self.refused(400, "invalid_argument", "enrollments", limit=0)


class TheAgent(WithAnAgent):
    def test_it_serves_the_file_as_it_is_in_the_tree(self):
        self.assertEqual(self.call("openapi").content, FILE.read_bytes())

    def test_every_path_takes_the_methods_that_are_described_and_names_them(self):
        for path, item in DESCRIPTION["paths"].items():
            described = {method.upper() for method in item}
            for method in set(METHODS) - described:
                answer = requests.request(method, self.bridge.origin + path.format(id="x"), timeout=60)
                self.assertEqual(answer.status_code, 405, (method, path))
                # Wherever GET is, HEAD is too.
                allowed = described | ({"HEAD"} if "GET" in described else set())
                self.assertEqual({each.strip() for each in answer.headers["allow"].split(",")}, allowed)
                check(PROBLEM, answer.json())
                self.assertEqual(answer.json()["code"], "method_not_allowed")
            head = requests.head(self.bridge.origin + path.format(id="x"), timeout=60)
            self.assertEqual((head.status_code == 405, head.content), ("GET" not in described, b""), path)

    def test_every_call_answers_in_the_described_form(self):
        enrollment = self.enroll()
        self.assertEqual(self.call("health").status_code, 200)
        self.assertEqual(self.call("clock").json()["offsetSeconds"], 0)
        self.assertIn("--test-clock", self.refused(400, "invalid_argument", "advanceClock", {"advanceSeconds": 1})["detail"])
        for operation_id in ["status", "metrics", "doctor", "enrollments", "auditHosts", "auditKey", "verifyAudit"]:
            self.assertEqual(self.call(operation_id).status_code, 200)
        first, second = self.purchase(enrollment), self.purchase(enrollment, push="none")
        self.assertEqual([each["id"] for each in self.call("requests").json()], [first["id"], second["id"]])
        approved = self.call("approve", {"shownTextDigest": first["textDigest"]}, id=first["id"]).json()
        self.assertEqual((approved["state"], approved["transStatus"]), ("approved", "Y"))
        denied = self.call("deny", {"reason": "suspectedFraud"}, id="next").json()
        self.assertEqual((denied["id"], denied["state"]), (second["id"], "denied"))
        self.assertEqual(len(self.call("requests", all="true", limit=1, enrollment=enrollment["id"][:5]).json()), 1)
        self.assertTrue(self.call("evidence", id=first["id"]).json()["assertion"])
        lines = self.call("audit", after=1, limit=2).text.splitlines()
        self.assertEqual([json.loads(line)["seq"] for line in lines], [2, 3])
        self.assertTrue(self.call("backup").content.startswith(b"SQLite format 3\0"))
        self.assertEqual(self.call("rotatePush", {}).json(), {"open": []})
        self.assertFalse(self.call("unenroll", {"local": True}, id=self.enroll()["id"]).json().get("erased"))
        self.assertTrue(self.call("unenroll", id=enrollment["id"]).json()["wasEnrolled"])

    def test_an_enrollment_with_a_pin_answers_in_the_described_form(self):
        enrollment = self.enroll(authnType="pin", pin="93517-a")
        request = self.purchase(enrollment)
        self.refused(403, "pin_required", "approve", {}, id=request["id"])
        self.refused(403, "user_not_verified", "approve", {"pin": "11111-b"}, id=request["id"])
        changed = self.call("changePIN", {"pin": "93517-a", "newPin": "correct horse"}, id=enrollment["id"])
        self.assertEqual(changed.json()["pinTriesLeft"], 5)
        for _ in range(4):
            self.refused(403, "user_not_verified", "approve", {"pin": "11111-b"}, id=request["id"])
        self.refused(423, "blocked", "approve", {"pin": "11111-b"}, id=request["id"])
        self.refused(423, "blocked", "changePIN", {"pin": "11111-b", "newPin": "93517-a"}, id=enrollment["id"])
        self.assertEqual(self.call("deny", {}, id=request["id"]).json()["state"], "denied")
        self.call("unenroll", {"local": True}, id=enrollment["id"])

    def test_every_refusal_has_one_form_and_says_what_is_allowed(self):
        enrollment = self.enroll()
        request = self.purchase(enrollment)
        known = {"id": request["id"]}
        self.refused(404, "not_found", "request", id="unknown")
        self.refused(404, "not_found", "unenroll", {}, id="ffffffffffff")
        self.assertIn("1 to 1000", self.refused(400, "invalid_argument", "requests", limit=0)["detail"])
        self.assertIn("allowed are all, limit", self.refused(400, "invalid_argument", "requests", size=1)["detail"])
        self.assertIn("is given twice", self.refused(400, "invalid_argument", "requests", limit=["1", "2"])["detail"])
        self.assertIn("takes none", self.refused(400, "invalid_argument", "status", verbose=1)["detail"])
        refused = self.refused(406, "not_acceptable", "status", headers={"Accept": "text/html"})
        self.assertIn("application/json", refused["detail"])
        self.refused(406, "not_acceptable", "status", headers={"Accept": "application/json;q=0, text/*"})
        for accepted in ["*/*", "application/*;q=0.5", "text/html, application/json; q=0.1"]:
            self.assertEqual(self.call("health", headers={"Accept": accepted}).status_code, 200)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        self.refused(415, "not_json", "approve", b"wait=1", headers=form, **known)
        self.assertIn("65536 bytes", self.refused(413, "body_too_large", "approve", b" " * 65_537, **known)["detail"])
        for body, words in [
                (b'{"wait": 1', "byte"), (b'{"wait": "1"}', "/wait"), (b'{"wiat": 1}', "allowed are enrollment, wait"),
                (b'{"wait": 1, "wait": 2}', "wait"), (b"[]", "object"),
                (b'{"expectAmount": "1,00"}', 'USD 1.00'),
                (b'{"expectAmount": "1.000"}', 'USD 1.00'), (b'{"expectAmount": null}', "leave it out"),
                (b'{"pin": 1}', "/pin")]:
            self.assertIn(words, self.refused(400, "invalid_argument", "approve", body, **known)["detail"])
        refused = self.refused(412, "expectation_failed", "approve", {"expectAmount": "EUR 1.00"}, **known)
        self.assertIn("EUR 1.00", refused["detail"])
        self.assertEqual(self.call("request", **known).json()["state"], "pending")
        self.call("deny", {}, **known)
        again = self.refused(409, "no_longer_decidable", "approve", {}, **known)
        self.assertEqual((again["d1Code"], again["d1Name"], again["request"]["state"]), (70001, "authn", "denied"))
        self.refused(404, "no_request", "approve", {}, id="next")
        self.refused(403, "invalid_enrollment_code", "enroll", {"issuer": self.sandbox.origin, "code": "AAAA-AAAA"})
        self.refused(502, "issuer_unreachable", "enroll", {"issuer": "http://localhost:1", "code": "AAAA-AAAA"})
        self.call("unenroll", {"local": True}, id=enrollment["id"])

    def test_what_is_no_http_and_what_has_no_path_is_refused_in_the_same_form(self):
        too_large = "a" * 8_193
        for bytes, status, code in [
                (b"GET /v2/status HTTP/1.1\r\nHost: agent\r\n\r\n", 404, "not_found"),
                (b"GET / HTTP/1.1\r\nHost: agent\r\n\r\n", 404, "not_found"),
                (f"GET /v1/status HTTP/1.1\r\nX: {too_large}\r\n\r\n".encode(), 431, "header_too_large"),
                (b"GET /v1/status HTTP/1.1\r\n" + b"X: y\r\n" * 65 + b"\r\n", 431, "header_too_large"),
                (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "invalid_argument"),
                (b"HELO agent\r\n\r\n", 400, "invalid_argument")]:
            with self.subTest(bytes[:40]), socket.socket(socket.AF_UNIX) as peer:
                peer.connect(str(self.agent.socket))
                peer.sendall(bytes)
                answer = http.client.HTTPResponse(peer)
                answer.begin()
                self.assertEqual((answer.status, answer.headers["content-type"]), (status, "application/problem+json"))
                problem = json.loads(answer.read())
                check(PROBLEM, problem)
                self.assertEqual((problem["status"], problem["code"]), (status, code))

    def test_events_are_of_the_described_form(self):
        enrollment = self.enroll()
        request = self.purchase(enrollment)
        events, missing = [], {"enrolled", "requestPresented"}
        path = f"/v1/events?since=0&enrollment={enrollment['id']}"
        with requests.get(self.bridge.origin + path, stream=True, timeout=60) as answer:
            self.assertEqual(answer.headers["content-type"], "text/event-stream")
            for line in answer.iter_lines():
                if line.startswith(b"data: "):
                    events.append(json.loads(line.removeprefix(b"data: ")))
                    check({"$ref": "#/components/schemas/Event"}, events[-1])
                    missing.discard(events[-1]["event"])
                if not missing:
                    break
        self.assertEqual({each["enrollmentId"] for each in events}, {enrollment["id"]})
        self.assertEqual(events[-1]["request"]["id"], request["id"])
        self.refused(400, "invalid_argument", "events", headers={"Last-Event-ID": "yesterday"})
        self.call("unenroll", {"local": True}, id=enrollment["id"])

    def test_who_reads_the_events_of_one_enrollment_hears_that_some_are_no_longer_kept(self):
        enrollment = self.enroll()
        path = f"/v1/events?since=1000000&enrollment={enrollment['id']}"
        with requests.get(self.bridge.origin + path, stream=True, timeout=60) as answer:
            told = list(itertools.islice(filter(None, answer.iter_lines()), 3))
        self.assertTrue(told[2].startswith(b"data: "), told)
        gap = json.loads(told[2].removeprefix(b"data: "))
        check({"$ref": "#/components/schemas/Event"}, gap)
        self.assertEqual((gap["event"], gap.get("enrollmentId")), ("gap", None))
        self.call("unenroll", {"local": True}, id=enrollment["id"])

    def test_a_reader_that_comes_again_goes_on_behind_its_last_event_whatever_since_its_path_has(self):
        enrollment = self.enroll()
        first, second = self.purchase(enrollment), self.purchase(enrollment)
        path = f"/v1/events?since=0&enrollment={enrollment['id']}"

        def place_of(request: dict, **headers) -> tuple[str, list[str]]:
            """The id of the event that it was presented, and the requests of all events up to that."""
            last, seen = "", []
            with requests.get(self.bridge.origin + path, headers=headers, stream=True, timeout=60) as answer:
                for line in answer.iter_lines():
                    if line.startswith(b"id: "):
                        last = line.removeprefix(b"id: ").decode()
                    if line.startswith(b"data: "):
                        event = json.loads(line.removeprefix(b"data: "))
                        seen.append(event.get("request", {}).get("id"))
                        if event["event"] == "requestPresented" and seen[-1] == request["id"]:
                            return last, seen
            self.fail("the events ended")

        last, _ = place_of(first)
        _, seen = place_of(second, **{"Last-Event-ID": last})
        self.assertEqual(seen, [second["id"]])
        self.call("unenroll", {"local": True}, id=enrollment["id"])

    def test_a_user_who_has_made_many_calls_may_make_more(self):
        connection = requests.Session()
        for _ in range(520):
            answer = connection.get(self.bridge.origin + "/v1/audit/key", timeout=60)
            self.assertEqual(answer.status_code, 200, answer.text)


class Schemathesis(WithAnAgent):
    takes_push = False

    def test_it_finds_no_call_that_the_agent_answers_otherwise(self):
        enrollment = self.enroll()
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1",
            "SCHEMATHESIS_HOOKS": "control_hooks", "OOB_TEST_SANDBOX": self.sandbox.origin,
            "OOB_TEST_AUTHENTICATOR": enrollment["authenticatorId"],
            "OOB_TEST_ENROLLMENT": enrollment["id"],
        }
        # Events have no end; they and the backup have tests of their own.
        left_out = ["events", "backup"]
        command = [
            sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()",
            "--config-file", str(HERE / "schemathesis_agent.toml"), "run", str(FILE), "--url", self.bridge.origin,
            "--checks", "all", "--no-color",
        ] + [word for each in left_out for word in ("--exclude-operation-id", each)]
        run = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=560)
        self.assertEqual(run.returncode, 0, run.stdout[-20_000:] + run.stderr)
        self.assertIn(f"Tested: {len(self.by_id) - len(left_out)}\n", run.stdout)


class ThePage(WithAnAgent):
    def test_its_commands_do_what_it_says(self):
        enrollment = self.enroll()
        self.purchase(enrollment)
        blocks = re.findall(r"^```sh\n(.*?)^```\n+(?:```json\n(.*?)^```$)?", PAGE, re.DOTALL | re.MULTILINE)
        self.assertGreater(len(blocks), 3)
        names = {**os.environ, "OOB_AGENT_SOCKET": str(self.agent.socket), "PATH": f"{BIN_DIR}:{os.environ['PATH']}"}
        for script, said in blocks:
            with self.subTest(script):
                run = subprocess.run(
                    ["bash", "-euo", "pipefail", "-c", script], env=names, cwd=self.folder, capture_output=True,
                    text=True, timeout=60)
                self.assertEqual(run.returncode, 0, run.stderr)
                if said:
                    self.assertEqual(json.loads(run.stdout), json.loads(said))

    def test_its_table_of_calls_is_that_of_the_description(self):
        listed = re.findall(r"^\| `([A-Z]+) (/v1/\S+)` \| (look|decide|own) \|", PAGE, re.MULTILINE)
        self.assertEqual(
            sorted(listed), sorted((method, path, operation["x-right"]) for path, method, operation in operations()))


if __name__ == "__main__":
    unittest.main()
