import COpenSSL

extension PKey {
    /// The length in bytes of a private value of P-256.
    static let p256ScalarCount = 32

    /// Reads an uncompressed point of P-256, and checks that it is on the curve and not at infinity.
    convenience init(p256Point point: [UInt8]) throws(KeyError) {
        guard let material = PublicKeyMaterial(p256Point: point) else { throw .malformed(nil) }
        do throws(OpenSSLError) {
            try self.init(material)
        } catch {
            throw .notOnCurve
        }
    }

    /// Makes a pair on P-256 from its private value, big-endian, and checks that the value is in range.
    convenience init(p256Scalar scalar: Secret) throws(KeyError) {
        guard scalar.count == Self.p256ScalarCount else { throw .malformed(nil) }
        do throws(OpenSSLError) {
            try unsafe self.init(takingOwnershipOf: Self.pair(p256Scalar: scalar))
            try PKeyContext(for: self).checkPair()
        } catch {
            throw .malformed(error)
        }
    }

    /// Returns the private value of a pair on P-256, big-endian.
    func p256Scalar() throws(OpenSSLError) -> Secret {
        try unsafe withPointer { key throws(OpenSSLError) in
            var found: OpaquePointer?  // <BIGNUM>
            // EVP_PKEY_get_bn_param wipes its own buffer; BN_clear_free wipes the number that it gave.
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

    private static func pair(p256Scalar scalar: Secret) throws(OpenSSLError) -> OpaquePointer {
        try unsafe scalar.withBytes { number throws(OpenSSLError) in
            let start = unsafe number.bindMemory(to: UInt8.self).baseAddress
            var point = [UInt8](repeating: 0, count: PublicKeyMaterial.p256PointCount)
            try check("EC_POINT_mul") { unsafe shim_p256_point(start, &point) }
            return try unsafe checkNotNull("EVP_PKEY_fromdata") {
                unsafe shim_ec_pair("P-256", start, CInt(number.count), point, point.count)
            }
        }
    }
}
