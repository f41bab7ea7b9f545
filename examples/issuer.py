"""An issuer in two hundred lines: read it from top to bottom, then start your own from it.

It speaks version 1 of the issuer protocol (docs/reference/protocol.md) with published libraries only: webauthn verifies
what an authenticator signed, jwcrypto signs what it is asked, rfc8785 spells the transaction that both commit to. One
process, everything in memory, plain HTTP on loopback: README.md says what a bank's issuer has besides. The calls below
/bank and /acs are not the protocol's: they stand for the bank's other systems, and only tests use /bank/codes.
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
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import PublicKeyCredentialDescriptor, UserVerificationRequirement

RP_ID = "localhost"  # The issuer's host, or a parent domain of it.
LIFETIME = 600  # Seconds that the payer has.
REASONS = {"userDenied", "suspectedFraud", "invalidRequest", "duplicate", "policy"}
KEY = JWK.generate(kty="EC", crv="P-256", alg="ES256", use="sig", kid="2026-1")  # A bank's is in an HSM.
PATHS = {"jwksUri": "/jwks.json", "enrollmentOptionsEndpoint": "/v1/enrollment-options",
         "enrollmentsEndpoint": "/v1/enrollments", "authnRequestsEndpoint": "/v1/authn-requests",
         "authenticatorEndpoint": "/v1/authenticator"}

codes = {"DEMO-" + secrets.token_hex(4)}  # Enrollment codes that were handed out and not used yet.
ceremonies = {}  # By ceremonyId; an enrollment under way, and later its answer.
authenticators = {}  # By accessToken.
requests = {}  # By jti; authn requests in the order of their making.
changed = threading.Condition()  # Guards all of these, and wakes whoever waits for news of them.


class Problem(Exception):
    """An answer of RFC 9457. Only one with a code that the protocol lists ends what the agent tries."""

    def __init__(self, status, code, title):
        self.status, self.body = status, {"status": status, "code": code, "title": title}


def new_code():
    """What a branch or the banking app hands out; a bank binds it to a cardholder, and lets it expire."""
    codes.add(code := "DEMO-" + secrets.token_hex(4))
    return {"code": code}


def enrollment_options(body):
    """What the agent is to make: the library's own options, under a ceremony's id."""
    if not isinstance(body["enrollmentCode"], str):
        raise TypeError("enrollmentCode must be a string")
    if body["enrollmentCode"] not in codes:
        raise Problem(403, "invalid_enrollment_code", "the code is wrong or was used")
    codes.remove(body["enrollmentCode"])
    options = webauthn.generate_registration_options(rp_id=RP_ID, rp_name="Example Bank", user_name="cardholder")
    ceremony_id = secrets.token_urlsafe(16)
    ceremonies[ceremony_id] = {"challenge": options.challenge, "user": options.user.id, "bytes": None}
    return {"ceremonyId": ceremony_id, "publicKey": options_to_json_dict(options)}


def enroll(body, bytes):
    """Takes the new credential; the same bytes get the same answer again, for an answer can get lost."""
    ceremony = ceremonies.get(body["ceremonyId"])
    if ceremony is None or ceremony["bytes"] not in (None, bytes):
        raise Problem(410, "ceremony_expired", "the ceremony is over or unknown")
    if ceremony["bytes"] is None:
        made = webauthn.verify_registration_response(
            credential=body["credential"], expected_challenge=ceremony["challenge"], expected_rp_id=RP_ID,
            expected_origin=ORIGIN)
        refuse_frames(body["credential"])
        identifier, token = secrets.token_urlsafe(12), secrets.token_urlsafe(32)
        authenticators[token] = {"id": identifier, "credential": made.credential_id,
                                 "key": made.credential_public_key, "signCount": made.sign_count,
                                 "user": ceremony["user"]}
        ceremony.update(bytes=bytes, answer={"authenticatorId": identifier, "accessToken": token})
        print("enrolled", identifier, flush=True)
    return ceremony["answer"]


def refuse_frames(credential):
    """The libraries do not ask for it: what a page in a frame of another origin has made is nobody's approval."""
    if json.loads(base64url_to_bytes(credential["response"]["clientDataJSON"])).get("crossOrigin", False):
        raise WebAuthnException("crossOrigin is not false")


def ask(body):
    """What the ACS calls: asks the payer, and answers when the payer has. The challenge commits to every member.

    The body is {"transaction", "authenticatorId", "lifetime", "userVerification"}, all but the first optional; without
    an authenticatorId the authenticator that enrolled last is asked. Or it is the transaction alone.
    """
    transaction = body.get("transaction", body)
    payers = [one for one in authenticators.values() if one["id"] == body.get("authenticatorId", one["id"])]
    if not payers:
        raise Problem(404, None, "there is no such authenticator")
    payer, lifetime = payers[-1], int(body.get("lifetime", LIFETIME))
    verification = UserVerificationRequirement(body.get("userVerification", "preferred"))
    jti, nonce, now = secrets.token_urlsafe(16), secrets.token_bytes(32), int(time.time())
    challenge = hashlib.sha256(b"oob-authn-v1\x00" + nonce + rfc8785.dumps(transaction)).digest()
    options = webauthn.generate_authentication_options(
        rp_id=RP_ID, challenge=challenge, allow_credentials=[PublicKeyCredentialDescriptor(id=payer["credential"])],
        user_verification=verification)
    jws = signed("oob-authn-request+jwt", {
        "iss": ORIGIN, "aud": payer["id"], "jti": jti, "iat": now, "exp": now + lifetime,
        "nonce": bytes_to_base64url(nonce), "transaction": transaction, "publicKey": options_to_json_dict(options)})
    requests[jti] = request = {"aud": payer["id"], "challenge": challenge, "exp": now + lifetime, "bytes": None,
                               "jws": jws, "transStatus": None, "ended": False,
                               "verifies": verification == UserVerificationRequirement.REQUIRED}
    changed.notify_all()
    changed.wait_for(lambda: request["transStatus"], timeout=lifetime)
    return {"transStatus": request["transStatus"] or "N"}


