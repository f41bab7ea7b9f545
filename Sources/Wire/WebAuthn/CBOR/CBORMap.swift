/// A CBOR map whose keys are unique and in canonical order.
package struct CBORMap: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package let key: CBOR
        package let value: CBOR
    }

    /// The entries in canonical order: by the bytes of the encoded keys.
    package let entries: [Entry]

    /// Creates a map from unique entries in order, which the reader has checked.
    init(inOrder entries: [Entry]) { self.entries = entries }

    package var count: Int { entries.count }

    /// The value of a key.
    ///
    /// `nil` if the map has no such key.
    package subscript(key: CBOR) -> CBOR? { entries.first { $0.key == key }?.value }
}

extension CBORMap: ExpressibleByDictionaryLiteral {
    /// Sorts the entries.
    ///
    /// If a key appears twice, the first one counts.
    package init(dictionaryLiteral elements: (CBOR, CBOR)...) {
        var entries: [Entry] = []
        for (key, value) in elements where !entries.contains(where: { $0.key == key }) {
            entries.append(Entry(key: key, value: value))
        }
        self.init(inOrder: entries.sorted { CBORMap.isInOrder($0.key.encoded(), $1.key.encoded()) })
    }
}

extension CBORMap {
    /// Returns whether an encoded key comes before another.
    ///
    /// CTAP 2.1 §8 sorts by major type, then shorter first, then by bytes. The reader allows only integers and strings
    /// as keys, with heads in the shortest form. For these, that order is the order of the bytes, because the first
    /// byte begins with the major type and the length follows. So it is also the order of RFC 8949 §4.2.1.
    static func isInOrder(_ one: [UInt8], _ other: [UInt8]) -> Bool { one.lexicographicallyPrecedes(other) }
}
