"""Programs on a pseudo-terminal."""

import signal

import pexpect


class Terminal(pexpect.spawn):
    """Whoever closes it waits until the program has ended: pexpect gives up after a few tenths of a second, which a busy
    machine takes."""

    def close(self, force: bool = True):
        if not self.closed and self.isalive():
            if not self.flag_eof:
                self.kill(signal.SIGKILL)
            self.wait()
        super().close(force)
