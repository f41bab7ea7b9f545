/// The reason why bytes are not a key that this program can use.
///
/// It never contains bytes of a key.
package enum KeyError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The coordinates are not a point of the curve, or are the point at infinity.
    case notOnCurve
    /// A point of Ed25519 under which anyone can sign.
    case smallOrder
    /// The encoding violates the standard; with OpenSSL's reason if there is one.
    case malformed(OpenSSLError?)
    /// The passphrase is wrong, or the encrypted bytes are damaged: the two cannot be told apart.
    case wrongPassphrase(OpenSSLError)
    /// A key of another kind; the text says which kind is supported.
    case unsupported(String)
    /// OpenSSL failed for a reason that does not concern the key.
    case openSSL(OpenSSLError)

    package var description: String {
        switch self {
        case .notOnCurve: "the public key is not a point on its curve"
        case .smallOrder: "the public key is a point of small order, under which anyone can sign"
        case .malformed(nil): "the key's encoding is malformed"
        case .malformed(let cause?): "the key's encoding is malformed (\(cause))"
        case .wrongPassphrase(let cause): "the passphrase does not open this key, or the key is damaged (\(cause))"
        case .unsupported(let what): "the key is not supported: \(what)"
        case .openSSL(let cause): cause.description
        }
    }
}
