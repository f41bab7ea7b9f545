import Keys
import Synchronization

/// A cache of authenticators' public keys by their encoded bytes: parsing a key takes longer than a verification.
final class KnownPublicKeys: Sendable {
    /// The limit of cached keys, which take some KB each.
    private static let limit = 1_024

    private let keys = Mutex<[[UInt8]: PublicKey]>([:])

    /// - Throws: `KeyError` if the bytes are not a public key.
    func key(_ subjectPublicKeyInfo: [UInt8]) throws(KeyError) -> PublicKey {
        if let known = keys.withLock({ $0[subjectPublicKeyInfo] }) { return known }
        let key = try PublicKey(subjectPublicKeyInfo: subjectPublicKeyInfo)
        keys.withLock { keys in
            if keys.count >= Self.limit { keys = [:] }
            keys[subjectPublicKeyInfo] = key
        }
        return key
    }
}
