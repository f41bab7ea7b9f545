/// How far events were told, as the agent says it: a number, or a place for each host, such as `alpha:17,beta:4`.
///
/// What it means only the agent knows. Here it is text that can be in a header field.
package struct CursorText: Sendable, Equatable {
    /// The longest: as long as the agent's own bound, which a test holds against it.
    package static let maxBytes = 8_000

    package let text: String

    /// A place in one chain.
    package init(_ sequence: Int64) { text = String(sequence) }

    /// Nil for what is neither a number of 0 or more nor has a place for a host.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maxBytes, text.utf8.allSatisfy(Self.mayBePart) else { return nil }
        guard text.utf8.contains(UInt8(ascii: ":")) || (Int64(text) ?? -1) >= 0 else { return nil }
        self.text = text
    }

    /// Whether it names no host, and is not the beginning: then it is a place in one chain.
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
