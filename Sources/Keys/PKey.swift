import COpenSSL

/// The owner of one EVP_PKEY: a public key, or a key pair.
@safe final class PKey: Sendable {
    // libcrypto counts EVP_PKEY references atomically, and nothing changes the key after init.
    private nonisolated(unsafe) let pointer: OpaquePointer  // <EVP_PKEY>

    /// Takes ownership: the caller must not free `pointer`.
    init(takingOwnershipOf pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// Lends the pointer for the time of the call.
    func withPointer<Result: ~Copyable, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(pointer)
    }
}

extension PKey {
    /// Reads a whole SubjectPublicKeyInfo, and checks that the point is on its curve and not at infinity.
    convenience init(subjectPublicKeyInfo: [UInt8]) throws(OpenSSLError) {
        let decoded = try unsafe DER.decoding("d2i_PUBKEY", subjectPublicKeyInfo) { unsafe d2i_PUBKEY(nil, $0, $1) }
        unsafe self.init(takingOwnershipOf: decoded.pointer)
        try check("d2i_PUBKEY") { unsafe decoded.consumed == subjectPublicKeyInfo.count ? 1 : 0 }
        let context = try PKeyContext(for: self)
        try context.checkPublicKey()
    }

    /// A new key pair on P-256.
    static func generateP256() throws(OpenSSLError) -> PKey {
        try unsafe PKey(takingOwnershipOf: checkNotNull("EVP_EC_gen") { unsafe shim_generate_p256() })
    }

    /// Whether this is a key on P-256 by that curve's name.
    var isP256: Bool {
        var name = [CChar](repeating: 0, count: 64)
        let found = unsafe withPointer { unsafe EVP_PKEY_get_group_name($0, &name, name.count, nil) }
        // Anything that is no elliptic curve has no group name.
        if found != 1 { OpenSSLError.discardQueue() }
        return found == 1 && name.prefix { $0 != 0 }.elementsEqual("prime256v1".utf8.lazy.map(CChar.init))
    }

    /// One affine coordinate of the public point, 32 octets, by its parameter name in `core_names.h`.
    func p256Coordinate(_ name: String) throws(OpenSSLError) -> [UInt8] {
        try unsafe withPointer { key throws(OpenSSLError) in
            var number: OpaquePointer?  // <BIGNUM>
            try check("EVP_PKEY_get_bn_param") { unsafe EVP_PKEY_get_bn_param(key, name, &number) }
            let owned = try unsafe checkNotNull("EVP_PKEY_get_bn_param") { unsafe number }
            return try unsafe BigNumber(takingOwnershipOf: owned).octets(count: P256Encoding.coordinateCount)
        }
    }
}
