import COpenSSL

extension PKey {
    /// The bytes of a private value of P-256.
    static let p256ScalarCount = 32

    /// Reads an uncompressed point of P-256, and checks that it is on the curve and not at infinity.
    convenience init(p256Point point: [UInt8]) throws(KeyError) {
        guard let material = PublicKeyMaterial(p256Point: point) else { throw .malformed(nil) }
        do throws(OpenSSLError) {
            try self.init(subjectPublicKeyInfo: SubjectPublicKeyInfo.encode(material))
        } catch {
            throw .notOnCurve
        }
    }

    /// Makes a pair on P-256 of its private value, big-endian, and checks that this is in range.
    convenience init(p256Scalar scalar: Secret) throws(KeyError) {
        guard scalar.count == Self.p256ScalarCount else { throw .malformed(nil) }
        do throws(OpenSSLError) {
            try unsafe self.init(takingOwnershipOf: Self.decoded(ecPrivateKey: Self.ecPrivateKey(scalar)))
            try PKeyContext(for: self).checkPair()
        } catch {
            throw .malformed(error)
        }
    }

    /// The private value of a pair on P-256, big-endian.
    func p256Scalar() throws(OpenSSLError) -> Secret {
        try unsafe withPointer { key throws(OpenSSLError) in
            var found: OpaquePointer?  // <BIGNUM>
            // EVP_PKEY_get_bn_param wipes its own buffer; BN_clear_free wipes what it gave.
            defer { unsafe BN_clear_free(found) }
            try check("EVP_PKEY_get_bn_param") {
                unsafe EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &found)
            }
            let number = try unsafe checkNotNull("EVP_PKEY_get_bn_param") { unsafe found }
            return try unsafe Secret(count: Self.p256ScalarCount) { output throws(OpenSSLError) in
                let start = unsafe output.bindMemory(to: UInt8.self).baseAddress
                let count = CInt(output.count)
                try check("BN_bn2binpad") { unsafe BN_bn2binpad(number, start, count) == count ? 1 : 0 }
            }
        }
    }

    /// The DER ECPrivateKey (RFC 5915 §3) without the public key, which OpenSSL computes.
    private static func ecPrivateKey(_ scalar: Secret) throws(OpenSSLError) -> Secret {
        // SEQUENCE { 1, OCTET STRING { … }, [0] { secp256r1 } }
        try Secret.joined([
            Secret([0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]), scalar,
            Secret([0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]),
        ])
    }

    private static func decoded(ecPrivateKey der: Secret) throws(OpenSSLError) -> OpaquePointer {
        try unsafe der.withBytes { bytes throws(OpenSSLError) in
            var cursor = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
            return try unsafe checkNotNull("d2i_PrivateKey") {
                unsafe d2i_PrivateKey(EVP_PKEY_EC, nil, &cursor, bytes.count)
            }
        }
    }
}
