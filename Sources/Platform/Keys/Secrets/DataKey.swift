/// The key that encrypts the stored data of one enrollment.
///
/// Without the key, nobody can read the data any more.
package struct DataKey: Sendable {
    private static let count = 32
    /// The first byte of encrypted bytes: the version of their format.
    private static let formVersion: UInt8 = 1
    private static let overhead = 1 + CipherContext.nonceCount + CipherContext.tagCount
    /// The most bytes that `decrypt` reads, far above any value of a row.
    private static let maxEncrypted = 1 << 24

    /// The key's bytes, so that a caller can seal them.
    package let secret: Secret

    /// Makes a key of a secret.
    ///
    /// `nil` unless the secret has 32 bytes.
    package init?(_ secret: Secret) {
        guard secret.count == Self.count else { return nil }
        self.secret = secret
    }

    private init(random secret: Secret) { self.secret = secret }

    package static func generate() throws(OpenSSLError) -> DataKey { DataKey(random: try Secret.random(count)) }

    /// Encrypts: version (01) || nonce (12) || AES-256-GCM ciphertext || tag (16).
    ///
    /// The nonce is random, so every call returns different bytes.
    ///
    /// - Parameter place: the place of the stored value. It is authenticated, but not part of the result.
    package func encrypt(_ plain: [UInt8], for place: String) throws(OpenSSLError) -> [UInt8] {
        let nonce = try SecureRandom.bytes(CipherContext.nonceCount)
        let encrypted = try CipherContext()
            .encrypt(plain, key: secret, nonce: nonce, additional: Array(place.utf8))
        return [Self.formVersion] + nonce + encrypted
    }

    /// Decrypts the result of `encrypt` under the same key for the same place.
    ///
    /// - Returns: `nil` for all other bytes.
    package func decrypt(_ encrypted: [UInt8], for place: String) throws(OpenSSLError) -> [UInt8]? {
        guard (Self.overhead...Self.maxEncrypted).contains(encrypted.count), encrypted[0] == Self.formVersion else {
            return nil
        }
        let body = encrypted.dropFirst()
        let nonce = Array(body.prefix(CipherContext.nonceCount))
        let ciphertext = Array(body.dropFirst(nonce.count).dropLast(CipherContext.tagCount))
        return try CipherContext()
            .decryptBytes(
                ciphertext, tag: Array(body.suffix(CipherContext.tagCount)), key: secret, nonce: nonce,
                additional: Array(place.utf8))
    }
}
