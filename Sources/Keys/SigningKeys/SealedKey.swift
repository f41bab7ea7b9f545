/// A signing key under the agent's secret, and under a PIN if it has one.
///
/// Around it is the seal of the secret, bound to a label. Inside is a DER PrivateKeyInfo in clear, which the seal alone
/// protects: the secret has 128 bits or more, all random. Under a PIN it is an EncryptedPrivateKeyInfo, so that neither
/// the secret nor the PIN alone gives the key (PSD2 RTS Article 9(1)).
enum SealedKey {
    /// The secret is all that it takes.
    case clear(SigningKey)
    /// An EncryptedPrivateKeyInfo under the PIN.
    case underPIN([UInt8])
    /// An EncryptedPrivateKeyInfo under a passphrase that the secret gives, which earlier versions wrote.
    case underPassphrase([UInt8])

    /// - Parameter content: what was inside the seal.
    init(_ content: Secret) throws(KeyError) {
        if let key = try SigningKey.reading(privateKeyInfo: content) {
            self = .clear(key)
        } else {
            let bytes = unsafe content.withBytes { unsafe Array($0) }
            self = try SigningKey.isUnderPIN(encryptedPKCS8: bytes) ? .underPIN(bytes) : .underPassphrase(bytes)
        }
    }
}

extension AgentSecret {
    /// Seals a key, under a PIN if there is one: then it takes about a tenth of a second.
    package func seal(_ key: SigningKey, label: String, pin: PIN? = nil) throws(OpenSSLError) -> [UInt8] {
        guard let pin else { return try seal(key.privateKeyInfo(), label: label) }
        return try seal(Secret(key.encryptedPKCS8(pin: pin)), label: label)
    }

    /// The key that has no PIN; nil if it has one.
    package func openKey(_ sealed: [UInt8], label: String) throws -> SigningKey? {
        switch try SealedKey(open(sealed, label: label)) {
        case .clear(let key): key
        case .underPIN: nil
        case .underPassphrase(let bytes): try SigningKey(encryptedPKCS8: bytes, passphrase: passphrase(for: label))
        }
    }
}
