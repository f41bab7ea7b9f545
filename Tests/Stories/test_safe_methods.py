"""A GET or a HEAD changes nothing (RFC 9110 section 9.2.1), at any path that any of the programs serves.

Run with `.venv/bin/python Tests/Stories/test_safe_methods.py`; OOB_BIN_DIR names the programs' directory.
"""

import http.client
import json
import re
import socket
import sqlite3
import unittest
import urllib.parse
from pathlib import Path

import yaml

from inbox_scene import ROOT, WITHIN, Inbox, Scene
from programs import Agent, Sandbox, free_port, started, temporary_folder
from software_authenticator import MODEL, Enrolled

# What answers until its client goes.
STREAMS = {"/v1/events", "/events"}
NOTED = {"/v1/backup", "/v1/enrollments/{id}/key", "/v1/enrollments/{id}/public-key"}


def documented(name: str) -> list[str]:
    """The paths of a description that have a GET."""
    return [path for path, item in yaml.safe_load((ROOT / "openapi" / name).read_text())["paths"].items() if "get" in item]


def rows(folder: Path) -> dict[str, list]:
    """All rows of the sandbox's database and the agent's."""
    found = {}
    for file in [*folder.glob("*.db"), *(folder / "state").glob("*.db")]:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            names = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
            for name in names:
                found[f"{file.name} {name}"] = sorted(map(repr, database.execute(f'SELECT * FROM "{name}"')))
        database.close()
    return found


