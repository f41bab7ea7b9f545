/// A CBOR map whose keys are unique and in canonical order.
package struct CBORMap: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package let key: CBOR
        package let value: CBOR
    }

    /// In canonical order: by the bytes of the encoded keys.
    package let entries: [Entry]

    /// Takes entries that are unique and in order already: the reader has checked it.
    init(inOrder entries: [Entry]) { self.entries = entries }

    package var count: Int { entries.count }

    /// The value under a key, or nil if the map has no such key.
    package subscript(key: CBOR) -> CBOR? { entries.first { $0.key == key }?.value }
}

extension CBORMap: ExpressibleByDictionaryLiteral {
    /// Sorts the entries; if a key appears twice, the first one counts.
    package init(dictionaryLiteral elements: (CBOR, CBOR)...) {
        var entries: [Entry] = []
        for (key, value) in elements where !entries.contains(where: { $0.key == key }) {
            entries.append(Entry(key: key, value: value))
        }
        self.init(inOrder: entries.sorted { CBORMap.isInOrder($0.key.encoded(), $1.key.encoded()) })
    }
}

extension CBORMap {
    /// Whether one encoded key is before another.
    ///
    /// CTAP 2.1 §8 sorts by major type, then shorter first, then by bytes. For the kinds of key that the reader
    /// allows (integers and strings, their heads in the shortest form) that is the order of the bytes, because the
    /// first byte has the major type on top and the length follows it. So it is RFC 8949 §4.2.1's order as well.
    static func isInOrder(_ one: [UInt8], _ other: [UInt8]) -> Bool { one.lexicographicallyPrecedes(other) }
}
