"""HTTP for issuer.py: a threading server on a free port of loopback, JSON in and out, RFC 9457 problems."""

import json
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY = 1 << 20


class Problem(Exception):
    """An answer that is an error: status, the protocol's code for it (or none), and a sentence."""

    def __init__(self, status: int, code: str | None, detail: str):
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail

    @property
    def body(self) -> dict:
        body = {"type": "about:blank", "title": HTTPStatus(self.status).phrase, "status": self.status,
                "detail": self.detail}
        return body if self.code is None else {**body, "code": self.code}


class QuietServer(ThreadingHTTPServer):
    """A peer that goes away in the middle of a call, as an agent does that stops during a long poll, is no news."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Server:
    """Serves `route` until it is closed. A context manager."""

    def __init__(self):
        self.closing = False
        self.http = QuietServer(("127.0.0.1", 0), self.handler())
        self.origin = f"http://localhost:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def route(self, method: str, target: str, bearer: str | None, body: bytes):
        """(status, JSON value or None) for a request; raises `Problem`."""
        raise NotImplementedError

    def close(self):
        self.closing = True
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def handler(server):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self):
                try:
                    status, value = server.route(self.command, self.path, self.bearer(), self.body())
                    self.send(status, "application/json", value)
                except Problem as problem:
                    self.send(problem.status, "application/problem+json", problem.body)
                except (KeyError, TypeError, ValueError) as error:
                    problem = Problem(400, "invalid_request", repr(error))
                    self.send(problem.status, "application/problem+json", problem.body)

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def bearer(self) -> str | None:
                scheme, _, token = self.headers.get("Authorization", "").partition(" ")
                return token if scheme == "Bearer" else None

            def body(self) -> bytes:
                if self.headers.get("Transfer-Encoding"):
                    self.close_connection = True
                    raise Problem(411, None, "send a Content-Length")
                length = int(self.headers.get("Content-Length", "0"))
                if not 0 <= length <= MAX_BODY:
                    self.close_connection = True
                    raise Problem(413, None, "the body is too long")
                return self.rfile.read(length)

            def send(self, status: int, content_type: str, value):
                bytes = b"" if value is None else json.dumps(value, ensure_ascii=False).encode()
                self.send_response(status)
                if value is not None:
                    self.send_header("Content-Type", content_type)
                    self.send_header("Content-Length", str(len(bytes)))
                self.end_headers()
                self.wfile.write(bytes)

            def log_message(self, *_):
                pass

        return Handler
