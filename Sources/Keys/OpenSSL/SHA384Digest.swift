import COpenSSL

/// SHA-384 (FIPS 180-4).
enum SHA384Digest {
    /// The 48 bytes of the digest.
    static func of(_ bytes: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 48)
        try check("EVP_Digest") { unsafe EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha384(), nil) }
        return digest
    }
}
