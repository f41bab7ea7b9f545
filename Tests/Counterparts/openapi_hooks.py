"""Gives the calls that schemathesis makes up something to be about.

A code, a ceremony, a request or a token that is made at random is unknown, and an issuer looks no further. So before a
call goes out, every such name that is of its form is replaced by one that the sandbox has just made.
"""

import os
import re

import schemathesis

from software_authenticator import Enrolled, call, enrollment_options
from test_sandbox import MODEL

ORIGIN = os.environ["OOB_TEST_ISSUER"]
AUTHENTICATOR, TOKEN = os.environ["OOB_TEST_AUTHENTICATOR"], os.environ["OOB_TEST_TOKEN"]


def enrollment_code() -> str:
    return call("POST", f"{ORIGIN}/sandbox/enrollment-codes", {})[1]["code"]


def jti() -> str:
    return call("POST", f"{ORIGIN}/sandbox/purchases", {"authenticatorId": AUTHENTICATOR})[1]["requests"][0]["jti"]


@schemathesis.hook
def before_call(context, case, kwargs):
    body = case.body if isinstance(case.body, dict) else {}
    match case.operation.definition.raw["operationId"]:
        case "enrollmentOptions" if is_text(body.get("enrollmentCode"), ".{1,256}"):
            body["enrollmentCode"] = enrollment_code()
        case "enroll" if is_text(body.get("ceremonyId"), "[ -~]{1,256}"):
            body["ceremonyId"] = enrollment_options(ORIGIN, enrollment_code())["ceremonyId"]
        case "decide" if is_text(case.path_parameters.get("jti"), "[A-Za-z0-9_-]{1,64}"):
            case.path_parameters["jti"] = jti()
        case "unenroll" if case.headers.get("Authorization") == f"Bearer {TOKEN}":
            case.headers["Authorization"] = f"Bearer {Enrolled(ORIGIN, enrollment_code(), aaguid=MODEL).token}"


def is_text(value, pattern: str) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value, re.DOTALL) is not None
