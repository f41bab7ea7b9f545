package import HTTPServing
import HummingbirdCore
package import PageServing

/// Where a page is listened for, and how a browser gets there.
package struct InboxAddress: Sendable, Equatable {
    package enum Place: Sendable, Equatable {
        case tcp(ListenAddress)
        /// The path of a Unix socket, for a proxy.
        case socket(String)
    }

    package let place: Place
    /// The origin as which a proxy serves it, such as `https://inbox.example`; `nil`: there is none.
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

    /// Whether it is a TCP port of the loopback.
    var isLoopback: Bool { if case .tcp(let address) = place { address.isLoopback } else { false } }

    var text: String {
        switch place {
        case .tcp(let address): address.text
        case .socket(let path): path
        }
    }

    /// The origin of the links that are printed.
    ///
    /// - Parameter taken: the address that was taken, such as `127.0.0.1:8300`.
    func origin(at taken: String) -> PageOrigin {
        if let publicOrigin { return publicOrigin }
        // By its address: another user of the machine may listen on the same port of another one, and a browser that looks
        // `localhost` up may go there, with the token.
        if case .tcp(let address) = place, address.isLoopback { return PageOrigin(scheme: "http", host: taken) }
        // Any other address is a container's, of which a port of this machine's loopback is the other end.
        return PageOrigin(scheme: "http", host: "127.0.0.1" + (Self.port(of: taken).map { ":\($0)" } ?? ""))
    }

    /// - Parameter taken: the address that was taken; a socket has no port.
    func port(at taken: String) -> Int? {
        if case .tcp = place { Self.port(of: taken) } else { nil }
    }

    private static func port(of text: String) -> Int? { text.split(separator: ":").last.flatMap { Int($0) } }
}