class SafeMethods(Scene):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        push, metrics = free_port(), free_port()
        cls.sandbox = started(cls, Sandbox(cls.folder, "--database", str(cls.folder / "issuer.db")))
        cls.agent = started(cls, Agent(
            cls.folder, "--push-listen", f"localhost:{push}", "--push-url", f"http://localhost:{push}",
            "--poll-interval-with-push", "3600", "--metrics-listen", f"127.0.0.1:{metrics}"))
        cls.agent.json("enroll", cls.code(), *cls.AUTHN_TYPE, "--name", "kitchen")
        cls.inbox = started(cls, Inbox(cls.folder, cls.agent))
        cls.push, cls.metrics = f"localhost:{push}", f"127.0.0.1:{metrics}"

    def ask(self, method: str, host: str | None, path: str, **fields: str) -> http.client.HTTPResponse:
        """One call, of the control socket without a host; its `text` is its body, unless that has no end."""
        connection = http.client.HTTPConnection(host or "agent", timeout=WITHIN)
        if host is None:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.connect(str(self.agent.socket))
        connection.request(method, path, headers=fields)
        answer = connection.getresponse()
        if method == "GET" and path.split("?")[0] in STREAMS:
            answer.text = b""
            answer.close()
        else:
            answer.text = answer.read()
        connection.close()
        return answer

    def both(self, host: str | None, path: str, **fields: str) -> int:
        """A HEAD and a GET: the same status and fields, and of HEAD no body. What they say may be of another moment."""
        head, get = (self.ask(method, host, path, **fields) for method in ["HEAD", "GET"])
        self.assertEqual(head.text, b"", path)
        self.assertEqual(head.status, get.status, path)
        own = {"date", "connection"}
        names = [{name.lower() for name, _ in answer.getheaders()} - own for answer in [head, get]]
        self.assertEqual(names[0], names[1], path)
        return get.status

    def settled(self) -> dict:
        """What is stored, once it is the same at two looks, and what the agent and the sandbox have in mind."""
        before = None
        while (now := rows(self.folder)) != before:
            before = now
        host = urllib.parse.urlsplit(self.sandbox.origin).netloc
        return {**now, "faults": self.ask("GET", host, "/sandbox/faults").text, "links": len(self.inbox.links)}

    def test_no_get_and_no_head_changes_anything(self):
        request = self.purchase()
        software = Enrolled(self.sandbox.origin, json.loads(self.issuer("code", "--json"))["code"], aaguid=MODEL)
        cookie, link = self.inbox.entered(), self.inbox.next_link()
        self.agent.ctl("fetch")
        host = urllib.parse.urlsplit(self.sandbox.origin).netloc
        call = lambda path: json.loads(self.ask("GET", host, path).text)
        (card,) = [row for row in call("/sandbox/authenticators") if row["id"] != software.id]
        endpoint = urllib.parse.urlsplit(card["push"]["endpoint"]).path
        before = self.settled()

        def filled(path: str) -> str:
            return re.sub(r"\{\w+\}", lambda name: {
                "{acsTransId}": request["transaction"]["acsTransId"], "{id}": request["id"]}.get(name[0], "x"), path)

        statuses = {}
        for path in documented("agent.yaml"):
            # A GET of these is noted in the journal: below, and in KeyExportTests. A HEAD is not.
            if path in NOTED:
                id = self.agent.json("enrollments")[0]["id"]
                head = self.ask("HEAD", None, path.replace("{id}", id))
                self.assertEqual(head.text, b"", path)
                statuses[path] = head.status
            else:
                statuses[path] = self.both(None, filled(path))
        for path in documented("issuer.yaml") + documented("sandbox.yaml"):
            path = path.replace("/authenticators/{id}", f"/authenticators/{card['id']}")
            statuses[path] = self.both(host, filled(path), Authorization=f"Bearer {software.token}")
        purchase = f"/purchases/{request['transaction']['acsTransId']}"
        for path in ["/", "/page/style.css", "/page/sandbox.css", "/page/sandbox.js", purchase, f"{purchase}/sequence.svg",
                     f"{purchase}/sequence.txt"]:
            statuses[path] = self.both(host, path)
        # Whatever changes something by another method does not by these.
        for path in ["/page/codes", "/page/clock", "/page/faults", f"{purchase}/cancel", f"{purchase}/replay",
                     f"{purchase}/again"]:
            self.assertEqual(self.both(host, path), 404, path)
        for path in ["/sandbox/enrollment-codes", f"/sandbox{purchase}/cancel", f"/sandbox{purchase}/replay"]:
            self.assertEqual(self.both(host, path), 405, path)

        inbox, page = self.inbox.origin.removeprefix("http://"), f"/requests/{request['id']}"
        shown = [page, f"{page}/evidence.json", f"{page}/sequence.svg", f"{page}/purchase.svg", "/style.css", "/script.js",
                 "/icon.svg", "/events"]
        for path in shown + [f"{page}?tab={tab}" for tab in ["card", "sequence", "evidence", "wire"]]:
            statuses[f"inbox {path}"] = self.both(inbox, path, Cookie=cookie)
        self.assertEqual(self.both(inbox, "/", Cookie=cookie), 303)
        for path in ["/logout", f"{page}/decide", f"{page}/persona", f"{page}/clock", f"{page}/replay"]:
            self.assertEqual(self.both(inbox, path, Cookie=cookie), 404, path)
        statuses["inbox link"] = self.both(inbox, link.removeprefix(self.inbox.origin))

        statuses["/metrics"] = self.both(self.metrics, "/metrics")
        self.assertEqual(self.both(self.push, endpoint), 405)
        for path in ["/", "/push/x", "/message/1"]:
            self.assertEqual(self.both(self.push, path), 404)

        self.assertEqual({path: status for path, status in statuses.items() if status != 200}, {})
        after = self.settled()
        for table in before.keys() | after.keys():
            self.assertEqual(before.get(table), after.get(table), table)
        # The link and the session are as good as before.
        self.assertEqual(self.state(request["id"]), "pending")
        self.assertEqual(self.ask("GET", inbox, page, Cookie=cookie).status, 200)
        self.assertEqual(self.inbox.enter(link).status, 303)

    def test_a_backup_is_noted_in_the_journal_and_changes_nothing_else(self):
        before = self.settled()
        self.assertEqual(self.ask("GET", None, "/v1/backup").status, 200)
        after = self.settled()
        changed = {table for table in before.keys() | after.keys() if before.get(table) != after.get(table)}
        self.assertTrue(all("journal" in table or "mark" in table for table in changed), changed)


if __name__ == "__main__":
    unittest.main()
