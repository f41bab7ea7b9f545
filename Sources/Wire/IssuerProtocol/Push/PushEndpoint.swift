/// The URL that receives the pushes for one enrollment (RFC 8030 §5).
///
/// It leads to the agent's receiver, or to a push service in front of it.
///
/// The scheme is `https`, or `http` if the host is loopback. A path follows, and perhaps a query. Only the issuer knows
/// the part after the origin, so only the origin is ever printed.
package struct PushEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length in bytes.
    package static let limit = 2_048

    package let text: String
    /// Scheme, host and port (RFC 6454 §6.2): the audience of a VAPID token.
    package let origin: String

    package init(_ text: String) throws(ProtocolError) {
        guard text.utf8.count <= Self.limit else { throw Self.refusal("must have at most \(Self.limit) bytes") }
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !#"#\"<>^`{|}"#.utf8.contains($0) }
        guard isPlain else { throw Self.refusal("must be an ASCII URL without a fragment") }
        let slashes = text.utf8.indices.filter { text.utf8[$0] == UInt8(ascii: "/") }
        guard slashes.count >= 3 else { throw Self.refusal("must have a path after scheme, host and port") }
        do throws(ProtocolError) {
            origin = try IssuerURL(String(text[..<slashes[2]])).text
        } catch {
            throw Self.refusal(error.what)
        }
        self.text = text
    }

    package var description: String { origin }

    private static func refusal(_ what: String) -> ProtocolError { ProtocolError(what: what, where: "push endpoint") }
}
