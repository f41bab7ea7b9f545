import COpenSSL

/// An EVP_MD_CTX for one signature or one verification.
@safe struct DigestContext: ~Copyable {
    private let pointer: OpaquePointer  // <EVP_MD_CTX>
    private let algorithm: SignatureAlgorithm

    init(_ algorithm: SignatureAlgorithm) throws(OpenSSLError) {
        self.algorithm = algorithm
        unsafe pointer = try checkNotNull("EVP_MD_CTX_new") { unsafe EVP_MD_CTX_new() }
    }

    deinit { unsafe EVP_MD_CTX_free(pointer) }

    /// Signs in OpenSSL's encoding: for ECDSA a DER ECDSA-Sig-Value, for Ed25519 64 bytes.
    ///
    /// The key must be of the algorithm.
    consuming func signature(by key: PKey, over message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let home = key.home
        try unsafe key.withPointer { key throws(OpenSSLError) in
            try check("EVP_DigestSignInit_ex") {
                unsafe EVP_DigestSignInit_ex(
                    pointer, nil, algorithm.digestName, home?.pointer, home?.properties, key, nil)
            }
        }
        var count = 0
        try check("EVP_DigestSign") { unsafe EVP_DigestSign(pointer, nil, &count, message, message.count) }
        var signature = [UInt8](repeating: 0, count: count)
        try check("EVP_DigestSign") { unsafe EVP_DigestSign(pointer, &signature, &count, message, message.count) }
        return Array(signature.prefix(count))
    }

    /// Verifies a signature.
    ///
    /// Returns `false` for a signature that cannot be read. Throws only if the verification cannot begin.
    consuming func isValid(_ signature: [UInt8], by key: PKey, over message: [UInt8]) throws(OpenSSLError) -> Bool {
        try unsafe key.withPointer { key throws(OpenSSLError) in
            try check("EVP_DigestVerifyInit_ex") {
                unsafe EVP_DigestVerifyInit_ex(pointer, nil, algorithm.digestName, nil, nil, key, nil)
            }
        }
        let result = unsafe EVP_DigestVerify(pointer, signature, signature.count, message, message.count)
        // 0 and every negative number mean "no". A malformed signature must not be reported as a failure of OpenSSL.
        if result != 1 { OpenSSLError.discardQueue() }
        return result == 1
    }
}

extension SignatureAlgorithm {
    /// OpenSSL's name of the hash of the message before it is signed.
    ///
    /// `nil` for EdDSA, which signs the message itself (RFC 8032 §5.1: the hashes are inside).
    fileprivate var digestName: String? {
        switch self {
        case .es256: "SHA256"
        case .es384: "SHA384"
        case .eddsa: nil
        }
    }
}

/// SHA-256 (FIPS 180-4).
package enum SHA256Digest {
    /// The length of a digest in bytes.
    package static let count = 32

    /// Returns the 32 bytes of the digest.
    package static func of(_ bytes: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: count)
        try check("EVP_Digest") { unsafe EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) }
        return digest
    }
}

/// SHA-384 (FIPS 180-4).
enum SHA384Digest {
    /// Returns the 48 bytes of the digest.
    static func of(_ bytes: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 48)
        try check("EVP_Digest") { unsafe EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha384(), nil) }
        return digest
    }
}
