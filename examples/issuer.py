"""An issuer in little more than two hundred lines: read it from top to bottom, then start your own from it.

It speaks version 1 of the issuer protocol (docs/reference/protocol.md) with published libraries only: webauthn verifies
what an authenticator signed, jwcrypto signs what it is asked, rfc8785 spells the transaction that both commit to. One
process, everything in memory, plain HTTP on loopback: README.md says what a bank's issuer has besides.
"""

import contextlib
import hashlib
import json
import secrets
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import rfc8785
import webauthn
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, options_to_json_dict
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.exceptions import InvalidAuthenticationResponse, InvalidRegistrationResponse, WebAuthnException
from webauthn.helpers.structs import (
    AttestationConveyancePreference, PublicKeyCredentialDescriptor, UserVerificationRequirement)

RP_ID = "localhost"  # The issuer's host, or a parent domain of it.
LIFETIME = 600  # Seconds that the payer has.
CEREMONY = 1200  # Seconds for which an enrollment's answer is kept; the agent repeats for 600.
MAX_BODY = 1_048_576
ALGORITHMS = [COSEAlgorithmIdentifier.ECDSA_SHA_256, COSEAlgorithmIdentifier.EDDSA]
REASONS = ["userDenied", "suspectedFraud", "invalidRequest", "duplicate", "policy"]
KEY = JWK.generate(kty="EC", crv="P-256", alg="ES256", use="sig", kid="2026-1")  # A bank's is in an HSM.
PATHS = {"jwksUri": "/jwks.json", "enrollmentOptionsEndpoint": "/v1/enrollment-options",
         "enrollmentsEndpoint": "/v1/enrollments", "authnRequestsEndpoint": "/v1/authn-requests",
         "authenticatorEndpoint": "/v1/authenticator"}

codes = {"DEMO-" + secrets.token_hex(4)}  # Enrollment codes that were handed out and not used yet.
ceremonies = {}  # By ceremonyId; an enrollment under way, and later its answer.
authenticators = {}  # By accessToken.
requests = {}  # By jti; authn requests in the order of their making.
messages = []  # Requests and cancellations in the order in which they are listed; a cursor is a place in it.
changed = threading.Condition()  # Guards all of these, and wakes whoever waits for news of them.
offset = 0  # Seconds that a test has moved the clock ahead.


class Problem(Exception):
    """An answer of RFC 9457. Only one with a code that the protocol lists ends what the agent tries."""

    def __init__(self, status, code, title):
        self.status, self.body = status, {"status": status, "code": code, "title": title}


def now():
    return int(time.time()) + offset


