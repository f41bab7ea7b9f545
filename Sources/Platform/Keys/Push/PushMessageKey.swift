/// The key and the nonce for the only record of a push message.
struct PushMessageKey: Sendable {
    let key: Secret
    let nonce: [UInt8]

    /// Derives the key from the ECDH secret of receiver and sender (RFC 8291 §3.4).
    init(
        shared: Secret, recipient: PushRecipient, senderPoint: [UInt8], salt: [UInt8]
    ) throws(OpenSSLError) {
        let input = try Self.inputKey(shared: shared, recipient: recipient, senderPoint: senderPoint)
        try self.init(input: input, salt: salt)
    }

    /// Derives the key and the first record's nonce from input keying material (RFC 8188 §2.2 and §2.3).
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

    /// Encrypts the record, and returns ciphertext and tag.
    func encrypt(_ plain: Secret) throws(OpenSSLError) -> [UInt8] {
        try CipherContext(.aes128GCM).encrypt(plain, key: key, nonce: nonce, additional: [])
    }

    /// Decrypts the record to plain bytes with delimiter and padding, or returns `nil` if the tag is not valid.
    func decrypt(_ record: [UInt8]) throws(OpenSSLError) -> Secret? {
        try CipherContext(.aes128GCM).decrypt(
            Array(record.dropLast(CipherContext.tagCount)), tag: Array(record.suffix(CipherContext.tagCount)),
            key: key, nonce: nonce, additional: [])
    }
}
