/// A signing key that is sealed under the agent's secret, and encrypted under a PIN if it has one.
///
/// The seal is bound to a label, so a key that was put in the place of another does not open. Without a PIN, the seal
/// contains a DER PrivateKeyInfo in clear and alone protects it: the secret has 128 bits or more, all random. Under a
/// PIN, it contains an EncryptedPrivateKeyInfo, so that neither the secret nor the PIN alone gives the key (PSD2 RTS
/// Article 9(1)). It has at most 500 bytes, depending on the algorithm.
enum SealedKey {
    /// The key, which only the seal protects.
    case clear(SigningKey)
    /// An EncryptedPrivateKeyInfo under the PIN.
    case underPIN([UInt8])

    /// - Parameter content: the content of the seal.
    init(_ content: Secret) throws(KeyError) {
        if let key = try SigningKey.reading(privateKeyInfo: content) {
            self = .clear(key)
        } else {
            let bytes = unsafe content.withBytes { unsafe Array($0) }
            try SigningKey.checkForm(ofEncryptedPKCS8: bytes)
            self = .underPIN(bytes)
        }
    }
}

extension AgentSecret {
    /// Seals a key, under a PIN if there is one.
    ///
    /// With a PIN it takes about a tenth of a second.
    package func seal(_ key: SigningKey, label: String, pin: PIN? = nil) throws(OpenSSLError) -> [UInt8] {
        guard let pin else { return try seal(key.privateKeyInfo(), label: label) }
        return try seal(Secret(key.encryptedPKCS8(pin: pin)), label: label)
    }

    /// Opens a sealed key, with its PIN exactly if it has one.
    ///
    /// With a PIN it takes about a tenth of a second. Any fault in the sealed bytes is found before a PIN is tried.
    package func openKey(_ sealed: [UInt8], label: String, pin: PIN? = nil) throws(SealedKeyError) -> SigningKey {
        switch (try content(of: sealed, label: label), pin) {
        case (.clear(let key), nil): return key
        case (.clear, _?): throw .takesNoPIN
        case (.underPIN, nil): throw .needsPIN
        case (.underPIN(let bytes), let pin?):
            do throws(KeyError) {
                return try SigningKey(encryptedPKCS8: bytes, passphrase: pin.secret)
            } catch {
                // The seal was valid, so the bytes have not changed since they were written.
                if case .wrongPassphrase = error { throw .wrongPIN }
                throw .key(error)
            }
        }
    }

    /// Checks that a sealed key could be opened, as far as this is possible without its PIN.
    package func checkKey(_ sealed: [UInt8], label: String) throws(SealedKeyError) {
        _ = try content(of: sealed, label: label)
    }

    private func content(of sealed: [UInt8], label: String) throws(SealedKeyError) -> SealedKey {
        let opened: Secret
        do throws(SealError) { opened = try open(sealed, label: label) } catch { throw .seal(error) }
        do throws(KeyError) { return try SealedKey(opened) } catch { throw .key(error) }
    }
}

/// The reason why a sealed key cannot be opened.
///
/// It never contains bytes of the key.
package enum SealedKeyError: Error, Equatable, Sendable, CustomStringConvertible {
    case seal(SealError)
    case key(KeyError)
    /// The key is under a PIN, and none was given.
    case needsPIN
    /// A PIN was given, but the key has no PIN, so the given one cannot be checked.
    case takesNoPIN
    /// The given PIN is not the PIN of the key.
    case wrongPIN

    package var description: String {
        switch self {
        case .seal(let cause): "\(cause); give the secret that it was sealed under"
        case .key(let cause): "\(cause); restore a backup"
        case .needsPIN: "it takes a PIN"
        case .takesNoPIN: "it takes no PIN, so that none can be checked"
        case .wrongPIN: "wrong PIN"
        }
    }
}
