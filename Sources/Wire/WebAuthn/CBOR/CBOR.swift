/// A CBOR data item of a kind that WebAuthn's structures contain (RFC 8949).
///
/// There are no tags, no floating-point numbers, no indefinite lengths, and of the simple values only false, true and
/// null. Two items are equal if their canonical encodings have the same bytes. So text is never compared by Unicode
/// equivalence.
package enum CBOR: Sendable {
    /// Major type 0.
    case unsigned(UInt64)
    /// Major type 1: the integer −1 − n, stored as n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBOR])
    case map(CBORMap)
    case bool(Bool)
    case null

    /// Returns an item for an integer of either sign.
    package static func integer(_ value: Int) -> CBOR {
        value >= 0 ? .unsigned(UInt64(value)) : .negative(UInt64(-1 - value))
    }

    /// The integer.
    ///
    /// `nil` for another kind of item, or if it does not fit into an `Int`.
    package var integer: Int? {
        switch self {
        case .unsigned(let value): Int(exactly: value)
        case .negative(let value): Int(exactly: value).map { -1 - $0 }
        default: nil
        }
    }
}

extension CBOR: Equatable {
    package static func == (one: CBOR, other: CBOR) -> Bool { one.encoded() == other.encoded() }
}

extension CBOR: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
}
