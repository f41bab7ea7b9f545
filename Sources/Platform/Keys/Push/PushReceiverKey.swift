/// The receiver's half of one push subscription: a P-256 key pair and an auth secret of 16 bytes (RFC 8291 §3.1, §3.2).
package struct PushReceiverKey: Sendable {
    /// The number of bytes of `secret()`.
    package static let secretCount = PKey.p256ScalarCount + PushRecipient.authCount
    /// The most bytes that `decrypt` accepts: 4,096.
    package static let maxBytes = EncryptedPush.limit

    private let pair: AgreementKey
    /// The values that a sender needs.
    package let recipient: PushRecipient

    private init(_ pair: AgreementKey, auth: Secret) throws(KeyError) {
        self.pair = pair
        recipient = try PushRecipient(p256dh: pair.point, auth: auth)
    }

    /// Makes a new pair and auth secret.
    package static func generate() throws(KeyError) -> PushReceiverKey {
        let (pair, auth): (AgreementKey, Secret)
        do throws(OpenSSLError) {
            (pair, auth) = (try .generate(), try .random(PushRecipient.authCount))
        } catch {
            throw .openSSL(error)
        }
        return try PushReceiverKey(pair, auth: auth)
    }

    /// Reads the result of `secret()`.
    package init(secret: Secret) throws(KeyError) {
        guard secret.count == Self.secretCount else { throw .malformed(nil) }
        let pair = try AgreementKey(scalar: secret.prefix(PKey.p256ScalarCount))
        try self.init(pair, auth: secret.suffix(PushRecipient.authCount))
    }

    /// Returns the whole key in clear, to be sealed: the private value (32) || the auth secret (16).
    package func secret() throws(OpenSSLError) -> Secret {
        try Secret.joined([pair.scalar(), recipient.auth])
    }

    /// Decrypts a body of at most 4,096 bytes: `aes128gcm` with one record, for this subscription.
    package func decrypt(_ body: [UInt8]) throws(PushRefusal) -> [UInt8] {
        let push = try EncryptedPush(body)
        guard let sender = try? PKey(p256Point: push.senderPoint) else { throw .senderKey }
        guard let plain = try opened(push, from: sender) else { throw .ciphertext }
        return try PushRecipient.unpadded(plain)
    }

    private func opened(_ push: EncryptedPush, from sender: PKey) throws(PushRefusal) -> Secret? {
        do throws(OpenSSLError) {
            let key = try PushMessageKey(
                shared: pair.sharedSecret(with: sender), recipient: recipient, senderPoint: push.senderPoint,
                salt: push.salt)
            return try key.decrypt(push.record)
        } catch {
            throw .openSSL(error)
        }
    }
}
