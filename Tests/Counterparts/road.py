"""What can stand between an agent and an issuer: a TLS server with certificates of its own, and an HTTP proxy.

Certificates are made by the machine's own openssl; TLS is Python's, which is OpenSSL too.
"""

import socket
import ssl
import subprocess
import threading
import uuid
import warnings
from pathlib import Path

EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def openssl(*arguments: str | Path):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


class Authority:
    """A certificate authority in a directory, and what it issues: pairs of paths, certificate and key."""

    def __init__(self, folder: Path):
        self.folder = folder / uuid.uuid4().hex
        self.folder.mkdir()
        self.certificate, self.key = self.folder / "ca.pem", self.folder / "ca.key"
        openssl("req", "-x509", *EC, "-subj", "/CN=Test authority", "-days", "2", "-keyout", self.key,
                "-out", self.certificate)

    def issue(self, name: str, days: int = 2, *, in_cn_alone: bool = False) -> tuple[Path, Path]:
        place = self.folder / uuid.uuid4().hex
        certificate, key, request, extensions = (place.with_suffix(f".{end}") for end in ["pem", "key", "csr", "ext"])
        extensions.write_text("basicConstraints=CA:FALSE\n" if in_cn_alone else f"subjectAltName=DNS:{name}\n")
        openssl("req", "-new", *EC, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                "-days", str(days), "-extfile", extensions, "-out", certificate)
        return certificate, key

    def self_signed(self, name: str) -> tuple[Path, Path]:
        place = self.folder / uuid.uuid4().hex
        certificate, key = place.with_suffix(".pem"), place.with_suffix(".key")
        openssl("req", "-x509", *EC, "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-days", "2",
                "-keyout", key, "-out", certificate)
        return certificate, key


def server_side(pair: tuple[Path, Path], *, versions: tuple = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3),
                clients: Authority | None = None) -> ssl.SSLContext:
    """A server with that certificate, of these versions of TLS; with `clients`, one that takes only theirs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if versions[0] < ssl.TLSVersion.TLSv1_2:
        context.set_ciphers("ALL:@SECLEVEL=0")  # Or OpenSSL itself refuses to speak it.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # The old versions are the point.
        context.minimum_version, context.maximum_version = versions
    context.load_cert_chain(*pair)
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients.certificate)
    return context


class Relay:
    """Takes connections on a free port of loopback and joins each with one to `target`. A context manager."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.target: int | None = None
        self.open: set[socket.socket] = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:  # It was closed.
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def greet(self, client: socket.socket) -> socket.socket:
        """What is to be done before bytes go to and fro; returns what they come from."""
        return client

    def serve(self, client: socket.socket):
        try:
            client = self.greet(client)
            server = socket.create_connection(("127.0.0.1", self.target), timeout=30)
        except (OSError, TypeError):
            client.close()
            return
        server.settimeout(None)
        self.open |= {client, server}
        threading.Thread(target=self.copy, args=(server, client), daemon=True).start()
        self.copy(client, server)

    def copy(self, source: socket.socket, sink: socket.socket):
        try:
            while bytes := source.recv(65_536):
                sink.sendall(bytes)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for end in self.open:
            end.close()


class Front(Relay):
    """The TLS in front of an issuer; `origin` is where it is."""

    def __init__(self, context: ssl.SSLContext):
        self.context = context
        super().__init__()
        self.origin = f"https://localhost:{self.port}"

    def greet(self, client: socket.socket) -> socket.socket:
        return self.context.wrap_socket(client, server_side=True)


class Proxy(Relay):
    """An HTTP proxy that tunnels; whatever name it is asked for, `target` is there."""

    def __init__(self):
        self.requests: list[str] = []
        super().__init__()

    def greet(self, client: socket.socket) -> socket.socket:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            bytes = client.recv(1)
            if not bytes:
                raise ConnectionError("the client went away")
            head += bytes
        self.requests.append(head.split(b"\r\n")[0].decode())
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return client
