"""An approver that knows nothing of the agent but the protocol page: what `oob-conform approver` tries beside oob-agent.

Run with `.venv/bin/python conformance/tested/approver.py [PORT]`. It says the port that it listens on, at 127.0.0.1, and
takes POST /enroll, /approve, /deny and /pending with a JSON object. It has a user who verifies themselves each time
(authnType `pin`), holds everything in memory, and refuses an exponent that is not ISO 4217's. Sections are the page's.
"""

import base64
import hashlib
import json
import os
import re
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

ROOT = Path(os.environ.get("OOB_ROOT", Path(__file__).resolve().parents[2]))  # A copy of this file names the checkout.
sys.path.insert(0, str(ROOT / "Tests/Counterparts"))

from software_authenticator import FLAG, MODEL, SoftwareAuthenticator, signature  # noqa: E402
from verify import encode  # noqa: E402

ENDS = {"invalid_token", "unknown_request", "already_decided", "expired", "cancelled", "invalid_assertion"}
PURCHASE = {"purchaseAmount": r"[0-9]{1,48}", "purchaseCurrency": r"[0-9]{3}", "purchaseExponent": r"[0-9]",
            "purchaseDate": r"[0-9]{14}"}
KNOWN = {*PURCHASE, "acsTransId", "merchantName", "threeDSRequestorAppURL"}
URL = r'(?!(?i:https?|wss?|ftp):(?!//[^/?#:]))([A-Za-z][A-Za-z0-9+._-]*):[^\x00-\x20"<>\\^`{|}\x7f-\U0010ffff]*'
CURRENCIES = {}  # By number: the exponent ("N.A." if there is none) and the alphabetic code.
for entry in xml.etree.ElementTree.parse(ROOT / "Data/iso4217-list-one-2026-01-01.xml").iter("CcyNtry"):
    if number := entry.findtext("CcyNbr"):
        CURRENCIES[number] = entry.findtext("CcyMnrUnts"), entry.findtext("Ccy")


class Refused(Exception):
    """Section 6.1: a request that is denied at once, with this reason."""


class Dropped(Exception):
    """Section 6.1: a message that is neither kept nor answered."""


def need(holds, reason="invalidRequest"):
    if not holds:
        raise Refused(reason)


def keep(holds):
    if not holds:
        raise Dropped


# Section 2: bodies


class Members(dict):
    """A JSON object, and the names that are in it twice."""

    def __init__(self, pairs):
        super().__init__(pairs)
        names = [name for name, _ in pairs]
        self.twice = {name for name in names if names.count(name) > 1}


def levels(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(levels, inner), default=0)


