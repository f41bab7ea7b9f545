"""`oob-conform issuer` against issuers that are right, wrong in one thing, and not there."""

import html
import json
import os
import ssl
import subprocess
import threading
import unittest
import xml.etree.ElementTree
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from programs import BIN_DIR, Sandbox, temporary_folder

ROOT = Path(__file__).resolve().parents[2]
CONFORM = BIN_DIR / "oob-conform"
TESTED = ROOT / "conformance/tested/oob-issuer.yaml"
WITHIN = 560


def conform(*words: str, **how) -> subprocess.CompletedProcess:
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    return subprocess.run([CONFORM, *map(str, words)], capture_output=True, text=True, timeout=WITHIN, cwd=ROOT,
                          env=environment, stdin=subprocess.DEVNULL, **how)


class Wrong(ThreadingHTTPServer):
    """A server that answers each call as `answer` says: (status, content type, body), or that never answers."""

    daemon_threads = True

    def __init__(self, answer):
        self.answer, self.over = answer, threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def origin(self):
        return f"http://localhost:{self.server_address[1]}"

    def end(self):
        self.over.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.server.answer is None:
            self.server.over.wait(WITHIN)
            return
        status, kind, body = self.server.answer
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("location", "http://localhost:1/elsewhere")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class AgainstTheSandbox(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.sandbox = Sandbox(cls.folder, "--test-clock")
        cls.addClassCleanup(cls.sandbox.stop)

    def run_issuer(self, *words, **how):
        return conform("issuer", self.sandbox.origin, "--config", TESTED, *words, **how)

    def test_it_passes_every_case(self):
        files = {name: self.folder / name for name in ["o.json", "o.xml", "o.html", "badge.md"]}
        run = self.run_issuer("--json", files["o.json"], "--junit", files["o.xml"], "--html", files["o.html"],
                              "--badge", files["badge.md"], "--seed", "7")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        outcome = json.loads(files["o.json"].read_text())
        self.assertEqual({case["verdict"] for case in outcome["cases"]}, {"passed"}, run.stdout)
        self.assertEqual(len(outcome["cases"]), len(list((ROOT / "conformance/cases/issuer").glob("*.yaml"))))
        self.assertEqual(outcome["seed"], "7")
        suites = xml.etree.ElementTree.parse(files["o.xml"]).getroot()
        self.assertEqual(int(suites.get("tests")), len(outcome["cases"]))
        self.assertEqual(len(list(suites.iter("testcase"))), len(outcome["cases"]))
        page = files["o.html"].read_text()
        self.assertNotIn("src=", page)
        self.assertNotIn("href=", page)
        self.assertIn(f"{sum(case['level'] == 'must' for case in outcome['cases'])} of", files["badge.md"].read_text())

    def test_what_has_no_command_is_counted_as_not_shown(self):
        text = TESTED.read_text()
        config = self.folder / "short.yaml"
        config.write_text(text[: text.index("\ncancel:")] + text[text.index("\nclock:") :])
        run = self.run_issuer("--config", config, "--case", "cancel-listed", "--case", "approval", "--json", "-")
        outcome = json.loads(run.stdout)
        self.assertEqual({c["name"]: c["verdict"] for c in outcome["cases"]},
                         {"cancel-listed": "notShown", "approval": "notShown"}, run.stderr)
        self.assertEqual(run.returncode, 2, "a run in which nothing was shown has not passed")

    def test_one_case_runs_alone(self):
        run = self.run_issuer("--case", "counter-regression")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("1 passed, 0 failed", run.stdout)

    def test_a_section_takes_those_within_it(self):
        listed = conform("issuer", "--section", "4", "--list").stdout.splitlines()
        self.assertEqual({line.split()[0] for line in listed}, {"4.1", "4.2", "4.3"})

    def test_a_seed_gives_the_same_order_again(self):
        orders = []
        for seed in ["1", "1", "2"]:
            run = self.run_issuer("--section", "3", "--section", "14", "--jobs", "1", "--seed", seed, "--json", "-")
            self.assertEqual(run.returncode, 0, run.stderr)
            orders.append(json.loads(run.stdout)["order"])
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])

    def test_a_failed_case_says_what_was_accepted_and_shows_the_exchange(self):
        # The code's command makes the sandbox ask for a direct attestation, so a purchase that the case does not
        # expect is the only thing that is wrong: the amount is another one.
        config = self.folder / "wrong.yaml"
        config.write_text(TESTED.read_text().replace('t = dict(i["transaction"])',
                                                     't = dict(i["transaction"], purchaseAmount="999")'))
        self.assertNotEqual(config.read_text(), TESTED.read_text())
        run = self.run_issuer("--config", config, "--case", "approval", "--json", self.folder / "w.json")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("purchaseAmount 999 where the purchase has 100; section 6", run.stdout)
        [case] = json.loads((self.folder / "w.json").read_text())["cases"]
        sent = [exchange["sent"] for exchange in case["exchanges"]]
        self.assertTrue(any("authn-requests" in line for line in sent), sent)
        self.assertTrue(any(line == "the command for `purchase`" for line in sent), sent)
        text = json.dumps(case)
        self.assertIn('\\"accessToken\\": \\"(redacted)\\"'.replace(" ", ""), text.replace(" ", ""))

    def test_a_command_that_fails_is_named_and_no_pass(self):
        for command, said in [
            ("false", "the command for `code` exited with status 1"),
            ("kill -9 $$", "the command for `code` was ended by signal 9"),
            ("true", "the command for `code` printed no enrollment code"),
            ("echo '{\"x\": 1}'", "the command for `code` printed no enrollment code"),
            ("head -c 2000000 /dev/zero", "the command for `code` printed more than 1048576 bytes"),
        ]:
            with self.subTest(command):
                run = self.run_issuer("--code-command", command, "--case", "approval")
                self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
                self.assertIn(said, run.stdout)

    def test_a_purchase_command_that_does_nothing_fails_the_case(self):
        run = self.run_issuer("--purchase-command", "true", "--case", "request")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("listed no request with the acsTransId", run.stdout)


    def test_no_form_of_the_outcome_has_the_codes_of_the_run_or_what_a_command_was_given(self):
        files = {name: self.folder / name for name in ["s.json", "s.xml", "s.html"]}
        run = self.run_issuer(
            "--code-command", "PASSWORD=hunter2-of-the-bank; printf 'Qk3x/9fL+m2V\\n'", "--section", "4", "--json",
            files["s.json"], "--junit", files["s.xml"], "--html", files["s.html"])
        self.assertEqual(run.returncode, 1, "nobody has given this code out")
        texts = [run.stdout, run.stderr, *(file.read_text() for file in files.values())]
        for text in texts:
            for secret in ["Qk3x", "9fL", "m2V", "hunter2"]:
                self.assertNotIn(secret, text)
        for text in texts[2:]:
            self.assertIn("the command for `code`", html.unescape(text))
            self.assertIn("(redacted)", text)
            self.assertIn("invalid_enrollment_code", text, "a problem's code is what a case is judged by")

    def test_when_its_time_is_over_a_run_says_what_was_not_run(self):
        # It leaves its process group and keeps its output open, so killing the command does not end it.
        run = self.run_issuer("--purchase-command", "setsid sleep 55", "--time-limit", "2", "--jobs", "64", "--section", "8",
                              "--json", self.folder / "t.json")
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn("cases: the run was over after 2 s (--time-limit)", run.stdout)
        outcome = json.loads((self.folder / "t.json").read_text())
        self.assertIn("notRun", {case["verdict"] for case in outcome["cases"]})
        self.assertLess(outcome["milliseconds"], 45_000)
        for wrong in ["0", "86401", "x"]:
            self.assertEqual(self.run_issuer("--time-limit", wrong).returncode, 64)


