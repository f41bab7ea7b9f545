"""An issuer by python-fido2 and PyJWT, with their defaults.

fido2's server makes the options and verifies what comes back, PyJWT signs the requests and writes the JWK. Members that
these libraries leave out are left out here. Of the JWK: `alg`, `use` and `key_ops`. Of the creation options:
`authenticatorSelection`, `attestation`, `excludeCredentials` and `timeout`. Of the request options: `allowCredentials`,
`userVerification` and `timeout`. The user's `displayName` is given, because WebAuthn requires it and fido2 does not.
"""

import contextlib
import hashlib
import json
import secrets
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import jwt
import rfc8785
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.server import Fido2Server
from fido2.webauthn import AuthenticationResponse, PublicKeyCredentialRpEntity, PublicKeyCredentialUserEntity
from jwt.algorithms import ECAlgorithm

LIFETIME = 600  # Seconds that the payer has.
REASONS = ["userDenied", "suspectedFraud", "invalidRequest", "duplicate", "policy"]
KEY, KID = ec.generate_private_key(ec.SECP256R1()), "2026-1"
WEBAUTHN = Fido2Server(PublicKeyCredentialRpEntity(name="Example Bank", id="localhost"))

codes = {"DEMO-" + secrets.token_hex(4)}
ceremonies = {}  # By ceremonyId.
authenticators = {}  # By accessToken.
requests = {}  # By jti, in the order of their making; a cursor is a number of them.
changed = threading.Condition()  # Guards all of these, and wakes long polls and the ACS.


class Problem(Exception):
    def __init__(self, status, code, title):
        self.status, self.body = status, {"status": status, "code": code, "title": title}


class Unverified(Exception):
    """The library, or a check that it leaves to its user, refuses a credential."""


def enrollment_options(body):
    if body["enrollmentCode"] not in codes:
        raise Problem(403, "invalid_enrollment_code", "the code is wrong or was used")
    codes.remove(body["enrollmentCode"])
    user = PublicKeyCredentialUserEntity(id=secrets.token_bytes(16), name="cardholder", display_name="A. Cardholder")
    options, state = WEBAUTHN.register_begin(user)
    ceremonies[ceremony_id := secrets.token_urlsafe(16)] = {"state": state, "user": user.id, "bytes": None}
    return {"ceremonyId": ceremony_id, **options}


def enroll(body, sent):
    ceremony = ceremonies.get(body["ceremonyId"])
    if ceremony is None or ceremony["bytes"] not in (None, sent):
        raise Problem(410, "ceremony_expired", "the ceremony is over or unknown")
    if ceremony["bytes"] is None:
        try:
            data = WEBAUTHN.register_complete(ceremony["state"], body["credential"])
        except (ValueError, TypeError) as error:
            raise Unverified(f"registration: {error}") from error
        token = secrets.token_urlsafe(32)
        authenticators[token] = {"id": secrets.token_urlsafe(12), "credential": data.credential_data,
                                 "user": ceremony["user"], "signCount": data.counter}
        ceremony.update(bytes=sent, answer={"authenticatorId": authenticators[token]["id"], "accessToken": token})
    return ceremony["answer"]


def ask(transaction):
    """Asks the payer who enrolled last, for the ACS, and answers when the payer has decided."""
    payer = list(authenticators.values())[-1]
    jti, nonce, now = secrets.token_urlsafe(16), secrets.token_bytes(32), int(time.time())
    challenge = hashlib.sha256(b"oob-authn-v1\x00" + nonce + rfc8785.dumps(transaction)).digest()
    options, state = WEBAUTHN.authenticate_begin(challenge=challenge)
    claims = {"iss": ORIGIN, "aud": payer["id"], "jti": jti, "iat": now, "exp": now + LIFETIME,
              "nonce": jwt.utils.base64url_encode(nonce).decode(), "transaction": transaction, **options}
    jws = jwt.encode(claims, KEY, algorithm="ES256", headers={"kid": KID, "typ": "oob-authn-request+jwt"})
    requests[jti] = request = {"for": payer["id"], "jws": jws, "state": state, "exp": claims["exp"],
                               "bytes": None, "transStatus": None}
    changed.notify_all()
    changed.wait_for(lambda: request["transStatus"], timeout=LIFETIME)
    return {"transStatus": request["transStatus"] or "N"}


