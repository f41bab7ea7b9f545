// The agent's own ids.

/// The agent's id of an enrollment: 20 lower-case hexadecimal digits, made at random.
package struct EnrollmentID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// Parses an id, or returns `nil` if it does not have the form of the agent's ids.
    package init?(_ text: String) {
        guard OwnID.isWellFormed(text) else { return nil }
        self.text = text
    }

    package init(random entropy: any Entropy) throws { text = try OwnID.make(from: entropy) }

    package var description: String { text }
}

/// The agent's id of a request: 20 lower-case hexadecimal digits, made at random.
///
/// It stays with the transaction when a newer `jti` replaces the earlier one.
package struct RequestID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// Parses an id, or returns `nil` if it does not have the form of the agent's ids.
    package init?(_ text: String) {
        guard OwnID.isWellFormed(text) else { return nil }
        self.text = text
    }

    package init(random entropy: any Entropy) throws { text = try OwnID.make(from: entropy) }

    package var description: String { text }
}

private enum OwnID {
    static func make(from entropy: any Entropy) throws -> String {
        let digits = Array("0123456789abcdef")
        return String(try entropy.bytes(10).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    static func isWellFormed(_ text: String) -> Bool {
        text.utf8.count == 20 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
