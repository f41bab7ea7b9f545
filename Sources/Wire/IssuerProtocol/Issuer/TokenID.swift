import TextAndTime

/// A `jti` or an `authenticatorId`: 1 to 64 characters of `A-Z a-z 0-9 _ -`.
package struct TokenID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Base64URL.isCharacter) else { return nil }
        self.text = text
    }

    /// Whether a command would read it as something other than an identifier.
    ///
    /// `next` is the oldest pending request. A dash followed only by lower-case letters and dashes is an option.
    var readsAsCommand: Bool {
        let isOption =
            text.hasPrefix("-") && text.utf8.count > 1
            && text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        return isOption || text == "next"
    }

    package var description: String { text }
}
