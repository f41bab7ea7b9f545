package import IssuerProtocol
import Keys
import Records
import Synchronization
import TextAndTime

/// Where issuers push to, which can be learned late, and change: what every endpoint begins with.
package final class PushAddress: Sendable {
    /// What an endpoint is before its token, with the slash.
    private let text = Mutex<String?>(nil)

    /// Nobody can push yet.
    package init() {}

    var base: String? { text.withLock(\.self) }

    /// - Parameter url: what issuers see of the receiver, such as `https://push.bank.example`.
    /// - Throws: if no endpoint can begin with it; then it is as it was.
    package func set(_ url: String) throws(ProtocolError) {
        let whole = url.hasSuffix("/") ? url : url + "/"
        // Whatever is appended, its host and port are these.
        _ = try PushEndpoint(whole)
        guard !url.utf8.contains(UInt8(ascii: "?")) else {
            throw ProtocolError(what: "must have no query", where: "push endpoint")
        }
        let base = whole + PushToken.path.dropFirst()
        _ = try PushEndpoint(base + String(repeating: "A", count: PushToken.characters))
        text.withLock { $0 = base }
    }
}

/// What makes an endpoint unguessable: 32 random bytes at the end of its path.
struct PushToken: Sendable {
    /// What stands before it in the path.
    static let path = "/push/"
    static let characters = 43
    private static let count = 32

    let text: String

    init(random entropy: any Entropy) throws { text = Base64URL.encode(try entropy.bytes(Self.count)) }

    /// Takes the path of a request; nil if it is not the path of an endpoint.
    init?(path: String) {
        guard path.hasPrefix(Self.path) else { return nil }
        let text = String(path.dropFirst(Self.path.count))
        guard text.utf8.count == Self.characters, Base64URL.decode(text)?.count == Self.count else { return nil }
        self.text = text
    }

    /// Under this it is looked up, so that the time of a look-up tells nothing about tokens that are near.
    var digest: [UInt8] { get throws(OpenSSLError) { try SHA256Digest.of(Array(text.utf8)) } }
}
