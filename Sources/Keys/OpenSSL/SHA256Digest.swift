import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256Digest {
    /// The length of a digest in bytes.
    package static let count = 32

    /// The 32 bytes of the digest.
    package static func of(_ bytes: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: count)
        try check("EVP_Digest") { unsafe EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) }
        return digest
    }
}
