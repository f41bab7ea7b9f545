/// The points of Ed25519 whose order is 1, 2, 4 or 8.
///
/// Anyone can make valid signatures under such a public key, so a credential with one would give its issuer no proof.
/// RFC 8032 §5.1.7 lets a verifier accept these points, and OpenSSL does.
enum Ed25519SmallOrder {
    /// Returns whether the bytes encode one of the points, in any encoding that OpenSSL reads.
    ///
    /// The sign bit may have either value. The y may be in the prime field or up to 18 above it, because OpenSSL
    /// reduces it.
    static func contains(_ point: [UInt8]) -> Bool {
        guard let last = point.last else { return false }
        return encodings.contains(point.dropLast() + [last & 0x7F])
    }

    /// The y of each point, little-endian.
    private static let encodings: [[UInt8]] = [
        [0x00] + zeros,  // order 4
        [0x01] + zeros,  // order 1, the identity
        [0xEC] + ones,  // p − 1: order 2
        [0xED] + ones,  // p, which is 0
        [0xEE] + ones,  // p + 1, which is 1
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
            0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],  // order 8
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
            0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],  // order 8
    ]

    private static let zeros = [UInt8](repeating: 0x00, count: 31)
    private static let ones = [UInt8](repeating: 0xFF, count: 30) + [0x7F]
}
