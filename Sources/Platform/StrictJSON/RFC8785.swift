import TextAndTime

/// The error for a number that the canonical form does not allow.
package struct RFC8785Error: Error, Equatable, Sendable, CustomStringConvertible {
    /// The number's lexeme.
    package let number: String

    package init(number: String) { self.number = number }

    package var description: String {
        "\(EscapedText.of(number)) cannot be canonical: only integers of at most 2^53-1 can, and no -0"
    }
}

/// The JSON Canonicalization Scheme (RFC 8785), without numbers that are not integers.
package enum RFC8785 {
    /// The largest integer that a double distinguishes from its neighbours (RFC 8785 §3.2.2.3, RFC 7493 §2.2).
    private static let largest: Int64 = 9_007_199_254_740_991

    /// Returns the canonical form: names sorted by UTF-16 code units, no whitespace, RFC 8785's escapes.
    ///
    /// Throws for a number that is not written as an integer within ±(2^53-1).
    package static func canonical(_ value: JSONValue) throws(RFC8785Error) -> [UInt8] {
        var output: [UInt8] = []
        try write(value, to: &output)
        return output
    }

    private static func write(_ value: JSONValue, to output: inout [UInt8]) throws(RFC8785Error) {
        switch value {
        case .number(let lexeme):
            guard let number = Int64(lexeme), (-largest...largest).contains(number),
                String(number).utf8.elementsEqual(lexeme.utf8)
            else { throw RFC8785Error(number: lexeme) }
            output += lexeme.utf8
        case .array(let elements):
            try JSONText.write(elements, between: "[", "]", to: &output) {
                (element, output) throws(RFC8785Error) in try write(element, to: &output)
            }
        case .object(let object):
            try write(object, to: &output)
        case .string(let text): JSONText.write(text, to: &output)
        case .null, .bool: output += value.serialized()
        }
    }

    /// Compares names by UTF-16 code units (RFC 8785 §3.2.3).
    ///
    /// UTF-8's own order would put U+FB33 before U+1F600, whose first code unit is U+D83D.
    private static func precedes(_ left: String, _ right: String) -> Bool {
        let (bytes, others) = (left.utf8.span, right.utf8.span)
        var index = 0
        while index < bytes.count, index < others.count, bytes[index] == others[index] { index += 1 }
        guard index < bytes.count, index < others.count else { return bytes.count < others.count }
        // Up to U+D7FF, whose first byte is 0xED, both orders are the same.
        guard max(bytes[index], others[index]) >= 0xEE else { return bytes[index] < others[index] }
        return left.utf16.lexicographicallyPrecedes(right.utf16)
    }

    private static func write(_ object: JSONObject, to output: inout [UInt8]) throws(RFC8785Error) {
        let members = object.members
        let areInOrder = zip(members, members.dropFirst()).allSatisfy { precedes($0.name, $1.name) }
        let sorted = areInOrder ? members : members.sorted { precedes($0.name, $1.name) }
        try JSONText.write(sorted, between: "{", "}", to: &output) { (member, output) throws(RFC8785Error) in
            JSONText.write(member.name, to: &output)
            output.append(UInt8(ascii: ":"))
            try write(member.value, to: &output)
        }
    }
}
