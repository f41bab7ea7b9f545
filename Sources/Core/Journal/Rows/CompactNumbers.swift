import Records

/// A key that 80 of its bits identify.
protocol CompactKey: Hashable, Sendable {
    var compact: CompactNumbers<Self>.Place { get }
}

/// A number for each of very many keys, with 24 to 48 bytes for each key.
///
/// An id as text takes three times as much. The keys are in several tables, because a single table would exist twice
/// while it grows.
struct CompactNumbers<Key: CompactKey>: Sendable {
    struct Place: Hashable {
        let high: UInt64
        let low: UInt16
    }

    private static var parts: Int { 64 }
    private var tables = [[Place: UInt64]](repeating: [:], count: Self.parts)

    subscript(key: Key) -> UInt64? {
        get {
            let place = key.compact
            return tables[Int(place.low) % Self.parts][place]
        }
        set {
            let place = key.compact
            tables[Int(place.low) % Self.parts][place] = newValue
        }
    }
}

extension EnrollmentID: CompactKey {
    /// All 20 hexadecimal digits of the id.
    var compact: CompactNumbers<EnrollmentID>.Place {
        var (high, low, place): (UInt64, UInt16, Int) = (0, 0, 0)
        for digit in text.utf8 {
            let value = digit < 0x3a ? digit - 0x30 : digit - 0x57
            if place < 16 { high = high << 4 | UInt64(value) } else { low = low << 4 | UInt16(value) }
            place += 1
        }
        return .init(high: high, low: low)
    }
}

extension KeyIdentity: CompactKey {
    /// The beginning of the digest; finding another key with the same beginning is not feasible.
    var compact: CompactNumbers<KeyIdentity>.Place {
        let high = bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return .init(high: high, low: UInt16(bytes[8]) << 8 | UInt16(bytes[9]))
    }
}
