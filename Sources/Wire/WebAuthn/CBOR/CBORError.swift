/// Why bytes are not CBOR of the strict kind that is read here, and where.
package struct CBORError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// More bytes than the limit that is given.
        case tooLarge(limit: Int)
        /// Arrays and maps inside one another, more than the limit that is given.
        case tooDeep(limit: Int)
        /// More items than the limit that is given; a map's keys and values both count.
        case tooManyItems(limit: Int)
        /// The input ends before an item does.
        case truncated
        /// Bytes after the item.
        case trailingBytes
        /// A length or an integer in more bytes than it needs.
        case notShortest
        case indefiniteLength
        /// Additional information 28, 29 or 30, which RFC 8949 §3 reserves.
        case reserved
        case tag
        /// A floating-point number, or a simple value other than false, true and null.
        case unsupportedSimpleValue
        case notUTF8
        /// A map's key is neither an integer nor a string.
        case keyKind
        case duplicateKey
        case keysNotSorted
    }

    /// Bytes before the place of the fault, from the start of the input.
    package let offset: Int
    package let reason: Reason
}

extension CBORError: CustomStringConvertible {
    package var description: String { "not canonical CBOR at byte \(offset): \(reason.text)" }
}

extension CBORError.Reason {
    fileprivate var text: String {
        switch self {
        case .tooLarge(let limit): "larger than the \(limit) bytes that are allowed"
        case .tooDeep(let limit): "nested deeper than the \(limit) levels that are allowed"
        case .tooManyItems(let limit): "more than the \(limit) items that are allowed"
        case .truncated: "ends before the item does"
        case .trailingBytes: "bytes after the item"
        case .notShortest: "a length or an integer is not in its shortest form"
        case .indefiniteLength: "indefinite length"
        case .reserved: "reserved additional information"
        case .tag: "a tag"
        case .unsupportedSimpleValue: "a simple value other than false, true and null"
        case .notUTF8: "text that is not UTF-8"
        case .keyKind: "a key that is neither an integer nor a string"
        case .duplicateKey: "a key that appears twice in a map"
        case .keysNotSorted: "the keys of a map are not in order"
        }
    }
}
