"""Runs libraries and records what they write: the fixtures of `Tests/Fixtures/Libraries` whose origin is `recorded`.

Needs the Debian packages golang-go, golang-github-golang-jwt-jwt-dev, golang-gopkg-square-go-jose.v2-dev and
ruby-webauthn beside the Python packages of `Tests/Stories/requirements.txt`. Every key is new and thrown away.

Run with `.venv/bin/python Tests/Counterparts/libraries/record.py [NAME ...]`.
"""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import jwt
import webauthn
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.server import Fido2Server
from fido2.webauthn import PublicKeyCredentialDescriptor, PublicKeyCredentialRpEntity, PublicKeyCredentialUserEntity
from jwcrypto import jwk as jwcrypto_jwk
from jwcrypto import jwt as jwcrypto_jwt
from jwt.algorithms import ECAlgorithm
from webauthn.helpers import base64url_to_bytes, options_to_json_dict
from webauthn.helpers.structs import PublicKeyCredentialDescriptor as PyDescriptor

from messages import CREDENTIAL, ISSUED, KEY_ID, TYPE, claims, jws, key_set, message, write

HERE = Path(__file__).resolve().parent
USER = b"cardholder-0001."
UNTYPED = "typ is neither oob-authn-request+jwt nor oob-authn-cancel+jwt"
NAMELESS = "kid is missing"


def debian(package: str) -> str:
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], check=True, capture_output=True,
                          text=True).stdout.split("-")[0].split("+")[0]