def once(pairs):
    """A JSON object, if no name is in it twice."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name is there twice")
    return dict(pairs)


def levels(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(levels, inner), default=0)


def text(body, name, most=256, optional=False):
    """A member that is a text of 1 to `most` bytes. What raises ValueError is answered with 400 invalid_request."""
    value = body.get(name)
    if value is None and optional:
        return None
    if not isinstance(value, str) or not 1 <= len(value.encode()) <= most:
        raise ValueError(f"{name} must be a text of 1 to {most} bytes")
    return value


def credential(body):
    """What goes to the library, which checks all but the frame that it was made in."""
    if not isinstance(body.get("credential"), dict) or not isinstance(body["credential"].get("response"), dict):
        raise ValueError("credential must be an object")
    client_data = base64url_to_bytes(text(body["credential"]["response"], "clientDataJSON", MAX_BODY))
    return body["credential"], json.loads(client_data).get("crossOrigin", False) is not False


def enrollment_options(body):
    """What the agent is to make: the library's own options, under a ceremony's id."""
    code = text(body, "enrollmentCode")
    if code not in codes:
        raise Problem(403, "invalid_enrollment_code", "the code is wrong or was used")
    codes.remove(code)
    options = webauthn.generate_registration_options(
        rp_id=RP_ID, rp_name="Example Bank", user_name="cardholder", supported_pub_key_algs=ALGORITHMS,
        attestation=AttestationConveyancePreference.DIRECT)
    ceremony_id = secrets.token_urlsafe(16)
    ceremonies[ceremony_id] = {"challenge": options.challenge, "user": options.user.id, "bytes": None,
                               "end": now() + CEREMONY}
    return {"ceremonyId": ceremony_id, "publicKey": options_to_json_dict(options)}


def enroll(body, bytes):
    """Takes the new credential; the same bytes get the same answer again, for an answer can get lost."""
    ceremony = ceremonies.get(text(body, "ceremonyId"))
    if ceremony is None or ceremony["bytes"] not in (None, bytes) or now() >= ceremony["end"]:
        raise Problem(410, "ceremony_expired", "the ceremony is over or unknown")
    if ceremony["bytes"] is None:
        about = body.get("authenticator")
        if not isinstance(about, dict) or not (text(about, "name") and text(about, "version", 64)):
            raise ValueError("authenticator must say what enrolls")
        sent, framed = credential(body)
        made = webauthn.verify_registration_response(
            credential=sent, expected_challenge=ceremony["challenge"], expected_rp_id=RP_ID,
            expected_origin=ORIGIN, supported_pub_key_algs=ALGORITHMS)
        if framed or sent["id"] != bytes_to_base64url(made.credential_id):
            raise InvalidRegistrationResponse("made in a frame, or for another credential")
        identifier, token = secrets.token_urlsafe(12), secrets.token_urlsafe(32)
        authenticators[token] = {"id": identifier, "credential": made.credential_id, "user": ceremony["user"],
                                 "key": made.credential_public_key, "signCount": made.sign_count}
        ceremony.update(bytes=bytes, answer={"authenticatorId": identifier, "accessToken": token})
        print("enrolled", identifier, flush=True)
    return ceremony["answer"]


def send(request, type, claims):
    """Signs a message and lists it. The request says for whom it is, and until when."""
    start = {"iss": ORIGIN, "aud": request["aud"], "iat": now(), "exp": request["exp"]}
    jws = JWS(json.dumps({**start, **claims}))
    jws.add_signature(KEY, alg="ES256", protected=json.dumps({"alg": "ES256", "kid": KEY.kid, "typ": type}))
    messages.append((request, claims, jws.serialize(compact=True)))
    changed.notify_all()


def ask(order):
    """What the ACS calls: asks the payer, and answers when the payer has. The challenge commits to every member.

    The body is {"transaction", "authenticatorId", "lifetime", "userVerification"}, all but the first optional: without
    an authenticatorId the one that enrolled last is asked. Or it is the transaction alone.
    """
    if "transaction" not in order:
        order = {"transaction": order}
    transaction, wanted = order["transaction"], order.get("authenticatorId")
    payer = next(a for a in reversed(authenticators.values()) if wanted in (None, a["id"]))
    verification = UserVerificationRequirement(order.get("userVerification", "preferred"))
    jti, nonce = secrets.token_urlsafe(16), secrets.token_bytes(32)
    challenge = hashlib.sha256(b"oob-authn-v1\x00" + nonce + rfc8785.dumps(transaction)).digest()
    options = webauthn.generate_authentication_options(
        rp_id=RP_ID, challenge=challenge, allow_credentials=[PublicKeyCredentialDescriptor(id=payer["credential"])],
        user_verification=verification)
    lifetime = int(order.get("lifetime", LIFETIME))
    requests[jti] = request = {
        "aud": payer["id"], "challenge": challenge, "exp": now() + lifetime, "bytes": None, "transStatus": None,
        "verified": verification is UserVerificationRequirement.REQUIRED, "cancelled": False}
    send(request, "oob-authn-request+jwt", {
        "jti": jti, "nonce": bytes_to_base64url(nonce), "transaction": transaction,
        "publicKey": options_to_json_dict(options)})
    changed.wait_for(lambda: request["transStatus"] or request["cancelled"], timeout=lifetime)
    return {"transStatus": request["transStatus"] or "N"}


def cancel(body):
    """What the ACS calls when the payer has left. What was decided stays as it is."""
    request = requests[body["jti"]]
    if request["bytes"] is None and not request["cancelled"]:
        request["cancelled"] = True
        send(request, "oob-authn-cancel+jwt", {"jti": secrets.token_urlsafe(16), "cancels": body["jti"]})
    return {}


def is_listed(request, claims):
    """A request until it is decided, cancelled or expired; a cancellation until it expires."""
    is_open = "cancels" in claims or (request["bytes"] is None and not request["cancelled"])
    return is_open and now() < request["exp"]


def fetch(authenticator, wait="0", after=None, **_):
    """Lists what waits for a decision; with a cursor only what came after it, and the answer waits for that."""
    if not (wait.isascii() and wait.isdecimal() and int(wait) <= 60):
        raise ValueError("wait must be 0 to 60")
    if after is not None and not (after.isascii() and after.isdecimal() and int(after) <= len(messages)):
        raise Problem(410, "unknown_cursor", "start without a cursor")
    seen = int(after or "0")

    def news():
        return [(place, jws) for place, (request, claims, jws) in enumerate(messages[seen:], seen + 1)
                if request["aud"] == authenticator["id"] and is_listed(request, claims)][:100]

    if after is not None:
        changed.wait_for(news, timeout=int(wait))
    found = news()
    return {"requests": [jws for _, jws in found], "cursor": str(found[-1][0] if found else seen)}


def decide(authenticator, jti, body, bytes):
    """Takes an approval or a denial, once; the same bytes are answered the same again."""
    request = requests.get(jti)
    if request is None or request["aud"] != authenticator["id"]:
        raise Problem(404, "unknown_request", "there is no such request for this authenticator")
    if request["bytes"] not in (None, bytes):
        raise Problem(409, "already_decided", "another decision was taken")
    if request["bytes"] is None:
        if request["cancelled"]:
            raise Problem(410, "cancelled", "the payer has left")
        if now() >= request["exp"]:
            raise Problem(410, "expired", "the payer took too long")
        approves = {"approve": True, "deny": False}[body["decision"]]
        if approves:
            sent, framed = credential(body)
            made = webauthn.verify_authentication_response(
                credential=sent, expected_challenge=request["challenge"], expected_rp_id=RP_ID,
                expected_origin=ORIGIN, credential_public_key=authenticator["key"],
                credential_current_sign_count=authenticator["signCount"], require_user_verification=request["verified"])
            handle = sent["response"].get("userHandle")
            if framed or made.credential_id != authenticator["credential"]:
                raise InvalidAuthenticationResponse("made in a frame, or by another credential")
            if handle is not None and base64url_to_bytes(handle) != authenticator["user"]:
                raise InvalidAuthenticationResponse("userHandle is another user's")
            authenticator["signCount"] = made.new_sign_count
        elif text(body, "reason") not in REASONS:
            raise ValueError("there is no such reason")
        request.update(bytes=bytes, transStatus="Y" if approves else "N")
        changed.notify_all()
        print(body["decision"], body.get("reason", ""), flush=True)
    return {"transStatus": request["transStatus"]}


def new_code():
    codes.add(code := "DEMO-" + secrets.token_hex(4))
    return {"code": code}


def move(seconds):
    global offset
    offset += seconds
    changed.notify_all()
    return {"now": now()}


def answer(method, url, token, bytes):
    """(status, JSON) of one call. Those under /bank and /acs stand for the bank's other systems."""
    body, path = json.loads(bytes.decode() or "{}", object_pairs_hook=once), url.path.split("/")[1:]
    if not isinstance(body, dict) or levels(body) > 16:
        raise ValueError("a body is an object of at most 16 levels")
    match method, *path:
        case "GET", ".well-known", "oob-authenticator":
            return 200, {"issuer": ORIGIN, "protocolVersions": [1], **{k: ORIGIN + p for k, p in PATHS.items()}}
        case "GET", "jwks.json":
            return 200, {"keys": [KEY.export_public(as_dict=True)]}
        case "POST", "v1", "enrollment-options":
            return 200, enrollment_options(body)
        case "POST", "v1", "enrollments":
            return 201, enroll(body, bytes)
        case "POST", "bank", "codes":
            return 200, new_code()
        case "POST", "acs", "challenges":
            return 200, ask(body)
        case "POST", "acs", "cancellations":
            return 200, cancel(body)
        case "POST", "acs", "outcomes":
            return 200, {"transStatus": requests[body["jti"]]["transStatus"] or "N"}
        case "POST", "bank", "clock":
            return 200, move(body["seconds"])
    if token not in authenticators:
        raise Problem(401, "invalid_token", "nobody has this token")
    match method, *path:
        case "GET", "v1", "authn-requests":
            return 200, fetch(authenticators[token], **dict(parse_qsl(url.query, keep_blank_values=True)))
        case "POST", "v1", "authn-requests", jti, "decision":
            return 200, decide(authenticators[token], jti, body, bytes)
        case "GET", "v1", "authenticator":
            return 200, {"authenticatorId": authenticators[token]["id"],
                         "signCount": authenticators[token]["signCount"]}
        case "DELETE", "v1", "authenticator":
            del authenticators[token]
            return 204, None
    raise Problem(404, None, "there is nothing here")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        try:
            length = int(self.headers.get("Content-Length", "0"))
            if not 0 <= length <= MAX_BODY:
                raise ValueError("the body is too large")
            bytes = self.rfile.read(length)
            with changed:
                status, body = answer(self.command, urlsplit(self.path), token, bytes)
        except Problem as problem:
            status, body = problem.status, problem.body
        except WebAuthnException as error:
            code = "invalid_registration" if "enrollments" in self.path else "invalid_assertion"
            status, body = 422, {"status": 422, "code": code, "title": str(error)}
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError, StopIteration) as error:
            status, body = 400, {"status": 400, "code": "invalid_request", "title": repr(error)}
        with contextlib.suppress(ConnectionError):  # An agent that stops does not wait for the answer.
            self.send_response(status)
            self.send_header("Content-Type", "application/json" if status < 400 else "application/problem+json")
            self.end_headers()
            self.wfile.write(b"" if body is None else json.dumps(body).encode())

    do_POST = do_DELETE = do_GET


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8090), Handler)
ORIGIN = f"http://localhost:{server.server_address[1]}"  # Without a slash at its end.
print(f"oobctl enroll --issuer {ORIGIN} --code {next(iter(codes))}", flush=True)
server.serve_forever()
