import COpenSSL
package import DurableFiles

/// A secret in a file of its own, in clear: any reader of the file has it.
///
/// As `DurableFile`, but no memory in between keeps the bytes.
package enum SecretFile {
    /// Writes a new file, mode 0600, and returns when it is on the disk.
    ///
    /// Never overwrites a file.
    package static func write(_ secret: Secret, to path: String) throws(FileError) {
        try unsafe secret.withBytes { bytes throws(FileError) in
            try unsafe DurableFile.write(bytes, to: path, replacing: false)
        }
    }

    /// Writes an agent's secret in the same way.
    package static func write(_ secret: AgentSecret, to path: String) throws(FileError) {
        try write(secret.secret, to: path)
    }

    /// Reads a whole file of at most `maxBytes`; a line feed at the end is part of the secret.
    package static func read(
        _ path: String, maxBytes: Int, privacy: FilePrivacy = .ownerOnly
    ) throws(FileError) -> Secret {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: maxBytes + 1, alignment: 1)
        defer {
            unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count)
            unsafe buffer.deallocate()
        }
        let count = try unsafe DurableFile.read(path, into: buffer, privacy: privacy)
        return unsafe Secret(copying: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
}
