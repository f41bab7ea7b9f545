"""Operations and monitoring: the commands do what they say, and the tables are the program's.

The pages are docs/how-to/operations.md, docs/reference/monitoring.md and docs/alerts.yaml.

Run with `.venv/bin/python Tests/Stories/test_operations.py`; OOB_BIN_DIR names the programs' directory.
"""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

import yaml
from prometheus_client.parser import text_string_to_metric_families

from citations import page
from issuer import Issuer
from programs import BIN_DIR, Agent, free_port, journal_stream, temporary_folder, unpacked
from test_metrics import WithAnAgent

ROOT = Path(__file__).resolve().parents[2]
PAGE = page("operations.md").read_text(encoding="utf-8")
MONITORING = page("monitoring.md").read_text(encoding="utf-8")
CASES = ROOT / "Tests" / "Fixtures" / "Cases" / "alerts" / "alerts.test.yaml"
PROMTOOL = unpacked("promtool")
ALERTS = [rule for group in yaml.safe_load((ROOT / "docs" / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
          for rule in group["rules"]]
# What the agent is made of, and nothing of the sandbox.
ROOMS = {
    "Agent": ["AgentHost", "ControlServer", "Custody", "IssuerLink", "PushReceiver", "oob-agent"],
    "Core": ["Authenticator", "Journal", "Signing"],
    "Storage": ["PostgresStore", "Records", "SQLiteStore"],
    "Platform": ["Keys", "LineLog"],
}
TARGETS = [ROOT / "Sources" / room / target for room, names in ROOMS.items() for target in names]
# A call that logs, up to what follows its sentence; some sentences go through a function that bounds how many there are.
CALL = re.compile(r"(?:\blog\.(debug|info|notice|warning|error|log)|(?<!func )\b(drop|warn))\(")
# The levels that a call chooses between.
LEVEL = re.compile(r"[?:] \.(debug|info|notice|warning|error)\b")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
METADATA = re.compile(r"\bmetadata:|\benrollment\b|\babout:|\[")


def sentences() -> dict[str, set[str]]:
    """Every log sentence of the sources, with its levels."""
    found: dict[str, set[str]] = {}
    for path in (each for target in TARGETS for each in sorted(target.rglob("*.swift"))):
        text = path.read_text(encoding="utf-8")
        for call in CALL.finditer(text):
            rest = text[call.end():call.end() + 400]
            # Not within the text of a sentence: those are blanked for the search, at the same places.
            blank = LITERAL.sub(lambda each: '"' + "_" * len(each[1]) + '"', rest)
            end = METADATA.search(blank)
            arguments = rest[:min([end.start() if end else 400, closing(blank)])]
            levels = LEVEL.findall(arguments) if call[1] == "log" else [call[1] or "warning"]
            for sentence in LITERAL.findall(arguments):
                found.setdefault(sentence, set()).update(levels)
    return found


def closing(text: str) -> int:
    """Where the parenthesis is closed that was opened before the text."""
    depth = 1
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return at
    return len(text)


def rows(heading: str) -> list[list[str]]:
    """The cells of a section's table, without its head."""
    section = MONITORING.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def blocks(*headings: str) -> list[str]:
    """The commands of sections; without headings of all but the service's, which test_service.py runs."""
    own = PAGE.split("\n## System service\n")
    text = own[0] if not headings else "\n".join(PAGE.split(f"\n## {each}\n")[1].split("\n## ")[0] for each in headings)
    return re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


class TheCommands(unittest.TestCase):
    def run_as_a_user(self, folder: Path, issuer: Issuer, *commands: str, options: str = "-eux"):
        names = {
            "HOME": str(folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "BUILD": str(BIN_DIR),
            "METRICS_PORT": str(free_port()), "ISSUER": issuer.origin, "CODE": issuer.enrollment_code()}
        # Whatever fails, no agent is left behind.
        last = 'trap \'kill "${agent:-}" 2>&1 || true\' EXIT\n'
        return subprocess.run(
            ["bash", options, "-o", "pipefail", "-c", last + "\n".join(commands)], env=names, cwd=folder,
            capture_output=True, text=True, timeout=560)

    def test_its_commands_do_what_it_says(self):
        folder = temporary_folder(type(self))
        issuer = self.enterContext(Issuer())
        self.assertGreater("".join(blocks()).count("\n"), 50)
        run = self.run_as_a_user(folder, issuer, *blocks())
        log = folder / "oob-agent.log"
        said = log.read_text(encoding="utf-8") if log.exists() else ""
        self.assertEqual(run.returncode, 0, f"{run.stderr[-3_000:]}\n{said[-2_000:]}")
        self.assertEqual(len(issuer.authenticators), 1)
        lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        self.assertEqual([each["message"] for each in lines if each["message"] in ("ready", "stopped")],
                         ["ready", "stopped"] * 7)
        # A secret that was changed opens nothing any more, and the copies of the state are gone.
        self.assertEqual(sorted(each.name for each in (folder / ".local" / "state").iterdir()), ["oob-agent"])
        self.assertFalse((folder / ".config" / "oob-agent" / "previous-secret").exists())
        # What nobody said is to be deleted.
        self.assertTrue((folder / "oob-agent.db").exists())

    def test_a_change_of_the_secret_that_fails_deletes_nothing(self):
        """Pasted: a shell goes on after what fails."""
        folder = temporary_folder(type(self))
        issuer = self.enterContext(Issuer())
        (change, end) = blocks("Change the secret")
        # A start refuses a database that is a link, before anything is changed.
        state = "~/.local/state/oob-agent"
        fault, mended = f"mv {state}/agent.db {state}/kept.db; ln -s kept.db {state}/agent.db", f"mv {state}/kept.db {state}/agent.db"
        secrets = "sha256sum ~/.config/oob-agent/*"
        run = self.run_as_a_user(
            folder, issuer, *blocks("Install", "Enroll"), secrets, fault, change, end, secrets, change,
            end, secrets, mended, change.splitlines()[-1], end, secrets, "stop", options="-u")
        self.assertEqual(run.returncode, 0, run.stderr[-3_000:])
        shown = [{name.rpartition("/")[2]: digest for digest, name in re.findall(r"^([0-9a-f]{64})  (.*)$", part, re.M)}
                 for part in re.split(r"(?<=/secret\n)", run.stdout)][:4]
        first, failed, again, done = shown
        self.assertEqual(failed["previous-secret"], first["secret"])
        self.assertEqual([again[name] for name in ("previous-secret", "secret")],
                         [failed[name] for name in ("previous-secret", "secret")])
        self.assertEqual((done["secret"], "previous-secret" in done), (failed["secret"], False))


class TheLogLines(unittest.TestCase):
    def test_the_table_has_every_line_that_the_agent_can_write_and_no_other(self):
        listed = {row[0].strip("`"): set(row[1].split(" or ")) for row in rows("Log lines")}
        found = sentences()
        self.assertGreater(len(found), 40)
        self.assertEqual(listed, found)

    def test_a_line_is_a_constant_sentence(self):
        self.assertEqual([each for each in sentences() if "\\(" in each], [])

    def test_no_pair_has_the_name_of_what_each_json_line_has(self):
        own = re.compile(r'"(?:time|level|message)": "|metadata\["(?:time|level|message)"\]')
        named = [(path.name, match[0]) for target in TARGETS for path in target.rglob("*.swift")
                 if path.name != "JSONLine.swift" for match in own.finditer(path.read_text(encoding="utf-8"))]
        self.assertEqual(named, [])

    def test_every_line_says_what_it_means(self):
        self.assertEqual([row for row in rows("Log lines") if len(row) != 3 or len(row[2]) < 10], [])


class TheLog(unittest.TestCase):
    """What a run writes: a payment that is approved, one that is denied and one that is refused."""

    @classmethod
    def run_with(cls, *arguments: str, is_journal: bool = False) -> list[str]:
        """The log's lines; log.t has the steps and the levels."""
        folder = temporary_folder(cls)
        variables = {"JOURNAL_STREAM": journal_stream(folder / "oob-agent.log")} if is_journal else {}
        with Issuer() as issuer:
            agent = Agent(folder, *arguments, **variables)
            try:
                agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code())
                (authenticator,) = issuer.authenticators
                requests = [issuer.ask(authenticator, issuer.transaction(**members))
                            for members in ({}, {}, {"purchaseCurrency": "000"})]
                agent.json("fetch")
                agent.json("approve", requests[0].jti)
                agent.json("deny", requests[1].jti)
                issuer.decided(requests[2])
            finally:
                agent.stop()
            return agent.log.read_text(encoding="utf-8").splitlines()

    def test_each_line_is_json_with_one_of_the_sentences_and_its_level(self):
        known = sentences()
        lines = [json.loads(line) for line in self.run_with("--log-format", "json", "--log-level", "debug")]
        self.assertGreater(len(lines), 8)
        for line in lines:
            self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertIn(line["message"], known)
            self.assertTrue(line["level"] in known[line["message"]] or known[line["message"]] == {"log"}, line)

    def test_under_journald_each_line_begins_with_its_level_and_has_no_time(self):
        numbers = {"debug": "7", "info": "6", "notice": "5", "warning": "4", "error": "3"}
        known = sentences()
        lines = self.run_with("--log-level", "debug", is_journal=True)
        self.assertGreater(len(lines), 8)
        for line in lines:
            number, text = re.fullmatch(r"<(\d)>(.*)", line).groups()
            (sentence,) = [each for each in known if text == each or text.startswith(each + " ")]
            self.assertIn(number, {numbers[level] for level in known[sentence]}, line)
        self.assertEqual({line[1] for line in lines} & {"4", "5", "6"}, {"4", "5", "6"})


def metrics(*, of_several_hosts: bool) -> dict[str, str]:
    """What the page says of each metric: of those that only agents on one database have, or of the others."""
    return {row[0].strip("`"): row[2] for row in rows("Metrics")
            if row[2].endswith("; several hosts only.") is of_several_hosts}


class TheMetrics(WithAnAgent):
    def test_the_table_says_what_the_agent_says_of_every_metric_and_no_other(self):
        self.assertEqual(metrics(of_several_hosts=False), dict(self.help()))

    def help(self) -> list[tuple[str, str]]:
        return re.findall(r"^# HELP (\S+) (.*)$", self.ask()[2], re.MULTILINE)

    def test_an_alert_is_about_metrics_that_there_are(self):
        families = list(text_string_to_metric_families(self.ask()[2]))
        samples = {sample.name for family in families for sample in family.samples}
        # A counter of words that have not come has no sample yet.
        samples |= {family.name + "_total" for family in families if family.type == "counter"}
        # Nor has one of issuers that all answer.
        samples |= {family.name for family in families if not family.samples}
        for rule in ALERTS:
            named = set(re.findall(r"\boob_agent_\w+", rule["expr"]))
            self.assertTrue(named or 'up{job="oob-agent"}' in rule["expr"], rule["alert"])
            self.assertEqual(named - samples, set(), rule["alert"])


class TheAlerts(unittest.TestCase):
    def test_each_has_a_heading_that_says_what_to_do(self):
        section = MONITORING.split("\n## Alerts\n")[1].split("\n## ")[0]
        self.assertEqual(re.findall(r"^### (\w+)$", section, re.MULTILINE), [rule["alert"] for rule in ALERTS])

    def test_each_says_how_urgent_it_is(self):
        for rule in ALERTS:
            self.assertIn(rule["labels"]["severity"], ["page", "ticket"])
            self.assertNotEqual(rule["annotations"]["summary"], "")
            # Whoever reads it knows where to look; that no host is asked at all is about none.
            if rule["alert"] != "OobAgentAbsent":
                self.assertIn("{{ $labels.instance }}", rule["annotations"]["summary"], rule["alert"])

    def test_each_is_tried_with_figures_at_which_it_rings_and_others_at_which_it_does_not(self):
        tried = [(test["alertname"], bool(test.get("exp_alerts")))
                 for case in yaml.safe_load(CASES.read_text(encoding="utf-8"))["tests"]
                 for test in case["alert_rule_test"]]
        self.assertEqual(sorted(tried), sorted((rule["alert"], rings) for rule in ALERTS for rings in [False, True]))

    @unittest.skipUnless(PROMTOOL, "there is no promtool here")
    def test_prometheus_rings_as_those_cases_say(self):
        for command in [["check", "rules", ROOT / "docs" / "alerts.yaml"], ["test", "rules", CASES]]:
            run = subprocess.run([PROMTOOL, *command], capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
