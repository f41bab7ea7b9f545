/// An issuer's URL, in the one spelling that is also its origin (RFC 6454 §6.2) in client data.
///
/// The scheme is `https`, or `http` if the host is loopback. The host is in lower case. A port is present only if it is
/// not the scheme's default. The URL ends there. The only IPv6 address is `[::1]`, because an address cannot name a
/// relying party anyway.
package struct IssuerURL: Hashable, Sendable, CustomStringConvertible {
    package let text: String
    package let host: String
    package let port: Int

    package init(_ text: String) throws(ProtocolError) {
        guard text.utf8.count <= 300 else { throw Self.refusal("more than 300 bytes") }
        let isHTTPS = text.utf8.starts(with: "https://".utf8)
        guard isHTTPS || text.utf8.starts(with: "http://".utf8) else {
            throw Self.refusal("must start with https:// (or http:// on loopback)")
        }
        let authority = String(decoding: text.utf8.dropFirst(isHTTPS ? 8 : 7), as: UTF8.self)
        let (host, port) = try Self.hostAndPort(authority, defaultPort: isHTTPS ? 443 : 80)
        guard HostName.isValid(host) else {
            throw Self.formRefusal
        }
        guard isHTTPS || HostName.isLoopback(host) else { throw Self.refusal("http is for loopback only; use https") }
        self.text = text
        self.host = host
        self.port = port
    }

    /// Creates a URL from a person's spelling, with scheme and host in any case (RFC 3986 §6.2.2.1).
    ///
    /// Only one spelling is sent, so that receivers can compare it byte for byte.
    package init(written text: String) throws(ProtocolError) {
        let bytes = text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        try self.init(String(decoding: bytes, as: UTF8.self))
    }

    /// Whether its host is localhost, 127.0.0.0/8 or ::1.
    package var isLoopback: Bool { HostName.isLoopback(host) }

    /// Returns whether the issuer may be the relying party `rpId`: its host, or a parent domain of at least two labels.
    ///
    /// The RP ID is never an IP address: WebAuthn §5.1.2 requires a domain. This check accepts a public suffix such as
    /// `co.uk`. `PublicSuffixList` refuses it, but a system may lack the list. In addition, each key is bound to its
    /// issuer.
    package func permits(rpId: String) -> Bool {
        guard HostName.isValid(rpId), !HostName.isAddress(host) else { return false }
        if rpId.utf8.elementsEqual(host.utf8) { return true }
        let isParent = host.utf8.reversed().starts(with: ("." + rpId).utf8.reversed())
        return isParent && rpId.utf8.contains(UInt8(ascii: "."))
    }

    /// Whether its host is an IP address, for which no key can be made (WebAuthn §5.1.2).
    package var isByAddress: Bool { HostName.isAddress(host) }

    package var description: String { text }

    private static var formRefusal: ProtocolError {
        refusal("must be scheme, lower-case host and port only, without a slash at the end")
    }

    private static func refusal(_ what: String) -> ProtocolError { ProtocolError(what: what, where: "issuer URL") }

    /// Splits an authority at its last colon outside an IPv6 address.
    ///
    /// The port follows the colon.
    private static func hostAndPort(_ authority: String, defaultPort: Int) throws(ProtocolError) -> (String, Int) {
        let bytes = Array(authority.utf8)
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")), bytes.last != UInt8(ascii: "]") else {
            return (authority, defaultPort)
        }
        let digits = String(decoding: bytes[(colon + 1)...], as: UTF8.self)
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw formRefusal }
        guard let port = UInt16(digits), port > 0, String(port).utf8.elementsEqual(digits.utf8) else {
            throw refusal("the port must be 1 to 65535")
        }
        guard port != defaultPort else { throw refusal("leave out the port if it is the scheme's default") }
        return (String(decoding: bytes[..<colon], as: UTF8.self), Int(port))
    }
}
