internal import IssuerProtocol
import Records
internal import Synchronization

/// What a person has put between the agent and all of its issuers.
package struct OutboundNetwork: Sendable {
    /// What is shown to an issuer that asks for a client certificate.
    package let identity: ClientIdentity?
    /// Through which issuers are reached; never one on loopback, which is another machine there.
    package let proxy: HTTPProxy?

    package init(identity: ClientIdentity? = nil, proxy: HTTPProxy? = nil) {
        self.identity = identity
        self.proxy = proxy
    }

    func proxy(to target: IssuerTarget) -> HTTPProxy? { target.issuer.isLoopback ? nil : proxy }
}

/// The network path in use, which may change at any time.
final class PresentRoad: Sendable {
    private let state: Mutex<OutboundNetwork>

    init(_ network: OutboundNetwork) { state = Mutex(network) }

    var network: OutboundNetwork { state.withLock(\.self) }

    func replace(by network: OutboundNetwork) { state.withLock { $0 = network } }
}

/// An HTTP proxy, which tunnels TLS (RFC 9110 §9.3.6, CONNECT) and so sees the issuer's name only.
package struct HTTPProxy: Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with a proxy's address: one sentence that quotes nothing of it.
    package struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// Of an IPv6 address without its brackets.
    let host: String
    let port: Int

    /// Reads `http://HOST:PORT`.
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

    /// A name or an IPv4 address, or an IPv6 address in brackets; whether it is one, the resolver says.
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
