import COpenSSL

/// Comparison whose time does not tell where two values differ.
package enum ConstantTime {
    /// Whether the bytes are equal.
    ///
    /// Only the lengths may be told from the time it takes.
    package static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        return unsafe CRYPTO_memcmp(a, b, a.count) == 0
    }
}
