import COpenSSL

/// OpenSSL's random generator, seeded by the kernel.
package enum SecureRandom {
    /// Random octets for what others may see: nonces, challenges, identifiers.
    ///
    /// Secrets come from `Secret.random`.
    package static func octets(_ count: Int) throws(OpenSSLError) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: count)
        try check("RAND_bytes_ex") { unsafe RAND_bytes_ex(nil, &octets, count, 0) }
        return octets
    }
}