def signed(typ, claims):
    """A compact JWS of a request or a cancellation."""
    jws = JWS(json.dumps(claims))
    jws.add_signature(KEY, alg="ES256", protected=json.dumps({"alg": "ES256", "kid": KEY.kid, "typ": typ}))
    return jws.serialize(compact=True)


def cancel(body):
    """What the ACS calls when the payer has left: the request is taken back, and a cancellation listed in its place."""
    request = requests.get(body["jti"])
    if request is None or request["bytes"] is not None:
        raise Problem(409, None, "there is no such undecided request")
    claims = {"iss": ORIGIN, "aud": request["aud"], "jti": secrets.token_urlsafe(16), "iat": int(time.time()),
              "exp": request["exp"], "cancels": body["jti"]}
    requests[claims["jti"]] = {"aud": request["aud"], "exp": request["exp"], "bytes": None, "ended": False,
                               "jws": signed("oob-authn-cancel+jwt", claims)}
    request.update(ended=True, transStatus="N")
    changed.notify_all()


def fetch(authenticator, wait="0", after=None):
    """Lists what waits for a decision; with a cursor only what came after it, and the answer waits for that."""
    if after is not None and (not after.isdecimal() or int(after) > len(requests)):
        raise Problem(410, "unknown_cursor", "start without a cursor")
    seen, wait = int(after or "0"), min(int(wait), 60)

    def news():
        return [(place, request["jws"]) for place, request in enumerate(requests.values(), 1)
                if place > seen and request["aud"] == authenticator["id"] and request["bytes"] is None
                and not request["ended"] and time.time() < request["exp"]][:100]

    changed.wait_for(news, timeout=wait if after else 0)
    found = news()
    return {"requests": [jws for _, jws in found], "cursor": str(found[-1][0] if found else seen)}


def decide(authenticator, jti, body, bytes):
    """Takes an approval or a denial, once; the same bytes are answered the same again."""
    request = requests.get(jti)
    if request is None or request["aud"] != authenticator["id"] or "challenge" not in request:
        raise Problem(404, "unknown_request", "there is no such request for this authenticator")
    if request["bytes"] not in (None, bytes):
        raise Problem(409, "already_decided", "another decision was taken")
    if request["bytes"] is None:
        if time.time() >= request["exp"]:
            raise Problem(410, "expired", "the payer took too long")
        if request["ended"]:
            raise Problem(410, "cancelled", "the request was taken back")
        if body["decision"] == "approve":
            approve(authenticator, request, body["credential"])
        elif body["decision"] != "deny" or body["reason"] not in REASONS:
            raise ValueError("decision must be approve, or deny with a reason of the protocol")
        request.update(bytes=bytes, transStatus="Y" if body["decision"] == "approve" else "N")
        changed.notify_all()
        print(body["decision"], body.get("reason", ""), flush=True)
    return {"transStatus": request["transStatus"]}


def approve(authenticator, request, credential):
    """Verifies an assertion; the library leaves the user handle, frames and a signCount of 0 to its caller."""
    made = webauthn.verify_authentication_response(
        credential=credential, expected_challenge=request["challenge"], expected_rp_id=RP_ID, expected_origin=ORIGIN,
        credential_public_key=authenticator["key"], credential_current_sign_count=authenticator["signCount"],
        require_user_verification=request["verifies"])
    refuse_frames(credential)
    if base64url_to_bytes(credential["response"]["userHandle"]) != authenticator["user"]:
        raise WebAuthnException("the userHandle is another user's")
    if made.credential_id != authenticator["credential"] or made.new_sign_count <= authenticator["signCount"]:
        raise WebAuthnException("another credential, or a signCount that is not greater than the last")
    authenticator["signCount"] = made.new_sign_count


def answer(method, url, token, bytes):
    """(status, JSON) of one call."""
    body, path = json.loads(bytes or b"{}"), url.path.split("/")[1:]
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
            return 204, cancel(body)
        case "POST", "acs", "outcomes":
            return 200, {"transStatus": requests[body["jti"]]["transStatus"] or "N"}
    if token not in authenticators:
        raise Problem(401, "invalid_token", "nobody has this token")
    match method, *path:
        case "GET", "v1", "authn-requests":
            return 200, fetch(authenticators[token], **dict(parse_qsl(url.query)))
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
        bytes = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        try:
            with changed:
                status, body = answer(self.command, urlsplit(self.path), token, bytes)
        except Problem as problem:
            status, body = problem.status, problem.body
        except WebAuthnException as error:
            code = "invalid_registration" if "enrollments" in self.path else "invalid_assertion"
            status, body = 422, {"status": 422, "code": code, "title": str(error)}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
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
