import CLinux
import FoundationEssentials
import Glibc
package import LinuxProcess

/// Standard output and standard error, which only this type writes to in a service.
package enum StandardStream {
    /// The output that the user asked for, or one line with the address at which the program answers.
    case output
    /// All other output: messages and the log.
    case error

    /// Writes one line at once, so that lines of several threads do not mix.
    ///
    /// An error is ignored, because it cannot be reported anywhere.
    package func write(_ line: String) { try? writeAll(line) }

    /// Writes one line at once, and throws an error if a part of it is not written.
    package func writeAll(_ line: String) throws(SystemError) {
        try writeAll(Array((line + "\n").utf8)[...])
    }

    func writeAll(_ bytes: ArraySlice<UInt8>) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if written < 0 && errno == EAGAIN {
                waitForRoom()
            } else if written == 0 || errno != EINTR {
                throw SystemError(operation: "write to \(name)", errno: errno)
            }
        }
    }

    /// Waits until the stream can be written, because another process may have made it non-blocking for all.
    private func waitForRoom() {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&room, 1, -1)
    }

    /// Writes as many bytes as the stream accepts without waiting for a reader, and returns their number.
    func writeAtOnce(_ bytes: ArraySlice<UInt8>) -> Int {
        max(0, unsafe bytes.withUnsafeBytes { unsafe clinux_write_at_once(descriptor, $0.baseAddress, $0.count) })
    }

    /// Whether this stream still goes to the journal (systemd.exec(5), JOURNAL_STREAM).
    ///
    /// The variable alone does not show that: every child process of a service inherits it, even if its stream goes
    /// elsewhere.
    package var isJournal: Bool {
        var status = stat()
        guard let named = Self.journal, unsafe fstat(descriptor, &status) == 0 else {
            return false
        }
        return named == "\(status.st_dev):\(status.st_ino)"
    }

    private static let journal = ProcessInfo.processInfo.environment["JOURNAL_STREAM"]

    private var name: String {
        switch self {
        case .output: "standard output"
        case .error: "standard error"
        }
    }

    private var descriptor: CInt {
        switch self {
        case .output: STDOUT_FILENO
        case .error: STDERR_FILENO
        }
    }
}
