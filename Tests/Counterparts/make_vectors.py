"""Makes conformance/vectors: requests, commitments and assertions, good ones and such with one thing wrong.

The private keys are those that RFC 6979 publishes in A.2.5, and numbers beside it; signatures are deterministic (RFC 6979),
so that the files come out the same each time. `make_vectors.py --update` writes them.
"""

import base64
import copy
import hashlib
import json
import sys
from pathlib import Path

import rfc8785
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

FOLDER = Path(__file__).resolve().parents[2] / "conformance" / "vectors"
ISSUER, RP_ID, AUTHENTICATOR = "https://issuer.example", "issuer.example", "k3yQm0Xv7bTzPwLd"
IAT, EXP = 1_697_522_198, 1_697_522_798
UP, UV, BS, AT = 0x01, 0x04, 0x10, 0x40


def key(number: int) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(number, ec.SECP256R1())


RFC_6979 = 0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721
ISSUER_KEY, CREDENTIAL_KEY, STRANGERS_KEY = key(RFC_6979), key(RFC_6979 + 1), key(RFC_6979 + 2)


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign(private, data: bytes) -> bytes:
    return private.sign(data, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))


def compact(data) -> bytes:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()


CREDENTIAL_ID, USER_HANDLE = sha256(b"credential"), sha256(b"cardholder")[:16]
NONCE = sha256(b"nonce")
TRANSACTION = {
    "acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62", "merchantName": "CoffeeHouse2 (Dæmø)", "purchaseAmount": "100",
    "purchaseCurrency": "840", "purchaseExponent": "2", "purchaseDate": "20231017055638",
    "threeDSRequestorAppURL": "https://merchant.example/return?transID=2f37539c",
}
PAYMENT = {"isPayment": True, "payeeOrigin": "https://merchant.example",
           "instrument": {"displayName": "Example Card ••4242", "icon": "https://issuer.example/card.png"}}


def commitment(nonce: bytes, transaction: dict) -> bytes:
    return sha256(b"oob-authn-v1\x00" + nonce + rfc8785.dumps(transaction))


def claims(transaction: dict = TRANSACTION, payment: dict | None = None, user_verification: str = "preferred") -> dict:
    public_key = {
        "challenge": b64(commitment(NONCE, transaction)), "rpId": RP_ID,
        "allowCredentials": [{"type": "public-key", "id": b64(CREDENTIAL_ID)}], "userVerification": user_verification}
    if payment:
        public_key["extensions"] = {"payment": payment}
    return {"iss": ISSUER, "aud": AUTHENTICATOR, "jti": "b1c6f0a2e94d4b7c8a51d3e6f7089b2c", "iat": IAT, "exp": EXP,
            "nonce": b64(NONCE), "transaction": transaction, "publicKey": public_key}


def jws(payload: bytes, private=ISSUER_KEY, **header) -> str:
    fields = {"alg": "ES256", "kid": "2026-1", "typ": "oob-authn-request+jwt", **header}
    signed = f"{b64(compact(fields))}.{b64(payload)}"
    r, s = decode_dss_signature(sign(private, signed.encode()))
    return f"{signed}.{b64(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def changed(**members) -> dict:
    """The claims of a good request with these members; None leaves one out."""
    return {name: value for name, value in {**claims(), **members}.items() if value is not None}


def with_transaction(**members) -> dict:
    """Claims about another transaction, to which the challenge commits."""
    return claims({name: value for name, value in {**TRANSACTION, **members}.items() if value is not None})


def with_options(**members) -> dict:
    options = {**claims()["publicKey"], **members}
    return changed(publicKey={name: value for name, value in options.items() if value is not None})


