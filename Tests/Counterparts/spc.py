"""Assertions in the form of Secure Payment Confirmation, verified by parties that no one here wrote.

python-fido2's parser reads the client data; the signature is verified by python-fido2's key, by Debian's fido2-assert
and by `openssl dgst`, each on its own. No server library takes this form, so what a relying party checks (W3C Secure
Payment Confirmation, "Verifying an Authentication Assertion") stands here.
"""

import hashlib
import json
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from fido2.payment import CollectedClientPaymentData
from fido2.webauthn import AuthenticatorData
from webauthn.helpers import decode_credential_public_key, decoded_public_key_to_cryptography

import libfido2
from verify import Credential, Disagreement, RelyingParty, agree, decode


@dataclass(frozen=True)
class Payment:
    """What is asked for besides the transaction, and the total that a relying party expects to be confirmed."""

    total: dict
    display_name: str = "Visa 4242"
    icon: str = "https://issuer.example/icon.png"
    payee_origin: str | None = "https://merchant.example"

    @property
    def extension(self) -> dict:
        origin = {} if self.payee_origin is None else {"payeeOrigin": self.payee_origin}
        return {"isPayment": True, **origin, "instrument": {"displayName": self.display_name, "icon": self.icon}}

    def expected(self, payee_name: str, relying_party: RelyingParty) -> dict:
        """The member `payment` of the client data, in the order in which Chromium writes it."""
        origin = {} if self.payee_origin is None else {"payeeOrigin": self.payee_origin}
        return {
            "rpId": relying_party.rp_id, "topOrigin": relying_party.origin, "payeeName": payee_name, **origin,
            "paymentEntitiesLogos": [],
            "total": {"value": self.total["value"], "currency": self.total["currency"]},
            "instrument": {"icon": self.icon, "displayName": self.display_name},
        }


def assertion(
    response: dict, *, credential: Credential, challenge: bytes, relying_party: RelyingParty, payment: dict,
    require_uv: bool = False
) -> Credential:
    """Verifies an AuthenticationResponseJSON of type payment.get; the result has the new signCount."""
    inner = response["response"]
    agree("credential id", decode(response["rawId"]), credential.data.credential_id)
    check_client_data(decode(inner["clientDataJSON"]), challenge, relying_party, payment)
    data = AuthenticatorData(decode(inner["authenticatorData"]))
    agree("RP ID", data.rp_id_hash, hashlib.sha256(relying_party.rp_id.encode()).digest())
    agree("user presence", data.is_user_present(), True)
    if require_uv:
        agree("user verification", data.is_user_verified(), True)
    if data.counter <= credential.sign_count:
        raise Disagreement(f"sign count: {data.counter} is not above {credential.sign_count}")
    check_signature(inner, credential, relying_party.rp_id)
    return replace(credential, sign_count=data.counter, user_verified=data.is_user_verified())


def check_client_data(bytes: bytes, challenge: bytes, relying_party: RelyingParty, payment: dict):
    """Each member is what was asked for; members that a client adds are no matter."""
    read = CollectedClientPaymentData(bytes)
    agree("type", read.type, "payment.get")
    agree("challenge", read.challenge, challenge)
    agree("origin", read.origin, relying_party.origin)
    agree("crossOrigin", read.cross_origin, False)
    agree("payment.rpId", read.payment.rp_id, payment["rpId"])
    agree("payment.topOrigin", read.payment.top_origin, payment["topOrigin"])
    agree("payment.payeeName", read.payment.payee_name, payment["payeeName"])
    agree("payment.payeeOrigin", read.payment.payee_origin, payment.get("payeeOrigin"))
    agree("payment.total", dict(read.payment.total), payment["total"])
    instrument = read.payment.instrument
    agree("payment.instrument", {"icon": instrument.icon, "displayName": instrument.display_name},
          payment["instrument"])
    # The library does not know this member.
    agree("payment.paymentEntitiesLogos", json.loads(bytes)["payment"]["paymentEntitiesLogos"], [])


def check_signature(inner: dict, credential: Credential, rp_id: str):
    signed = decode(inner["authenticatorData"]) + hashlib.sha256(decode(inner["clientDataJSON"])).digest()
    signature = decode(inner["signature"])
    credential.data.public_key.verify(signed, signature)
    libfido2.verify_assertion({"response": inner}, credential.cose_key, rp_id)
    check_by_openssl(credential.cose_key, signed, signature)


def check_by_openssl(cose_key: bytes, signed: bytes, signature: bytes):
    """As a person with nothing but OpenSSL's command line would; for keys that sign a SHA-256."""
    key = decoded_public_key_to_cryptography(decode_credential_public_key(cose_key))
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    with TemporaryDirectory() as folder:
        for name, content in {"key.pem": pem, "signed": signed, "signature": signature}.items():
            (Path(folder) / name).write_bytes(content)
        done = subprocess.run(
            ["openssl", "dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "signed"], cwd=folder,
            capture_output=True, text=True)
    if (done.returncode, done.stdout) != (0, "Verified OK\n"):
        raise Disagreement(f"openssl, signature: {done.stdout} {done.stderr}")
