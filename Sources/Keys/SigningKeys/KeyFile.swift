import DurableFiles

/// A signing key in a file, encrypted twice.
///
/// Inside is a DER EncryptedPrivateKeyInfo, under a PIN or under a passphrase of the agent's secret; around it the seal
/// of that secret. Passphrase and seal are bound to a label, so that a file that was put in the place of another does
/// not open. Under a PIN neither the file with the secret nor the PIN alone gives the key (PSD2 RTS Article 9(1)).
package enum KeyFile {
    /// The most bytes that are read; a file has 500 at most, by the algorithm.
    package static let maxBytes = 16 * 1_024

    /// Writes a new file, mode 0600, and returns when it is on the disk.
    ///
    /// Under a PIN it takes about a tenth of a second. Where `replacing` is false a file that is there is never
    /// overwritten; otherwise it is replaced as a whole, so that after a crash one of the two is there.
    package static func write(
        _ key: SigningKey, to path: String, secret: AgentSecret, label: String, pin: PIN? = nil, replacing: Bool = false
    ) throws(KeyFileError) {
        let sealed = try KeyFileError.wrapping({ .openSSL(path: path, $0) }) { () throws(OpenSSLError) in
            let encrypted = try Self.encrypted(key, secret: secret, label: label, pin: pin)
            return try secret.seal(Secret(encrypted), label: label)
        }
        try KeyFileError.wrapping(KeyFileError.file) { () throws(FileError) in
            try DurableFile.write(sealed, to: path, replacing: replacing)
        }
    }

    /// Reads a file that `write` made for the same label under the same secret, with its PIN exactly if it has one.
    ///
    /// Refuses one that is not a regular file of this user or root, that group or others have any permission for,
    /// or that is too large. What is wrong with the file is found before a PIN is tried.
    package static func read(
        path: String, secret: AgentSecret, label: String, pin: PIN? = nil
    ) throws(KeyFileError) -> SigningKey {
        let encrypted = try unsealed(path: path, secret: secret, label: label)
        let isUnderPIN = try KeyFileError.wrapping({ .key(path: path, $0) }) { () throws(KeyError) in
            try SigningKey.isUnderPIN(encryptedPKCS8: encrypted)
        }
        guard isUnderPIN == (pin != nil) else { throw isUnderPIN ? .needsPIN(path: path) : .takesNoPIN(path: path) }
        let passphrase = try KeyFileError.wrapping({ .openSSL(path: path, $0) }) { () throws(OpenSSLError) in
            if let pin { return pin.secret }
            return try secret.passphrase(for: label)
        }
        do throws(KeyError) {
            return try SigningKey(encryptedPKCS8: encrypted, passphrase: passphrase)
        } catch {
            // The seal has vouched for the bytes, so they are as they were written.
            if isUnderPIN, case .wrongPassphrase = error { throw .wrongPIN(path: path) }
            throw .key(path: path, error)
        }
    }

    private static func encrypted(
        _ key: SigningKey, secret: AgentSecret, label: String, pin: PIN?
    ) throws(OpenSSLError) -> [UInt8] {
        guard let pin else { return try key.encryptedPKCS8(passphrase: secret.passphrase(for: label)) }
        return try key.encryptedPKCS8(pin: pin)
    }

    /// The inner layer.
    static func unsealed(path: String, secret: AgentSecret, label: String) throws(KeyFileError) -> [UInt8] {
        let sealed = try KeyFileError.wrapping(KeyFileError.file) { () throws(FileError) in
            try DurableFile.read(path, maxBytes: maxBytes)
        }
        return try KeyFileError.wrapping({ .seal(path: path, $0) }) { () throws(SealError) in
            try unsafe secret.open(sealed, label: label).withBytes { unsafe Array($0) }
        }
    }

    /// Removes the file, and returns when its name is gone from the disk.
    ///
    /// One that is not there is no error.
    package static func remove(path: String) throws(KeyFileError) {
        try KeyFileError.wrapping(KeyFileError.file) { () throws(FileError) in try DurableFile.remove(path) }
    }
}
