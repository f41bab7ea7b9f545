"""What `oobctl` and the sandbox refuse."""

import json
import subprocess

from .shown import shown


class OobError(Exception):
    """What oobctl could not do: `code` is its error number, `message` its sentence, `status` its exit status.

    The sentence may have a merchant's text in it, so it stands here as it may be shown.
    """

    def __init__(self, status: int, code: int, message: str):
        message = shown(message)
        super().__init__(f"{message} (exit status {status}, code {code})")
        self.status, self.code, self.message = status, code, message


class NoRequest(OobError):
    """No request of that ID came in time."""


class ExpectationFailed(OobError):
    """The request is not what the test expected: nothing was decided, and it is still pending."""


class TooLate(OobError):
    """The request has expired, or was cancelled, refused or decided before."""


def error_of(run: subprocess.CompletedProcess) -> OobError:
    """What a run says that did not succeed."""
    kind = {3: NoRequest, 4: ExpectationFailed, 7: TooLate}.get(run.returncode, OobError)
    try:
        error = json.loads(run.stderr)["error"]
    except (ValueError, KeyError):  # It was decided, but is not delivered, or not taken: then the request is printed.
        return kind(run.returncode, 70001, (run.stderr or run.stdout).strip())
    return kind(run.returncode, error["code"], error["message"])
