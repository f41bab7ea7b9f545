"""An authenticator made of python-fido2's types and cryptography's keys.

It is what the issuers, the outside one and the sandbox, are tried with: it can be right and, in one member, wrong.
"""

import hashlib
import json
import secrets
import urllib.error
import urllib.request
import uuid

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from fido2.cose import ES256, ES384, CoseKey, EdDSA
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData, CollectedClientData

from verify import decode, encode

FLAG = AuthenticatorData.FLAG
# The agent's model, the only one that the sandbox takes: it is on record at issuers, so it never changes.
MODEL = uuid.UUID("a005348c-3f2a-494f-8499-381bd75baa35").bytes


def call(method: str, url: str, body=None, token: str | None = None) -> tuple[int, dict | None]:
    """(status, JSON) of one HTTP call; `body` is JSON or bytes."""
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=90) as answer:
            content, status = answer.read(), answer.status
    except urllib.error.HTTPError as error:
        content, status = error.read(), error.code
    return status, json.loads(content) if content else None


def generate_key(algorithm: int):
    return {
        ES256.ALGORITHM: lambda: ec.generate_private_key(ec.SECP256R1()),
        ES384.ALGORITHM: lambda: ec.generate_private_key(ec.SECP384R1()),
        EdDSA.ALGORITHM: ed25519.Ed25519PrivateKey.generate,
    }[algorithm]()


def signature(key, bytes: bytes) -> bytes:
    """As the key's own algorithm makes it (WebAuthn Level 3, section 6.5.5)."""
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key.sign(bytes)
    return key.sign(bytes, ec.ECDSA({256: hashes.SHA256(), 384: hashes.SHA384()}[key.key_size]))


class SoftwareAuthenticator:
    """One credential. Every member that goes wrong in a test can be given to `attest` and `sign`."""

    def __init__(self, origin: str, rp_id: str = "localhost", algorithm: int = ES256.ALGORITHM):
        self.origin = origin
        self.rp_id_hash = hashlib.sha256(rp_id.encode()).digest()
        self.algorithm = algorithm
        self.key = generate_key(algorithm)
        self.credential_id = secrets.token_bytes(32)
        self.sign_count = 0

    def attest(self, challenge: bytes, *, packed: bool, aaguid: bytes = bytes(16), flags=FLAG.UP, key=None,
               stated_algorithm: int | None = None) -> dict:
        """RegistrationResponseJSON; `key` signs a packed attestation instead of the credential's own, and
        `stated_algorithm` is what it says of that."""
        client_data = CollectedClientData.create("webauthn.create", challenge, self.origin)
        cose = CoseKey.for_alg(self.algorithm).from_cryptography_key(self.key.public_key())
        data = AuthenticatorData.create(
            self.rp_id_hash, flags | FLAG.AT, self.sign_count,
            AttestedCredentialData.create(aaguid, self.credential_id, cose))
        statement = {}
        if packed:
            statement = {
                "alg": stated_algorithm or self.algorithm, "sig": signature(key or self.key, data + client_data.hash)}
        attestation = AttestationObject.create("packed" if packed else "none", data, statement)
        spki = self.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return self.credential({
            "clientDataJSON": encode(client_data), "authenticatorData": encode(data), "transports": ["internal"],
            "publicKey": encode(spki), "publicKeyAlgorithm": self.algorithm, "attestationObject": encode(attestation)})

    def sign(self, challenge: bytes, *, flags=FLAG.UP, step: int = 1, origin: str | None = None,
             rp_id_hash: bytes | None = None, key=None, client_data: CollectedClientData | None = None) -> dict:
        """AuthenticationResponseJSON with the next signCount; `client_data` stands instead of a plain one."""
        self.sign_count += step
        client_data = client_data or CollectedClientData.create("webauthn.get", challenge, origin or self.origin)
        data = AuthenticatorData.create(rp_id_hash or self.rp_id_hash, flags, self.sign_count)
        return self.credential({
            "clientDataJSON": encode(client_data), "authenticatorData": encode(data),
            "signature": encode(signature(key or self.key, data + client_data.hash))})

    def credential(self, response: dict) -> dict:
        identifier = encode(self.credential_id)
        return {"id": identifier, "rawId": identifier, "type": "public-key", "response": response,
                "authenticatorAttachment": "platform", "clientExtensionResults": {}}


class Enrolled:
    """A software authenticator that is enrolled at an issuer, and its calls there."""

    def __init__(self, origin: str, code: str, *, packed: bool = False, aaguid: bytes = bytes(16),
                 algorithm: int = ES256.ALGORITHM):
        self.origin = origin
        self.authenticator = SoftwareAuthenticator(origin, algorithm=algorithm)
        options = enrollment_options(origin, code)
        challenge = decode(options["publicKey"]["challenge"])
        body = enrollment_body(
            options["ceremonyId"], self.authenticator.attest(challenge, packed=packed, aaguid=aaguid))
        status, answer = call("POST", f"{origin}/v1/enrollments", body)
        assert status == 201, answer
        assert call("POST", f"{origin}/v1/enrollments", body) == (201, answer), "the same body, another answer"
        self.id, self.token = answer["authenticatorId"], answer["accessToken"]

    def fetch(self, query: str = "") -> tuple[int, dict]:
        return call("GET", f"{self.origin}/v1/authn-requests{query}", token=self.token)

    def decide(self, jti: str, decision: dict) -> tuple[int, dict]:
        return call("POST", f"{self.origin}/v1/authn-requests/{jti}/decision", decision, self.token)

    def approve(self, jti: str, challenge: bytes, **wrong) -> tuple[int, dict]:
        credential = self.authenticator.sign(challenge, **wrong)
        return self.decide(jti, {"decision": "approve", "credential": credential})


def enrollment_options(origin: str, code: str) -> dict:
    status, answer = call("POST", f"{origin}/v1/enrollment-options", {"enrollmentCode": code})
    assert status == 200, answer
    return answer


def enrollment_body(ceremony_id: str, credential: dict) -> bytes:
    about = {"name": "software", "platform": "linux", "version": "1", "authnType": "presence"}
    return json.dumps({"ceremonyId": ceremony_id, "credential": credential, "authenticator": about}).encode()
