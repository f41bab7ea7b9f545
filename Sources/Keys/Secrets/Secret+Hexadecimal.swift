extension Secret {
    /// The bytes as lower-case hexadecimal digits, twice as many, themselves secret.
    func hexadecimal() throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: 2 * count) { output throws(OpenSSLError) in
            unsafe withBytes { bytes in
                for index in bytes.indices {
                    unsafe output[2 * index] = Self.digit(bytes[index] >> 4)
                    unsafe output[2 * index + 1] = Self.digit(bytes[index] & 0x0F)
                }
            }
        }
    }

    /// Arithmetic, not a table: a table's cache lines would tell which digits were looked up.
    private static func digit(_ value: UInt8) -> UInt8 {
        // 39 is the way from the character after "9" to "a"; the shift makes 1 of every value above 9.
        value + 0x30 + 39 * ((value &+ 6) >> 4)
    }
}
