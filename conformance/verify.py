"""Judges the vectors beside it, and says where it disagrees with them: python3 conformance/verify.py

It shares no code with this project: Python's standard library, the package cryptography, and the protocol page. Read it to
see what an issuer and an authenticator have to check, in which order; a token names the first check that fails.
"""
import base64, datetime, hashlib, json, re, sys
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

FOLDER = Path(__file__).parent / "vectors"
ES256 = ec.ECDSA(hashes.SHA256())
PURCHASE = {"purchaseAmount": r"\d{1,48}", "purchaseCurrency": r"\d{3}", "purchaseExponent": r"\d", "purchaseDate": r"\d{14}"}
PRINTABLE_URL = r'(?!(?i:https?|wss?|ftp):(?!//[^/?#:]))[A-Za-z][A-Za-z0-9+._-]*:[^\s"<>\\^`{|}\x7f-\U0010ffff]*'
class Wrong(Exception): """The token of the first check that fails, and what becomes of the message."""
def need(holds, token, verdict="refused"):
    if not holds: raise Wrong(token, verdict)
def decode(text): return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
def sha256(data): return hashlib.sha256(data).digest()
def canonical(transaction):  # RFC 8785, for the strings that a transaction has.
    return json.dumps(dict(sorted(transaction.items(), key=lambda member: member[0].encode("utf-16-be"))),
                      separators=(",", ":"), ensure_ascii=False).encode()
def commitment(nonce, transaction): return sha256(b"oob-authn-v1\x00" + nonce + canonical(transaction))
def signed(key, signature, data):
    try: key.verify(signature, data, ES256)
    except InvalidSignature: return False
    return True
def date_exists(text):
    try: return bool(datetime.datetime.strptime(text, "%Y%m%d%H%M%S"))
    except ValueError: return False
def issuer_key(jwk):
    return ec.EllipticCurvePublicNumbers(*(int.from_bytes(decode(jwk[name])) for name in "xy"), ec.SECP256R1()).public_key()

