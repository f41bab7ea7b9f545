import COpenSSL

/// An owned EVP_PKEY: a public key, or a key pair.
@safe final class PKey: Sendable {
    // libcrypto counts EVP_PKEY references atomically, and no code changes the key after init.
    private nonisolated(unsafe) let pointer: OpaquePointer  // <EVP_PKEY>
    /// The key's provider, which must outlive the key.
    ///
    /// `nil` if it is OpenSSL's default provider.
    let home: ProviderContext?

    /// Takes ownership: the caller must not free `pointer`.
    init(takingOwnershipOf pointer: OpaquePointer, in home: ProviderContext? = nil) {
        unsafe self.pointer = unsafe pointer
        self.home = home
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
    /// Makes a public key from its raw bytes, many times faster than OpenSSL decodes DER.
    ///
    /// Throws unless the point is on its curve and not at infinity. For Ed25519, bytes that are not a point are
    /// accepted.
    convenience init(_ material: PublicKeyMaterial) throws(OpenSSLError) {
        let bytes = material.bytes
        let point = [PublicKeyMaterial.uncompressed] + bytes
        unsafe self.init(
            takingOwnershipOf: try checkNotNull("EVP_PKEY_fromdata") {
                switch material.algorithm {
                case .es256: unsafe shim_ec_public_key("P-256", point, point.count)
                case .es384: unsafe shim_ec_public_key("P-384", point, point.count)
                case .eddsa: unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
                }
            })
        let context = try PKeyContext(for: self)
        try context.checkPoint()
    }

    /// Reads a whole SubjectPublicKeyInfo of any kind of key, and runs EVP_PKEY_public_check.
    ///
    /// On P-256 and P-384, the point must be on the curve, of its order, and not at infinity.
    convenience init(subjectPublicKeyInfo: [UInt8]) throws(OpenSSLError) {
        let decoded = try unsafe DER.decoding(subjectPublicKeyInfo, by: "d2i_PUBKEY") { unsafe d2i_PUBKEY(nil, $0, $1) }
        unsafe self.init(takingOwnershipOf: decoded.pointer)
        try check("d2i_PUBKEY") { unsafe decoded.consumed == subjectPublicKeyInfo.count ? 1 : 0 }
        let context = try PKeyContext(for: self)
        try context.checkPublicKey()
    }

    /// Makes a new key pair on an algorithm's curve.
    static func generate(_ algorithm: SignatureAlgorithm) throws(OpenSSLError) -> PKey {
        try unsafe PKey(
            takingOwnershipOf: checkNotNull("EVP_PKEY_Q_keygen") {
                switch algorithm {
                case .es256: unsafe shim_generate_p256()
                case .es384: unsafe shim_generate_p384()
                case .eddsa: unsafe shim_generate_ed25519()
                }
            })
    }

    /// The key's algorithm.
    ///
    /// `nil` if the key is of an unsupported kind.
    var algorithm: SignatureAlgorithm? {
        if unsafe withPointer({ unsafe EVP_PKEY_is_a($0, "ED25519") }) == 1 { return .eddsa }
        var name = [CChar](repeating: 0, count: 64)
        let found = unsafe withPointer { unsafe EVP_PKEY_get_group_name($0, &name, name.count, nil) }
        guard found == 1 else {
            // Not every kind of key has a group name.
            OpenSSLError.discardQueue()
            return nil
        }
        switch String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) {
        case "prime256v1": return .es256
        case "secp384r1": return .es384
        default: return nil
        }
    }

    /// Returns the public half of a key that is on the algorithm's curve.
    func publicMaterial(_ algorithm: SignatureAlgorithm) throws(OpenSSLError) -> PublicKeyMaterial {
        switch algorithm {
        case .es256: .p256(x: try x(count: 32), y: try y(count: 32))
        case .es384: .p384(x: try x(count: 48), y: try y(count: 48))
        case .eddsa: .ed25519(try rawPublicKey(count: PublicKeyMaterial.ed25519Count))
        }
    }

    private func x(count: Int) throws(OpenSSLError) -> [UInt8] {
        try coordinate(OSSL_PKEY_PARAM_EC_PUB_X, count: count)
    }

    private func y(count: Int) throws(OpenSSLError) -> [UInt8] {
        try coordinate(OSSL_PKEY_PARAM_EC_PUB_Y, count: count)
    }

    /// Returns one affine coordinate of the public point, by its parameter name in `core_names.h`.
    private func coordinate(_ name: String, count: Int) throws(OpenSSLError) -> [UInt8] {
        try unsafe withPointer { key throws(OpenSSLError) in
            var number: OpaquePointer?  // <BIGNUM>
            try check("EVP_PKEY_get_bn_param") { unsafe EVP_PKEY_get_bn_param(key, name, &number) }
            let owned = try unsafe checkNotNull("EVP_PKEY_get_bn_param") { unsafe number }
            return try unsafe BigNumber(takingOwnershipOf: owned).bytes(count: count)
        }
    }

    /// Returns the `count` raw bytes of an Ed25519 public key.
    private func rawPublicKey(count: Int) throws(OpenSSLError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var written = count
        try check("EVP_PKEY_get_raw_public_key") {
            unsafe withPointer { unsafe EVP_PKEY_get_raw_public_key($0, &bytes, &written) }
        }
        try check("EVP_PKEY_get_raw_public_key") { written == count ? 1 : 0 }
        return bytes
    }
}
