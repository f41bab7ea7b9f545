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
}
