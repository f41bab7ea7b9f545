import COpenSSL

/// HKDF with SHA-256 (RFC 5869).
enum HKDF {
    /// Derives that many bytes.
    ///
    /// Without salt the secret has to be uniformly random (§3.1); what an ECDH gives is not.
    static func derive(
        _ count: Int, from secret: Secret, salt: Secret? = nil, info: [UInt8]
    ) throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: count) { output throws(OpenSSLError) in
            try unsafe PKeyContext(hkdf: ()).deriveHKDF(from: secret, salt: salt, info: info, into: output)
        }
    }

    /// The bytes of what is extracted, and of what one expansion gives.
    private static let count = SHA256Digest.count

    /// What is extracted of a secret without salt (§2.2).
    static func extract(from secret: Secret) throws(OpenSSLError) -> Secret {
        try unsafe secret.withBytes { bytes throws(OpenSSLError) in
            try unsafe code(of: bytes, under: Secret([UInt8](repeating: 0, count: count)))
        }
    }

    /// 32 bytes of what was extracted (§2.3), which is one block: the same that ``derive`` gives without salt, in a
    /// quarter of its time.
    static func expand(_ extracted: Secret, info: [UInt8]) throws(OpenSSLError) -> Secret {
        try unsafe (info + [1]).withUnsafeBufferPointer { bytes throws(OpenSSLError) in
            try unsafe code(of: UnsafeRawBufferPointer(bytes), under: extracted)
        }
    }

    /// HMAC-SHA256 (RFC 2104).
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
