internal import IssuerProtocol
import Records
internal import Synchronization

/// The client certificate and the proxy that the operator has set for all issuers.
package struct OutboundNetwork: Sendable {
    /// The client certificate for issuers that require one.
    package let identity: ClientIdentity?
    /// The proxy for all issuers, except on loopback: to a proxy, loopback is another machine.
    package let proxy: HTTPProxy?

    package init(identity: ClientIdentity? = nil, proxy: HTTPProxy? = nil) {
        self.identity = identity
        self.proxy = proxy
    }

    func proxy(to target: IssuerTarget) -> HTTPProxy? { target.issuer.isLoopback ? nil : proxy }
}

/// The current network path, which may change at any time.
final class CurrentNetwork: Sendable {
    private let state: Mutex<OutboundNetwork>

    init(_ network: OutboundNetwork) { state = Mutex(network) }

    var network: OutboundNetwork { state.withLock(\.self) }

    func replace(by network: OutboundNetwork) { state.withLock { $0 = network } }
}

/// An HTTP proxy, which tunnels TLS (RFC 9110 §9.3.6, CONNECT) and so sees the issuer's name only.
package struct HTTPProxy: Hashable, Sendable, CustomStringConvertible {
    /// The fault in a proxy's address: one sentence that quotes no part of the address.
    package struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// An IPv6 address is without its brackets.
    let host: String
    let port: Int

    /// Parses `http://HOST:PORT`.
    package init(_ text: String) throws(Refusal) {
        let scheme = "http://"
        guard String(decoding: text.utf8.prefix(scheme.utf8.count), as: UTF8.self).lowercased() == scheme else {
            throw Refusal(description: "must be http://HOST:PORT")
        }
        let authority = text.dropFirst(scheme.count)
        guard !authority.contains("@") else {
            throw Refusal(description: "must be http://HOST:PORT; a user and password are not supported")
        }
        guard let colon = authority.lastIndex(of: ":"),
            let port = Self.port(authority[authority.index(after: colon)...]),
            let host = Self.host(authority[..<colon])
        else { throw Refusal(description: "must be http://HOST:PORT, and nothing after the port") }
        self.host = host
        self.port = port
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func port(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = UInt16(text),
            port > 0
        else { return nil }
        return Int(port)
    }

    /// Parses a name, an IPv4 address, or an IPv6 address in brackets.
    ///
    /// The resolver checks the address itself.
    private static func host(_ text: Substring) -> String? {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        let host = isBracketed ? text.dropFirst().dropLast() : text
        let isOfItsForm = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            default: isBracketed && byte == UInt8(ascii: ":")
            }
        }
        return isOfItsForm && (1...253).contains(host.utf8.count) ? String(host) : nil
    }
}