def request(vector, party):  # Section 6: what an authenticator does with a message, the first row that fits.
    header, payload, signature = vector["jws"].split(".")
    fields, raw = json.loads(decode(header)), decode(signature)
    for token, holds in [("alg", fields["alg"] == "ES256"), ("typ", fields["typ"] == "oob-authn-request+jwt"), ("crit", "crit" not in fields)]:
        need(holds, token, "notAuthentic")
    keys = {jwk["kid"]: issuer_key(jwk) for jwk in party["jwks"]["keys"]}
    need(fields["kid"] in keys, "kid", "unknownKey")
    der = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    need(signed(keys[fields["kid"]], der, f"{header}.{payload}".encode()), "signature", "notAuthentic")
    names = []
    claims = json.loads(decode(payload), object_pairs_hook=lambda pairs: names.append([name for name, _ in pairs]) or dict(pairs))
    need(isinstance(claims, dict), "payload", "unanswerable")
    need(claims.get("iss") == party["issuer"], "iss", "notAuthentic")
    need(claims.get("aud") in (party["authenticatorId"], [party["authenticatorId"]]), "aud", "notAuthentic")
    need("jti" in claims, "jtiMissing", "unanswerable")
    need(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", claims["jti"]), "jtiMalformed", "unanswerable")
    iat, exp, at = claims["iat"], claims.get("exp"), vector["at"]
    need(not isinstance(exp, int) or at < exp, "exp", "expired")
    need(iat - at <= 600, "iat", "tooEarly")
    need(iat - at <= 60, "iat", "early")
    need(exp is not None, "expMissing")
    need(isinstance(exp, int), "expNotInteger")
    need(exp - iat <= 86_400, "lifetimeTooLong")
    need(all(len(each) == len(set(each)) for each in names), "duplicateName")
    nonce = decode(claims["nonce"])
    need(16 <= len(nonce) <= 64, "nonce")
    need("transaction" in claims, "transactionMissing")
    transaction(claims["transaction"])
    options = claims["publicKey"]
    need(options.get("rpId", urlsplit(party["issuer"]).hostname) == party["rpId"], "rpId")
    allowed = [each["id"] for each in options.get("allowCredentials", [])]
    need(not allowed or party["credentialId"] in allowed, "allowCredentials")
    payment = options.get("extensions", {}).get("payment")
    need(payment is None or payment.get("isPayment") is True and "instrument" in payment, "paymentExtension")
    need(decode(options["challenge"]) == commitment(nonce, claims["transaction"]), "commitment")
    return "inOrder"

def transaction(members):  # Section 6.2. The list of currencies is ISO 4217's; here 840 stands for all of it.
    need(all(isinstance(value, str) for value in members.values()), "nonStringValue")
    need(re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", members["acsTransId"]), "acsTransId")
    need(1 <= len(members["merchantName"]) <= 40, "merchantName")
    need(len(PURCHASE.keys() & members.keys()) in (0, 4), "purchaseIncomplete")
    for name, form in PURCHASE.items():
        need(name not in members or re.fullmatch(form, members[name], re.ASCII), name)
    need(members.get("purchaseCurrency", "840") == "840", "currencyUnknown")
    need("purchaseDate" not in members or date_exists(members["purchaseDate"]), "purchaseDate")
    url = members.get("threeDSRequestorAppURL", "app:x")
    forbidden = ("javascript", "data", "file", "vbscript", "blob", "about")
    need(len(url) <= 256 and re.fullmatch(PRINTABLE_URL, url) and url.split(":")[0].lower() not in forbidden, "threeDSRequestorAppURL")

def assertion(vector, party):  # Section 8, WebAuthn Level 3 section 7.2, and Secure Payment Confirmation.
    need(vector["credential"]["rawId"] == party["credentialId"], "credentialId")
    response = vector["credential"]["response"]
    need(response.get("userHandle") in (None, party["userHandle"]), "userHandle")
    text, data = decode(response["clientDataJSON"]), decode(response["authenticatorData"])
    client, asked = json.loads(text), vector.get("payment")
    need(client["type"] == ("payment.get" if asked else "webauthn.get"), "type")
    need(decode(client["challenge"]) == commitment(decode(vector["nonce"]), vector["transaction"]), "challenge")
    need(client["origin"] == party["issuer"], "origin")
    need(client.get("crossOrigin", False) is False, "crossOrigin")
    need("topOrigin" not in client, "topOrigin")
    if asked: payment(client["payment"], asked, vector["transaction"], party)
    need(len(data) == 37 and not data[32] & 0x40, "authenticatorData")
    need(data[:32] == sha256(party["rpId"].encode()), "rpId")
    need(data[32] & 0x01, "userPresence")
    need(data[32] & 0x04 or vector["userVerification"] != "required", "userVerification")
    need(data[32] & 0x08 or not data[32] & 0x10, "backupState")
    key = serialization.load_der_public_key(decode(party["publicKey"]))
    need(signed(key, decode(response["signature"]), data + sha256(text)), "signature")
    need(int.from_bytes(data[33:]) > vector["signCountAbove"], "signCount")
    return "valid"

def payment(said, asked, transaction, party):  # 840 is USD, and its exponent is 2.
    need(said["rpId"] == party["rpId"], "paymentRpId")
    need(said["topOrigin"] == party["issuer"], "paymentTopOrigin")
    need(said["payeeName"] == transaction["merchantName"], "payeeName")
    need(said.get("payeeOrigin") == asked.get("payeeOrigin"), "payeeOrigin")
    digits = transaction["purchaseAmount"].lstrip("0").rjust(3, "0")
    need(said["total"] == {"value": f"{digits[:-2]}.{digits[-2:]}", "currency": "USD"}, "total")
    need(said["instrument"] == asked["instrument"], "instrument")

def judged(check, vector, party, bad="invalid"):
    try: return check(vector, party), None
    except Wrong as wrong: return (wrong.args[1] if bad is None else bad), wrong.args[0]

def main():
    load = lambda name: json.loads((FOLDER / name).read_text(encoding="utf-8"))
    party, count, wrong = load("parties.json"), 0, []
    for name, check, bad, token in [("requests", request, None, "token"), ("assertions", assertion, "invalid", "check")]:
        for vector in load(name + ".json"):
            count += 1
            found = judged(check, vector, party, bad)
            if found != (vector["verdict"], vector.get(token)): wrong.append(f"{name}/{vector['name']}: {found}")
    for vector in load("commitments.json"):
        count += 1
        held = canonical(vector["transaction"]).decode() == vector["canonical"]
        if not held or commitment(decode(vector["nonce"]), vector["transaction"]) != decode(vector["challenge"]):
            wrong.append(f"commitments/{vector['name']}: another challenge")
    print("\n".join(wrong + [f"{count - len(wrong)} of {count} vectors are judged as they say"]))
    return 1 if wrong else 0

if __name__ == "__main__": sys.exit(main())