class AHostileIssuer(unittest.TestCase):
    def test_answers_of_one_character_and_two_megabytes_fill_neither_memory_nor_reports(self):
        body = ('{"x":"a' + "\u0301" * 1_000_000 + '"}').encode()
        server = Wrong((200, "application/json", body))
        self.addCleanup(server.end)
        folder = temporary_folder(self)
        files = [folder / name for name in ["h.json", "h.xml", "h.html"]]
        words = [CONFORM, "issuer", server.origin, "--code-command", "echo abc-def", "--purchase-command", "true",
                 "--section", "4", "--json", files[0], "--junit", files[1], "--html", files[2]]
        run = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(run.returncode, 1)
        failed = [case for case in json.loads(files[0].read_text())["cases"] if case["verdict"] == "failed"]
        self.assertGreater(len(failed), 20)
        for file in files:
            self.assertLess(file.stat().st_size, 20_000 * len(failed))
        self.assertLess(used.ru_maxrss, 300_000, "kB")


class ASandboxThatFails(unittest.TestCase):
    """Each fault of the sandbox is caught by a case about the call that it is in."""

    FAULTS = {
        "garbage=1,path=jwks": ("jwks", "the JWK Set is not in order"),
        "500=1,path=enrollmentOptions": ("options", "answered HTTP 500"),
        "drop-after=1,path=enroll": ("enroll", "closed the connection"),
        "truncated=1,path=fetch": ("fetch-empty", "answered with what is not HTTP"),
        "endless=1,path=fetch": ("fetch-empty", "answered with more than 2097152 bytes"),
        "reorder=1,path=fetch": ("oldest-first", "listed "),
        "full-list=1,path=fetch": ("fetch-after", "listed"),
        "503=1,path=decision": ("approval", "answered HTTP 503"),
        "garbage=1,path=decision": ("approval", "the answer to a decision is not in order"),
        "500=1,path=authenticator": ("enroll", "answered HTTP 500"),
        "drop-before=1,path=unenroll": ("unenroll", "closed the connection"),
    }

    def test_each_of_its_faults_fails_the_case_about_that_call(self):
        for faults, (case, cause) in self.FAULTS.items():
            with self.subTest(faults):
                sandbox = Sandbox(temporary_folder(self), "--test-clock", "--faults", faults)
                run = conform("issuer", sandbox.origin, "--config", TESTED, "--case", case)
                sandbox.stop()
                self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
                self.assertRegex(run.stdout, rf"{case}: .*{cause}")


