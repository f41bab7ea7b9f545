import COpenSSL

/// An owned ECDSA_SIG: the numbers r and s, to convert between the DER form and the raw form.
@safe struct ECDSASignature: ~Copyable {
    private let pointer: OpaquePointer  // <ECDSA_SIG>

    private init(takingOwnershipOf pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe ECDSA_SIG_free(pointer) }

    /// Reads a whole DER ECDSA-Sig-Value (RFC 3279 §2.2.3).
    static func reading(der: [UInt8]) throws(OpenSSLError) -> ECDSASignature {
        let decoded = try unsafe DER.decoding(der, by: "d2i_ECDSA_SIG") { unsafe d2i_ECDSA_SIG(nil, $0, $1) }
        let signature = unsafe ECDSASignature(takingOwnershipOf: decoded.pointer)
        try check("d2i_ECDSA_SIG") { unsafe decoded.consumed == der.count ? 1 : 0 }
        return signature
    }

    /// Reads r || s, big-endian (RFC 7518 §3.4), or returns `nil` if the length is wrong.
    ///
    /// - Parameter numberCount: the number of bytes of r and of s, which depends on the curve.
    static func reading(raw: [UInt8], numberCount: Int) throws(OpenSSLError) -> ECDSASignature? {
        guard raw.count == 2 * numberCount else { return nil }
        let signature = try unsafe ECDSASignature(
            takingOwnershipOf: checkNotNull("ECDSA_SIG_new") { unsafe ECDSA_SIG_new() })
        let r = try BigNumber(raw.prefix(numberCount))
        let s = try BigNumber(raw.suffix(numberCount))
        // This cannot fail: set0 refuses only null pointers. The signature now owns both numbers.
        unsafe ECDSA_SIG_set0(signature.pointer, r.releasingOwnership(), s.releasingOwnership())
        return signature
    }

    /// Returns the DER form, which WebAuthn (§6.5.5) and most tools use.
    func der() throws(OpenSSLError) -> [UInt8] {
        try unsafe DER.encoding("i2d_ECDSA_SIG") { unsafe i2d_ECDSA_SIG(pointer, $0) }
    }

    /// Returns the raw form r || s, `numberCount` bytes each.
    ///
    /// Throws if a number is longer than that.
    func raw(numberCount: Int) throws(OpenSSLError) -> [UInt8] {
        let r = try unsafe checkNotNull("ECDSA_SIG_get0_r") { unsafe ECDSA_SIG_get0_r(pointer) }
        let s = try unsafe checkNotNull("ECDSA_SIG_get0_s") { unsafe ECDSA_SIG_get0_s(pointer) }
        return try unsafe BigNumber.bytes(of: r, count: numberCount)
            + BigNumber.bytes(of: s, count: numberCount)
    }
}
