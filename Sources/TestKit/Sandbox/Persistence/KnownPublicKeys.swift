import Keys
import Synchronization

/// Public keys of authenticators by the bytes that they were read from: parsing one takes longer than a verification.
final class KnownPublicKeys: Sendable {
    /// The most that are known: some KB each.
    private static let limit = 1_024

    private let keys = Mutex<[[UInt8]: PublicKey]>([:])

    /// - Throws: `KeyError` for what is no key.
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
