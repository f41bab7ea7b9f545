/// A push subscription as its sender knows it: the receiver's public key and auth secret (RFC 8291 §3).
package struct PushRecipient: Sendable {
    /// The length in bytes of the auth secret (RFC 8291 §3.2).
    package static let authCount = 16
    /// The most bytes of a message before it is encrypted.
    package static let maxPlain = EncryptedPush.limit - EncryptedPush.least
    private static let delimiter: UInt8 = 0x02

    /// The receiver's point on P-256, uncompressed: 65 bytes.
    package let p256dh: [UInt8]
    /// The auth secret, 16 bytes; with it and the point, anyone can encrypt for the receiver.
    package let auth: Secret
    private let key: PKey

    /// Throws unless `p256dh` is an uncompressed point of P-256 and `auth` has 16 bytes.
    package init(p256dh: [UInt8], auth: Secret) throws(KeyError) {
        guard auth.count == Self.authCount else { throw .malformed(nil) }
        key = try PKey(p256Point: p256dh)
        self.p256dh = p256dh
        self.auth = auth
    }

    /// Encrypts a message of at most 3,993 bytes, with its padding of zeros, under a new key and salt.
    package func encrypt(_ plain: [UInt8], padding: Int = 0) throws(PushRefusal) -> [UInt8] {
        let (sender, salt): (AgreementKey, [UInt8])
        do throws(OpenSSLError) {
            (sender, salt) = (try .generate(), try SecureRandom.bytes(EncryptedPush.saltCount))
        } catch {
            throw .openSSL(error)
        }
        return try encrypt(plain, padding: padding, from: sender, salt: salt)
    }

    /// Encrypts with a given pair and salt, which must never be used twice together.
    ///
    /// The key and the nonce would be the same.
    func encrypt(
        _ plain: [UInt8], padding: Int, from sender: AgreementKey, salt: [UInt8]
    ) throws(PushRefusal) -> [UInt8] {
        guard (0...Self.maxPlain).contains(padding), plain.count <= Self.maxPlain - padding else { throw .tooLarge }
        let padded = plain + [Self.delimiter] + [UInt8](repeating: 0, count: padding)
        do throws(OpenSSLError) {
            let messageKey = try PushMessageKey(
                shared: sender.sharedSecret(with: key), recipient: self, senderPoint: sender.point, salt: salt)
            let record = try messageKey.encrypt(Secret(padded))
            return EncryptedPush(salt: salt, senderPoint: sender.point, record: record).bytes
        } catch {
            throw .openSSL(error)
        }
    }

    /// Returns the bytes before the delimiter.
    static func unpadded(_ plain: Secret) throws(PushRefusal) -> [UInt8] {
        let bytes = unsafe plain.withBytes { unsafe Array($0) }
        guard let end = bytes.lastIndex(where: { $0 != 0 }), bytes[end] == delimiter else { throw .delimiter }
        return Array(bytes[..<end])
    }
}

extension PushRecipient: Equatable {
    package static func == (left: PushRecipient, right: PushRecipient) -> Bool {
        left.p256dh == right.p256dh && left.auth == right.auth
    }
}
