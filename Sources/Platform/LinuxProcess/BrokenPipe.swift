import Glibc

/// A write to a pipe or socket whose reader has gone.
package enum BrokenPipe {
    /// Makes such a write fail with EPIPE, so that it does not end the process (SIGPIPE, signal(7)).
    ///
    /// Call it first in `main`. SwiftNIO does it too, but only at its first connection. An error of the start, and the
    /// first log lines, come before that.
    package static func ignoreSignal() { _ = signal(SIGPIPE, SIG_IGN) }
}
