import COpenSSL

/// An EVP_PKEY_CTX for one operation: a check of a key, or a key derivation.
@safe struct PKeyContext: ~Copyable {
    private let pointer: OpaquePointer  // <EVP_PKEY_CTX>

    init(for key: PKey) throws(OpenSSLError) {
        unsafe pointer = try key.withPointer { key throws(OpenSSLError) in
            try unsafe checkNotNull("EVP_PKEY_CTX_new_from_pkey") { unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) }
        }
    }

    /// Creates a context for HKDF (RFC 5869).
    init(hkdf: Void) throws(OpenSSLError) {
        unsafe pointer = try checkNotNull("EVP_PKEY_CTX_new_from_name") {
            unsafe EVP_PKEY_CTX_new_from_name(nil, "HKDF", nil)
        }
    }

    deinit { unsafe EVP_PKEY_CTX_free(pointer) }

    /// Throws unless the public point is on its curve, of its order, and not at infinity.
    func checkPublicKey() throws(OpenSSLError) {
        try check("EVP_PKEY_public_check") { unsafe EVP_PKEY_public_check(pointer) }
    }

    /// Throws unless the public point is on its curve, and not at infinity.
    ///
    /// On P-256 and P-384, whose cofactor is 1, each such point has the curve's order (NIST SP 800-56A §5.6.2.3.4).
    func checkPoint() throws(OpenSSLError) {
        try check("EVP_PKEY_public_check_quick") { unsafe EVP_PKEY_public_check_quick(pointer) }
    }

    /// Throws unless the private key is in range and the public key belongs to it.
    func checkPair() throws(OpenSSLError) {
        try check("EVP_PKEY_check") { unsafe EVP_PKEY_check(pointer) }
    }

    /// Fills `output` from `secret`, `salt` and `info` by HKDF with SHA-256.
    func deriveHKDF(
        from secret: Secret, salt: Secret?, info: [UInt8], into output: UnsafeMutableRawBufferPointer
    ) throws(OpenSSLError) {
        try check("EVP_PKEY_derive_init") { unsafe EVP_PKEY_derive_init(pointer) }
        try check("EVP_PKEY_CTX_set_hkdf_md") { unsafe EVP_PKEY_CTX_set_hkdf_md(pointer, EVP_sha256()) }
        try unsafe secret.withBytes { bytes throws(OpenSSLError) in
            let key = unsafe bytes.bindMemory(to: UInt8.self)
            try check("EVP_PKEY_CTX_set1_hkdf_key") {
                unsafe EVP_PKEY_CTX_set1_hkdf_key(pointer, key.baseAddress, CInt(key.count))
            }
        }
        try setHKDF(salt: salt)
        try check("EVP_PKEY_CTX_add1_hkdf_info") {
            unsafe EVP_PKEY_CTX_add1_hkdf_info(pointer, info, CInt(info.count))
        }
        try unsafe derive(into: output)
    }

    /// Fills `output` with the shared x coordinate of ECDH (NIST SP 800-56A §5.7.1.2).
    ///
    /// The inputs are this context's pair and `peer`.
    func deriveECDH(with peer: PKey, into output: UnsafeMutableRawBufferPointer) throws(OpenSSLError) {
        try check("EVP_PKEY_derive_init") { unsafe EVP_PKEY_derive_init(pointer) }
        try check("EVP_PKEY_derive_set_peer") {
            unsafe peer.withPointer { unsafe EVP_PKEY_derive_set_peer(pointer, $0) }
        }
        try unsafe derive(into: output)
    }

    private func setHKDF(salt: Secret?) throws(OpenSSLError) {
        guard let salt else { return }
        try unsafe salt.withBytes { bytes throws(OpenSSLError) in
            let salt = unsafe bytes.bindMemory(to: UInt8.self)
            try check("EVP_PKEY_CTX_set1_hkdf_salt") {
                unsafe EVP_PKEY_CTX_set1_hkdf_salt(pointer, salt.baseAddress, CInt(salt.count))
            }
        }
    }

    private func derive(into output: UnsafeMutableRawBufferPointer) throws(OpenSSLError) {
        var count = output.count
        let start = unsafe output.bindMemory(to: UInt8.self).baseAddress
        try check("EVP_PKEY_derive") { unsafe EVP_PKEY_derive(pointer, start, &count) }
        try check("EVP_PKEY_derive") { count == output.count ? 1 : 0 }
    }
}
