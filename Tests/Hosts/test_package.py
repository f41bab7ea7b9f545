"""The Debian packages: what is in them. What they do to a machine is in test_installation.py.

Run with `.venv/bin/python Tests/Hosts/test_package.py`. OOB_DEB names the agent's package; without it, it is the newest that
`make deb` has made in .build, and without one all of this is skipped.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from debian_package import DEB, INSIDE, SCRATCH, TESTKIT, TOOLCHAINS, needs_package, printed
from programs import BIN_DIR, ENDED_WITHIN, Agent, Sandbox, started, temporary_folder
from systemd_box import AGENT, CHECKOUT

WITHOUT_PERSONAS = "this agent was built without personas, as for production: for tests, build one with `make build`"
# What of a checkout's top the package has; what a page says of other folders is in the sources alone.
TOP = {"README.md", "SECURITY.md", "docs", "openapi"}
# As in continuous integration; `make long-test` has the packages that are handed out.
IS_UNOPTIMIZED = os.environ.get("OPTIMIZATION") == "none"


def setUpModule():
    needs_package()


class Unpacked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree, cls.testkit = (temporary_folder(cls) / "tree" for _ in range(2))
        cls.trees = {DEB: cls.tree, TESTKIT: cls.testkit}
        for package, tree in cls.trees.items():
            printed("dpkg-deb", "--raw-extract", package, tree)

    @classmethod
    def programs(cls) -> list[Path]:
        return [tree / "usr/bin" / name for package, tree in cls.trees.items() for name in INSIDE[package]]


class Contents(Unpacked):
    """The packages as files."""

    def test_every_file_is_roots_and_only_root_may_write_it(self):
        for package in self.trees:
            lines = printed("dpkg-deb", "--contents", package).splitlines()
            self.assertGreater(len(lines), 15)
            for line in lines:
                mode, owner, *_ , path = line.split()
                expected = "drwxr-xr-x" if path.endswith("/") else "-rwxr-xr-x" if "/usr/bin/" in path else "-rw-r--r--"
                self.assertEqual((mode, owner), (expected, "root/root"), path)

    def test_their_files_are_where_debian_looks_for_them(self):
        for package, paths in [
            (DEB, [f"lib/systemd/system/{AGENT}", "lib/systemd/system/oob-agent@.service",
                   "usr/lib/systemd/user/oob-agent.service", "usr/lib/tmpfiles.d/oob-agent.conf",
                   "usr/lib/sysusers.d/oob-agent.conf", "etc/oob-agent/config.yaml", "usr/share/man/man8/oob-agent.8.gz",
                   "usr/share/man/man1/oobctl.1.gz"]),
            (TESTKIT, ["lib/systemd/system/oob-issuer.service", "usr/share/man/man1/oob-issuer.1.gz",
                       "usr/share/man/man1/oob-conform.1.gz", "usr/share/man/man1/oob-inbox.1.gz",
                       "usr/share/oob-testkit/conformance/vectors/requests.json"]),
        ]:
            name = package.name.partition("_")[0]
            for path in [
                *paths, *(f"usr/share/doc/{name}/{page}" for page in ["copyright", "NOTICE.gz", "sbom.cdx.json"]),
                *(path for name in INSIDE[package] for path in [
                    f"usr/bin/{name}", f"usr/share/bash-completion/completions/{name}",
                    f"usr/share/zsh/vendor-completions/_{name}", f"usr/share/fish/vendor_completions.d/{name}.fish"]),
            ]:
                self.assertTrue((self.trees[package] / path).is_file(), path)
        self.assertEqual((self.tree / "DEBIAN/conffiles").read_text(), "/etc/oob-agent/config.yaml\n")

    def test_no_file_is_in_both(self):
        files = [{path.relative_to(tree) for path in tree.rglob("*") if path.is_file() and "DEBIAN" not in path.parts}
                 for tree in self.trees.values()]
        self.assertEqual(files[0] & files[1], set())

    def test_the_agents_has_at_most_20_MB_and_80_installed_and_the_testkits_three_times_that(self):
        # Programs that are not optimized are larger, and packages of them are compressed in less time.
        unoptimized = 1.25 if IS_UNOPTIMIZED else 1
        for package, tree in self.trees.items():
            # Each program of the testkit brings Swift's libraries along.
            times = unoptimized * (1 if package == DEB else 3)
            if not IS_UNOPTIMIZED:
                self.assertLess(package.stat().st_size, times * 20_000_000, package.name)
            installed = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file())
            self.assertLess(installed, times * 80_000_000, package.name)

    def test_a_program_takes_its_addresses_at_its_start_and_then_cannot_write_them(self):
        for program in self.programs():
            self.assertRegex(printed("readelf", "--dynamic", "--wide", program), r"FLAGS_1\).* NOW PIE")
            self.assertIn("GNU_RELRO", printed("readelf", "--segments", "--wide", program))

    def test_each_page_that_the_pages_inside_link_to_is_inside(self):
        folder = self.tree / "usr/share/doc/oob-agent"
        pages = [folder / "README.md", folder / "SECURITY.md", *(folder / "docs").rglob("*.md")]
        inside = [str(page.relative_to(folder)) for page in pages]
        self.assertLess({"docs/README.md", "docs/how-to/operations.md", "docs/reference/protocol.md"}, set(inside))
        for page, path in zip(pages, inside):
            for name in re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text(encoding="utf-8")):
                target = os.path.normpath(Path(path).parent / name)
                if target.split("/")[0] in TOP:
                    self.assertTrue((folder / target).is_file(), f"{path} links to {name}")

    def test_the_config_is_what_the_agent_prints_with_nothing_set_but_the_group(self):
        config, group = self.tree / "etc/oob-agent/config.yaml", "socket-group: oob-approvers"
        blank = printed(self.tree / "usr/bin/oob-agent", "--print-config")
        self.assertEqual(config.read_text(), blank.replace(f"#{group}", group))
        self.assertEqual([line for line in config.read_text().splitlines() if line and not line.startswith("#")], [group])

    def test_nothing_of_the_machine_that_built_it_is_in_a_program(self):
        # Without the optimizer a program keeps what nothing in it calls, such as where a library's resources were built.
        paths = TOOLCHAINS if IS_UNOPTIMIZED else [str(CHECKOUT), str(SCRATCH), *TOOLCHAINS]
        for program in self.programs():
            bytes = program.read_bytes()
            for path in paths:
                self.assertFalse(os.fsencode(path) in bytes, f"{program.name} has {path}")

    @unittest.skipUnless(shutil.which("lintian"), "there is no lintian here")
    def test_lintian_finds_nothing(self):
        run = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", DEB, TESTKIT],
                             capture_output=True, text=True, timeout=560)
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)

    @unittest.skipUnless((SCRATCH / "release" / "oob-agent").exists(), "its build is not here")
    def test_the_same_build_gives_the_same_bytes(self):
        made = [temporary_folder(type(self)) for _ in range(2)]
        for folder in made:
            printed(CHECKOUT / "Scripts" / "deb", "--no-build", folder, env={**os.environ, "COMPRESSION": "none"})
        for package in self.trees:
            (first, second) = (folder / package.name for folder in made)
            self.assertEqual(first.read_bytes() == second.read_bytes(), True, f"two {package.name} of one build differ")


class Production(Unpacked):
    """The packaged agent cannot sign what nobody approved."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.tree / "usr/bin/oob-agent"

    def test_the_packaged_agent_has_no_personas(self):
        for name in [b"alteredAmount", b"crashesAfterSigning", b"WrongAssertion", b"TestApproval"]:
            self.assertTrue(name in (BIN_DIR / "oob-agent").read_bytes(), name)
            self.assertFalse(name in self.program.read_bytes(), name)
        self.assertNotIn("personas", printed(self.program, "--version"))
        self.assertIn("with personas, not for production", printed(BIN_DIR / "oob-agent", "--version"))
        folder = temporary_folder(type(self))
        ended = self.ends(folder, "--persona-tags", "true")
        self.assertEqual(ended.returncode, 64)
        self.assertIn("--persona-tags: this agent was built without personas, as for production", ended.stderr)
        (folder / "config.yaml").write_text("rules:\n  - then: ask\n", encoding="utf-8")
        ended = self.ends(folder, "--config", str(folder / "config.yaml"))
        self.assertEqual(ended.returncode, 78)
        self.assertIn("config.yaml:2: this agent was built without personas", ended.stderr)

    def test_a_state_with_personas_does_not_start_in_production(self):
        folder = temporary_folder(type(self))
        sandbox = started(type(self), Sandbox(folder))
        agent = Agent(folder)
        with urllib.request.urlopen(f"{sandbox.origin}/sandbox/enrollment-codes", data=b"{}", timeout=60) as answer:
            link = json.load(answer)["link"]
        payer = agent.json("enroll", link, "--authn-type", "test", "--persona", "autoApprove")
        agent.stop()
        ended = self.ends(folder)
        self.assertEqual(ended.returncode, 78, ended.stderr)
        self.assertIn(f"the enrollment {payer['id']} has a persona, and this agent was built without personas", ended.stderr)
        agent = Agent(folder)
        agent.json("persona clear", "--enrollment", payer["id"])
        agent.stop()
        agent = started(type(self), Agent(folder, program=self.program))
        with urllib.request.urlopen(f"{sandbox.origin}/sandbox/enrollment-codes", data=b"{}", timeout=60) as answer:
            link = json.load(answer)["link"]
        # The second is what the library OOBTesting runs.
        for words in [["persona list"], ["enroll", link, "--authn-type", "test", "--persona", "autoApprove"]]:
            refused = agent.ctl(*words)
            self.assertEqual(refused.returncode, 64, refused.stderr)
            self.assertIn(WITHOUT_PERSONAS, refused.stderr)
        self.assertIs(agent.json("status")["personas"], False)
        self.assertNotIn("personas", {each["id"] for each in agent.json("doctor")})

    def test_a_suite_is_told_what_to_do_about_an_agent_without_personas(self):
        folder = temporary_folder(type(self))
        for tree, names in [(self.tree, ["oob-agent", "oobctl"]), (self.testkit, ["oob-issuer"])]:
            for name in names:
                (folder / name).symlink_to(tree / "usr/bin" / name)
        suite = folder / "test_it.py"
        suite.write_text('def test_it(cardholder):\n    cardholder("badSignature")\n', encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytest_oob_authenticator.plugin", suite],
            env={**os.environ, "PYTHONPATH": str(CHECKOUT / "integrations" / "pytest"), "OOB_BIN_DIR": str(folder)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=4 * ENDED_WITHIN)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn(WITHOUT_PERSONAS, ran.stdout)

    def ends(self, folder: Path, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.program, "--state-dir", str(folder / "state"), "--socket", str(folder / "control.sock"), *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=4 * ENDED_WITHIN)


class BillOfMaterials(Unpacked):
    """What is linked in, as CycloneDX has it."""

    def setUp(self):
        self.text = (self.tree / "usr/share/doc/oob-agent/sbom.cdx.json").read_text(encoding="utf-8")
        self.components = json.loads(self.text)["components"]
        testkit = json.loads((self.testkit / "usr/share/doc/oob-testkit/sbom.cdx.json").read_text(encoding="utf-8"))
        self.in_testkit = testkit["components"]

    def test_it_is_what_the_schema_of_cyclonedx_1_5_allows(self):
        validator = JsonStrictValidator(SchemaVersion.V1_5)
        self.assertIsNone(validator.validate_str(self.text))
        self.assertIsNotNone(validator.validate_str(self.text.replace('"library"', '"book"')))

    def test_its_versions_are_the_pinned_ones(self):
        pins = {pin["location"].removesuffix(".git"): pin["state"] for pin in json.loads(
            (CHECKOUT / "Package.resolved").read_text(encoding="utf-8"))["pins"]}
        linked = [each for each in self.components if each.get("purl", "").startswith("pkg:swift/")]
        self.assertGreater(len(linked), 10)
        for each in linked:
            pin = pins[each["externalReferences"][0]["url"]]
            self.assertEqual((each["version"], each["properties"][0]["value"]), (pin["version"], pin["revision"]))

    def test_it_names_the_libraries_that_the_package_depends_on_and_no_others(self):
        for package, components in [(DEB, self.components), (TESTKIT, self.in_testkit)]:
            packages = printed("dpkg-deb", "--field", package, "Depends")
            libraries = set(re.findall(r"\b(lib[a-z0-9+.-]+|zlib1g)", packages))
            named = {each["name"] for each in components if each["bom-ref"].startswith("deb/")}
            self.assertEqual(named, libraries)

    def test_the_agent_depends_on_libpq_and_no_other_program_does(self):
        for program in self.programs():
            asked = printed("readelf", "--dynamic", "--wide", program)
            self.assertEqual("libpq.so.5" in asked, program.name == "oob-agent", program.name)
        self.assertIn("libpq5", printed("dpkg-deb", "--field", DEB, "Depends"))

    def test_all_that_is_linked_in_has_its_licence_in_the_copyright_file(self):
        text = (self.tree / "usr/share/doc/oob-agent/copyright").read_text(encoding="utf-8")
        for each in self.components:
            if not each["bom-ref"].startswith("deb/"):
                self.assertRegex(text, rf"(?m)^Files: {re.escape(each['name'])}/\*$")

    def test_it_names_the_code_of_others_that_packages_bring_along(self):
        inside = {part["name"] for each in self.components for part in each.get("components", [])}
        self.assertEqual(inside, {"boringssl", "icu", "libyaml", "llhttp", "zlib"})
        inside = {part["name"] for each in self.in_testkit for part in each.get("components", [])}
        self.assertEqual(inside, {"boringssl", "icu", "libyaml", "llhttp", "zlib"})
        for name in ["boringssl", "icu"]:
            (part,) = (part for each in self.components for part in each.get("components", []) if part["name"] == name)
            self.assertTrue(part["version"], name)

    def test_what_others_bring_along_has_its_licence_in_the_copyright_file(self):
        text = (self.tree / "usr/share/doc/oob-agent/copyright").read_text(encoding="utf-8")
        self.assertIn("\nLicense: Unicode-3.0\n UNICODE LICENSE V3\n", text)
        for module in ["CNIOBoringSSL", "CNIOExtrasZlib", "CNIOLLHTTP", "CYaml"]:
            self.assertRegex(text, rf"(?m)^Files: \S+/Sources/{module}/\*$")


if __name__ == "__main__":
    unittest.main()
