/// HKDF with SHA-256 (RFC 5869) from a secret that is already uniformly random, hence without salt (§3.1).
enum HKDF {
    static func derive(_ count: Int, from secret: Secret, info: [UInt8]) throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: count) { output throws(OpenSSLError) in
            try unsafe PKeyContext(hkdf: ()).deriveHKDF(from: secret, info: info, into: output)
        }
    }
}
