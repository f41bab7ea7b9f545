"""Writes the fixtures of libraries that do not run here from their public source: header and claims in their order and
spelling, signed under a key that is thrown away.

Run with `.venv/bin/python Tests/Counterparts/libraries/written.py`.
"""

import json

from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256

from messages import CREDENTIAL, ISSUED, KEY_ID, TYPE, b64, claims, jws, message, write

UNTYPED = "typ is neither oob-authn-request+jwt nor oob-authn-cancel+jwt"
NAMELESS = "kid is missing"
CHALLENGE = b64(bytes(range(32)))
USER = b64(b"cardholder-0001.")


class Signer:
    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        numbers = self.key.public_key().public_numbers()
        self.x, self.y = (b64(each.to_bytes(32, "big")) for each in (numbers.x, numbers.y))

    def sign(self, header: dict, payload: dict, text=lambda json: json) -> str:
        parts = [b64(text(json.dumps(each, separators=(",", ":"), ensure_ascii=False)).encode())
                 for each in (header, payload)]
        r, s = utils.decode_dss_signature(self.key.sign(".".join(parts).encode(), ec.ECDSA(SHA256())))
        return ".".join([*parts, b64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))])


def jwx() -> None:
    signer = Signer()
    alphabetical = {name: claims(aud=[claims()["aud"]])[name] for name in sorted(claims())}
    keys = {"keys": [{"crv": "P-256", "kid": KEY_ID, "kty": "EC", "x": signer.x, "y": signer.y}]}
    bare = {"keys": [{"crv": "P-256", "kty": "EC", "x": signer.x, "y": signer.y}]}
    write("jwx", "2.1.1", "Go", "https://github.com/lestrrat-go/jwx", "written",
          "jwk/ecdsa_gen.go (MarshalJSON), jwt/serialize.go and internal/json of the version", [
              message("jwks", "jwk.FromRaw and a kid: no alg, no use", keys),
              message("jwks", "jwk.FromRaw as it is: no kid", bare, "said", NAMELESS),
              jws("jwt.Sign with typ in its protected headers; names in order, aud an array",
                  signer.sign({"alg": "ES256", "kid": KEY_ID, "typ": TYPE}, alphabetical), keys),
              jws("jwt.Sign by default, whose typ is JWT",
                  signer.sign({"alg": "ES256", "kid": KEY_ID, "typ": "JWT"}, alphabetical), keys, "said", UNTYPED)])


def jose4j() -> None:
    signer = Signer()
    key = {"kty": "EC", "kid": KEY_ID, "x": signer.x, "y": signer.y, "crv": "P-256"}
    keys = {"keys": [key]}
    payload = claims(nbf=ISSUED - 120)
    write("jose4j", "0.9.6", "Java", "https://bitbucket.org/b_c/jose4j", "written",
          "org.jose4j.jwk.EllipticCurveJsonWebKey, org.jose4j.jwt.JwtClaims and org.jose4j.jws.JsonWebSignature", [
              message("jwks", "JsonWebKeySet.toJson with a key id: no alg, no use", keys),
              message("jwks", "JsonWebKeySet.toJson without a key id",
                      {"keys": [{name: key[name] for name in key if name != "kid"}]}, "said", NAMELESS),
              jws("header kid and typ set; JwtClaims with setNotBeforeMinutesInThePast(2); aud one string",
                  signer.sign({"alg": "ES256", "kid": KEY_ID, "typ": TYPE}, payload), keys),
              jws("the default header, without typ", signer.sign({"alg": "ES256", "kid": KEY_ID}, payload), keys,
                  "said", UNTYPED)])


def nimbus() -> None:
    signer = Signer()
    keys = {"keys": [{"kty": "EC", "use": "sig", "crv": "P-256", "kid": KEY_ID, "x": signer.x, "y": signer.y,
                      "alg": "ES256"}]}
    least = {"keys": [{"kty": "EC", "crv": "P-256", "kid": KEY_ID, "x": signer.x, "y": signer.y}]}
    payload = {name: claims()[name] for name in
               ("aud", "exp", "iat", "iss", "jti", "nonce", "publicKey", "transaction")}

    def escaped(text: str) -> str:
        return text.replace("/", "\\/")

    write("Nimbus JOSE JWT", "9.11.3", "Java", "https://bitbucket.org/connect2id/nimbus-jose-jwt", "written",
          "com.nimbusds.jose.jwk.ECKey and com.nimbusds.jwt.JWTClaimsSet, and the output that "
          "https://github.com/imesh/jwt-jwk-key-generator shows", [
              message("jwks", "JWKSet of an ECKey with keyUse, keyID and algorithm", keys),
              message("jwks", "JWKSet of an ECKey with its keyID alone", least),
              jws("JWSHeader.Builder with type and keyID; every slash is escaped, aud is one string",
                  signer.sign({"kid": KEY_ID, "typ": TYPE, "alg": "ES256"}, payload, escaped), keys),
              jws("JWSHeader.Builder without type, which writes no typ",
                  signer.sign({"kid": KEY_ID, "alg": "ES256"}, payload, escaped), keys, "said", UNTYPED)])


