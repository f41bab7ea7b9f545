/// What the one record of a push message is encrypted under.
struct PushMessageKey: Sendable {
    let key: Secret
    let nonce: [UInt8]

    /// RFC 8291 §3.4: from what receiver and sender have in common.
    init(
        shared: Secret, recipient: PushRecipient, senderPoint: [UInt8], salt: [UInt8]
    ) throws(OpenSSLError) {
        let input = try Self.inputKey(shared: shared, recipient: recipient, senderPoint: senderPoint)
        try self.init(input: input, salt: salt)
    }

    /// RFC 8188 §2.2 and §2.3: from input keying material; the nonce is that of the first record.
    init(input: Secret, salt: [UInt8]) throws(OpenSSLError) {
        let salt = Secret(salt)
        key = try HKDF.derive(
            CipherContext.Cipher.aes128GCM.keyCount, from: input, salt: salt,
            info: Array("Content-Encoding: aes128gcm\0".utf8))
        let nonce = try HKDF.derive(
            CipherContext.nonceCount, from: input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8))
        self.nonce = unsafe nonce.withBytes { unsafe Array($0) }
    }

    static func inputKey(
        shared: Secret, recipient: PushRecipient, senderPoint: [UInt8]
    ) throws(OpenSSLError) -> Secret {
        let info = Array("WebPush: info\0".utf8) + recipient.p256dh + senderPoint
        return try HKDF.derive(32, from: shared, salt: recipient.auth, info: info)
    }

    /// The record: ciphertext and tag.
    func encrypt(_ plain: Secret) throws(OpenSSLError) -> [UInt8] {
        try CipherContext(.aes128GCM).encrypt(plain, key: key, nonce: nonce, additional: [])
    }

    /// What the record holds, with its delimiter and padding; nil if the tag does not hold.
    func decrypt(_ record: [UInt8]) throws(OpenSSLError) -> Secret? {
        try CipherContext(.aes128GCM).decrypt(
            Array(record.dropLast(CipherContext.tagCount)), tag: Array(record.suffix(CipherContext.tagCount)),
            key: key, nonce: nonce, additional: [])
    }
}
