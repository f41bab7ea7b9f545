"""What `oobctl evidence` writes, checked by the commands of its own README with openssl and coreutils alone; and that
these commands notice a change of any file.

Run with `.venv/bin/python Tests/Counterparts/test_evidence.py`; OOB_BIN_DIR names the programs' directory.
"""

import base64
import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import time
import unittest
from pathlib import Path

import rfc8785
from jwcrypto.jwk import JWK

import spc
from data_keys import of_file, of_piece
from issuer import Issuer
from programs import BIN_DIR, Agent, started, temporary_folder

COREUTILS = ["basenc", "base64", "cat", "cut", "head", "mktemp", "od", "printf", "rm", "sha256sum", "tail", "tr"]
# What an approval's evidence has; README.md besides.
WHOLE = {"request.jws", "issuer.pem", "issuer.jwk.json", "nonce.bin", "transaction.json", "text.txt", "decision.json",
         "clientDataJSON", "authenticatorData", "signature", "credential.pem", "journal.jsonl", "journal.txt",
         "journal.sig", "audit.pem"}
WAIT = ("--wait", "60")


def blocks(readme: str, *languages: str) -> str:
    return "\n".join(re.findall(rf"^```(?:{'|'.join(languages)})\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE))


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def changed_payload(message: bytes, members: dict) -> bytes:
    """A JWS whose payload has other members; those that are objects are changed member by member."""
    header, payload, signature = message.split(b".")
    claims = json.loads(base64.urlsafe_b64decode(payload + b"=" * (-len(payload) % 4)))
    for name, value in members.items():
        claims[name] = claims[name] | value if isinstance(value, dict) else value
    return b".".join([header, encoded(json.dumps(claims).encode()).encode(), signature])


class WithEvidence(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        cls.tools = cls.folder / "tools"
        cls.tools.mkdir()
        for name in ["openssl", "sh", *COREUTILS]:
            (cls.tools / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))
        cls.agent = started(cls, Agent(cls.folder))

    def enroll(self, issuer: Issuer, *options: str) -> str:
        return self.agent.json("enroll", "--issuer", issuer.origin, "--code", issuer.enrollment_code(),
                               *(options or ("--authn-type", "presence")))["authenticatorId"]

    def evidence(self, name: str) -> Path:
        """The directory that is written about a request."""
        target = self.folder / f"{self.id().rsplit('.', 1)[1]}-{name}"
        self.assertEqual(self.agent.json("evidence", name, "-o", str(target))["directory"], str(target))
        return target

    def check(self, folder: Path, *languages: str, path: str | None = None) -> subprocess.CompletedProcess:
        """Runs the README's blocks, with openssl and coreutils and nothing else unless a path is given."""
        script = blocks((folder / "README.md").read_text(encoding="utf-8"), *(languages or ["sh"]))
        return subprocess.run([self.tools / "sh", "-e"], input=script.encode(), cwd=folder, capture_output=True,
                              env={"PATH": path or str(self.tools), "TMPDIR": str(self.folder)}, timeout=60)

    def assert_holds(self, folder: Path, holds: int):
        run = self.check(folder)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        said = run.stdout.decode()
        found = len(re.findall(r"^holds: |^Verified OK$|^Signature Verified Successfully$", said, re.MULTILINE))
        self.assertEqual(found, holds, said)
        self.assertEqual(list(self.folder.glob("tmp.*")), [], "it cleans up after itself")

    def settled(self, name: str):
        """Returns when the issuer's answer is in the book."""
        deadline = time.monotonic() + 60
        while self.agent.json("show", name)["delivery"] == "queued":
            self.assertLess(time.monotonic(), deadline, "it was not delivered")
            time.sleep(0.05)  # Asks again; nothing depends on how long.

    def missing(self, folder: Path) -> str:
        """The part of the README about what is not there."""
        found = re.search(r"^## What is missing$(.*?)^## ", (folder / "README.md").read_text(), re.DOTALL | re.MULTILINE)
        return found[1] if found else ""

    def files(self, folder: Path) -> set[str]:
        return {file.name for file in folder.iterdir()} - {"README.md"}


class OfAnApproval(WithEvidence):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.issuer = cls.enterClassContext(Issuer())

    def setUp(self):
        self.authenticator = self.enroll(self.issuer)
        self.request = self.issuer.ask(self.authenticator, self.issuer.transaction())
        self.row = self.agent.json("approve", self.request.transaction["acsTransId"], *WAIT)
        self.directory = self.evidence(self.request.transaction["acsTransId"])

    def test_the_readmes_commands_hold_with_openssl_and_coreutils_alone(self):
        self.assertEqual(self.files(self.directory), WHOLE)
        self.assertEqual(self.missing(self.directory), "")
        self.assert_holds(self.directory, 14)
        self.assertEqual(stat.S_IMODE(self.directory.stat().st_mode), 0o700)
        for file in self.directory.iterdir():
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600, file)

    def test_each_file_is_what_it_says(self):
        read = {name: (self.directory / name).read_bytes() for name in WHOLE}
        self.assertEqual(read["request.jws"].decode(), self.request.jws)
        self.assertEqual(read["transaction.json"], rfc8785.dumps(self.request.transaction))
        self.assertEqual(read["decision.json"], self.request.decision_bytes)
        self.assertEqual(read["text.txt"].decode(), self.row["text"])
        key = JWK.from_pem(read["issuer.pem"])
        self.assertEqual(key.thumbprint(), self.issuer.key.thumbprint())
        self.assertEqual(json.loads(read["issuer.jwk.json"]), {
            name: value for name, value in self.issuer.key.export_public(as_dict=True).items()
            if name in {"crv", "kty", "x", "y"}})
        self.assertEqual(read["audit.pem"].decode().strip(), self.agent.ctl("audit key").stdout.strip())
        entries = [json.loads(line)["entry"] for line in read["journal.jsonl"].splitlines()]
        self.assertEqual(entries, ["presented", "decided", "answered"])
        exported = self.agent.ctl("audit export").stdout.splitlines()
        for line in read["journal.jsonl"].decode().splitlines():
            self.assertIn(line, exported)
        head = read["journal.txt"].decode().splitlines()[1].split()
        self.assertEqual(hashlib.sha256(exported[int(head[0]) - 1].encode()).hexdigest(), head[1])

    def test_one_byte_of_the_amount_makes_them_fail(self):
        for name in ["transaction.json", "text.txt"]:
            with self.subTest(name):
                file = self.directory / name
                good = file.read_bytes()
                changed = good.replace(b'"100"', b'"900"').replace(b"USD 1.00", b"USD 9.00")
                self.assertNotEqual(good, changed)
                file.write_bytes(changed)
                run = self.check(self.directory)
                self.assertNotEqual(run.returncode, 0, run.stdout)
                self.assertIn("DOES NOT HOLD", run.stdout.decode())
                file.write_bytes(good)
        self.assert_holds(self.directory, 14)

    def test_one_byte_of_any_other_file_makes_them_fail(self):
        for name in sorted(WHOLE):
            file = self.directory / name
            good = file.read_bytes()
            for place in {0, len(good) // 2, len(good) - 2}:
                changed = bytearray(good)
                changed[place] ^= 1
                file.write_bytes(changed)
                with self.subTest(name, place=place):
                    self.assertNotEqual(self.check(self.directory).returncode, 0, bytes(changed))
            file.unlink()
            with self.subTest(name, place="missing"):
                self.assertNotEqual(self.check(self.directory).returncode, 0)
            file.write_bytes(good)
        self.assert_holds(self.directory, 14)

    def test_each_part_of_the_assertion_is_looked_for_in_the_decision(self):
        file = self.directory / "decision.json"
        good = file.read_bytes()
        for part in ["clientDataJSON", "authenticatorData", "signature"]:
            with self.subTest(part):
                changed = good.replace(f'"{part}":"'.encode(), f'"{part}":"A'.encode())
                self.assertNotEqual(changed, good)
                file.write_bytes(changed)
                run = self.check(self.directory)
                self.assertNotEqual(run.returncode, 0, run.stdout)
                # The digest of what was sent tells of it too, but a decision that was not sent yet has none.
                self.assertIn(f"DOES NOT HOLD: decision.json holds {part}\n", run.stdout.decode())

    @unittest.skipUnless(shutil.which("fido2-assert"), "fido2-tools is not there")
    def test_libfido2_says_the_same(self):
        run = self.check(self.directory, "sh", "shell", path="/usr/bin:/bin")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        file = self.directory / "signature"
        changed = bytearray(file.read_bytes())
        changed[-1] ^= 1
        file.write_bytes(changed)
        readme = (self.directory / "README.md").read_text()
        alone = subprocess.run(["sh", "-e"], input=blocks(readme, "shell").encode(), cwd=self.directory,
                               capture_output=True)
        self.assertNotEqual(alone.returncode, 0)

    def test_nothing_in_it_is_secret(self):
        secrets = [(self.folder / "state" / "secret").read_bytes(),
                   *(each.token.encode() for each in self.issuer.authenticators.values())]
        for file in self.directory.iterdir():
            bytes = file.read_bytes()
            self.assertNotIn(b"PRIVATE", bytes, file.name)
            for secret in secrets:
                self.assertNotIn(secret, bytes, file.name)
                self.assertNotIn(secret.hex().encode(), bytes, file.name)

    def test_what_was_changed_in_the_database_does_not_hold(self):
        for piece, change in [
            ("text", lambda text: text.replace(b"USD 1.00", b"USD 9.00")),
            ("decision", lambda decision: decision.replace(b"public-key", b"Public-key")),
            ("message", lambda message: changed_payload(message, {"transaction": {"purchaseAmount": "900"}})),
            ("message", lambda message: changed_payload(message, {"nonce": encoded(b"n" * 32)})),
        ]:
            with self.subTest(piece), self.decided() as (request, database):
                (number, value, owner), = database.execute(
                    "SELECT piece, bytes, enrollment_id FROM evidence "
                    f"JOIN request ON piece = {piece}_piece WHERE id = ?", [request])
                # By who has the secret as well: for others it is not readable at all.
                key = of_file(database, (self.folder / "state" / "secret").read_bytes(), owner)
                place = of_piece(owner, request, piece)
                plain = key.opened(value, place)
                self.assertNotEqual(change(plain), plain)
                database.execute("UPDATE evidence SET bytes = ? WHERE piece = ?", [key.closed(change(plain), place), number])
                database.commit()
                self.assertNotEqual(self.check(self.evidence(request)).returncode, 0)
        with self.decided() as (request, database):
            database.execute("UPDATE request SET issuer_key = (SELECT credential_key FROM enrollment "
                             "WHERE credential_key NOT NULL LIMIT 1) WHERE id = ?", [request])
            database.commit()
            self.assertNotEqual(self.check(self.evidence(request)).returncode, 0)

    @contextlib.contextmanager
    def decided(self):
        """The id of a new request that was approved, and the agent's database."""
        request = self.issuer.ask(self.authenticator, self.issuer.transaction())
        row = self.agent.json("approve", request.transaction["acsTransId"], *WAIT)
        with contextlib.closing(sqlite3.connect(self.folder / "state" / "agent.db", timeout=30)) as database:
            yield row["id"], database

    def test_the_issuers_key_is_kept_when_the_issuer_has_another(self):
        old, self.issuer.key = self.issuer.key, JWK.generate(kty="EC", crv="P-256", kid="outside-2", alg="ES256", use="sig")
        self.addCleanup(setattr, self.issuer, "key", old)
        self.agent.stop()
        type(self).agent = started(type(self), Agent(self.folder))
        again = self.evidence(self.row["id"])
        self.assert_holds(again, 14)
        self.assertEqual((again / "issuer.pem").read_bytes(), (self.directory / "issuer.pem").read_bytes())


class OfOtherForms(WithEvidence):
    def test_es384_and_eddsa(self):
        for algorithm in [-35, -8]:
            with self.subTest(algorithm), Issuer(algorithms=(algorithm,)) as issuer:
                request = issuer.ask(self.enroll(issuer), issuer.transaction())
                self.agent.json("approve", request.transaction["acsTransId"], *WAIT)
                folder = self.evidence(request.transaction["acsTransId"])
                self.assert_holds(folder, 14)
                signature = folder / "signature"
                changed = bytearray(signature.read_bytes())
                changed[-1] ^= 1
                signature.write_bytes(changed)
                self.assertNotEqual(self.check(folder).returncode, 0)

    def test_a_payment_assertion(self):
        with Issuer() as issuer:
            payment = spc.Payment({"value": "1.00", "currency": "USD"})
            request = issuer.ask(self.enroll(issuer), issuer.transaction(), payment=payment)
            self.agent.json("approve", request.transaction["acsTransId"], *WAIT)
            folder = self.evidence(request.transaction["acsTransId"])
            self.assertEqual(json.loads((folder / "clientDataJSON").read_bytes())["type"], "payment.get")
            self.assert_holds(folder, 14)


    def test_an_approval_by_pin_says_that_the_user_was_verified(self):
        pin = self.folder / "pin"
        pin.touch(mode=0o600)
        pin.write_text("ch4rles\n")
        with Issuer() as issuer:
            request = issuer.ask(
                self.enroll(issuer, "--authn-type", "pin", "--pin-file", str(pin)), issuer.transaction())
            name = request.transaction["acsTransId"]
            self.agent.json("approve", name, "--pin-file", str(pin), *WAIT)
            folder = self.evidence(name)
        self.assert_holds(folder, 14)
        self.assertIn(b"user present: 1; user verified: 1; signCount: ", self.check(folder).stdout)
        for file in folder.iterdir():
            self.assertNotIn(b"ch4rles", file.read_bytes(), file.name)


class OfWhatWasNotApproved(WithEvidence):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.issuer = cls.enterClassContext(Issuer())

    def asked(self, **how):
        return self.issuer.ask(self.enroll(self.issuer), self.issuer.transaction(), **how)

    def test_a_denial_is_not_signed_and_all_else_holds(self):
        request = self.asked()
        self.agent.json("deny", request.transaction["acsTransId"], *WAIT)
        folder = self.evidence(request.transaction["acsTransId"])
        self.assertEqual(self.files(folder), WHOLE - {"clientDataJSON", "authenticatorData", "signature"})
        self.assertIn("a deny is not signed", self.missing(folder))
        self.assert_holds(folder, 8)
        decision = folder / "decision.json"
        decision.write_bytes(decision.read_bytes().replace(b"userDenied", b"userDenies"))
        self.assertNotEqual(self.check(folder).returncode, 0)

    def test_one_that_was_refused_has_the_message_and_the_refusal(self):
        request = self.asked(committed={"acsTransId": "another"})
        self.issuer.decided(request)
        name = request.transaction["acsTransId"]
        self.settled(name)
        folder = self.evidence(name)
        self.assertIn("refused the request (`commitment`)", self.missing(folder))
        self.assertNotIn("transaction.json", self.files(folder))
        self.assert_holds(folder, 6)

    def test_one_that_nobody_decided_has_what_was_shown(self):
        request = self.asked()
        name = request.transaction["acsTransId"]
        self.agent.ctl("approve", name, "--expect-amount", "USD 9.00", *WAIT)
        folder = self.evidence(name)
        self.assertIn("nobody has decided yet", self.missing(folder))
        self.assert_holds(folder, 7)
        text = folder / "text.txt"
        text.write_bytes(text.read_bytes().replace(b"USD 1.00", b"USD 9.00"))
        self.assertNotEqual(self.check(folder).returncode, 0)

    def test_after_an_erasure_the_journal_is_left(self):
        request = self.asked()
        row = self.agent.json("approve", request.transaction["acsTransId"], *WAIT)
        self.agent.json("unenroll", row["enrollmentId"], "--erase")
        folder = self.evidence(row["id"])
        self.assertEqual(self.files(folder), {"journal.jsonl", "journal.txt", "journal.sig", "audit.pem"})
        self.assertIn("was erased", self.missing(folder))
        self.assert_holds(folder, 2)


class OverTheSocket(WithEvidence):
    def test_the_call_gives_the_same_as_json(self):
        with Issuer() as issuer:
            request = issuer.ask(self.enroll(issuer), issuer.transaction())
            self.agent.json("approve", request.transaction["acsTransId"], *WAIT)
            answer = subprocess.run(
                ["curl", "-sS", "--unix-socket", self.agent.socket,
                 f"http://agent/v1/requests/{request.transaction['acsTransId']}/evidence"], capture_output=True)
            evidence = json.loads(answer.stdout)
        self.assertEqual(evidence["message"], request.jws)
        self.assertEqual(evidence["decision"].encode(), request.decision_bytes)
        self.assertEqual(evidence["request"]["state"], "approved")
        self.assertEqual(len(evidence["journal"]["entries"]), 3)


    def ctl(self, *arguments: str) -> subprocess.CompletedProcess:
        """`oobctl evidence`, run in the folder."""
        return subprocess.run([BIN_DIR / "oobctl", "evidence", "--socket", self.agent.socket, *arguments],
                              cwd=self.folder, capture_output=True, text=True, timeout=60)

    def test_without_a_name_it_is_called_after_the_request(self):
        with Issuer() as issuer:
            request = issuer.ask(self.enroll(issuer), issuer.transaction())
            row = self.agent.json("deny", request.transaction["acsTransId"], *WAIT)
        run = self.ctl(row["id"])
        self.assertEqual((run.returncode, run.stdout), (0, f"evidence-{row['id']}\n"), run.stderr)
        self.assert_holds(self.folder / f"evidence-{row['id']}", 8)

    @unittest.skipUnless(os.geteuid() == 0, "mounts need root")
    def test_on_a_full_disk_nothing_is_left_of_it(self):
        with Issuer() as issuer:
            request = issuer.ask(self.enroll(issuer), issuer.transaction())
            row = self.agent.json("approve", request.transaction["acsTransId"], *WAIT)
        disk = self.folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "oob-test", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        run = self.ctl(row["id"], "-o", str(disk / "evidence"))
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("No space left on device", run.stderr)
        self.assertEqual(list(disk.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
