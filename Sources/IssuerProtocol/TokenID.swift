/// A `jti` or an `authenticatorId`: 1 to 64 characters of `A-Z a-z 0-9 _ -`.
package struct TokenID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        let isOfItsForm = text.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isOfItsForm, (1...64).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    package var description: String { text }
}
