/// A position in the events, as the agent sends it: a number, or a number for each host.
///
/// With several hosts it reads such as `alpha:17,beta:4`. Only the agent interprets it. Here it is text that is valid
/// in a header field.
package struct CursorText: Sendable, Equatable {
    /// The maximum length in bytes.
    ///
    /// It equals the agent's own bound, and a test compares the two.
    package static let maxBytes = 8_000

    package let text: String

    /// Creates a position in one chain.
    package init(_ sequence: Int64) { text = String(sequence) }

    /// Parses a position.
    ///
    /// Returns `nil` if the text is neither a number of 0 or more nor a list of hosts.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maxBytes, text.utf8.allSatisfy(Self.mayBePart) else { return nil }
        guard text.utf8.contains(UInt8(ascii: ":")) || (Int64(text) ?? -1) >= 0 else { return nil }
        self.text = text
    }

    /// Whether it is a position in one chain: it names no host and is not the beginning.
    package var isOfOneChain: Bool { (Int64(text) ?? 0) > 0 }

    private static func mayBePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: ","):
            true
        default: false
        }
    }
}
