"""Text of merchants and issuers as it may be shown on a terminal."""

import json

LONGEST = 200_000  # characters of one text


def shown(text: str) -> str:
    """The text with everything escaped that a terminal obeys or that reorders or hides text, and not too long.

    Control, format and private characters and other spaces than U+0020 come out as `\\uXXXX`, as JSON has them.
    """
    left = len(text) - LONGEST
    escaped = "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text[:LONGEST])
    return f"{escaped} … ({left} more characters are left out)" if left > 0 else escaped
