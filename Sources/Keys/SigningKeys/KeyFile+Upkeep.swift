import DurableFiles

extension KeyFile {
    /// Checks that a key file could be opened, as far as that shows without its PIN.
    ///
    /// It is there, nobody else has any right to it, and it is under the secret.
    package static func check(path: String, secret: AgentSecret, label: String) throws(KeyFileError) {
        try check(bytes(of: path), in: path, secret: secret, label: label)
    }

    /// The same of what such a file holds, wherever it lies.
    package static func check(
        _ sealed: [UInt8], in path: String, secret: AgentSecret, label: String
    ) throws(KeyFileError) {
        _ = try content(of: sealed, in: path, secret: secret, label: label)
    }

    /// What a file is to hold once the agent's secret has changed; nil if it holds that already, or is not there.
    package static func rewrapped(
        path: String, label: String, by change: SecretChange
    ) throws(KeyFileError) -> [UInt8]? {
        let sealed: [UInt8]
        do throws(FileError) {
            sealed = try DurableFile.read(path, maxBytes: maxBytes)
        } catch {
            guard error.reason != .missing else { return nil }
            throw .file(error)
        }
        return try KeyFileError.wrapping({ .change(path: path, $0) }) { () throws(SecretChangeError) in
            try change.resealedKey(sealed, label: label)
        }
    }

    /// Puts that in the place of the file as a whole: after a crash one of the two is there.
    package static func replace(_ bytes: [UInt8], at path: String) throws(KeyFileError) {
        try KeyFileError.wrapping(KeyFileError.file) { () throws(FileError) in
            try DurableFile.write(bytes, to: path, replacing: true)
        }
    }
}
