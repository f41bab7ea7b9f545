/// The bytes that make a public key, as COSE keys and JSON Web Keys have them.
package enum PublicKeyMaterial: Sendable, Equatable {
    /// The affine coordinates of a point of P-256, big-endian, 32 bytes each.
    case p256(x: [UInt8], y: [UInt8])
    /// The affine coordinates of a point of P-384, big-endian, 48 bytes each.
    case p384(x: [UInt8], y: [UInt8])
    /// A point of Ed25519 in its 32 bytes (RFC 8032 §5.1.2).
    case ed25519([UInt8])

    package var algorithm: SignatureAlgorithm {
        switch self {
        case .p256: .es256
        case .p384: .es384
        case .ed25519: .eddsa
        }
    }
}

extension PublicKeyMaterial {
    static let ed25519Count = 32

    /// Divides the bytes of a key; nil where their number is not the algorithm's.
    init?(_ algorithm: SignatureAlgorithm, bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.count(algorithm) else { return nil }
        let (x, y) = (Array(bytes.prefix(bytes.count / 2)), Array(bytes.suffix(bytes.count / 2)))
        switch algorithm {
        case .es256: self = .p256(x: x, y: y)
        case .es384: self = .p384(x: x, y: y)
        case .eddsa: self = .ed25519(Array(bytes))
        }
    }

    /// Both coordinates one after the other, or the one point.
    var bytes: [UInt8] {
        switch self {
        case .p256(let x, let y), .p384(let x, let y): x + y
        case .ed25519(let point): point
        }
    }

    /// Whether each part has the length that the curve gives it.
    var hasItsLengths: Bool { PublicKeyMaterial(algorithm, bytes: bytes[...]) == self }

    private static func count(_ algorithm: SignatureAlgorithm) -> Int {
        algorithm.ecNumberCount.map { 2 * $0 } ?? ed25519Count
    }
}