def is_twice(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return bool(getattr(value, "twice", ())) or any(map(is_twice, inner))


def integer(text):
    """-0 is a number, and no integer that is written as one."""
    return -0.0 if text == "-0" else int(text)


def unusable(text):
    raise ValueError(text)


def parsed(data: bytes):
    """JSON by section 2; ValueError if it is none."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=Members, parse_constant=unusable, parse_int=integer)
        json.dumps(value, ensure_ascii=False).encode()  # No lone surrogates.
    except RecursionError:
        raise ValueError("too deep") from None
    if levels(value) > 16:
        raise ValueError("too deep")
    return value


def decoded(text) -> bytes:
    """Base64url in its only valid spelling."""
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        raise ValueError("not base64url")

    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode(data) != text:
        raise ValueError("not base64url")
    return data


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool) and -2**63 <= value < 2**63


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirect)


class Answer:
    """Of one call: `body` is an object or None, `code` that of a problem, `pause` what Retry-After says."""

    def __init__(self, method, url, body=None, token=None, timeout=30):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data, kind, self.status, self.pause = b"", "", 0, 0
        try:
            request = urllib.request.Request(url, body, headers, method=method)
            with OPENER.open(request, timeout=timeout) as answer:
                data, kind, self.status = answer.read(2_097_153), answer.headers.get_content_type(), answer.status
        except urllib.error.HTTPError as error:
            data, kind, self.status = error.read(1_048_577), error.headers.get_content_type(), error.code
            pause = error.headers.get("Retry-After", "0")
            self.pause = min(int(pause), 3600) if pause.isdecimal() else 0
        except (OSError, ValueError, urllib.error.URLError):
            pass
        try:
            self.body = parsed(data)
        except ValueError:
            self.body = None
        if not isinstance(self.body, dict):
            self.body = None
        is_problem = self.body is not None and kind == "application/problem+json" and self.status >= 400
        self.code = self.body.get("code") if is_problem else None


# Section 6: requests


def read_transaction(members):
    need(isinstance(members, dict) and len(members) <= 16)
    need(all(isinstance(value, str) for value in members.values()))
    need(re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", members.get("acsTransId", "")))
    need(1 <= len(members.get("merchantName", "")) <= 40)
    need(len(PURCHASE.keys() & members.keys()) in (0, 4))
    for name, form in PURCHASE.items():
        need(name not in members or re.fullmatch(form, members[name]))
    if "purchaseDate" in members:
        try:
            datetime.strptime(members["purchaseDate"], "%Y%m%d%H%M%S")
        except ValueError:
            raise Refused("invalidRequest") from None
        number = members["purchaseCurrency"]
        need(number in CURRENCIES and not 955 <= int(number) <= 964 and number != "999")
    if "threeDSRequestorAppURL" in members:
        url = members["threeDSRequestorAppURL"]
        form = re.fullmatch(URL, url)
        need(len(url) <= 256 and form)
        need(form[1].lower() not in ("javascript", "data", "file", "vbscript", "blob", "about"))
        authority = re.match(r"[^:]+://([^/?#]*)", url)
        need(not authority or "@" not in authority[1])
    others = {name: value for name, value in members.items() if name not in KNOWN}
    need(all(re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name) and len(value) <= 1024 for name, value in others.items()))
    need(sum(map(len, others.values())) <= 4096)


def read_payment(payment, transaction):
    """Section 8.2."""
    need(isinstance(payment, dict) and payment.get("isPayment") is True and "purchaseAmount" in transaction)
    if "payeeOrigin" in payment:
        origin = payment["payeeOrigin"]
        need(isinstance(origin, str) and len(origin) <= 256)
        form = re.fullmatch(r"https://([a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?", origin)
        need(form and form[2] != "443" and int(form[2] or 1) < 65536)
    instrument = payment.get("instrument")
    need(isinstance(instrument, dict))
    name, icon = instrument.get("displayName"), instrument.get("icon")
    need(isinstance(name, str) and 1 <= len(name) <= 64)
    need(isinstance(icon, str) and 1 <= len(icon) <= 2048 and re.fullmatch(URL, icon))
    loopback = r"http://(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?([/?#].*)?"
    need(re.match(r"https://[^/?#@:]", icon, re.I) or re.match(r"data:image/[^,;]+[^,]*,", icon, re.I)
         or re.fullmatch(loopback, icon, re.I))


def media_type(header) -> str:
    """Of `typ`: a media type has no case, and `application/` may be left out (RFC 7515 section 4.1.9)."""
    return str(header.get("typ")).lower().removeprefix("application/")


class Message:
    """A JWS that is authentic and can be answered; Dropped if it is not, and KeyError for an unknown kid."""

    def __init__(self, jws, enrolled):
        keep(len(jws) <= 16_384)
        try:
            head, payload, raw = jws.split(".")
            header, signed_by = parsed(decoded(head)), decoded(raw)
            keep(isinstance(header, dict) and not is_twice(header))
            keep(header.get("alg") in ("ES256", "ESP256") and "crit" not in header and isinstance(header.get("kid"), str))
            keep(media_type(header) in ("oob-authn-request+jwt", "oob-authn-cancel+jwt") and len(signed_by) == 64)
            key = enrolled.keys[header["kid"]]
            der = encode_dss_signature(int.from_bytes(signed_by[:32]), int.from_bytes(signed_by[32:]))
            key.verify(der, f"{head}.{payload}".encode(), ec.ECDSA(hashes.SHA256()))
            self.claims = parsed(decoded(payload))
        except (ValueError, InvalidSignature):
            raise Dropped from None
        keep(isinstance(self.claims, dict) and not self.claims.twice & {"iss", "aud", "jti"})
        keep(self.claims.get("iss") == enrolled.issuer and self.claims.get("aud") in (enrolled.id, [enrolled.id]))
        self.jti, self.jws = self.claims.get("jti"), jws
        keep(isinstance(self.jti, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.jti))
        self.iat, self.exp = (self.time(name) for name in ("iat", "exp"))
        self.cancels = None
        if media_type(header) == "oob-authn-cancel+jwt":
            self.cancels = self.claims.get("cancels")
            keep(not is_twice(self.claims) and isinstance(self.cancels, str))
            keep(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.cancels) and self.is_timely())

    def time(self, name):
        """None if it is missing, no integer, or there twice."""
        value = self.claims.get(name)
        return value if is_integer(value) and name not in self.claims.twice else None

    def is_timely(self):
        return None not in (self.iat, self.exp) and 0 < self.exp - self.iat <= 86_400

    def read(self, enrolled):
        """The rows of section 6.1 that refuse; `same` is what makes two requests one transaction (section 11)."""
        need(self.is_timely() and not is_twice(self.claims))
        need(self.jti != "next" and not re.fullmatch(r"-[a-z-]+", self.jti))
        options = self.claims.get("publicKey")
        try:
            nonce = decoded(self.claims.get("nonce"))
            need(16 <= len(nonce) <= 64 and isinstance(options, dict))
            self.transaction = self.claims.get("transaction")
            read_transaction(self.transaction)
            rp_id = options.get("rpId")
            need((enrolled.host if rp_id is None else rp_id) == enrolled.rp_id)
            allowed = options.get("allowCredentials")
            need(allowed is None or isinstance(allowed, list))
            ids = []
            for one in allowed or []:
                need(isinstance(one, dict) and isinstance(one.get("type"), str))
                ids.append(decoded(one.get("id")))
            need(not ids or enrolled.authenticator.credential_id in ids)
            self.challenge = decoded(options.get("challenge"))
        except ValueError:
            raise Refused("invalidRequest") from None
        verification = options.get("userVerification") or "preferred"
        need(verification in ("required", "preferred", "discouraged"))
        timeout = options.get("timeout")
        need(timeout is None or is_integer(timeout) and 0 <= timeout < 2**32)
        extensions = options.get("extensions")
        need(extensions is None or isinstance(extensions, dict))
        self.payment = None
        if extensions and "payment" in extensions:
            self.payment = extensions["payment"]
            read_payment(self.payment, self.transaction)
        committed = hashlib.sha256(b"oob-authn-v1\x00" + nonce + rfc8785.dumps(self.transaction)).digest()
        need(self.challenge == committed)
        if "purchaseAmount" in self.transaction:
            need(CURRENCIES[self.transaction["purchaseCurrency"]][0] == self.transaction["purchaseExponent"], "policy")
        self.id = self.transaction["acsTransId"].lower()
        self.same = (rfc8785.dumps({**self.transaction, "acsTransId": self.id}), rfc8785.dumps(self.payment), verification)


# Section 8: assertions


def spelled(text):
    """WebAuthn's CCDToString."""
    escaped = re.sub(r'["\\]', lambda one: "\\" + one[0], text)
    return '"' + re.sub(r"[\x00-\x1f]", lambda one: f"\\u{ord(one[0]):04x}", escaped) + '"'


def written(value):
    if isinstance(value, dict):
        return "{" + ",".join(f"{spelled(name)}:{written(inner)}" for name, inner in value.items()) + "}"
    return spelled(value) if isinstance(value, str) else json.dumps(value)


def client_data(message, enrolled):
    data = {"type": "payment.get" if message.payment else "webauthn.get", "challenge": encode(message.challenge),
            "origin": enrolled.issuer, "crossOrigin": False}
    if message.payment:
        asked, instrument = message.transaction, message.payment["instrument"]
        exponent, digits = int(asked["purchaseExponent"]), asked["purchaseAmount"].lstrip("0")
        digits = digits.rjust(exponent + 1, "0")
        value = f"{digits[:-exponent]}.{digits[-exponent:]}" if exponent else digits
        payee = {"payeeOrigin": message.payment["payeeOrigin"]} if "payeeOrigin" in message.payment else {}
        data["payment"] = {
            "rpId": enrolled.rp_id, "topOrigin": enrolled.issuer, "payeeName": asked["merchantName"], **payee,
            "paymentEntitiesLogos": [],
            "total": {"value": value, "currency": CURRENCIES[asked["purchaseCurrency"]][1]},
            "instrument": {"icon": instrument["icon"], "displayName": instrument["displayName"]}}
    return written(data).encode()


class Enrolled:
    """One enrollment: its key, its polls and its decisions."""

    def __init__(self, issuer, code):
        self.issuer, self.lock, self.sending = issuer, threading.RLock(), threading.Lock()
        self.requests, self.jtis, self.cancelled, self.held, self.keys = {}, {}, {}, [], {}
        self.asked_for_keys = 0
        self.discover()
        self.fetch_keys()
        self.enroll(code)
        threading.Thread(target=self.poll, daemon=True).start()

    def discover(self):
        """Section 3."""
        document = Answer("GET", self.issuer + "/.well-known/oob-authenticator").body or {}
        names = ["jwksUri", "enrollmentOptionsEndpoint", "enrollmentsEndpoint", "authnRequestsEndpoint",
                 "authenticatorEndpoint"]
        if document.get("issuer") != self.issuer or 1 not in document.get("protocolVersions", []):
            raise ValueError("the discovery document is another issuer's, or of another version")
        for name in names:
            if not str(document.get(name)).startswith(self.issuer + "/"):
                raise ValueError(f"{name} is elsewhere")
        self.places = {name: document[name] for name in names}

    def fetch_keys(self):
        body, keys = Answer("GET", self.places["jwksUri"]).body or {}, {}
        for key in body.get("keys", []):
            can_sign = key.get("alg", "ES256") in ("ES256", "ESP256") and key.get("use", "sig") == "sig"
            if (key.get("kty"), key.get("crv")) == ("EC", "P-256") and "kid" in key and can_sign:
                x, y = (decoded(key.get(name, "")) for name in "xy")
                if len(x) == len(y) == 32 and "verify" in key.get("key_ops", ["verify"]):
                    numbers = ec.EllipticCurvePublicNumbers(int.from_bytes(x), int.from_bytes(y), ec.SECP256R1())
                    keys[key["kid"]] = numbers.public_key()
        if "keys" in body:
            self.keys = keys

    def enroll(self, code):
        """Section 4."""
        if not self.keys:
            raise ValueError("the issuer has no key that could verify a request")
        options = Answer("POST", self.places["enrollmentOptionsEndpoint"], json.dumps({"enrollmentCode": code}).encode())
        if options.status != 200:
            raise ValueError(f"no options: {options.code or options.status}")
        asked = options.body["publicKey"]
        host = self.host = urllib.parse.urlsplit(self.issuer).hostname
        self.rp_id, self.user = asked["rp"].get("id", host), asked["user"]["id"]
        is_parent = host.endswith("." + self.rp_id) and "." in self.rp_id and not re.fullmatch(r"[0-9.]+", host)
        if (self.rp_id != host and not is_parent) or re.fullmatch(r"[0-9.]+|.*:.*", self.rp_id):
            raise ValueError("another relying party")
        verification = asked.get("authenticatorSelection", {}).get("userVerification", "preferred")
        if verification not in ("required", "preferred", "discouraged") or not 1 <= len(decoded(self.user)) <= 64:
            raise ValueError("options that cannot be read")
        own = {encode(one.authenticator.credential_id) for one in enrollments if one.issuer == self.issuer}
        if own & {one["id"] for one in asked.get("excludeCredentials", [])}:
            raise ValueError("enrolled already")
        algorithm = next((one["alg"] for one in asked["pubKeyCredParams"] if one["alg"] in (-7, -35, -8)), None)
        if algorithm is None or not decoded(asked.get("challenge")):
            raise ValueError("no algorithm in common, or no challenge")
        self.authenticator = SoftwareAuthenticator(self.issuer, self.rp_id, algorithm)
        packed = asked.get("attestation") in ("direct", "indirect", "enterprise")
        credential = self.authenticator.attest(
            decoded(asked["challenge"]), packed=packed, aaguid=MODEL, flags=FLAG.UP | FLAG.UV)
        about = {"name": "python", "platform": "linux", "version": "1", "authnType": "pin"}
        body = json.dumps({"ceremonyId": options.body["ceremonyId"], "credential": credential, "authenticator": about})
        for _ in range(20):
            answer = Answer("POST", self.places["enrollmentsEndpoint"], body.encode())
            if answer.status == 201 and answer.body and "accessToken" in answer.body:
                self.id, self.token = answer.body["authenticatorId"], answer.body["accessToken"]
                return
            if answer.code in ("invalid_registration", "ceremony_expired", "invalid_request", "invalid_enrollment_code"):
                break
            time.sleep(max(1, answer.pause))
        raise ValueError(f"not enrolled: {answer.code or answer.status}")

    def poll(self):
        """Section 5."""
        cursor = None
        while True:
            query = "?wait=2" + (f"&after={urllib.parse.quote(cursor, safe='')}" if cursor else "")
            answer = Answer("GET", self.places["authnRequestsEndpoint"] + query, token=self.token, timeout=17)
            if answer.code == "invalid_token":
                return
            if answer.code == "unknown_cursor":
                cursor = None
            elif answer.status == 200 and answer.body and isinstance(answer.body.get("requests"), list):
                with self.lock:
                    self.held += answer.body["requests"]
                    self.take_held()
                cursor = answer.body["cursor"]
                time.sleep(0.05)
            else:
                time.sleep(max(0.5, answer.pause))

    def take_held(self):
        """Takes what came, and what was held; what has to wait further is held again."""
        held, self.held = self.held, []
        for jws in held:
            try:
                self.take(jws)
            except Dropped:
                pass
            except KeyError:  # Section 3: at once, and then at most once a minute.
                if time.time() - self.asked_for_keys >= 60:
                    self.asked_for_keys = time.time()
                    self.fetch_keys()
                self.held.append(jws)

    def take(self, jws):
        message, now = Message(jws, self), int(time.time())
        if self.jtis.setdefault(message.jti, jws) != jws:  # Section 11: a conflict.
            return
        known = [one for one in self.requests.values() if message in one["messages"] or message.jti in one["jtis"]]
        if known or (message.exp is not None and now >= message.exp):
            return
        if message.iat is not None and message.iat - now > 60:
            del self.jtis[message.jti]
            if message.iat - now <= 600:
                self.held.append(jws)
            return
        if message.cancels:
            return self.cancel(message)
        if message.jti in self.cancelled.get("taken", ()):
            return
        try:
            message.read(self)
            self.present(message)
        except Refused as refusal:
            self.answer_once(message, {"decision": "deny", "reason": str(refusal)})

    def answer_once(self, message, decision):
        """Denies what was not denied before; the same message may be listed until the answer was taken."""
        if message.jti not in self.cancelled.setdefault("answered", set()):
            self.cancelled["answered"].add(message.jti)
            threading.Thread(target=self.send, args=(message, json.dumps(decision).encode()), daemon=True).start()

    def present(self, message):
        """Section 11."""
        one = self.requests.get(message.id)
        if one is None:
            one = self.requests[message.id] = {"same": message.same, "messages": [], "jtis": set(), "state": "pending",
                                               "iat": None}
        need(one["same"] == message.same)
        one["jtis"].add(message.jti)
        if one["state"] == "decided":
            raise Refused("duplicate")
        if message.jti in self.cancelled.get("jtis", ()):
            one["iat"] = max(one["iat"] or message.iat, message.iat)
            one["state"] = "pending" if one["messages"] else "ended"
            return
        is_over = one["state"] == "ended" or (one["messages"] and all(m.exp <= time.time() for m in one["messages"]))
        if is_over:
            if one["iat"] is not None and message.iat <= one["iat"]:
                return
            one.update(messages=[], state="pending")
        one["messages"].append(message)
        one["iat"] = max(one["iat"] or message.iat, message.iat)

    def cancel(self, message):
        """Section 9."""
        self.cancelled.setdefault("jtis", set()).add(message.cancels)
        for one in self.requests.values():
            if one["state"] == "pending" and one["messages"] and self.newest(one).jti == message.cancels:
                one["state"] = "ended"

    @staticmethod
    def newest(one):
        return max(one["messages"], key=lambda message: message.iat)

    def pending(self):
        with self.lock:
            return [name for name, one in self.requests.items()
                    if one["state"] == "pending" and one["messages"] and self.newest(one).exp > time.time()]

    def decide(self, name, approves):
        """Whether there was something to decide. Sections 8 and 10."""
        with self.lock:
            self.take_held()
            if name not in self.pending():
                return False
            one = self.requests[name]
            message = self.newest(one)
            one["state"] = "decided"
            decision = {"decision": "deny", "reason": "userDenied"}
            if approves:
                decision = {"decision": "approve", "credential": self.assertion(message)}
        body = json.dumps(decision).encode()
        threading.Thread(target=self.send, args=(message, body, approves), daemon=True).start()
        return True

    def assertion(self, message):
        own = self.authenticator
        own.sign_count += 1
        client = client_data(message, self)
        data = own.rp_id_hash + bytes([FLAG.UP | FLAG.UV]) + own.sign_count.to_bytes(4)
        signed = signature(own.key, data + hashlib.sha256(client).digest())
        return own.credential({"clientDataJSON": encode(client), "authenticatorData": encode(data),
                               "signature": encode(signed), "userHandle": self.user})

    def go_above(self):
        """Section 4.3: the issuer has accepted a greater signCount than this approver knows of."""
        status = Answer("GET", self.places["authenticatorEndpoint"], token=self.token).body or {}
        with self.lock:
            self.authenticator.sign_count = max(self.authenticator.sign_count, status.get("signCount", 0))

    def send(self, message, body, is_approval=False):
        """Repeats the same bytes until an answer ends it, or until `exp`; approvals go one at a time."""
        url = f"{self.places['authnRequestsEndpoint']}/{message.jti}/decision"
        end = message.exp if message.exp is not None else time.time() + 86_400
        with self.sending if is_approval else threading.Lock():
            while time.time() < end:
                answer = Answer("POST", url, body, self.token)
                taken = answer.status == 200 and answer.body and answer.body.get("transStatus") in ("Y", "N")
                if answer.code == "invalid_assertion":
                    self.go_above()
                if taken or answer.code in ENDS:
                    return
                time.sleep(max(1, answer.pause))


enrollments = []


def answer(path, body):
    if path == "/enroll":
        enrollments.append(Enrolled(body["issuer"], body["code"]))
        return 200, {}
    if path == "/pending":
        return 200, [name for one in list(enrollments) for name in one.pending()]
    approves = {"/approve": True, "/deny": False}[path]
    decided = any(one.decide(body["acsTransId"].lower(), approves) for one in list(enrollments))
    return (200, {}) if decided else (409, {"title": "nothing to decide"})


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            status, said = answer(self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            status, said = 400, {"title": repr(error)}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(said).encode())

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 9000), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