def requests() -> list[dict]:
    vectors = []

    def add(name: str, section: str, verdict: str, token: str, about: dict | bytes, at: int = IAT + 1, **how):
        payload = about if isinstance(about, bytes) else compact(about)
        vectors.append({"name": name, "section": section, "at": at, "verdict": verdict,
                        **({"token": token} if token else {}), "jws": jws(payload, **how)})

    add("good", "6", "inOrder", "", claims())
    add("good-payment", "8.2", "inOrder", "", claims(payment=PAYMENT))
    add("good-no-purchase", "6.2", "inOrder", "", with_transaction(
        purchaseAmount=None, purchaseCurrency=None, purchaseExponent=None, purchaseDate=None))
    add("good-aud-in-an-array", "6", "inOrder", "", changed(aud=[AUTHENTICATOR]))
    add("good-without-rp-id", "6.1", "inOrder", "", with_options(rpId=None))
    add("good-in-its-last-second", "6.1", "inOrder", "", claims(), at=EXP - 1)
    add("good-60-seconds-ahead", "6.1", "inOrder", "", claims(), at=IAT - 60)
    add("alg-none", "6", "notAuthentic", "alg", claims(), alg="none")
    add("typ-jwt", "6", "notAuthentic", "typ", claims(), typ="JWT")
    add("crit", "6", "notAuthentic", "crit", claims(), crit=["exp"])
    add("kid-unknown", "6.1", "unknownKey", "kid", claims(), kid="2025-1")
    add("signature-of-another-key", "6.1", "notAuthentic", "signature", claims(), private=STRANGERS_KEY)
    add("iss-with-a-slash", "6", "notAuthentic", "iss", changed(iss=ISSUER + "/"))
    add("aud-of-another", "6", "notAuthentic", "aud", changed(aud="somebody"))
    add("aud-of-two", "6", "notAuthentic", "aud", changed(aud=[AUTHENTICATOR, "somebody"]))
    add("jti-missing", "6.1", "unanswerable", "jtiMissing", changed(jti=None))
    add("jti-with-a-slash", "6", "unanswerable", "jtiMalformed", changed(jti="a/b"))
    add("payload-is-an-array", "6.1", "unanswerable", "payload", b"[]")
    add("exp-is-now", "6.1", "expired", "exp", claims(), at=EXP)
    add("iat-61-ahead", "6.1", "early", "iat", claims(), at=IAT - 61)
    add("iat-601-ahead", "6.1", "tooEarly", "iat", claims(), at=IAT - 601)
    add("exp-missing", "6.1", "refused", "expMissing", changed(exp=None))
    add("exp-is-a-string", "6.1", "refused", "expNotInteger", changed(exp=str(EXP)))
    add("exp-more-than-a-day-later", "6.1", "refused", "lifetimeTooLong", changed(exp=IAT + 86_401))
    add("a-name-twice", "6.1", "refused", "duplicateName", compact(claims())[:-1] + b',"nonce":"AAAA"}')
    add("nonce-of-15-bytes", "6", "refused", "nonce", changed(nonce=b64(NONCE[:15])))
    add("rp-id-of-the-parent", "6.1", "refused", "rpId", with_options(rpId="example"))
    add("credential-of-another", "6.1", "refused", "allowCredentials", with_options(
        allowCredentials=[{"type": "public-key", "id": b64(sha256(b"another"))}]))
    add("transaction-missing", "6.1", "refused", "transactionMissing", changed(transaction=None))
    add("commitment-to-another-amount", "7", "refused", "commitment", changed(
        transaction={**TRANSACTION, "purchaseAmount": "10000"}))
    add("commitment-without-the-nonce", "7", "refused", "commitment", with_options(
        challenge=b64(commitment(b"", TRANSACTION))))
    add("amount-is-a-number", "6.2", "refused", "nonStringValue", with_transaction(purchaseAmount=100))
    add("amount-of-49-digits", "6.2", "refused", "purchaseAmount", with_transaction(purchaseAmount="1" * 49))
    add("amount-without-a-currency", "6.2", "refused", "purchaseIncomplete", with_transaction(purchaseCurrency=None))
    add("currency-that-is-not-listed", "6.2", "refused", "currencyUnknown", with_transaction(purchaseCurrency="000"))
    add("acs-trans-id-in-braces", "6.2", "refused", "acsTransId", with_transaction(
        acsTransId="{2f37539c-d82e-4929-88db-2f9e72c7fa6}"))
    add("merchant-name-of-41", "6.2", "refused", "merchantName", with_transaction(merchantName="m" * 41))
    add("date-february-30", "6.2", "refused", "purchaseDate", with_transaction(purchaseDate="20230230055638"))
    add("app-url-of-257", "6.2", "refused", "threeDSRequestorAppURL", with_transaction(
        threeDSRequestorAppURL="https://m.example/" + "a" * 239))
    add("app-url-javascript", "6.2", "refused", "threeDSRequestorAppURL", with_transaction(
        threeDSRequestorAppURL="javascript:alert(1)"))
    add("payment-without-an-instrument", "8.2", "refused", "paymentExtension", claims(payment={"isPayment": True}))
    return vectors


def client_data(signed: bytes, is_payment: bool, **members) -> dict:
    data = {"type": "payment.get" if is_payment else "webauthn.get", "challenge": b64(signed), "origin": ISSUER,
            "crossOrigin": False}
    if is_payment:
        data["payment"] = {
            "rpId": RP_ID, "topOrigin": ISSUER, "payeeName": TRANSACTION["merchantName"],
            "payeeOrigin": PAYMENT["payeeOrigin"], "paymentEntitiesLogos": [],
            "total": {"value": "1.00", "currency": "USD"}, "instrument": {
                "icon": PAYMENT["instrument"]["icon"], "displayName": PAYMENT["instrument"]["displayName"]}}
    return {**data, **members}


