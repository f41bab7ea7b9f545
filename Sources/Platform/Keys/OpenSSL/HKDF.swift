import COpenSSL

/// HKDF with SHA-256 (RFC 5869).
enum HKDF {
    /// Derives `count` bytes.
    ///
    /// Without salt the secret must be uniformly random (§3.1). The result of ECDH is not.
    static func derive(
        _ count: Int, from secret: Secret, salt: Secret? = nil, info: [UInt8]
    ) throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: count) { output throws(OpenSSLError) in
            try unsafe PKeyContext(hkdf: ()).deriveHKDF(from: secret, salt: salt, info: info, into: output)
        }
    }

    /// The bytes of an extracted key, and of one block of an expansion.
    private static let count = SHA256Digest.count

    /// Extracts a key from a secret without salt (§2.2).
    static func extract(from secret: Secret) throws(OpenSSLError) -> Secret {
        try unsafe secret.withBytes { bytes throws(OpenSSLError) in
            try unsafe code(of: bytes, under: Secret([UInt8](repeating: 0, count: count)))
        }
    }

    /// Expands an extracted key to 32 bytes (§2.3), which is one block.
    ///
    /// The result is the same as of ``derive`` without salt, in a quarter of the time.
    static func expand(_ extracted: Secret, info: [UInt8]) throws(OpenSSLError) -> Secret {
        try unsafe (info + [1]).withUnsafeBufferPointer { bytes throws(OpenSSLError) in
            try unsafe code(of: UnsafeRawBufferPointer(bytes), under: extracted)
        }
    }

    /// Computes HMAC-SHA256 (RFC 2104).
    private static func code(of bytes: UnsafeRawBufferPointer, under key: Secret) throws(OpenSSLError) -> Secret {
        let bytes = unsafe bytes.bindMemory(to: UInt8.self)
        return try unsafe key.withBytes { key throws(OpenSSLError) in
            try unsafe Secret(count: count) { output throws(OpenSSLError) in
                let start = unsafe output.bindMemory(to: UInt8.self).baseAddress
                let result = unsafe EVP_Q_mac(
                    nil, "HMAC", nil, "SHA256", nil, key.baseAddress, key.count, bytes.baseAddress, bytes.count, start,
                    output.count, nil)
                try check("EVP_Q_mac") { unsafe result == start ? 1 : 0 }
            }
        }
    }
}
