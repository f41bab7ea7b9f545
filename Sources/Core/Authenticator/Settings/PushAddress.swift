package import IssuerProtocol
import Keys
import Records
import Synchronization
import TextAndTime

/// The URL prefix of all push endpoints, which may be learned after the start and may change.
package final class PushAddress: Sendable {
    /// The endpoint up to its token, with the slash.
    private let text = Mutex<String?>(nil)

    /// Starts without an address, so that no issuer can push yet.
    package init() {}

    var base: String? { text.withLock(\.self) }

    /// - Parameter url: the receiver's URL as issuers see it, such as `https://push.bank.example`.
    /// - Throws: if no endpoint can begin with it. The address is then unchanged.
    package func set(_ url: String) throws(ProtocolError) {
        let whole = url.hasSuffix("/") ? url : url + "/"
        // With the slash, a suffix cannot change host and port.
        _ = try PushEndpoint(whole)
        guard !url.utf8.contains(UInt8(ascii: "?")) else {
            throw ProtocolError(what: "must have no query", where: "push endpoint")
        }
        let base = whole + PushToken.path.dropFirst()
        _ = try PushEndpoint(base + String(repeating: "A", count: PushToken.characters))
        text.withLock { $0 = base }
    }
}

/// The unguessable part of an endpoint: 32 random bytes at the end of its path.
struct PushToken: Sendable {
    /// The path before the token.
    static let path = "/push/"
    static let characters = 43
    private static let count = 32

    let text: String

    init(random entropy: any Entropy) throws { text = Base64URL.encode(try entropy.bytes(Self.count)) }

    /// Reads the token in a request's path.
    ///
    /// `nil` if the path is not an endpoint's.
    init?(path: String) {
        guard path.hasPrefix(Self.path) else { return nil }
        let text = String(path.dropFirst(Self.path.count))
        guard text.utf8.count == Self.characters, Base64URL.decode(text)?.count == Self.count else { return nil }
        self.text = text
    }

    /// The key of a look-up, so that the time of a look-up does not reveal similar tokens.
    var digest: [UInt8] { get throws(OpenSSLError) { try SHA256Digest.of(Array(text.utf8)) } }
}
