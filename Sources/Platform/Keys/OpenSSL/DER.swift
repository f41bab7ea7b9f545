/// The calling conventions of libcrypto's `d2i_` and `i2d_` functions.
enum DER {
    /// Calls an `i2d_` function for the length, then again for that many bytes.
    static func encoding(
        _ function: String, _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt
    ) throws(OpenSSLError) -> [UInt8] {
        let count = encode(nil)
        try check(function) { count > 0 ? 1 : 0 }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe encode(&cursor)
        }
        try check(function) { written == count ? 1 : 0 }
        return bytes
    }

    /// Calls a `d2i_` function.
    ///
    /// The caller owns the pointer. `consumed` shows whether bytes are left over.
    static func decoding(
        _ bytes: [UInt8], by function: String,
        _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, CLong) -> OpaquePointer?
    ) throws(OpenSSLError) -> (pointer: OpaquePointer, consumed: Int) {
        try unsafe bytes.withUnsafeBufferPointer { buffer throws(OpenSSLError) in
            var cursor = buffer.baseAddress
            let pointer = try unsafe checkNotNull(function) { unsafe decode(&cursor, buffer.count) }
            return unsafe (pointer, Int(bitPattern: cursor) - Int(bitPattern: buffer.baseAddress))
        }
    }
}
