"""The case files of EMV 3-D Secure's messages (Tests/Fixtures/Cases/emv), and the tables that the docs make of them.

A file is one version and channel, with the messages of each outcome. Identifiers stand as <their name>.
"""

import json
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "Fixtures" / "Cases" / "emv"

VERSIONS = {
    "2.1.0": {"messageVersion": "2.1.0"},
    "2.2.0": {"messageVersion": "2.2.0", "whiteListStatus": "N"},
    "2.2.0 with Bridging": {"messageVersion": "2.2.0", "bridging": True, "whiteListStatus": "N"},
    "2.3.1": {"messageVersion": "2.3.1", "trustListStatus": "N", "deviceBindingStatus": "05"},
}
OOB_APP = {"oobAppURL": "https://bank.example/oob?id=7", "oobAppLabel": "Open the bank's app"}
DECOUPLED = {"threeDSRequestorDecReqInd": "Y", "threeDSRequestorDecMaxTime": "10080"}
CHANNELS = {
    "app": {"deviceChannel": "01"}, "browser": {"deviceChannel": "02"}, "3ri": {"deviceChannel": "03", **DECOUPLED},
}
TITLES = {"app": "App channel", "browser": "Browser channel", "3ri": "3RI channel, decoupled"}
OUTCOMES = [
    "approved", "denied", "denied as fraud", "refused by the agent", "cancelled in the challenge UI", "expired in the app",
    "expired before the first CReq", "blocked after wrong PINs", "agent unreachable",
]
IDENTIFIERS = ["threeDSServerTransID", "acsTransID", "dsTransID", "sdkTransID", "jti"]


def profile(version: str, channel: str) -> dict:
    """The `emv` of an order."""
    emv = {**VERSIONS[version], **CHANNELS[channel]}
    if channel == "app" and version in ("2.2.0 with Bridging", "2.3.1"):
        emv |= OOB_APP | {"oobContinue": "02"}
    if channel == "app" and version == "2.3.1":
        emv["threeDSRequestorAppURLInd"] = "Y"
    return emv


def exists(version: str, channel: str, outcome: str) -> bool:
    """2.1.0 has no decoupled authentication, and a decoupled one has no challenge to begin or to cancel."""
    if channel == "3ri":
        return version != "2.1.0" and outcome not in ("cancelled in the challenge UI", "expired before the first CReq")
    return True


def cells() -> list[tuple[str, str, str]]:
    return [(version, channel, outcome) for version in VERSIONS for channel in CHANNELS for outcome in OUTCOMES
            if exists(version, channel, outcome)]


def file(version: str, channel: str) -> Path:
    return FOLDER / f"{version.replace(' ', '-')}-{channel}.json"


def without_identifiers(messages: list[dict]) -> list[dict]:
    return [{name: f"<{name}>" if name in IDENTIFIERS else value for name, value in message.items()}
            for message in messages]


def stored() -> dict[tuple[str, str, str], list[dict]]:
    found = {}
    for version in VERSIONS:
        for channel in CHANNELS:
            if file(version, channel).exists():
                for outcome, messages in json.loads(file(version, channel).read_text(encoding="utf-8")).items():
                    found[version, channel, outcome] = messages
    return found


def store(played: dict[tuple[str, str, str], list[dict]]):
    FOLDER.mkdir(exist_ok=True)
    for version in VERSIONS:
        for channel in CHANNELS:
            cases = {outcome: played[version, channel, outcome] for outcome in OUTCOMES
                     if (version, channel, outcome) in played}
            if cases:
                # A message a line, so that a change shows which one it is.
                lines = [f"  {json.dumps(outcome)}: [\n" + ",\n".join(
                    "    " + json.dumps(message, ensure_ascii=False) for message in messages) + "\n  ]"
                    for outcome, messages in cases.items()]
                file(version, channel).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def row(messages: list[dict]) -> dict[str, str]:
    """What tells the outcomes of one channel apart."""
    kinds = [message.get("messageType") for message in messages]
    creqs = [message for message in messages if message.get("messageType") == "CReq"]
    rreq = messages[kinds.index("RReq")]
    last = creqs[-1] if len(creqs) > 1 else {}
    bridged = {name: value for extension in last.get("messageExtension", [])
               for name, value in extension["data"]["challengeData"].items()}
    # Its value differs by version in form alone.
    said = ["oobContinue"] if "oobContinue" in {**last, **bridged} else []
    said += [f"challengeCancel {last['challengeCancel']}"] if "challengeCancel" in last else []
    finals = [message["transStatus"] for message in messages if message.get("messageType") == "CRes" and "transStatus" in message]
    return {
        "last CReq": " ".join(said) or "none", "RReq transStatus": rreq["transStatus"],
        "transStatusReason": rreq.get("transStatusReason", "none"),
        "challengeCancel": rreq.get("challengeCancel", "none"),
        "interactionCounter": rreq.get("interactionCounter", "none"), "final CRes": " ".join(finals) or "none",
    }


def cell(values: dict[str, str]) -> str:
    """One value if all versions have it, else 2.2.0's and the others."""
    common = values["2.2.0"]
    others = [f"{version}: {value}" for version, value in values.items() if value != common]
    return common + (f" ({'; '.join(others)})" if others else "")


def table(channel: str, cases: dict[tuple[str, str, str], list[dict]]) -> str:
    rows = {outcome: {version: row(cases[version, channel, outcome]) for version in VERSIONS
                      if (version, channel, outcome) in cases} for outcome in OUTCOMES}
    rows = {outcome: versions for outcome, versions in rows.items() if versions}
    columns = list(next(iter(next(iter(rows.values())).values())))
    if channel != "app":
        columns.remove("last CReq")
    lines = [["outcome", *columns], ["---"] * (len(columns) + 1)]
    lines += [[outcome, *(cell({version: values[column] for version, values in versions.items()}) for column in columns)]
              for outcome, versions in rows.items()]
    return "\n".join("|" + "|".join(line) + "|" if line[0] == "---" else f"| {' | '.join(line)} |" for line in lines) + "\n"


def replaced(page: str, channel: str, text: str) -> str:
    """The page with the table between the channel's two marks."""
    begin, end = f"<!-- made of the case files: {channel} -->\n", f"<!-- end of {channel} -->"
    assert begin in page and end in page, channel
    return re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: begin + text + end, page, flags=re.DOTALL)
