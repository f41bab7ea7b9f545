/// The limits for an input.
package struct CBORLimits: Sendable {
    /// The maximum size of the input, in bytes.
    package let maxBytes: Int
    /// The maximum nesting of arrays and maps.
    ///
    /// An item on its own has depth 0.
    package let maxDepth: Int
    /// The maximum number of items.
    ///
    /// Keys and values of a map both count.
    package let maxItems: Int

    package init(maxBytes: Int = 65_536, maxDepth: Int = 8, maxItems: Int = 1_000) {
        self.maxBytes = maxBytes
        self.maxDepth = maxDepth
        self.maxItems = maxItems
    }
}

extension CBOR {
    /// Decodes an item, which must be the whole input in its canonical encoding.
    ///
    /// For each input that it accepts, `decode(bytes).encoded() == bytes`.
    package static func decode(_ bytes: [UInt8], limits: CBORLimits = CBORLimits()) throws(CBORError) -> CBOR {
        let (item, consumed) = try decodePrefix(bytes, limits: limits)
        guard consumed == bytes.count else { throw CBORError(offset: consumed, reason: .trailingBytes) }
        return item
    }

    /// Decodes the item at the start of the input, in its canonical encoding, and returns the number of its bytes.
    package static func decodePrefix(
        _ bytes: [UInt8], limits: CBORLimits = CBORLimits()
    ) throws(CBORError) -> (item: CBOR, consumed: Int) {
        var reader = try CBORReader(bytes, limits: limits)
        let item = try reader.item(insideContainers: 0)
        return (item, reader.offset)
    }
}

/// Reader of the items of an input, from front to end.
///
/// It compares each length with the rest of the input before it allocates memory. So a hostile length costs nothing.
struct CBORReader {
    private(set) var offset = 0
    private var itemCount = 0
    private let bytes: [UInt8]
    private let limits: CBORLimits

    init(_ bytes: [UInt8], limits: CBORLimits) throws(CBORError) {
        guard bytes.count <= limits.maxBytes else {
            throw CBORError(offset: 0, reason: .tooLarge(limit: limits.maxBytes))
        }
        self.bytes = bytes
        self.limits = limits
    }

    mutating func item(insideContainers depth: Int) throws(CBORError) -> CBOR {
        let start = offset
        itemCount += 1
        guard itemCount <= limits.maxItems else { throw fault(.tooManyItems(limit: limits.maxItems), at: start) }
        let (type, argument) = try head()
        switch type {
        case .unsigned: return .unsigned(argument)
        case .negative: return .negative(argument)
        case .bytes: return .bytes(try string(argument, from: start))
        case .text: return .text(try text(argument, from: start))
        case .array: return .array(try array(argument, from: start, depth: depth))
        case .map: return .map(try map(argument, from: start, depth: depth))
        case .tag: throw fault(.tag, at: start)
        case .simple: return try simple(argument, from: start)
        }
    }

    private func fault(_ reason: CBORError.Reason, at place: Int) -> CBORError {
        CBORError(offset: place, reason: reason)
    }
}

// MARK: - Heads

extension CBORReader {
    /// Reads an item's head (RFC 8949 §3): its major type, and its argument, which must be in the shortest form.
    private mutating func head() throws(CBORError) -> (type: CBORMajorType, argument: UInt64) {
        let start = offset
        guard let first = next(), let type = CBORMajorType(rawValue: first >> 5) else {
            throw fault(.truncated, at: start)
        }
        let information = first & 0x1F
        // With major type 7, the additional information 24 to 27 means other simple values and floating-point numbers.
        if type == .simple, (24...27).contains(information) { throw fault(.unsupportedSimpleValue, at: start) }
        switch information {
        case 0...23: return (type, UInt64(information))
        case 24: return (type, try argument(bytes: 1, atLeast: 24, from: start))
        case 25: return (type, try argument(bytes: 2, atLeast: 0x100, from: start))
        case 26: return (type, try argument(bytes: 4, atLeast: 0x1_0000, from: start))
        case 27: return (type, try argument(bytes: 8, atLeast: 0x1_0000_0000, from: start))
        case 31: throw fault(.indefiniteLength, at: start)
        default: throw fault(.reserved, at: start)
        }
    }

    private mutating func argument(
        bytes count: Int, atLeast least: UInt64, from start: Int
    ) throws(CBORError) -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<count {
            guard let byte = next() else { throw fault(.truncated, at: start) }
            value = value << 8 | UInt64(byte)
        }
        guard value >= least else { throw fault(.notShortest, at: start) }
        return value
    }

    private mutating func next() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }
}

// MARK: - Contents

extension CBORReader {
    /// Returns a count, if the rest of the input can contain so many elements of at least `bytesEach` bytes.
    private func count(_ argument: UInt64, bytesEach: Int, from start: Int) throws(CBORError) -> Int {
        let limit = (bytes.count - offset) / bytesEach
        guard let count = Int(exactly: argument), count <= limit else { throw fault(.truncated, at: start) }
        return count
    }

    private mutating func string(_ argument: UInt64, from start: Int) throws(CBORError) -> [UInt8] {
        let length = try count(argument, bytesEach: 1, from: start)
        defer { offset += length }
        return Array(bytes[offset..<offset + length])
    }

    private mutating func text(_ argument: UInt64, from start: Int) throws(CBORError) -> String {
        guard let text = String(validating: try string(argument, from: start), as: UTF8.self) else {
            throw fault(.notUTF8, at: start)
        }
        return text
    }

    private func simple(_ argument: UInt64, from start: Int) throws(CBORError) -> CBOR {
        switch argument {
        case CBORSimpleValue.false: return .bool(false)
        case CBORSimpleValue.true: return .bool(true)
        case CBORSimpleValue.null: return .null
        default: throw fault(.unsupportedSimpleValue, at: start)
        }
    }

    private mutating func array(_ argument: UInt64, from start: Int, depth: Int) throws(CBORError) -> [CBOR] {
        guard depth < limits.maxDepth else { throw fault(.tooDeep(limit: limits.maxDepth), at: start) }
        var items: [CBOR] = []
        for _ in 0..<(try count(argument, bytesEach: 1, from: start)) {
            items.append(try item(insideContainers: depth + 1))
        }
        return items
    }

    private mutating func map(_ argument: UInt64, from start: Int, depth: Int) throws(CBORError) -> CBORMap {
        guard depth < limits.maxDepth else { throw fault(.tooDeep(limit: limits.maxDepth), at: start) }
        var entries: [CBORMap.Entry] = []
        var last: [UInt8]?
        for _ in 0..<(try count(argument, bytesEach: 2, from: start)) {
            let key = try key(after: &last, depth: depth + 1)
            entries.append(CBORMap.Entry(key: key, value: try item(insideContainers: depth + 1)))
        }
        return CBORMap(inOrder: entries)
    }

    /// Reads a map's key, which must sort after the previous key.
    private mutating func key(after last: inout [UInt8]?, depth: Int) throws(CBORError) -> CBOR {
        let start = offset
        let key = try item(insideContainers: depth)
        switch key {
        case .unsigned, .negative, .bytes, .text: break
        case .array, .map, .bool, .null: throw fault(.keyKind, at: start)
        }
        let encoded = Array(bytes[start..<offset])
        if let last {
            guard encoded != last else { throw fault(.duplicateKey, at: start) }
            guard CBORMap.isInOrder(last, encoded) else { throw fault(.keysNotSorted, at: start) }
        }
        last = encoded
        return key
    }
}
