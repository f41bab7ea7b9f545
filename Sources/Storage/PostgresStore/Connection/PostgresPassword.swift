#if PostgreSQL
/// A role's password.
///
/// Printing and reflection never show it.
package struct PostgresPassword: Sendable, CustomStringConvertible, CustomReflectable {
    let text: String

    /// The longest password, in bytes.
    package static let limit = 1_024

    /// Reads the contents of a password file, without the line feed at its end.
    ///
    /// - Returns: `nil` if the password is empty, too long, not UTF-8, or contains a control character.
    package init?(_ content: [UInt8]) {
        let bytes = content.last == UInt8(ascii: "\n") ? content.dropLast() : content[...]
        guard (1...Self.limit).contains(bytes.count), bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        self.text = text
    }

    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
