import Keys
import StrictJSON

/// What makes an endpoint unguessable: 32 random bytes at the end of its path.
struct PushToken: Sendable {
    /// What stands before it in the path.
    static let path = "/push/"
    static let characters = 43
    private static let count = 32

    let text: String

    init(random entropy: any Entropy) throws { text = Base64URL.encode(try entropy.bytes(Self.count)) }

    /// Takes the path of a request; nil for what is none of an endpoint.
    init?(path: String) {
        guard path.hasPrefix(Self.path) else { return nil }
        let text = String(path.dropFirst(Self.path.count))
        guard text.utf8.count == Self.characters, Base64URL.decode(text)?.count == Self.count else { return nil }
        self.text = text
    }

    /// Under this it is looked up, so that the time of a look-up tells nothing about tokens that are near.
    var digest: [UInt8] { get throws(OpenSSLError) { try SHA256Digest.of(Array(text.utf8)) } }
}
