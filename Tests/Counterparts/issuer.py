"""A small complete issuer that no one of this project's code wrote a line of.

It speaks the issuer protocol over HTTP on loopback, from Python's standard library and published packages only:
jwcrypto signs its authn requests, rfc8785 computes what their challenges commit to, and py_webauthn and python-fido2
verify (see verify.py) what comes back. A test holds it in its own process and asks it what it saw.
"""

import hashlib
import json
import secrets
import threading
import time
import uuid
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import rfc8785
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS

import spc
import verify
from web import Problem, Server

LIST_LIMIT = 100
EXAMPLE_TRANSACTION = {
    "merchantName": "CoffeeHouse2 (Dæmø)",
    "purchaseAmount": "100",
    "purchaseCurrency": "840",
    "purchaseExponent": "2",
    "purchaseDate": "20231017055638",
    "threeDSRequestorAppURL": "https://merchant.example/return?transID=2f37539c",
}


def commitment(nonce: bytes, transaction: dict) -> bytes:
    """The challenge that commits to a transaction: SHA-256 over a label, the nonce and the RFC 8785 form."""
    return hashlib.sha256(b"oob-authn-v1\x00" + nonce + rfc8785.dumps(transaction)).digest()


@dataclass
class Ceremony:
    """An enrollment under way, and afterwards the answer that a repetition gets again."""

    challenge: bytes
    body: bytes | None = None
    answer: dict | None = None


@dataclass
class Enrolled:
    """An authenticator as the issuer knows it."""

    id: str
    token: str
    credential: verify.Credential
    description: dict


@dataclass
class Request:
    """An authn request that was issued, and what came of it."""

    jti: str
    authenticator_id: str
    challenge: bytes
    require_uv: bool
    expires: int
    jws: str
    transaction: dict
    payment: spc.Payment | None = None
    decision: dict | None = None
    decision_bytes: bytes | None = None
    trans_status: str | None = None
    refusals: list[str] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return self.decision is None and time.time() < self.expires


