import COpenSSL

/// An owned BIGNUM that contains a public value.
///
/// It is freed without wiping.
@safe struct BigNumber: ~Copyable {
    private let pointer: OpaquePointer  // <BIGNUM>

    /// Takes ownership: the caller must not free `pointer`.
    init(takingOwnershipOf pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    /// Reads a big-endian number.
    init(_ bigEndian: ArraySlice<UInt8>) throws(OpenSSLError) {
        let bytes = Array(bigEndian)
        unsafe pointer = try checkNotNull("BN_bin2bn") { unsafe BN_bin2bn(bytes, CInt(bytes.count), nil) }
    }

    deinit { unsafe BN_free(pointer) }

    /// Transfers ownership of the number to the caller, who must free the pointer.
    consuming func releasingOwnership() -> OpaquePointer {
        let pointer = unsafe self.pointer
        discard self
        return unsafe pointer
    }

    /// Returns the number, big-endian, with leading zeros up to `count` bytes.
    ///
    /// Throws if it does not fit.
    func bytes(count: Int) throws(OpenSSLError) -> [UInt8] {
        try unsafe Self.bytes(of: pointer, count: count)
    }

    /// Returns the same for a BIGNUM that another structure owns.
    static func bytes(of borrowed: OpaquePointer, count: Int) throws(OpenSSLError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try check("BN_bn2binpad") { unsafe BN_bn2binpad(borrowed, &bytes, CInt(count)) == CInt(count) ? 1 : 0 }
        return bytes
    }
}
