"""HTTP to a Unix socket, for those who only know TCP."""

import contextlib
import socket
import socketserver
import threading


class Bridge(socketserver.ThreadingTCPServer):
    """A port on loopback whose connections end at a Unix socket: `with Bridge(path) as bridge: bridge.origin`."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, path):
        self.path = str(path)
        super().__init__(("127.0.0.1", 0), Passing)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Passing(socketserver.BaseRequestHandler):
    def handle(self):
        with socket.socket(socket.AF_UNIX) as other:
            try:
                other.connect(self.server.path)
            except OSError:
                return
            back = threading.Thread(target=self.copy, args=(other, self.request), daemon=True)
            back.start()
            self.copy(self.request, other)
            back.join()

    @staticmethod
    def copy(source: socket.socket, sink: socket.socket):
        with contextlib.suppress(OSError):
            while bytes := source.recv(65_536):
                sink.sendall(bytes)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