class Issuer(Server):
    """The issuer: `with Issuer() as issuer`. All its state is behind one lock."""

    def __init__(self, attestation: str = "none", user_verification: str = "preferred",
                 algorithms: tuple[int, ...] = (-7,), origin: str | None = None):
        """`origin` is what the issuer is called, where something stands in front of it."""
        self.attestation = attestation
        self.algorithms = algorithms  # COSE numbers, the most wanted first.
        self.user_verification = user_verification
        self.changed = threading.Condition()
        self.key = JWK.generate(kty="EC", crv="P-256", kid="outside-1", alg="ES256", use="sig")
        self.codes: set[str] = set()
        self.ceremonies: dict[str, Ceremony] = {}
        self.authenticators: dict[str, Enrolled] = {}
        self.requests: dict[str, Request] = {}
        self.listed: list[Request] = []  # in the order of coming: a position in it is the cursor
        super().__init__()
        self.origin = origin or self.origin
        self.relying_party = verify.RelyingParty(self.origin, urlsplit(self.origin).hostname)

    # What a test says and asks.

    def enrollment_code(self) -> str:
        code = "-".join("".join(secrets.choice("ABCDEFGHJKMNPQRSTUVWXYZ23456789") for _ in range(4)) for _ in range(2))
        with self.changed:
            self.codes.add(code)
        return code

    def transaction(self, **members) -> dict:
        """The example's transaction under a new acsTransId; a member that is None is left out."""
        transaction = {"acsTransId": str(uuid.uuid4()), **EXAMPLE_TRANSACTION, **members}
        return {name: value for name, value in transaction.items() if value is not None}

    def ask(self, authenticator_id: str, transaction: dict, *, expires_in: int = 600, key: JWK | None = None,
            nonce: bytes | None = None, committed: dict | None = None, user_verification: str = "preferred",
            payment: spc.Payment | None = None, extensions: dict | None = None, later: int = 0,
            jti: str | None = None) -> Request:
        """Issues an authn request; with `payment` the assertion is to be a payment.get. `key` signs it instead of the
        issuer's own; `committed` is what the challenge commits to instead of the transaction: with either it is not in
        order. `extensions` are sent instead of what `payment` needs. `later` are seconds: only a later one of two
        messages supersedes the other."""
        now = int(time.time()) + later
        nonce = nonce or secrets.token_bytes(32)
        challenge = commitment(nonce, committed or transaction)
        jti = jti or secrets.token_urlsafe(16)
        claims = {
            "iss": self.origin, "aud": authenticator_id, "jti": jti, "iat": now, "exp": now + expires_in,
            "nonce": verify.encode(nonce), "transaction": transaction,
            "publicKey": {
                "challenge": verify.encode(challenge), "rpId": self.relying_party.rp_id, "timeout": expires_in * 1000,
                "userVerification": user_verification,
                "allowCredentials": [
                    {"type": "public-key",
                     "id": verify.encode(self.authenticators[authenticator_id].credential.data.credential_id)}
                ],
            },
        }
        if payment is not None:
            extensions = extensions or {"payment": payment.extension}
        if extensions is not None:
            claims["publicKey"]["extensions"] = extensions
        request = Request(jti, authenticator_id, challenge, user_verification == "required", now + expires_in,
                          self.signed(claims, key or self.key), transaction, payment)
        with self.changed:
            self.requests[jti] = request
            self.listed.append(request)
            self.changed.notify_all()
        return request

    def decided(self, request: Request, seconds: float = 60) -> Request:
        """Waits until a request is decided, or what came for it was refused; then gives it back."""
        with self.changed:
            if not self.changed.wait_for(lambda: request.decision or request.refusals, seconds):
                raise TimeoutError(f"no decision about {request.jti} within {seconds} s")
            return request

    def cancel(self, request: Request):
        """Takes a request back."""
        now, jti = int(time.time()), secrets.token_urlsafe(16)
        claims = {"iss": self.origin, "aud": request.authenticator_id, "jti": jti, "iat": now, "exp": now + 600,
                  "cancels": request.jti}
        with self.changed:
            self.listed.append(Request(jti, request.authenticator_id, b"", False, now + 600,
                                       self.signed(claims, self.key, "oob-authn-cancel+jwt"), {}))
            self.changed.notify_all()

    def signed(self, claims: dict, key: JWK, kind: str = "oob-authn-request+jwt") -> str:
        jws = JWS(json.dumps(claims, ensure_ascii=False).encode())
        header = {"alg": "ES256", "kid": self.key.kid, "typ": kind}
        jws.add_signature(key, alg="ES256", protected=json.dumps(header))
        return jws.serialize(compact=True)

    # What the agent says and asks.

    def route(self, method: str, target: str, bearer: str | None, body: bytes):
        url = urlsplit(target)
        if (method, url.path) == ("GET", "/.well-known/oob-authenticator"):
            return 200, self.discovery()
        if (method, url.path) == ("GET", "/jwks.json"):
            return 200, {"keys": [self.key.export_public(as_dict=True)]}
        if (method, url.path) == ("POST", "/v1/enrollment-options"):
            return 200, self.enrollment_options(self.json(body))
        if (method, url.path) == ("POST", "/v1/enrollments"):
            return 201, self.enroll(body)
        authenticator = self.authenticated(bearer)
        if (method, url.path) == ("GET", "/v1/authn-requests"):
            return 200, self.listing(authenticator, parse_qs(url.query))
        if (method, url.path) == ("GET", "/v1/authenticator"):
            return 200, {"authenticatorId": authenticator.id, "signCount": authenticator.credential.sign_count}
        if (method, url.path) == ("DELETE", "/v1/authenticator"):
            with self.changed:
                del self.authenticators[authenticator.id]
            return 204, None
        parts = url.path.split("/")
        if method == "POST" and len(parts) == 5 and (parts[2], parts[4]) == ("authn-requests", "decision"):
            return 200, {"transStatus": self.decide(authenticator, parts[3], body)}
        raise Problem(404, None, "there is nothing here")

    def discovery(self) -> dict:
        return {
            "issuer": self.origin, "protocolVersions": [1], "jwksUri": f"{self.origin}/jwks.json",
            "enrollmentOptionsEndpoint": f"{self.origin}/v1/enrollment-options",
            "enrollmentsEndpoint": f"{self.origin}/v1/enrollments",
            "authnRequestsEndpoint": f"{self.origin}/v1/authn-requests",
            "authenticatorEndpoint": f"{self.origin}/v1/authenticator",
        }

    def enrollment_options(self, body: dict) -> dict:
        ceremony_id, challenge = secrets.token_urlsafe(16), secrets.token_bytes(32)
        with self.changed:
            if body.get("enrollmentCode") not in self.codes:
                raise Problem(403, "invalid_enrollment_code", "this code is wrong or was used")
            self.codes.remove(body["enrollmentCode"])
            self.ceremonies[ceremony_id] = Ceremony(challenge)
        user = {"id": verify.encode(secrets.token_bytes(16)), "name": "cardholder", "displayName": "A. Cardholder"}
        return {
            "ceremonyId": ceremony_id,
            "publicKey": {
                "rp": {"id": self.relying_party.rp_id, "name": "Outside issuer"}, "user": user,
                "challenge": verify.encode(challenge),
                "pubKeyCredParams": [{"type": "public-key", "alg": number} for number in self.algorithms],
                "excludeCredentials": [],
                "authenticatorSelection": {"userVerification": self.user_verification},
                "attestation": self.attestation, "timeout": 60_000,
            },
        }

    def enroll(self, bytes: bytes) -> dict:
        body = self.json(bytes)
        with self.changed:
            ceremony = self.ceremonies.get(body["ceremonyId"])
            if ceremony is None:
                raise Problem(410, "ceremony_expired", "no such ceremony")
            if ceremony.body == bytes and ceremony.answer:
                return ceremony.answer
            if ceremony.body is not None:
                raise Problem(410, "ceremony_expired", "this ceremony was completed with another body")
            try:
                credential = verify.registration(
                    body["credential"], challenge=ceremony.challenge, relying_party=self.relying_party,
                    attestation_format="none" if self.attestation == "none" else "packed",
                    require_uv=self.user_verification == "required", algorithms=self.algorithms)
            except Exception as error:
                raise Problem(422, "invalid_registration", repr(error)) from error
            enrolled = Enrolled(secrets.token_urlsafe(12), secrets.token_urlsafe(32), credential, body["authenticator"])
            self.authenticators[enrolled.id] = enrolled
            ceremony.body, ceremony.answer = bytes, {"authenticatorId": enrolled.id, "accessToken": enrolled.token}
            return ceremony.answer

    def authenticated(self, bearer: str | None) -> Enrolled:
        with self.changed:
            for authenticator in self.authenticators.values():
                if bearer is not None and secrets.compare_digest(authenticator.token, bearer):
                    return authenticator
        raise Problem(401, "invalid_token", "this token is nobody's")

    def listing(self, authenticator: Enrolled, query: dict) -> dict:
        wait = int(query.get("wait", ["0"])[0])
        after = query.get("after", ["0"])[0]
        if not 0 <= wait <= 60:
            raise Problem(400, "invalid_request", "wait is 0 to 60")
        with self.changed:
            if not after.isdigit() or int(after) > len(self.listed):
                raise Problem(410, "unknown_cursor", "start without a cursor")

            def news() -> list[tuple[int, str]]:
                return [(position, request.jws) for position, request in enumerate(self.listed, 1)
                        if position > int(after) and request.authenticator_id == authenticator.id and request.is_open]

            if "after" in query:
                self.changed.wait_for(lambda: news() or self.closing, wait)
            found = news()[:LIST_LIMIT]
            cursor = found[-1][0] if len(found) == LIST_LIMIT else len(self.listed)
            return {"requests": [jws for _, jws in found], "cursor": str(cursor)}

    def decide(self, authenticator: Enrolled, jti: str, bytes: bytes) -> str:
        body = self.json(bytes)
        with self.changed:
            request = self.requests.get(jti)
            if request is None or request.authenticator_id != authenticator.id:
                raise Problem(404, "unknown_request", "no such request for this authenticator")
            if request.decision_bytes == bytes and request.trans_status:
                return request.trans_status
            if request.decision is not None:
                raise Problem(409, "already_decided", "this request was decided otherwise")
            if time.time() >= request.expires:
                raise Problem(410, "expired", "this request has expired")
            request.trans_status = self.outcome(authenticator, request, body)
            request.decision, request.decision_bytes = body, bytes
            self.changed.notify_all()
            return request.trans_status

    def outcome(self, authenticator: Enrolled, request: Request, body: dict) -> str:
        if body["decision"] == "deny":
            if body["reason"] not in {"userDenied", "suspectedFraud", "invalidRequest", "duplicate", "policy"}:
                raise Problem(400, "invalid_request", "no such reason")
            return "N"
        if body["decision"] != "approve":
            raise Problem(400, "invalid_request", "decision is approve or deny")
        known = {"credential": authenticator.credential, "challenge": request.challenge,
                 "relying_party": self.relying_party, "require_uv": request.require_uv}
        try:
            if request.payment is None:
                authenticator.credential = verify.assertion(body["credential"], **known)
            else:
                payment = request.payment.expected(request.transaction["merchantName"], self.relying_party)
                authenticator.credential = spc.assertion(body["credential"], **known, payment=payment)
        except Exception as error:
            request.refusals.append(repr(error))
            self.changed.notify_all()
            raise Problem(422, "invalid_assertion", repr(error)) from error
        return "Y"

    def close(self):
        self.closing = True
        with self.changed:
            self.changed.notify_all()
        super().close()

    @staticmethod
    def json(bytes: bytes) -> dict:
        try:
            value = json.loads(bytes)
        except ValueError as error:
            raise Problem(400, "invalid_request", f"no JSON: {error}") from error
        if not isinstance(value, dict):
            raise Problem(400, "invalid_request", "the body is no JSON object")
        return value
