#if Personas
import ThreeDS

/// A pattern for a whole text: `*` matches any characters, `?` one, and every other character itself.
struct Glob: Sendable, Equatable {
    private let pattern: [Unicode.Scalar]

    init(_ pattern: String) { self.pattern = Array(pattern.unicodeScalars) }

    /// Takes at most as many steps as the product of both lengths.
    func matches(_ text: String) -> Bool {
        let text = Array(text.unicodeScalars)
        var (place, at) = (0, 0)
        /// The state to return to after a mismatch: the last `*` then matches one more character.
        var retry: (place: Int, at: Int)?
        while at < text.count {
            if place < pattern.count, pattern[place] == "*" {
                retry = (place, at)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == text[at] {
                place += 1
                at += 1
            } else if let last = retry {
                retry = (last.place, last.at + 1)
                (place, at) = (last.place + 1, last.at + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}

/// An amount in major units, compared by its digits: 48 of them fit no number type.
struct DecimalAmount: Sendable, Equatable, Comparable {
    private static let most = 48

    private let integer: String
    /// The decimals, padded to the most that an amount may have.
    private let decimals: String

    /// Parses digits, and a point and more digits if the amount has decimals.
    init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.most + 1, (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        let significant = parts[0].drop { $0 == "0" }
        integer = String(significant)
        let decimals = parts.count == 2 ? String(parts[1]) : ""
        self.decimals = decimals + String(repeating: "0", count: Self.most - min(decimals.utf8.count, Self.most))
    }

    static func < (left: DecimalAmount, right: DecimalAmount) -> Bool {
        (left.integer.utf8.count, left.integer, left.decimals) < (
            right.integer.utf8.count, right.integer, right.decimals
        )
    }
}
#endif
