"""The Debian package: what is in it, and what it does to a machine, in a systemd booted for the test (see systemd_box).

Run with `.venv/bin/python Tests/Outside/test_package.py`. OOB_DEB names the package; without it, it is the newest that
`make deb` has made in .build, and without one all of this is skipped.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from programs import temporary_folder
from systemd_box import AGENT, CHECKOUT, CONFIG, PROGRAMS, SECRET_FILE, Box, Installed, can_skip

SCRATCH = Path(os.environ.get("DEB_SCRATCH") or CHECKOUT / ".build" / "deb")
STATE = "/var/lib/oob-agent"
# Where toolchains are that a machine may have: the box has nothing there.
TOOLCHAINS = [path for path in ["/opt/swift", "/usr/libexec/swift"] if os.path.isdir(path)]


def package() -> Path | None:
    if named := os.environ.get("OOB_DEB"):
        return Path(named).absolute()
    made = sorted((CHECKOUT / ".build").glob("oob-agent_*.deb"), key=lambda path: path.stat().st_mtime)
    return made[-1] if made else None


DEB = package()


def setUpModule():
    if DEB is None:
        raise unittest.SkipTest("there is no package here: make deb makes one")


def printed(*command, **how) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=280, **how).stdout


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
            "usr/lib/systemd/user/oob-agent.service", "usr/lib/tmpfiles.d/oob-agent.conf",
            "etc/oob-agent/config.yaml", "usr/share/doc/oob-agent/copyright", "usr/share/doc/oob-agent/sbom.cdx.json",
        ]:
            self.assertTrue((self.tree / path).is_file(), path)
        self.assertEqual((self.tree / "DEBIAN/conffiles").read_text(), "/etc/oob-agent/config.yaml\n")

    def test_the_config_is_what_the_agent_prints_with_nothing_set(self):
        config = self.tree / "etc/oob-agent/config.yaml"
        self.assertEqual(config.read_text(), printed(self.tree / "usr/bin/oob-agent", "--print-config"))
        self.assertEqual([line for line in config.read_text().splitlines() if line and not line.startswith("#")], [])
        printed(self.tree / "usr/bin/oob-agent", "--config", config, "--check-config")

    def test_nothing_of_the_machine_that_built_it_is_in_a_program(self):
        for name in PROGRAMS:
            octets = (self.tree / "usr/bin" / name).read_bytes()
            for path in [str(CHECKOUT), str(SCRATCH), *TOOLCHAINS]:
                self.assertNotIn(os.fsencode(path), octets, f"{name} has {path}")

    @unittest.skipUnless(shutil.which("lintian"), "there is no lintian here")
    def test_lintian_finds_nothing(self):
        # Man pages are in the package where the checkout can make them.
        without = [] if (CHECKOUT / "Scripts" / "man").exists() else ["--suppress-tags", "no-manual-page"]
        run = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", *without, DEB],
                             capture_output=True, text=True, timeout=280)
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)

    @unittest.skipUnless((SCRATCH / "release" / "oob-agent").exists(), "its build is not here")
    def test_the_same_build_gives_the_same_octets(self):
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
        self.assertEqual(inside, {"boringssl", "libyaml", "llhttp", "zlib"})


@can_skip()
class Installation(Installed):
    """The package on a machine without a Swift toolchain."""

    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="oob-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, folder)
        nothing = temporary_folder(cls)
        cls.box = Box(folder, f"{DEB}:/opt/oob-agent.deb", *(f"{nothing}:{path}" for path in TOOLCHAINS))
        cls.addClassCleanup(cls.box.down)
        # Where it forbids that packages start services, as in a container.
        cls.box.run("rm", "-f", "/usr/sbin/policy-rc.d")

    def clean(self):
        """Without the package, and without all that it leaves."""
        self.dpkg("--purge", "oob-agent")
        self.box.run("sh", "-c", f"rm -rf {STATE}* /etc/credstore /etc/oob-agent")

    def setUp(self):
        super().setUp()
        self.dpkg("--install", "/opt/oob-agent.deb")

    def dpkg(self, *arguments: str):
        return self.box.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "--force-confold", *arguments)

    def start(self, unit: str = AGENT):
        super().start("oob-issuer.service")
        self.box.eventually(lambda: self.box.run("oob-issuer", "code", check=False).returncode == 0, "the issuer")
        super().start(unit)

    def enrolled(self) -> list[str]:
        return [row["id"] for row in self.json("enrollments")]

    def digest(self, path: str) -> str:
        return self.box.run("sha256sum", path).stdout

    def newer(self) -> str:
        """The package with a higher version and another config, as the next release may have it."""
        self.box.run("sh", "-ec", """
            rm -rf /opt/newer && dpkg-deb --raw-extract /opt/oob-agent.deb /opt/newer
            sed -i 's/^Version: .*/&.1/' /opt/newer/DEBIAN/control
            echo '# A new setting' >> /opt/newer/etc/oob-agent/config.yaml
            dpkg-deb --build --root-owner-group -Znone /opt/newer /opt/newer.deb""")
        return "/opt/newer.deb"

    def test_the_programs_run_without_a_toolchain(self):
        for name in PROGRAMS:
            self.box.run("env", "-i", "PATH=/usr/bin:/bin", name, "--help")
            self.assertNotRegex(self.box.run("ldd", f"/usr/bin/{name}").stdout, "swift|not found")

    def test_nothing_runs_until_it_is_enabled_and_then_it_signs(self):
        for unit in [AGENT, "oob-issuer.service"]:
            shown = [self.box.show(unit, name) for name in ["ActiveState", "UnitFileState"]]
            self.assertEqual(shown, ["inactive", "disabled"])
        self.box.systemctl("enable", "--now", AGENT)
        self.start()
        self.enroll()
        self.approve(self.purchase())

    def test_the_secret_is_made_once_and_is_roots_alone(self):
        self.assertEqual(self.box.run("stat", "--format=%a %U %G %s", SECRET_FILE).stdout, "600 root root 32\n")
        before = self.digest(SECRET_FILE)
        self.dpkg("--install", "/opt/oob-agent.deb")
        self.assertEqual(self.digest(SECRET_FILE), before)
        self.box.run("rm", SECRET_FILE)
        self.dpkg("--install", "/opt/oob-agent.deb")
        self.box.run("test", "!", "-e", SECRET_FILE)

    def test_no_secret_is_made_beside_an_encrypted_one(self):
        self.dpkg("--purge", "oob-agent")
        self.box.run("sh", "-ec", f"rm {SECRET_FILE}; mkdir -p /etc/credstore.encrypted; cd /etc/credstore.encrypted; "
                                  "echo sealed > oob-agent.secret")
        self.addCleanup(self.box.run, "rm", "-r", "/etc/credstore.encrypted")
        self.dpkg("--install", "/opt/oob-agent.deb")
        self.box.run("test", "!", "-e", SECRET_FILE)

    def test_an_upgrade_restarts_the_agent_and_keeps_state_and_an_edited_config(self):
        self.box.write(CONFIG, "log-level: notice\n")
        self.start()
        card, before = self.enroll()["id"], self.box.show(AGENT, "MainPID")
        self.dpkg("--install", self.newer())
        self.assertNotIn(self.box.show(AGENT, "MainPID"), [before, "0"])
        self.assertEqual(self.box.run("cat", CONFIG).stdout, "log-level: notice\n")
        self.assertEqual(self.enrolled(), [card])
        self.approve(self.purchase())

    def test_an_upgrade_starts_nothing_that_did_not_run(self):
        self.dpkg("--install", self.newer())
        self.assertEqual(self.box.show(AGENT, "ActiveState"), "inactive")

    def test_a_removal_stops_the_agent_and_keeps_what_another_installation_goes_on_with(self):
        self.start()
        card = self.enroll()["id"]
        self.box.write(CONFIG, "log-level: notice\n")
        self.dpkg("--remove", "oob-agent")
        self.assertEqual(self.box.show(AGENT, "ActiveState"), "inactive")
        self.box.run("test", "!", "-e", "/usr/bin/oob-agent")
        self.dpkg("--install", "/opt/oob-agent.deb")
        self.assertEqual(self.box.run("cat", CONFIG).stdout, "log-level: notice\n")
        self.start()
        self.assertEqual(self.enrolled(), [card])
        self.approve(self.purchase())

    def test_a_purge_keeps_the_keys_where_nobody_answers_and_says_where_they_are(self):
        self.start()
        card, secret = self.enroll()["id"], self.digest(SECRET_FILE)
        said = self.dpkg("--purge", "oob-agent").stderr
        self.assertIn(f"kept, for they are what signs; delete them yourself, or keep them:\n{STATE}\n{SECRET_FILE}\n", said)
        self.box.run("test", "!", "-e", CONFIG)
        self.dpkg("--install", "/opt/oob-agent.deb")
        self.assertEqual(self.digest(SECRET_FILE), secret)
        self.start()
        self.assertEqual(self.enrolled(), [card])

    def test_a_purge_deletes_the_keys_once_that_was_answered_and_names_them(self):
        self.start()
        self.box.run("mkdir", f"{STATE}-a")
        self.box.run("debconf-set-selections", stdin="oob-agent oob-agent/purge-keys boolean true\n")
        said = self.dpkg("--purge", "oob-agent").stderr
        self.assertIn(f"deleting, as was asked for:\n{STATE}\n{STATE}-a\n{SECRET_FILE}\n", said)
        for path in [STATE, f"{STATE}-a", SECRET_FILE, CONFIG]:
            self.box.run("test", "!", "-e", path)

    def test_the_question_of_a_purge_is_asked_and_a_yes_deletes(self):
        self.start()
        run = self.box.run("env", "DEBIAN_FRONTEND=teletype", "dpkg", "--purge", "oob-agent", stdin="yes\n")
        self.assertIn("Delete the agent's keys, state and secret?", run.stdout + run.stderr)
        self.box.run("test", "!", "-e", STATE)


if __name__ == "__main__":
    unittest.main()
