import CLinux
import Glibc

/// The listener's port at the other address of `localhost`, reserved so that no other process listens there.
///
/// `localhost` is 127.0.0.1 and [::1]. A browser takes both for one origin, so a process that listens on the other
/// address could serve pages of that origin. A connection to the reserved port is refused, and browsers then try the
/// listener's address.
package final class ReservedPort: Sendable {
    /// The socket, or `nil` if the machine does not have the other address, so that nobody can listen there.
    private let file: CInt?

    /// - Parameter taken: the listener's address, such as `127.0.0.1:8300` or `[::1]:8300`.
    /// - Returns: `nil` if another process has the port there, or if that is not known.
    package init?(besides taken: String) {
        guard let port = taken.split(separator: ":").last.flatMap({ UInt16($0) }) else { return nil }
        let file = clinux_reserve_loopback(taken.hasPrefix("[") ? 0 : 1, port)
        guard file < 0 else {
            self.file = file
            return
        }
        guard errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT else { return nil }
        self.file = nil
    }

    deinit { if let file { close(file) } }
}