class NoIssuer(unittest.TestCase):
    def reached(self, origin, *words):
        run = conform("issuer", origin, "--code-command", "true", "--purchase-command", "true", *words)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        return run.stderr

    def served(self, answer):
        server = Wrong(answer)
        self.addCleanup(server.end)
        return server.origin

    def test_nobody_listens(self):
        self.assertIn("takes no connection", self.reached("http://localhost:9"))

    def test_html_is_said_to_be_html(self):
        origin = self.served((404, "text/html", b"<h1>Not Found</h1>"))
        self.assertIn("answers HTTP 404 with text/html, and not 200", self.reached(origin))
        origin = self.served((200, "text/html", b"<h1>Welcome</h1>"))
        self.assertIn("answers 200 with text/html that is no JSON object", self.reached(origin))

    def test_a_redirect_is_not_followed(self):
        self.assertIn("answers HTTP 302", self.reached(self.served((302, "text/plain", b""))))

    def test_one_that_never_answers_is_given_up(self):
        self.assertIn("did not answer in time", self.reached(self.served(None)))

    def test_one_that_answers_too_much_is_given_up(self):
        origin = self.served((200, "application/json", b" " * 3_000_000))
        self.assertIn("answered with more than 2097152 bytes", self.reached(origin))

    def test_an_expired_certificate_is_said(self):
        folder = temporary_folder(self)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", folder / "k.pem", "-out", folder / "c.pem", "-days", "1", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        server = Wrong((200, "application/json", b"{}"))
        self.addCleanup(server.end)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "c.pem", folder / "k.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        origin = server.origin.replace("http:", "https:")
        self.assertIn("does not lead to a trusted root, or is not valid now", self.reached(origin))
        late = subprocess.run(
            ["faketime", "+3 days", CONFORM, "issuer", origin, "--code-command", "true", "--purchase-command", "true",
             "--ca-file", folder / "c.pem"], capture_output=True, text=True, timeout=WITHIN, cwd=ROOT)
        self.assertEqual(late.returncode, 2, late.stderr)
        self.assertIn("is not valid now", late.stderr)
        # Trusted, it is asked: what it answers is no discovery document, which is for the cases to say.
        trusted = conform("issuer", origin, "--code-command", "true", "--purchase-command", "true", "--ca-file",
                          folder / "c.pem", "--case", "discovery")
        self.assertEqual(trusted.returncode, 1, trusted.stdout + trusted.stderr)
        self.assertIn("the discovery document is not in order", trusted.stdout)

    def test_a_name_in_cn_alone_is_refused(self):
        folder = temporary_folder(self)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", folder / "k.pem", "-out", folder / "c.pem", "-days", "1", "-subj", "/CN=localhost"],
                       check=True, capture_output=True)
        server = Wrong((200, "application/json", b"{}"))
        self.addCleanup(server.end)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "c.pem", folder / "k.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        run = conform("issuer", server.origin.replace("http:", "https:"), "--code-command", "true",
                      "--purchase-command", "true", "--ca-file", folder / "c.pem")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("has a certificate without a subjectAltName: put localhost there", run.stderr)

    def test_http_where_tls_is_expected_is_said(self):
        origin = self.served((200, "application/json", b"{}")).replace("http:", "https:")
        self.assertIn("does not speak TLS", self.reached(origin))


