package import HTTPServing
import HummingbirdCore
package import PageServing

/// The address that the inbox listens on, and the origin for browsers.
package struct InboxAddress: Sendable, Equatable {
    package enum Place: Sendable, Equatable {
        case tcp(ListenAddress)
        /// The path of a Unix socket, for a proxy.
        case socket(String)
    }

    package let place: Place
    /// The origin under which a proxy serves the page, such as `https://inbox.example`, or `nil` without a proxy.
    package let publicOrigin: PageOrigin?

    package init(_ place: Place, publicOrigin: PageOrigin?) {
        self.place = place
        self.publicOrigin = publicOrigin
    }

    var bound: BindAddress {
        switch place {
        case .tcp(let address): .hostname(address.host, port: address.port)
        case .socket(let path): .unixDomainSocket(path: path)
        }
    }

    /// Whether this is a TCP port of the loopback.
    var isLoopback: Bool { if case .tcp(let address) = place { address.isLoopback } else { false } }

    var text: String {
        switch place {
        case .tcp(let address): address.text
        case .socket(let path): path
        }
    }

    /// Returns the origin for the printed links.
    ///
    /// - Parameter taken: the address that the server listens on, such as `127.0.0.1:8300`.
    func origin(at taken: String) -> PageOrigin {
        if let publicOrigin { return publicOrigin }
        // The link has the address, not `localhost`. Another user may listen on the same port at the other loopback
        // address, and a browser that resolves `localhost` may connect there, with the token.
        if case .tcp(let address) = place, address.isLoopback { return PageOrigin(scheme: "http", host: taken) }
        // Any other address is inside a container, and a loopback port of this machine is forwarded to it.
        return PageOrigin(scheme: "http", host: "127.0.0.1" + (Self.port(of: taken).map { ":\($0)" } ?? ""))
    }

    /// - Parameter taken: the address that the server listens on; a socket has no port.
    func port(at taken: String) -> Int? {
        if case .tcp = place { Self.port(of: taken) } else { nil }
    }

    private static func port(of text: String) -> Int? { text.split(separator: ":").last.flatMap { Int($0) } }
}
