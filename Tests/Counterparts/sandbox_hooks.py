"""Gives the calls to the sandbox that schemathesis makes up something to be about.

An id that is made at random is nobody's, and the sandbox looks no further. So before a call goes out, every id that is
of its form is replaced by one that the sandbox has just made.
"""

import os
import uuid

import schemathesis

from software_authenticator import Enrolled, call
from test_sandbox import MODEL

ORIGIN = os.environ["OOB_TEST_ISSUER"]


def enrolled() -> str:
    """The id of a new authenticator, whatever fails on purpose by now."""
    call("DELETE", f"{ORIGIN}/sandbox/faults?odds=true")
    code = call("POST", f"{ORIGIN}/sandbox/enrollment-codes", {})[1]["code"]
    Enrolled(ORIGIN, code, aaguid=MODEL)
    return call("GET", f"{ORIGIN}/sandbox/authenticators")[1][-1]["id"]


def purchase() -> str:
    """The acsTransId of a new purchase."""
    return call("POST", f"{ORIGIN}/sandbox/purchases", {"authenticatorId": enrolled(), "expiresIn": 86_400})[1]["acsTransId"]


@schemathesis.hook
def before_call(context, case, kwargs):
    parts = case.path_parameters or {}
    if is_uuid(parts.get("acsTransId")):
        parts["acsTransId"] = purchase()
    if isinstance(parts.get("id"), str):
        parts["id"] = enrolled()
    query = case.query or {}
    # Nothing here waits for news.
    if str(query.get("wait")) in map(str, range(61)):
        query["wait"] = 0
    if isinstance(case.body, (dict, list)):
        case.body = written(case.body)


def written(value):
    """A whole number without a point: a schema takes 1.0 for an integer, and the sandbox does not."""
    match value:
        case dict():
            return {name: written(each) for name, each in value.items()}
        case list():
            return [written(each) for each in value]
        case float() if value.is_integer():
            return int(value)
    return value


def is_uuid(value) -> bool:
    try:
        return isinstance(value, str) and str(uuid.UUID(value)) == value.lower()
    except ValueError:
        return False