class Files(unittest.TestCase):
    """What is wrong with a file is one line that names it, before anything is run."""

    GOOD = (ROOT / "conformance/cases/issuer/approval.yaml").read_text()

    def said(self, text: str) -> str:
        folder = temporary_folder(self)
        (folder / "issuer").mkdir()
        (folder / "issuer/one.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        run = conform("issuer", "--cases", folder, "--list")
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertIn("issuer/one.yaml", run.stderr)
        return run.stderr

    def test_an_unknown_member_is_named_with_its_line(self):
        self.assertRegex(self.said(self.GOOD + "bogus: 1\n"), r"one\.yaml:\d+: bogus: no such member")
        self.assertRegex(self.said(self.GOOD.replace("decide: {request: first}", "decide: {request: first, wrongg: x}")),
                         r"one\.yaml:\d+: wrongg: no such member; .*wrong")
        self.assertRegex(self.said(self.GOOD.replace("transStatus: Y}", "transtatus: Y}")), "transtatus: no such member")

    def test_a_step_that_is_none_is_named(self):
        self.assertIn("dance: no such member", self.said(self.GOOD.replace("- enroll: {}", "- dance: {}")))
        self.assertIn("a step has one of", self.said(self.GOOD.replace("- enroll: {}", "- {}")))

    def test_a_wrong_value_says_what_is_allowed(self):
        self.assertIn("noSuch", self.said(self.GOOD.replace("decide: {request: first}",
                                                            "decide: {request: first, wrong: noSuch}")))
        self.assertIn("perhaps", self.said(self.GOOD.replace("level: must", "level: perhaps")))

    def test_what_is_no_yaml_no_text_or_too_large_is_said(self):
        self.said("a: [")
        self.said(b"\xff\xfe")
        self.said("# " + "x" * 300_000)
        self.said("")
        self.said("a: &a [1]\nb: *a\n")

    def test_a_missing_directory_is_said(self):
        run = conform("issuer", "--cases", "/no/such", "--list")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("/no/such/issuer: no such directory of cases", run.stderr)


class Init(unittest.TestCase):
    def test_it_writes_a_file_that_a_run_reads(self):
        folder = temporary_folder(self)
        for side in ["issuer", "approver"]:
            with self.subTest(side):
                path = folder / f"{side}.yaml"
                run = conform("init", side, path)
                self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
                again = conform("init", side, path)
                self.assertEqual(again.returncode, 2)
                self.assertIn("is there already", again.stderr)
                self.assertEqual(conform("init", side, "-").stdout, path.read_text())
        run = conform("issuer", "http://localhost:9", "--config", folder / "issuer.yaml")
        self.assertIn("takes no connection", run.stderr)


if __name__ == "__main__":
    unittest.main()
