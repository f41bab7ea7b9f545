import CLinux
import Glibc

/// The port of a listener at the other address of `localhost`, taken so that nobody else listens there.
///
/// `localhost` is 127.0.0.1 and [::1]. A browser takes both for one origin, so who listens on the other one could give out
/// pages of that origin. A connection to the reserved port is refused, and browsers then try the listener's address.
package final class ReservedPort: Sendable {
    /// `nil` if the machine does not have the other address, and so nobody listens there.
    private let file: CInt?

    /// - Parameter taken: the address that is listened on, such as `127.0.0.1:8300` or `[::1]:8300`.
    /// - Returns: `nil` if somebody else has the port there, or it cannot be found out.
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
