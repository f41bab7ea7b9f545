extension PublicKeyMaterial {
    /// The bytes of an uncompressed point of P-256: 04, then both coordinates (SEC 1 §2.3.3).
    package static let p256PointCount = 65
    static let uncompressed: UInt8 = 0x04

    /// Reads an uncompressed point of P-256; nil for every other form.
    ///
    /// Whether it is on the curve is for `PublicKey` to see.
    package init?(p256Point point: [UInt8]) {
        guard point.count == Self.p256PointCount, point[0] == Self.uncompressed else { return nil }
        self.init(.es256, bytes: point.dropFirst())
    }

    /// The uncompressed point; nil for a key that is not on P-256.
    package var p256Point: [UInt8]? {
        guard case .p256(let x, let y) = self else { return nil }
        return [Self.uncompressed] + x + y
    }
}
