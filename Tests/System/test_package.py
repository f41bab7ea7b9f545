"""The Debian package: what is in it. What it does to a machine is in test_installation.py.

Run with `.venv/bin/python Tests/System/test_package.py`. OOB_DEB names the package; without it, it is the newest that
`make deb` has made in .build, and without one all of this is skipped.
"""

import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from debian_package import DEB, SCRATCH, TOOLCHAINS, needs_package, printed
from programs import temporary_folder
from systemd_box import AGENT, CHECKOUT, PROGRAMS
# What of a checkout's top the package has; what a page says of other folders is in the sources alone.
INSIDE = {"README.md", "SECURITY.md", "docs", "openapi"}


def setUpModule():
    needs_package()


class Unpacked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = temporary_folder(cls) / "tree"
        printed("dpkg-deb", "--raw-extract", DEB, cls.tree)


class Contents(Unpacked):
    """The package as a file."""

    def test_every_file_is_roots_and_only_root_may_write_it(self):
        lines = printed("dpkg-deb", "--contents", DEB).splitlines()
        self.assertGreater(len(lines), 30)
        for line in lines:
            mode, owner, *_ , path = line.split()
            expected = "drwxr-xr-x" if path.endswith("/") else "-rwxr-xr-x" if "/usr/bin/" in path else "-rw-r--r--"
            self.assertEqual((mode, owner), (expected, "root/root"), path)

    def test_its_files_are_where_debian_looks_for_them(self):
        for path in [
            *(f"usr/bin/{name}" for name in PROGRAMS), "usr/lib/sysusers.d/oob-agent.conf",
            *(f"usr/share/bash-completion/completions/{name}" for name in PROGRAMS),
            *(f"usr/share/zsh/vendor-completions/_{name}" for name in PROGRAMS),
            *(f"usr/share/fish/vendor_completions.d/{name}.fish" for name in PROGRAMS),
            *(f"lib/systemd/system/{name}" for name in [AGENT, "oob-agent@.service", "oob-issuer.service"]),
            *(f"usr/share/man/man{page[-1]}/{page}.gz" for page in ["oob-agent.8", "oobctl.1", "oob-issuer.1"]),
            "usr/lib/systemd/user/oob-agent.service", "usr/lib/tmpfiles.d/oob-agent.conf",
            "etc/oob-agent/config.yaml", "usr/share/doc/oob-agent/copyright", "usr/share/doc/oob-agent/sbom.cdx.json",
        ]:
            self.assertTrue((self.tree / path).is_file(), path)
        self.assertEqual((self.tree / "DEBIAN/conffiles").read_text(), "/etc/oob-agent/config.yaml\n")

    def test_each_page_that_the_pages_inside_link_to_is_inside(self):
        folder = self.tree / "usr/share/doc/oob-agent"
        pages = [folder / "README.md", folder / "SECURITY.md", *(folder / "docs").rglob("*.md")]
        inside = [str(page.relative_to(folder)) for page in pages]
        self.assertLess({"docs/README.md", "docs/how-to/operations.md", "docs/reference/protocol.md"}, set(inside))
        for page, path in zip(pages, inside):
            for name in re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text(encoding="utf-8")):
                target = os.path.normpath(Path(path).parent / name)
                if target.split("/")[0] in INSIDE:
                    self.assertTrue((folder / target).is_file(), f"{path} links to {name}")

    def test_the_config_is_what_the_agent_prints_with_nothing_set_but_the_group(self):
        config, group = self.tree / "etc/oob-agent/config.yaml", "socket-group: oob-approvers"
        blank = printed(self.tree / "usr/bin/oob-agent", "--print-config")
        self.assertEqual(config.read_text(), blank.replace(f"#{group}", group))
        self.assertEqual([line for line in config.read_text().splitlines() if line and not line.startswith("#")], [group])

    def test_nothing_of_the_machine_that_built_it_is_in_a_program(self):
        for name in PROGRAMS:
            bytes = (self.tree / "usr/bin" / name).read_bytes()
            for path in [str(CHECKOUT), str(SCRATCH), *TOOLCHAINS]:
                self.assertNotIn(os.fsencode(path), bytes, f"{name} has {path}")

    @unittest.skipUnless(shutil.which("lintian"), "there is no lintian here")
    def test_lintian_finds_nothing(self):
        run = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", DEB],
                             capture_output=True, text=True, timeout=280)
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)

    @unittest.skipUnless((SCRATCH / "release" / "oob-agent").exists(), "its build is not here")
    def test_the_same_build_gives_the_same_bytes(self):
        made = [temporary_folder(type(self)) for _ in range(2)]
        for folder in made:
            printed(CHECKOUT / "Scripts" / "deb", "--no-build", folder, env={**os.environ, "COMPRESSION": "none"})
        first, second = (next(folder.glob("*.deb")).read_bytes() for folder in made)
        self.assertEqual(first == second, True, "two packages of one build differ")


class BillOfMaterials(Unpacked):
    """What is linked in, as CycloneDX has it."""

    def setUp(self):
        self.text = (self.tree / "usr/share/doc/oob-agent/sbom.cdx.json").read_text(encoding="utf-8")
        self.components = json.loads(self.text)["components"]

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
        depends = printed("dpkg-deb", "--field", DEB, "Depends")
        libraries = set(re.findall(r"\b(lib[a-z0-9+.-]+|zlib1g)", depends))
        named = {each["name"] for each in self.components if each["bom-ref"].startswith("deb/")}
        self.assertEqual(named, libraries)

    def test_all_that_is_linked_in_has_its_licence_in_the_copyright_file(self):
        text = (self.tree / "usr/share/doc/oob-agent/copyright").read_text(encoding="utf-8")
        for each in self.components:
            if not each["bom-ref"].startswith("deb/"):
                self.assertRegex(text, rf"(?m)^Files: {re.escape(each['name'])}/\*$")

    def test_it_names_the_code_of_others_that_packages_bring_along(self):
        inside = {part["name"] for each in self.components for part in each.get("components", [])}
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