def creation(**members) -> dict:
    return {"rp": {"name": "Example Bank", "id": "issuer.example"},
            "user": {"id": USER, "name": "cardholder", "displayName": "A. Cardholder"},
            "challenge": CHALLENGE} | members


def parameters(*algorithms: int) -> list[dict]:
    return [{"alg": each, "type": "public-key"} for each in algorithms]


def webauthn_servers() -> None:
    allowed = [{"id": CREDENTIAL, "type": "public-key"}]
    request = {"challenge": CHALLENGE, "rpId": "issuer.example"}
    simple = creation(
        user={"id": USER, "name": "cardholder", "displayName": ""}, pubKeyCredParams=parameters(-8, -7, -257),
        timeout=60_000, attestation="none", excludeCredentials=[],
        authenticatorSelection={"residentKey": "preferred", "userVerification": "preferred",
                                "requireResidentKey": False},
        extensions={"credProps": True}, hints=[])
    write("SimpleWebAuthn", "13.3.2", "JavaScript", "https://github.com/MasterKale/SimpleWebAuthn", "written",
          "packages/server/src: generateRegistrationOptions.ts, generateAuthenticationOptions.ts", [
              message("creationOptions", "generateRegistrationOptions: displayName empty, Ed25519 first", simple),
              message("creationOptions", "the same for a security key", simple | {
                  "hints": ["security-key"], "authenticatorSelection": {
                      "residentKey": "preferred", "userVerification": "preferred", "requireResidentKey": False,
                      "authenticatorAttachment": "cross-platform"}}),
              message("requestOptions", "generateAuthenticationOptions", request | {
                  "timeout": 60_000, "userVerification": "preferred",
                  "allowCredentials": [allowed[0] | {"transports": ["internal", "hybrid"]}]}),
              message("requestOptions", "generateAuthenticationOptions without allowCredentials", request | {
                  "timeout": 60_000, "userVerification": "preferred"})])
    write("java-webauthn-server", "2.9.0", "Java", "https://github.com/Yubico/java-webauthn-server", "written",
          "com.yubico.webauthn.RelyingParty (startRegistration, startAssertion) and its data classes as JSON", [
              message("creationOptions", "startRegistration, the member publicKey of toCredentialsCreateJson", creation(
                  pubKeyCredParams=parameters(-7, -8, -35, -36, -53, -257, -258, -259), hints=[],
                  excludeCredentials=[], attestation="none", extensions={"credProps": True})),
              message("creationOptions", "toCredentialsCreateJson as it is, with its own publicKey inside",
                      {"publicKey": creation(pubKeyCredParams=parameters(-7))}, "refused", "/rp is missing"),
              message("requestOptions", "startAssertion with a user's name", request | {
                  "hints": [], "allowCredentials": allowed, "extensions": {}})])
    write("go-webauthn", "0.17.4", "Go", "https://github.com/go-webauthn/webauthn", "written",
          "webauthn/registration.go, webauthn/login.go, protocol/options.go", [
              message("creationOptions", "BeginRegistration, the member publicKey: no authenticatorSelection", creation(
                  pubKeyCredParams=parameters(-7, -35, -36, -257, -258, -259, -37, -38, -39, -8), timeout=300_000)),
              message("requestOptions", "BeginLogin, the member publicKey: no userVerification", request | {
                  "timeout": 300_000, "allowCredentials": allowed}),
              message("requestOptions", "BeginDiscoverableLogin", request | {"timeout": 300_000})])
    write("Spring Security", "7.0", "Java", "https://github.com/spring-projects/spring-security", "written",
          "Webauthn4JRelyingPartyOperations and the JSON of the tests of its two filters", [
              message("creationOptions", "the answer to /webauthn/register/options", creation(
                  pubKeyCredParams=parameters(-8, -7, -257), timeout=300_000, excludeCredentials=[],
                  authenticatorSelection={"residentKey": "required", "userVerification": "preferred"},
                  attestation="none", extensions={"credProps": True})),
              message("creationOptions", "the same, with a credential that has transports to exclude", creation(
                  pubKeyCredParams=parameters(-8, -7, -257), timeout=300_000, attestation="none",
                  excludeCredentials=[{"type": "public-key", "id": "ChfoCM8CJA_wwUGDdzdtuw",
                                       "transports": ["hybrid"]}])),
              message("requestOptions", "the answer to /webauthn/authenticate/options", request | {
                  "timeout": 300_000, "allowCredentials": [], "userVerification": "preferred", "extensions": {}})])


if __name__ == "__main__":
    for each in (jwx, jose4j, nimbus, webauthn_servers):
        each()
