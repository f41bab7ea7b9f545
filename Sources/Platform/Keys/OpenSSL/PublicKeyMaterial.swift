/// The bytes of a public key, in the parts that COSE keys and JSON Web Keys have.
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

    /// Splits the bytes of a key into its parts, or returns `nil` if their number is not the algorithm's.
    init?(_ algorithm: SignatureAlgorithm, bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.count(algorithm) else { return nil }
        let (x, y) = (Array(bytes.prefix(bytes.count / 2)), Array(bytes.suffix(bytes.count / 2)))
        switch algorithm {
        case .es256: self = .p256(x: x, y: y)
        case .es384: self = .p384(x: x, y: y)
        case .eddsa: self = .ed25519(Array(bytes))
        }
    }

    /// The two coordinates in sequence, or the one point.
    var bytes: [UInt8] {
        switch self {
        case .p256(let x, let y), .p384(let x, let y): x + y
        case .ed25519(let point): point
        }
    }

    /// Whether each part has the length that the curve requires.
    var hasItsLengths: Bool { PublicKeyMaterial(algorithm, bytes: bytes[...]) == self }

    private static func count(_ algorithm: SignatureAlgorithm) -> Int {
        algorithm.ecNumberCount.map { 2 * $0 } ?? ed25519Count
    }
}

extension PublicKeyMaterial {
    /// The bytes of an uncompressed point of P-256: 04, then both coordinates (SEC 1 §2.3.3).
    package static let p256PointCount = 65
    static let uncompressed: UInt8 = 0x04

    /// Reads an uncompressed point of P-256, or returns `nil` for every other form.
    ///
    /// `PublicKey` checks whether the point is on the curve.
    package init?(p256Point point: [UInt8]) {
        guard point.count == Self.p256PointCount, point[0] == Self.uncompressed else { return nil }
        self.init(.es256, bytes: point.dropFirst())
    }

    /// The uncompressed point, or `nil` for a key that is not on P-256.
    package var p256Point: [UInt8]? {
        guard case .p256(let x, let y) = self else { return nil }
        return [Self.uncompressed] + x + y
    }
}