def go(script: str) -> dict:
    environment = os.environ | {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode"}
    text = json.dumps(claims(aud=[claims()["aud"]]))
    done = subprocess.run(["go", "run", script], cwd=HERE, env=environment, input=text, check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def golang_jwt() -> None:
    made = go("golang_jwt.go")
    keys = key_set(made["key"])
    write("golang-jwt", debian("golang-github-golang-jwt-jwt-dev"), "Go", "https://github.com/golang-jwt/jwt",
          "recorded", "Tests/Counterparts/libraries/golang_jwt.go", [
              jws("RegisteredClaims with kid and typ set in Token.Header; aud is an array", made["named"], keys),
              jws("the default header, whose typ is JWT", made["untyped"], keys, "said", UNTYPED),
              jws("no kid, which the library never adds", made["nameless"], keys, "said", NAMELESS)])


def go_jose() -> None:
    made = go("go_jose.go")
    write("go-jose", debian("golang-gopkg-square-go-jose.v2-dev"), "Go", "https://github.com/go-jose/go-jose",
          "recorded", "Tests/Counterparts/libraries/go_jose.go", [
              message("jwks", "JSONWebKeySet of a JSONWebKey with its KeyID: no alg, no use", made["jwks"]),
              message("jwks", "JSONWebKeySet with Algorithm and Use set", made["whole"]),
              message("jwks", "JSONWebKeySet of a key without KeyID", made["bare"], "said", NAMELESS),
              jws("a signer WithType, whose key has a KeyID; aud is an array", made["named"], made["jwks"]),
              jws("a signer without a type, which writes no typ", made["untyped"], made["jwks"], "said", UNTYPED),
              jws("a signer whose key has no KeyID", made["nameless"], made["jwks"], "said", NAMELESS)])


def pyjwt() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    public = json.loads(ECAlgorithm.to_jwk(key.public_key()))
    keys = key_set(public)

    def sign(headers: dict, **changes) -> str:
        return jwt.encode(claims(**changes), key, algorithm="ES256", headers=headers)

    named = {"kid": KEY_ID, "typ": TYPE}
    write("PyJWT", version("PyJWT"), "Python", "https://github.com/jpadilla/pyjwt", "recorded",
          "Tests/Counterparts/libraries/record.py", [
              message("jwks", "ECAlgorithm.to_jwk and a kid: no alg, no use", keys),
              message("jwks", "ECAlgorithm.to_jwk as it is: no kid", {"keys": [public]}, "said", NAMELESS),
              jws("encode with kid and typ in headers", sign(named), keys),
              jws("aud as a list of one", sign(named, aud=[claims()["aud"]]), keys),
              jws("the default typ, JWT", sign({"kid": KEY_ID}), keys, "said", UNTYPED),
              jws("no kid, which the library never adds", sign({"typ": TYPE}), keys, "said", NAMELESS),
              jws("exp of time.time(), a float, which the library leaves as it is", sign(named, exp=ISSUED + 600.25),
                  keys, "refused", "exp must be an integer")])


def jwcrypto() -> None:
    key = jwcrypto_jwk.JWK.generate(kty="EC", crv="P-256", kid=KEY_ID)
    keys = jwcrypto_jwk.JWKSet()
    keys.add(key)
    public = keys.export(private_keys=False, as_dict=True)

    def sign(header: dict) -> str:
        token = jwcrypto_jwt.JWT(header=header, claims=claims())
        token.make_signed_token(key)
        return token.serialize()

    write("jwcrypto", version("jwcrypto"), "Python", "https://github.com/latchset/jwcrypto", "recorded",
          "Tests/Counterparts/libraries/record.py", [
              message("jwks", "JWKSet.export(private_keys=False) of a generated key: no alg, no use", public),
              jws("a JWT with kid and typ in its header", sign({"alg": "ES256", "kid": KEY_ID, "typ": TYPE}), public),
              jws("a JWT without typ", sign({"alg": "ES256", "kid": KEY_ID}), public, "said", UNTYPED)])


def py_webauthn() -> None:
    create = webauthn.generate_registration_options(
        rp_id="issuer.example", rp_name="Example Bank", user_name="cardholder")
    get = webauthn.generate_authentication_options(
        rp_id="issuer.example", allow_credentials=[PyDescriptor(id=base64url_to_bytes(CREDENTIAL))])
    write("py_webauthn", version("webauthn"), "Python", "https://github.com/duo-labs/py_webauthn", "recorded",
          "Tests/Counterparts/libraries/record.py", [
              message("creationOptions", "generate_registration_options", options_to_json_dict(create)),
              message("requestOptions", "generate_authentication_options", options_to_json_dict(get))])


def python_fido2() -> None:
    server = Fido2Server(PublicKeyCredentialRpEntity(id="issuer.example", name="Example Bank"))
    user = PublicKeyCredentialUserEntity(id=USER, name="cardholder", display_name="A. Cardholder")
    create, _ = server.register_begin(user)
    credential = PublicKeyCredentialDescriptor(type="public-key", id=base64url_to_bytes(CREDENTIAL))
    get, _ = server.authenticate_begin([credential])
    write("python-fido2", version("fido2"), "Python", "https://github.com/Yubico/python-fido2", "recorded",
          "Tests/Counterparts/libraries/record.py", [
              message("creationOptions", "Fido2Server.register_begin, its member publicKey", dict(create)["publicKey"]),
              message("creationOptions", "the whole answer, with its own publicKey inside", dict(create), "refused",
                      "/rp is missing"),
              message("requestOptions", "Fido2Server.authenticate_begin, its member publicKey",
                      dict(get)["publicKey"])])


def webauthn_ruby() -> None:
    done = subprocess.run(["ruby", "webauthn_ruby.rb"], cwd=HERE, check=True, capture_output=True, text=True)
    made = json.loads(done.stdout)
    write("webauthn-ruby", made["version"], "Ruby", "https://github.com/cedarcode/webauthn-ruby", "recorded",
          "Tests/Counterparts/libraries/webauthn_ruby.rb", [
              message("creationOptions", "options_for_create without rp_id: no rp.id", made["nameless"]),
              message("creationOptions", "options_for_create with rp_id", made["named"]),
              message("requestOptions", "options_for_get without rp_id: no rpId", made["nameless_get"]),
              message("requestOptions", "options_for_get with rp_id", made["named_get"])])


RECORDERS = {each.__name__: each
             for each in (golang_jwt, go_jose, pyjwt, jwcrypto, py_webauthn, python_fido2, webauthn_ruby)}

if __name__ == "__main__":
    for name in sys.argv[1:] or RECORDERS:
        RECORDERS[name]()
