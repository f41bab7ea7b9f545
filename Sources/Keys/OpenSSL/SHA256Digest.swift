import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256Digest {
    /// The length of a digest in octets.
    package static let count = 32

    /// The 32 octets of the digest.
    package static func of(_ octets: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: count)
        try check("EVP_Digest") { unsafe EVP_Digest(octets, octets.count, &digest, nil, EVP_sha256(), nil) }
        return digest
    }
}
