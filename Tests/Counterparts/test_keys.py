"""docs/how-to/keys.md: its commands, as they stand, with the programs as they were built, SoftHSM and swtpm.

Run with `.venv/bin/python Tests/Counterparts/test_keys.py`; OOB_BIN_DIR names the programs' directory.
"""

import os
import re
import subprocess
import sys
import unittest

from cryptography.hazmat.primitives import serialization

from citations import page
from issuer import Issuer
from programs import BIN_DIR, Agent, temporary_folder

PAGE = page("keys.md").read_text(encoding="utf-8")
SEALED = page("sealed-values.md").read_text(encoding="utf-8")


def commands(heading: str) -> list[str]:
    """The shell blocks of a section, in their order."""
    (section,) = re.findall(rf"^## {heading}$(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return re.findall(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)


class TheCommands(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(type(self))
        self.issuer = self.enterContext(Issuer())
        self.environment = {**os.environ, "PATH": f"{BIN_DIR}:{os.environ['PATH']}", "TSS2_LOG": "all+none"}

    def agent(self, *arguments: str, **variables: str) -> Agent:
        agent = Agent(self.folder, *arguments, **variables)
        self.addCleanup(agent.stop)
        self.environment["OOB_AGENT_SOCKET"] = str(agent.socket)
        return agent

    def type(self, block: str):
        """Runs a block as a reader does."""
        given = {"ISSUER": self.issuer.origin, "CODE": self.issuer.enrollment_code()}
        run = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block], cwd=self.folder, env={**self.environment, **given},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, f"{block}\n{run.stdout}{run.stderr}")

    def tpm(self):
        """A software TPM; the reader has one already."""
        socket = self.folder / "tpm.sock"
        (self.folder / "tpm").mkdir()
        subprocess.run(
            ["swtpm", "socket", "--tpm2", "--daemon", "--tpmstate", f"dir={self.folder}/tpm", "--server",
             f"type=unixio,path={socket}", "--ctrl", f"type=unixio,path={socket}.ctrl", "--flags",
             "not-need-init,startup-clear"], check=True)
        self.addCleanup(subprocess.run, ["swtpm_ioctl", "-s", "--unix", f"{socket}.ctrl"], check=True)
        tcti = f"swtpm:path={socket}"
        self.environment |= {"TPM2OPENSSL_TCTI": tcti, "TPM2TOOLS_TCTI": tcti}
        return self.agent("--tpm-tcti", tcti, TSS2_LOG="all+none")

    def approve(self, agent: Agent) -> dict:
        """A purchase at the one enrollment, approved; the issuer verifies the assertion."""
        (enrolled,) = self.issuer.authenticators.values()
        request = self.issuer.ask(enrolled.id, self.issuer.transaction())
        approved = agent.json("approve", request.transaction["acsTransId"], "--wait", "60")
        self.assertEqual((approved["state"], approved["transStatus"]), ("approved", "Y"))
        (enrollment,) = agent.json("enrollments")
        return enrollment

    def test_a_token(self):
        prepare, enroll = commands("Use a PKCS #11 token")
        module = re.search(r"^oob-agent (--pkcs11-module) (\S+)$", PAGE, re.MULTILINE)
        self.type(prepare)
        agent = self.agent(*module.groups(), SOFTHSM2_CONF=str(self.folder / "softhsm2.conf"))
        self.type(enroll)
        key = self.approve(agent)["key"]
        self.assertEqual((key["kind"], key["exportable"]), ("pkcs11", False))

    def test_a_key_in_the_tpm(self):
        agent = self.tpm()
        self.type(commands("Use a key in the TPM")[0])
        key = self.approve(agent)["key"]
        self.assertEqual((key["kind"], key["exportable"]), ("tpm", False))

    def test_a_key_in_a_file_of_the_tpm(self):
        agent = self.tpm()
        self.type(commands("Use a key in the TPM")[1])
        key = self.approve(agent)["key"]
        self.assertEqual((key["kind"], key["exportable"]), ("tpm", False))

    def test_a_key_in_a_file(self):
        agent = self.agent()
        (block,) = commands("Use a key in a file")
        self.type(block)
        key = self.approve(agent)["key"]
        self.assertEqual((key["kind"], key["exportable"]), ("file", True))

    def test_an_exported_key_opens_as_the_page_says(self):
        """The program of docs/reference/sealed-values.md, and openssl: both show the key that is enrolled."""
        agent = self.agent()
        self.type("oobctl enroll --issuer $ISSUER --code $CODE --authn-type presence")
        self.approve(agent)
        (program,) = re.findall(r"^```\n(import base64, sys\n.*?)^```$", SEALED, re.DOTALL | re.MULTILINE)
        (card,) = agent.json("enrollments")
        exported = agent.ctl("key export", card["id"])
        self.assertEqual(exported.returncode, 0, exported.stderr)
        opened = subprocess.run(
            [sys.executable, "-c", program, self.folder / "state" / "secret", f"credential key {card['id']}"],
            input=exported.stdout.encode(), capture_output=True, check=True).stdout
        public = subprocess.run(
            ["openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER"], input=opened, capture_output=True,
            check=True).stdout
        (enrolled,) = self.issuer.authenticators.values()
        numbers = serialization.load_der_public_key(public).public_numbers()
        x, y = (enrolled.credential.data.public_key[label] for label in (-2, -3))
        self.assertEqual((numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")), (x, y))

    def test_there_is_no_other_command_on_the_page(self):
        self.assertEqual(PAGE.count("```sh\n"), 5)


if __name__ == "__main__":
    unittest.main()