def assertions() -> list[dict]:
    vectors = []
    challenge = commitment(NONCE, TRANSACTION)

    def add(name: str, check: str, *, payment: bool = False, required: bool = False, flags: int = UP, count: int = 42,
            rp_id: str = RP_ID, private=CREDENTIAL_KEY, credential: bytes = CREDENTIAL_ID, handle: bytes = USER_HANDLE,
            data: dict | None = None, tail: bytes = b"", **members):
        text = compact(data or client_data(challenge, payment, **members))
        authenticator_data = sha256(rp_id.encode()) + bytes([flags]) + count.to_bytes(4, "big") + tail
        signature = sign(private, authenticator_data + sha256(text))
        vectors.append({
            "name": name, "section": "8.2" if payment else "8.1", "verdict": "invalid" if check else "valid",
            **({"check": check} if check else {}), "nonce": b64(NONCE), "transaction": TRANSACTION,
            **({"payment": PAYMENT} if payment else {}), "userVerification": "required" if required else "preferred",
            "signCountAbove": 41, "credential": {
                "id": b64(credential), "rawId": b64(credential), "type": "public-key", "clientExtensionResults": {},
                "response": {"clientDataJSON": b64(text), "authenticatorData": b64(authenticator_data),
                             "signature": b64(signature), "userHandle": b64(handle)}}})

    def paid(**payment) -> dict:
        data = client_data(challenge, True)
        data["payment"] = {name: value for name, value in {**copy.deepcopy(data["payment"]), **payment}.items()
                           if value is not None}
        return data

    add("good", "")
    add("good-with-user-verification", "", flags=UP | UV, required=True)
    add("good-after-numbers-were-skipped", "", count=4_000_000_000)
    add("good-with-a-member-of-noise", "", other="as browsers append it")
    add("good-payment", "", payment=True)
    add("good-payment-with-logos-and-noise", "", payment=True, extra="noise")
    add("another-credential", "credentialId", credential=sha256(b"another"))
    add("another-user", "userHandle", handle=b"another")
    add("type-create", "type", type="webauthn.create")
    add("type-get-for-a-payment", "type", payment=True, data=client_data(challenge, False))
    add("type-payment-for-none", "type", data=client_data(challenge, True))
    add("challenge-of-another-nonce", "challenge", challenge=b64(commitment(sha256(b"old"), TRANSACTION)))
    add("challenge-of-another-amount", "challenge", challenge=b64(
        commitment(NONCE, {**TRANSACTION, "purchaseAmount": "1"})))
    add("origin-with-a-slash", "origin", origin=ISSUER + "/")
    add("origin-of-another", "origin", origin="https://evil.example")
    add("in-a-frame", "crossOrigin", crossOrigin=True)
    add("with-a-top-origin", "topOrigin", topOrigin=ISSUER)
    add("rp-id-of-another", "rpId", rp_id="evil.example")
    add("nobody-there", "userPresence", flags=0)
    add("user-not-verified", "userVerification", required=True)
    add("backed-up-but-not-eligible", "backupState", flags=UP | BS)
    add("attested-credential-data", "authenticatorData", flags=UP | AT)
    add("bytes-after-the-end", "authenticatorData", tail=b"\x00")
    add("signed-by-another-key", "signature", private=STRANGERS_KEY)
    add("sign-count-repeated", "signCount", count=41)
    add("sign-count-zero", "signCount", count=0)
    add("payment-of-another-amount", "total", payment=True, data=paid(total={"value": "100.00", "currency": "USD"}))
    add("payment-in-another-currency", "total", payment=True, data=paid(total={"value": "1.00", "currency": "EUR"}))
    add("payment-to-another-payee", "payeeName", payment=True, data=paid(payeeName="CoffeeHouse3"))
    add("payment-to-another-origin", "payeeOrigin", payment=True, data=paid(payeeOrigin="https://evil.example"))
    add("payment-without-the-payees-origin", "payeeOrigin", payment=True, data=paid(payeeOrigin=None))
    add("payment-of-another-rp", "paymentRpId", payment=True, data=paid(rpId="evil.example"))
    add("payment-in-another-page", "paymentTopOrigin", payment=True, data=paid(topOrigin="https://evil.example"))
    add("payment-by-another-instrument", "instrument", payment=True, data=paid(
        instrument={**PAYMENT["instrument"], "displayName": "Another Card"}))
    return vectors


def commitments() -> list[dict]:
    transactions = {
        "example": TRANSACTION, "names-sorted-by-utf-16": {**TRANSACTION, "z.last": "1", "Z.first": "2"},
        "escapes": {**TRANSACTION, "note": "\"\\\n\u0001 é 😀"},
        "48-digits": {**TRANSACTION, "purchaseAmount": "9" * 48},
    }
    return [{"name": name, "nonce": b64(NONCE), "transaction": transaction,
             "canonical": rfc8785.dumps(transaction).decode(), "challenge": b64(commitment(NONCE, transaction))}
            for name, transaction in transactions.items()]


def parties() -> dict:
    numbers = ISSUER_KEY.public_key().public_numbers()
    spki = CREDENTIAL_KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return {
        "issuer": ISSUER, "rpId": RP_ID, "authenticatorId": AUTHENTICATOR, "credentialId": b64(CREDENTIAL_ID),
        "userHandle": b64(USER_HANDLE), "publicKey": b64(spki),
        "jwks": {"keys": [{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "2026-1",
                           "x": b64(numbers.x.to_bytes(32, "big")), "y": b64(numbers.y.to_bytes(32, "big"))}]}}


def files() -> dict[str, str]:
    made = {"parties.json": parties(), "commitments.json": commitments(), "requests.json": requests(),
            "assertions.json": assertions()}
    return {name: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for name, value in made.items()}


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, text in files().items():
            (FOLDER / name).write_text(text, encoding="utf-8")
