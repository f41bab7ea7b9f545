extension CBOR {
    /// Returns the canonical encoding: shortest heads, definite lengths, sorted maps (CTAP 2.1 §8, RFC 8949 §4.2.1).
    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .unsigned(let value):
            bytes.append(head: .unsigned, value)
        case .negative(let value):
            bytes.append(head: .negative, value)
        case .bytes(let value):
            bytes.append(head: .bytes, UInt64(value.count))
            bytes += value
        case .text(let value):
            bytes.append(head: .text, UInt64(value.utf8.count))
            bytes += value.utf8
        case .array(let items):
            bytes.append(head: .array, UInt64(items.count))
            for item in items { item.append(to: &bytes) }
        case .map(let map):
            bytes.append(head: .map, UInt64(map.count))
            for entry in map.entries {
                entry.key.append(to: &bytes)
                entry.value.append(to: &bytes)
            }
        case .bool(let value):
            bytes.append(head: .simple, value ? CBORSimpleValue.true : CBORSimpleValue.false)
        case .null:
            bytes.append(head: .simple, CBORSimpleValue.null)
        }
    }
}

/// The major type: the top three bits of an item's first byte (RFC 8949 §3.1).
enum CBORMajorType: UInt8 {
    case unsigned, negative, bytes, text, array, map, tag, simple
}

/// The simple values that this code uses (RFC 8949 §3.3).
enum CBORSimpleValue {
    static let `false`: UInt64 = 20
    static let `true`: UInt64 = 21
    static let null: UInt64 = 22
}

extension [UInt8] {
    /// Appends an item's head, in as few bytes as its argument needs (RFC 8949 §3).
    fileprivate mutating func append(head type: CBORMajorType, _ argument: UInt64) {
        let top = type.rawValue << 5
        switch argument {
        case 0...23: append(top | UInt8(argument))
        case 24...0xFF: appendArgument(argument, after: top | 24, bytes: 1)
        case 0x100...0xFFFF: appendArgument(argument, after: top | 25, bytes: 2)
        case 0x1_0000...0xFFFF_FFFF: appendArgument(argument, after: top | 26, bytes: 4)
        default: appendArgument(argument, after: top | 27, bytes: 8)
        }
    }

    private mutating func appendArgument(_ argument: UInt64, after first: UInt8, bytes count: Int) {
        append(first)
        for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: argument >> UInt64(shift)))
        }
    }
}
