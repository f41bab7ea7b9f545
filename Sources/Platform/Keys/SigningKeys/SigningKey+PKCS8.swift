extension SigningKey {
    private static let saltCount = 16

    /// Encrypts the key under a PIN, as a DER EncryptedPrivateKeyInfo (RFC 5958 §3).
    ///
    /// The scheme is PBES2 with AES-256-CBC and scrypt. Encryption takes about a tenth of a second and 16 MiB, and so
    /// does decryption.
    package func encryptedPKCS8(pin: PIN) throws(OpenSSLError) -> [UInt8] {
        try PrivateKeyInfo(of: pair).encrypted(under: pin, salt: SecureRandom.bytes(Self.saltCount), cost: .ofPIN)
            .der()
    }

    /// Checks that bytes are a DER EncryptedPrivateKeyInfo, but not its content.
    static func checkForm(ofEncryptedPKCS8 bytes: [UInt8]) throws(KeyError) { _ = try encryptedInfo(bytes) }

    /// Reads a DER EncryptedPrivateKeyInfo, which another tool may have written.
    ///
    /// The key is on P-256, P-384 or Ed25519.
    ///
    /// The bytes choose the number of rounds, and so the time that this takes: read only bytes that are known to be
    /// ours.
    package convenience init(encryptedPKCS8: [UInt8], passphrase: Secret) throws(KeyError) {
        let pair = try Self.decrypted(Self.encryptedInfo(encryptedPKCS8), with: passphrase)
        guard let algorithm = pair.algorithm else {
            throw .unsupported("it is on neither P-256, P-384 nor Ed25519")
        }
        do throws(OpenSSLError) {
            try PKeyContext(for: pair).checkPair()
        } catch {
            throw .malformed(error)
        }
        do throws(OpenSSLError) {
            try self.init(pair, algorithm)
        } catch {
            throw .openSSL(error)
        }
    }

    private static func encryptedInfo(_ der: [UInt8]) throws(KeyError) -> EncryptedKeyInfo {
        do throws(OpenSSLError) {
            return try EncryptedKeyInfo.reading(der: der)
        } catch {
            throw .malformed(error)
        }
    }

    private static func decrypted(
        _ info: consuming EncryptedKeyInfo, with passphrase: Secret
    ) throws(KeyError) -> PKey {
        let inner: PrivateKeyInfo
        do throws(OpenSSLError) {
            inner = try info.decrypted(with: passphrase)
        } catch {
            throw .wrongPassphrase(error)
        }
        do throws(OpenSSLError) {
            return try inner.key()
        } catch {
            throw .malformed(error)
        }
    }
}
