"""Two WebAuthn server libraries, py_webauthn and python-fido2, verify the same thing and must agree.

Neither is told how the agent makes what it makes: they get the credential's JSON and what a relying party knows.
Debian's libfido2 (see libfido2.py) verifies the signatures as well; it is the second party for ES384, which py_webauthn
does not have.
Each function raises an exception of a library, or `Disagreement`, where something does not hold.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import webauthn
from cryptography.hazmat.primitives.serialization import load_der_public_key
from fido2.attestation import AttestationType, NoneAttestation, PackedAttestation
from fido2.cose import ES256, ES384, EdDSA
from fido2.server import Fido2Server
from fido2.webauthn import (
    AttestationConveyancePreference,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    PublicKeyCredentialRpEntity,
)
from webauthn.authentication.verify_authentication_response import VerifiedAuthentication
from webauthn.helpers.cose import COSEAlgorithmIdentifier

import libfido2

ALGORITHMS = [kind.ALGORITHM for kind in (ES256, ES384, EdDSA)]


class Disagreement(Exception):
    """The libraries differ, or the JSON says twice and differently what it should say twice alike."""


@dataclass(frozen=True)
class RelyingParty:
    """What a relying party knows of itself: its origin and its rp.id."""

    origin: str
    rp_id: str

    def fido2_server(self, verify_attestation=None) -> Fido2Server:
        return Fido2Server(
            PublicKeyCredentialRpEntity(name="An issuer", id=self.rp_id),
            # Without this, and with `none`, the library does not look at the attestation at all.
            attestation=AttestationConveyancePreference.DIRECT,
            verify_origin=lambda origin: origin == self.origin,
            verify_attestation=verify_attestation,
        )


@dataclass(frozen=True)
class Credential:
    """A registered credential, as each library wants to be given it again."""

    data: AttestedCredentialData
    sign_count: int
    user_verified: bool
    attestation_format: str

    @property
    def algorithm(self) -> int:
        return self.data.public_key.ALGORITHM

    @property
    def cose_key(self) -> bytes:
        """The COSE key, byte for byte as it stood in the authenticator data."""
        return bytes(self.data)[18 + len(self.data.credential_id):]


def registration(
    response: dict, *, challenge: bytes, relying_party: RelyingParty, attestation_format: str, require_uv: bool = False,
    algorithms: Sequence[int] = ALGORITHMS
) -> Credential:
    """Verifies a RegistrationResponseJSON with both libraries (WebAuthn Level 3, section 7.1)."""
    known = (challenge, relying_party, attestation_format, require_uv)
    credential = registration_by_python_fido2(response, *known)
    if credential.algorithm not in algorithms:
        raise Disagreement(f"algorithm: {credential.algorithm} is not one of {algorithms}")
    if py_webauthn_has(credential.algorithm):
        agree("registration", registration_by_py_webauthn(response, *known, algorithms), facts(credential))
    if attestation_format == "packed":
        libfido2.verify_self_attestation(response, credential.algorithm, relying_party.rp_id)
    check_client_data(response, "webauthn.create", challenge, relying_party)
    return credential


def registration_by_py_webauthn(
    response: dict, challenge: bytes, relying_party: RelyingParty, attestation_format: str, require_uv: bool,
    algorithms: Sequence[int]
) -> tuple:
    result = webauthn.verify_registration_response(
        credential=response,
        expected_challenge=challenge,
        expected_rp_id=relying_party.rp_id,
        expected_origin=relying_party.origin,
        require_user_verification=require_uv,
        supported_pub_key_algs=[COSEAlgorithmIdentifier(one) for one in algorithms if py_webauthn_has(one)],
    )
    return (
        result.fmt, result.credential_id, result.aaguid.replace("-", ""), result.credential_public_key,
        result.sign_count, result.user_verified)


def facts(credential: Credential) -> tuple:
    """What both libraries say of a registration."""
    return (
        credential.attestation_format, credential.data.credential_id, bytes(credential.data.aaguid).hex(),
        credential.cose_key, credential.sign_count, credential.user_verified)


def registration_by_python_fido2(
    response: dict, challenge: bytes, relying_party: RelyingParty, attestation_format: str, require_uv: bool
) -> Credential:
    def verify_attestation(attestation: AttestationObject, client_data_hash: bytes):
        verifier, expected = {
            "none": (NoneAttestation(), AttestationType.NONE),
            "packed": (PackedAttestation(), AttestationType.SELF),
        }[attestation_format]
        agree("attestation format", attestation.fmt, attestation_format)
        result = verifier.verify(attestation.att_stmt, attestation.auth_data, client_data_hash)
        agree("attestation type", result.attestation_type, expected)

    server = relying_party.fido2_server(verify_attestation)
    data = server.register_complete(fido2_state(challenge, require_uv), response)
    credential = Credential(data.credential_data, data.counter, data.is_user_verified(), attestation_format)
    check_convenience_members(response, data, credential)
    return credential


def py_webauthn_has(algorithm: int) -> bool:
    return algorithm in list(COSEAlgorithmIdentifier)


def assertion(
    response: dict, *, credential: Credential, challenge: bytes, relying_party: RelyingParty, require_uv: bool = False
) -> Credential:
    """Verifies an AuthenticationResponseJSON with both libraries (section 7.2); the result has the new signCount."""
    known = (credential, challenge, relying_party, require_uv)
    agree("credential id", assertion_by_python_fido2(response, *known), decode(response["rawId"]))
    assertion_by_libfido2(response, *known)
    data = AuthenticatorData(decode(response["response"]["authenticatorData"]))
    after = replace(credential, sign_count=data.counter, user_verified=data.is_user_verified())
    if py_webauthn_has(credential.algorithm):
        result = assertion_by_py_webauthn(response, *known)
        agree("assertion", (result.credential_id, result.new_sign_count, result.user_verified),
              (after.data.credential_id, after.sign_count, after.user_verified))
    if after.sign_count <= credential.sign_count:
        raise Disagreement(f"sign count: {after.sign_count} is not above {credential.sign_count}")
    check_client_data(response, "webauthn.get", challenge, relying_party)
    return after


def assertion_by_py_webauthn(
    response: dict, credential: Credential, challenge: bytes, relying_party: RelyingParty, require_uv: bool
) -> VerifiedAuthentication:
    return webauthn.verify_authentication_response(
        credential=response,
        expected_challenge=challenge,
        expected_rp_id=relying_party.rp_id,
        expected_origin=relying_party.origin,
        credential_public_key=credential.cose_key,
        credential_current_sign_count=credential.sign_count,
        require_user_verification=require_uv,
    )


def assertion_by_python_fido2(
    response: dict, credential: Credential, challenge: bytes, relying_party: RelyingParty, require_uv: bool
) -> bytes:
    """The id of the credential whose key verified the signature; the library leaves the signCount to its caller."""
    server = relying_party.fido2_server()
    state = fido2_state(challenge, require_uv)
    return server.authenticate_complete(state, [credential.data], response).credential_id


def assertion_by_libfido2(
    response: dict, credential: Credential, challenge: bytes, relying_party: RelyingParty, require_uv: bool
):
    """The RP ID, user presence and the signature; the challenge is for others to look at."""
    libfido2.verify_assertion(response, credential.cose_key, relying_party.rp_id)


def parties(algorithm: int) -> list:
    """Everyone who can verify an assertion of this algorithm."""
    libraries = [assertion_by_python_fido2, assertion_by_libfido2]
    return [*libraries, assertion_by_py_webauthn] if py_webauthn_has(algorithm) else libraries


def check_convenience_members(response: dict, authenticator_data, credential: Credential):
    """The members that repeat what the attestation object holds repeat it rightly (section 5.2.1.1)."""
    inner = response["response"]
    agree("authenticatorData", decode(inner["authenticatorData"]), bytes(authenticator_data))
    agree("publicKeyAlgorithm", inner["publicKeyAlgorithm"], credential.algorithm)
    key = credential.data.public_key
    agree("publicKey", type(key).from_cryptography_key(load_der_public_key(decode(inner["publicKey"]))), key)


def check_client_data(response: dict, type: str, challenge: bytes, relying_party: RelyingParty):
    """clientDataJSON is, byte for byte, what section 5.8.1.1 makes of four members and no more."""
    expected = (
        f'{{"type":"{type}","challenge":"{encode(challenge)}","origin":"{relying_party.origin}","crossOrigin":false}}'
    )
    agree("clientDataJSON", decode(response["response"]["clientDataJSON"]), expected.encode())


def fido2_state(challenge: bytes, require_uv: bool) -> dict:
    return {"challenge": encode(challenge), "user_verification": "required" if require_uv else "preferred"}


def agree(what: str, one, other):
    if one != other:
        raise Disagreement(f"{what}: {one!r} is not {other!r}")


def encode(bytes: bytes) -> str:
    """Base64url without padding (RFC 4648, section 5)."""
    return base64.urlsafe_b64encode(bytes).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """The bytes of base64url without padding; any other spelling of them is refused."""
    bytes = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    agree("base64url", encode(bytes), text)
    return bytes


def challenge_of(response: dict) -> bytes:
    """The challenge that a client says it answered; where nothing better is known."""
    return decode(json.loads(decode(response["response"]["clientDataJSON"]))["challenge"])
