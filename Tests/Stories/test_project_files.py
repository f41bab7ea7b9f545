"""What a host of the repository reads (.github, .devcontainer), and the changelog: by schemas and linters of others.

Run with `.venv/bin/python Tests/Stories/test_project_files.py`. None of it was run on a host.
"""

import json
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import yaml

from programs import temporary_folder

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
WORKFLOW = GITHUB / "workflows" / "ci.yml"
TOOLS = Path(sys.prefix) / "bin"
SCHEMAS = {
    "github-workflows": [WORKFLOW],
    "github-issue-forms": [GITHUB / "ISSUE_TEMPLATE" / "bug.yml", GITHUB / "ISSUE_TEMPLATE" / "capability.yml"],
    "github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    "renovate": [GITHUB / "renovate.json"],
}
CHANGELOG = [TOOLS / "towncrier", "build", "--config", "changelog/towncrier.toml", "--dir", "."]


def run(*command, cwd: Path = ROOT) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


class ForAHost(unittest.TestCase):
    def assertExits(self, status: int, ran: subprocess.CompletedProcess):
        self.assertEqual(ran.returncode, status, f"{ran.stdout}\n{ran.stderr}")

    def test_each_file_is_as_its_schema_has_it(self):
        for schema, files in SCHEMAS.items():
            for file in files:
                with self.subTest(file.name):
                    self.assertExits(0, run(TOOLS / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", file))

    def test_zizmor_has_nothing_to_say_about_the_workflow(self):
        self.assertExits(0, run(TOOLS / "zizmor", "--offline", "--pedantic", "--no-progress", GITHUB))

    def test_zizmor_names_a_workflow_that_keeps_its_credentials_and_takes_an_action_by_its_tag(self):
        text = WORKFLOW.read_text(encoding="utf-8").replace("persist-credentials: false", "fetch-depth: 1")
        text = re.sub(r"checkout@[0-9a-f]{40}", "checkout@v5", text)
        file = temporary_folder(self) / "ci.yml"
        file.write_text(text, encoding="utf-8")
        ran = run(TOOLS / "zizmor", "--offline", "--no-progress", file)
        self.assertGreater(ran.returncode, 0)
        self.assertIn("artipacked", ran.stdout)
        self.assertIn("unpinned-uses", ran.stdout)

    def test_each_step_of_the_workflow_runs_what_is_there(self):
        jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
        runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
        trust = 'git config --global --add safe.directory "$GITHUB_WORKSPACE"'
        self.assertEqual(runs, [trust, "Scripts/bootstrap", "swift package resolve", "make check", trust, ".ci/run"])
        for script in ["Scripts/bootstrap", ".ci/run"]:
            self.assertTrue((ROOT / script).stat().st_mode & 0o100, script)
        self.assertIn("\ncheck: ", (ROOT / "Makefile").read_text(encoding="utf-8"))

    def test_the_container_for_editors_has_the_workflow_s_image_and_a_command_that_is_there(self):
        container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
        jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
        images = [job["container"] for job in jobs.values()]
        self.assertEqual({image if isinstance(image, str) else image["image"] for image in images}, {container["image"]})
        self.assertTrue((ROOT / container["onCreateCommand"].split()[0]).exists())

    def test_each_path_with_an_owner_is_there(self):
        lines = (GITHUB / "CODEOWNERS").read_text(encoding="utf-8").splitlines()
        rows = [line.split() for line in lines if line and not line.startswith("#")]
        self.assertGreater(len(rows), 10)
        for path, *owners in rows:
            self.assertTrue(owners, path)
            self.assertTrue(path == "*" or (ROOT / path.lstrip("/")).exists(), path)

    def test_the_pattern_for_updates_finds_every_package_that_is_asked_for(self):
        text = (ROOT / "Package.swift").read_text(encoding="utf-8")
        (manager,) = json.loads((GITHUB / "renovate.json").read_text(encoding="utf-8"))["customManagers"]
        (pattern,) = manager["matchStrings"]
        found = re.findall(pattern.replace("?<", "?P<"), text)
        self.assertEqual(len(found), text.count(".package(url:"))

    def test_nothing_is_merged_by_itself(self):
        self.assertIn('"automerge": false', (GITHUB / "renovate.json").read_text(encoding="utf-8"))


class TheChangelog(unittest.TestCase):
    def test_each_unreleased_change_has_a_kind_and_is_printed(self):
        ran = run(*CHANGELOG, "--version", "Unreleased", "--draft")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        printed = re.sub(r"\s+", " ", ran.stdout)
        files = [file for file in (ROOT / "changelog" / "unreleased").iterdir() if file.name != ".gitkeep"]
        for file in files:
            with self.subTest(file.name):
                self.assertIn(re.sub(r"\s+", " ", file.read_text(encoding="utf-8").strip()), printed)

    def test_a_release_puts_them_into_the_changelog_and_removes_their_files(self):
        copy = temporary_folder(self) / "copy"
        copy.mkdir()
        shutil.copytree(ROOT / "changelog", copy / "changelog")
        shutil.copy(ROOT / "CHANGELOG.md", copy)
        (copy / "changelog" / "unreleased" / "+planted.fixed.md").write_text("Planted.\n", encoding="utf-8")
        for command in [["init", "--quiet"], ["add", "."]]:
            self.assertEqual(run("git", *command, cwd=copy).returncode, 0)
        ran = run(*CHANGELOG, "--version", "0.1.0", "--date", "2030-01-02", "--yes", cwd=copy)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        released = (copy / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## [0.1.0] - 2030-01-02\n")[-1]
        self.assertIn("\n- Planted.\n", released.split("\n### Fixed\n")[-1])
        self.assertIn("## [Unreleased]", (copy / "CHANGELOG.md").read_text(encoding="utf-8"))
        self.assertEqual([file.name for file in (copy / "changelog" / "unreleased").iterdir()], [".gitkeep"])


if __name__ == "__main__":
    unittest.main()
