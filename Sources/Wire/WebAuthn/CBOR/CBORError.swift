/// An error in the bytes of strict CBOR, with its place.
package struct CBORError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// The input has more bytes than the given limit.
        case tooLarge(limit: Int)
        /// Arrays and maps are nested deeper than the given limit.
        case tooDeep(limit: Int)
        /// The input has more items than the given limit.
        ///
        /// Keys and values of a map both count.
        case tooManyItems(limit: Int)
        /// The input ends before an item does.
        case truncated
        /// Bytes follow the item.
        case trailingBytes
        /// A length or an integer takes more bytes than it needs.
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

    /// The offset of the fault from the start of the input, in bytes.
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
