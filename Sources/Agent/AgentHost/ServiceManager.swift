import Glibc
package import LinuxProcess

/// The service manager that started this process (sd_notify(3)).
package struct ServiceManager: Sendable {
    private let socket: [UInt8]
    /// The watchdog timeout (`WatchdogSec=`), or `nil` if the manager has no watchdog for this process.
    package let patience: Duration?

    /// Reads and unsets the notification variables, so that child processes do not inherit them.
    ///
    /// Returns `nil` if they are not set. Call before another thread reads the environment.
    package static func takeFromEnvironment() -> ServiceManager? {
        let names = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]
        let values = names.map { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
        for name in names { _ = unsafe unsetenv(name) }
        return ServiceManager(socket: values[0], watchdog: values[1], watched: values[2], ownID: getpid())
    }

    /// - Parameters:
    ///   - socket: a path, or an abstract socket name that starts with `@` (unix(7)).
    ///   - watchdog: the watchdog timeout, in microseconds.
    ///   - watched: the id of the watched process. `nil` means this process.
    init?(socket: String?, watchdog: String?, watched: String?, ownID: Int32) {
        guard let socket, let first = socket.utf8.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@"),
            (2...UnixAddress.maxBytes).contains(socket.utf8.count)
        else { return nil }
        self.socket = Array(socket.utf8)
        let isOurs = watched == nil || watched == String(ownID)
        let microseconds = watchdog.flatMap(Int64.init) ?? 0
        patience = isOurs && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Sends state changes; blocks for at most one second.
    package func send(_ news: [News]) throws(SystemError) {
        let bytes = Array(news.map(\.text).joined(separator: "\n").utf8)
        let file = Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { throw .afterCall("socket") }
        defer { close(file) }
        var bound = timeval(tv_sec: 1, tv_usec: 0)
        guard unsafe setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &bound, socklen_t(MemoryLayout<timeval>.size)) == 0
        else {
            throw .afterCall("setsockopt SO_SNDTIMEO")
        }
        var sent: Int
        repeat { sent = UnixAddress(socket).send(bytes, from: file) } while sent < 0 && errno == EINTR
        guard sent == bytes.count else {
            throw .afterCall("sendto NOTIFY_SOCKET")
        }
    }
}

extension ServiceManager {
    package enum News: Sendable, Equatable {
        case ready, reloading, stopping
        /// A keep-alive ping for the watchdog.
        case alive
        /// The start is still in progress; the manager must wait this long for the next message.
        case working(Duration)
        /// The status for people: one line.
        case status(String)

        /// The most bytes of a status.
        static let maxStatusBytes = 512

        /// The notification: lines of `NAME=VALUE`.
        var text: String {
            switch self {
            case .ready: "READY=1"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.now)"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .working(let patience): "EXTEND_TIMEOUT_USEC=\(Int64(patience / .microseconds(1)))"
            case .status(let text): "STATUS=" + Self.line(text)
            }
        }

        /// Cuts the text after a whole scalar, and replaces line feeds: they would begin another assignment.
        private static func line(_ text: String) -> String {
            var line = String.UnicodeScalarView()
            var bytes = 0
            for scalar in text.unicodeScalars {
                bytes += UTF8.width(scalar)
                guard bytes <= maxStatusBytes else { break }
                line.append(scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar)
            }
            return String(line)
        }

        /// The monotonic clock in microseconds (clock_gettime(2)).
        private static var now: Int {
            var time = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &time)
            return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
        }
    }
}
