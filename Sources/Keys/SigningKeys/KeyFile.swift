import DurableFiles

/// A signing key in a file, under the agent's secret: see ``SealedKey``.
///
/// It is bound to a label, so that a file that was put in the place of another does not open.
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
            try secret.seal(key, label: label, pin: pin)
        }
        try KeyFileError.wrapping(KeyFileError.file) { () throws(FileError) in
            try DurableFile.write(sealed, to: path, replacing: replacing)
        }
    }

    /// A key that was read.
    package struct Reading: Sendable {
        package let key: SigningKey
        /// Whether the file is in the form of earlier versions, which takes longer to read.
        package let isOutdated: Bool
    }

    /// Reads a file that `write` made for the same label under the same secret, with its PIN exactly if it has one.
    ///
    /// Refuses one that is not a regular file of this user or root, that group or others have any permission for,
    /// or that is too large. What is wrong with the file is found before a PIN is tried.
    package static func read(
        path: String, secret: AgentSecret, label: String, pin: PIN? = nil
    ) throws(KeyFileError) -> Reading {
        try open(bytes(of: path), in: path, secret: secret, label: label, pin: pin)
    }

    /// Opens what such a file holds, wherever it lies.
    ///
    /// - Parameter path: where that is, for errors: a path, or a URI.
    package static func open(
        _ sealed: [UInt8], in path: String, secret: AgentSecret, label: String, pin: PIN?
    ) throws(KeyFileError) -> Reading {
        switch (try content(of: sealed, in: path, secret: secret, label: label), pin) {
        case (.clear(let key), nil):
            return Reading(key: key, isOutdated: false)
        case (.underPassphrase(let bytes), nil):
            let passphrase = try KeyFileError.wrapping({ .openSSL(path: path, $0) }) { () throws(OpenSSLError) in
                try secret.passphrase(for: label)
            }
            let key = try KeyFileError.wrapping({ .key(path: path, $0) }) { () throws(KeyError) in
                try SigningKey(encryptedPKCS8: bytes, passphrase: passphrase)
            }
            return Reading(key: key, isOutdated: true)
        case (.underPIN(let bytes), let pin?):
            return Reading(key: try key(bytes, under: pin, path: path), isOutdated: false)
        case (.underPIN, nil):
            throw .needsPIN(path: path)
        case (.clear, _), (.underPassphrase, _):
            throw .takesNoPIN(path: path)
        }
    }

    private static func key(_ bytes: [UInt8], under pin: PIN, path: String) throws(KeyFileError) -> SigningKey {
        do throws(KeyError) {
            return try SigningKey(encryptedPKCS8: bytes, passphrase: pin.secret)
        } catch {
            // The seal has vouched for the bytes, so they are as they were written.
            if case .wrongPassphrase = error { throw .wrongPIN(path: path) }
            throw .key(path: path, error)
        }
    }

    package static func bytes(of path: String) throws(KeyFileError) -> [UInt8] {
        try KeyFileError.wrapping(KeyFileError.file) { () throws(FileError) in
            try DurableFile.read(path, maxBytes: maxBytes)
        }
    }

    /// What is inside the seal.
    static func content(
        of sealed: [UInt8], in path: String, secret: AgentSecret, label: String
    ) throws(KeyFileError) -> SealedKey {
        let opened = try KeyFileError.wrapping({ .seal(path: path, $0) }) { () throws(SealError) in
            try secret.open(sealed, label: label)
        }
        return try KeyFileError.wrapping({ .key(path: path, $0) }) { () throws(KeyError) in try SealedKey(opened) }
    }

    /// Removes the file, and returns when its name is gone from the disk.
    ///
    /// One that is not there is no error.
    package static func remove(path: String) throws(KeyFileError) {
        try KeyFileError.wrapping(KeyFileError.file) { () throws(FileError) in try DurableFile.remove(path) }
    }
}
