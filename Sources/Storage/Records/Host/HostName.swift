/// The name of a host and its chain of the journal: 1 to 63 lower-case letters, digits, hyphens and dots.
package struct HostName: Sendable, Hashable, CustomStringConvertible {
    /// Maximum number of other hosts whose chains are read.
    package static let maxOthers = 256

    package let text: String

    package init?(_ text: String) {
        let isRight = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isRight, (1...63).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    package var description: String { text }
}
