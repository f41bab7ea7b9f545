import COpenSSL

/// OpenSSL's random generator, seeded by the kernel.
package enum SecureRandom {
    /// Returns random bytes for values that are not secret: nonces, challenges, identifiers.
    ///
    /// Secrets come from `Secret.random`.
    package static func bytes(_ count: Int) throws(OpenSSLError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try check("RAND_bytes_ex") { unsafe RAND_bytes_ex(nil, &bytes, count, 0) }
        return bytes
    }
}
