/// A signing key in a file, encrypted twice.
///
/// Inside is a DER EncryptedPrivateKeyInfo under a passphrase; around it the seal of the agent's secret. Passphrase
/// and seal are bound to a label, so that a file that was put in the place of another does not open.
package enum KeyFile {
    /// The most octets that are read; a file has 500 at most, by the algorithm.
    package static let maxOctets = 16 * 1_024

    /// Writes a new file, mode 0600, and returns when it is on the disk.
    ///
    /// Never overwrites a file.
    package static func write(
        _ key: SigningKey, to path: String, secret: AgentSecret, label: String
    ) throws(KeyFileError) {
        let sealed = try KeyFileError.wrapping({ .openSSL(path: path, $0) }) { () throws(OpenSSLError) in
            let encrypted = try key.encryptedPKCS8(passphrase: secret.passphrase(for: label))
            return try secret.seal(Secret(encrypted), label: label)
        }
        try KeyFileError.wrapping(KeyFileError.file) { () throws(FileError) in
            try DurableFile.write(sealed, to: path, replacing: false)
        }
    }

    /// Reads a file that `write` made for the same label under the same secret.
    ///
    /// Refuses one that is not a regular file of this user or root, that group or others have any permission for,
    /// or that is too large.
    package static func read(path: String, secret: AgentSecret, label: String) throws(KeyFileError) -> SigningKey {
        let sealed = try KeyFileError.wrapping(KeyFileError.file) { () throws(FileError) in
            try DurableFile.read(path, maxOctets: maxOctets)
        }
        let encrypted = try KeyFileError.wrapping({ .seal(path: path, $0) }) { () throws(SealError) in
            try unsafe secret.open(sealed, label: label).withOctets { unsafe Array($0) }
        }
        let passphrase = try KeyFileError.wrapping({ .openSSL(path: path, $0) }) { () throws(OpenSSLError) in
            try secret.passphrase(for: label)
        }
        return try KeyFileError.wrapping({ .key(path: path, $0) }) { () throws(KeyError) in
            try SigningKey(encryptedPKCS8: encrypted, passphrase: passphrase)
        }
    }

    /// Removes the file, and returns when its name is gone from the disk.
    ///
    /// One that is not there is no error.
    package static func remove(path: String) throws(KeyFileError) {
        try KeyFileError.wrapping(KeyFileError.file) { () throws(FileError) in try DurableFile.remove(path) }
    }
}