def fetch(authenticator, query):
    seen, wait = int(query.get("after", ["0"])[0]), int(query.get("wait", ["0"])[0])
    if not 0 <= seen <= len(requests):
        raise Problem(410, "unknown_cursor", "start without a cursor")

    def news():
        return [(place, request["jws"]) for place, request in enumerate(list(requests.values())[seen:], seen + 1)
                if request["for"] == authenticator["id"] and request["bytes"] is None
                and time.time() < request["exp"]][:100]

    if "after" in query:
        changed.wait_for(news, timeout=min(wait, 60))
    found = news()
    return {"requests": [jws for _, jws in found], "cursor": str(found[-1][0] if found else seen)}


def decide(authenticator, jti, body, sent):
    request = requests.get(jti)
    if request is None or request["for"] != authenticator["id"]:
        raise Problem(404, "unknown_request", "there is no such request for this authenticator")
    if request["bytes"] not in (None, sent):
        raise Problem(409, "already_decided", "another decision was taken")
    if request["bytes"] is None:
        if time.time() >= request["exp"]:
            raise Problem(410, "expired", "the payer took too long")
        if body["decision"] == "approve":
            verify(authenticator, request, body["credential"])
        elif body["decision"] != "deny" or body["reason"] not in REASONS:
            raise ValueError("no such decision")
        request.update(bytes=sent, transStatus="Y" if body["decision"] == "approve" else "N")
        changed.notify_all()
    return {"transStatus": request["transStatus"]}


def verify(authenticator, request, credential):
    """The library verifies type, origin, challenge, rp.id, presence and signature; the rest is left to its user."""
    try:
        WEBAUTHN.authenticate_complete(request["state"], [authenticator["credential"]], credential)
        response = AuthenticationResponse.from_dict(credential).response
    except (ValueError, TypeError) as error:
        raise Unverified(f"assertion: {error}") from error
    if response.authenticator_data.counter <= authenticator["signCount"]:
        raise Unverified("signCount does not rise")
    if response.client_data.cross_origin or response.user_handle not in (None, authenticator["user"]):
        raise Unverified("made in a frame, or for another user")
    authenticator["signCount"] = response.authenticator_data.counter


def answer(method, url, token, sent):
    body = json.loads(sent or b"{}")
    match method, *url.path.split("/")[1:]:
        case "GET", ".well-known", "oob-authenticator":
            api = f"{ORIGIN}/v1"
            return 200, {"issuer": ORIGIN, "protocolVersions": [1], "jwksUri": f"{ORIGIN}/jwks.json",
                         "enrollmentOptionsEndpoint": f"{api}/enrollment-options",
                         "enrollmentsEndpoint": f"{api}/enrollments", "authnRequestsEndpoint": f"{api}/authn-requests",
                         "authenticatorEndpoint": f"{api}/authenticator"}
        case "GET", "jwks.json":
            return 200, {"keys": [{**ECAlgorithm.to_jwk(KEY.public_key(), as_dict=True), "kid": KID}]}
        case "POST", "v1", "enrollment-options":
            return 200, enrollment_options(body)
        case "POST", "v1", "enrollments":
            return 201, enroll(body, sent)
        case "POST", "acs", "challenges":
            return 200, ask(body)
    if token not in authenticators:
        raise Problem(401, "invalid_token", "nobody has this token")
    match method, *url.path.split("/")[1:]:
        case "GET", "v1", "authn-requests":
            return 200, fetch(authenticators[token], parse_qs(url.query))
        case "POST", "v1", "authn-requests", jti, "decision":
            return 200, decide(authenticators[token], jti, body, sent)
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
            sent = self.rfile.read(min(int(self.headers.get("Content-Length", "0")), 1_048_576))
            with changed:
                status, body = answer(self.command, urlsplit(self.path), token, sent)
        except Problem as problem:
            status, body = problem.status, problem.body
        except Unverified as error:
            code = "invalid_registration" if "enrollments" in self.path else "invalid_assertion"
            status, body = 422, {"status": 422, "code": code, "title": str(error)}
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            status, body = 400, {"status": 400, "code": "invalid_request", "title": repr(error)}
        with contextlib.suppress(ConnectionError):  # An agent that stops does not wait for the answer.
            self.send_response(status)
            self.send_header("Content-Type", "application/json" if status < 400 else "application/problem+json")
            self.end_headers()
            self.wfile.write(b"" if body is None else json.dumps(body).encode())

    do_POST = do_DELETE = do_GET


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
ORIGIN = f"http://localhost:{server.server_address[1]}"
print(f"oobctl enroll --issuer {ORIGIN} --code {next(iter(codes))}", flush=True)
server.serve_forever()
