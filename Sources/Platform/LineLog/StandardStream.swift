import CLinux
import FoundationEssentials
import Glibc
package import LinuxProcess

/// Standard output and standard error: of a service nothing else writes to them.
package enum StandardStream {
    /// For whoever started the program: what was asked for, or one line that says where it answers.
    case output
    /// Everything else: messages and the log.
    case error

    /// Writes one line at once, so that lines of several threads do not mix; if it cannot, nobody could be told.
    package func write(_ line: String) { try? writeAll(line) }

    /// The same, for what is of no use in part.
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

    /// Another process that has the stream may have made it non-blocking, for all that have it.
    private func waitForRoom() {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&room, 1, -1)
    }

    /// Writes as many of the bytes as the stream takes without waiting for a reader, and says how many.
    func writeAtOnce(_ bytes: ArraySlice<UInt8>) -> Int {
        max(0, unsafe bytes.withUnsafeBytes { unsafe clinux_write_at_once(descriptor, $0.baseAddress, $0.count) })
    }

    /// Whether what is written goes to the journal (systemd.exec(5), JOURNAL_STREAM), and not somewhere else since.
    ///
    /// The variable alone says nothing: whatever the journal's own processes start has it too.
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
