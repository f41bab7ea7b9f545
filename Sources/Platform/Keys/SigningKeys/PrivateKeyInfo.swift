import COpenSSL

/// An owned PKCS8_PRIV_KEY_INFO: a private key in clear, which libcrypto wipes when it frees it.
@safe struct PrivateKeyInfo: ~Copyable {
    private let pointer: OpaquePointer  // <PKCS8_PRIV_KEY_INFO>

    /// Takes ownership: the caller must not free `pointer`.
    init(takingOwnershipOf pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    init(of key: PKey) throws(OpenSSLError) {
        unsafe pointer = try key.withPointer { key throws(OpenSSLError) in
            try unsafe checkNotNull("EVP_PKEY2PKCS8") { unsafe EVP_PKEY2PKCS8(key) }
        }
    }

    deinit { unsafe PKCS8_PRIV_KEY_INFO_free(pointer) }

    func key() throws(OpenSSLError) -> PKey {
        try unsafe PKey(takingOwnershipOf: checkNotNull("EVP_PKCS82PKEY") { unsafe EVP_PKCS82PKEY(pointer) })
    }

    /// Returns the DER encoding, in clear, written directly into the memory of the secret.
    func der() throws(OpenSSLError) -> Secret {
        let count = unsafe i2d_PKCS8_PRIV_KEY_INFO(pointer, nil)
        try check("i2d_PKCS8_PRIV_KEY_INFO") { count > 0 ? 1 : 0 }
        return try unsafe Secret(count: Int(count)) { output throws(OpenSSLError) in
            var cursor = unsafe output.bindMemory(to: UInt8.self).baseAddress
            try check("i2d_PKCS8_PRIV_KEY_INFO") {
                unsafe i2d_PKCS8_PRIV_KEY_INFO(pointer, &cursor) == count ? 1 : 0
            }
        }
    }

    /// Encrypts by PBES2 with AES-256-CBC and scrypt (RFC 7914 §7), so that a guess costs memory and time.
    func encrypted(under pin: PIN, salt: [UInt8], cost: ScryptCost) throws(OpenSSLError) -> EncryptedKeyInfo {
        var salt = salt
        guard
            let scheme = unsafe PKCS5_pbe2_set_scrypt(
                EVP_aes_256_cbc(), &salt, CInt(salt.count), nil, cost.n, cost.r, cost.p)
        else { throw .drainingQueue(after: "PKCS5_pbe2_set_scrypt") }
        return try unsafe pin.secret.withBytes { bytes throws(OpenSSLError) in
            let characters = unsafe bytes.bindMemory(to: CChar.self)
            // The call owns the scheme only if it succeeds.
            guard
                let encrypted = unsafe PKCS8_set0_pbe(
                    characters.baseAddress, CInt(characters.count), pointer, scheme)
            else {
                unsafe X509_ALGOR_free(scheme)
                throw .drainingQueue(after: "PKCS8_set0_pbe")
            }
            return unsafe EncryptedKeyInfo(takingOwnershipOf: encrypted)
        }
    }
}

/// The cost of one scrypt derivation (RFC 7914 §2).
///
/// It needs 128 * n * r bytes of memory, and time in proportion to n * r * p.
struct ScryptCost {
    let n: UInt64
    let r: UInt64
    let p: UInt64

    /// The cost for a PIN: 16 MiB and about 100 ms.
    ///
    /// N of 32,768 would exceed the memory that OpenSSL allows when it reads the key again.
    static let ofPIN = ScryptCost(n: 16_384, r: 8, p: 2)
}
