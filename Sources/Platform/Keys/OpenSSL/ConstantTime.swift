import COpenSSL

/// A comparison whose time does not reveal where two values differ.
package enum ConstantTime {
    /// Returns whether the bytes are equal.
    ///
    /// The time reveals only the lengths.
    package static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        return unsafe CRYPTO_memcmp(a, b, a.count) == 0
    }
}
