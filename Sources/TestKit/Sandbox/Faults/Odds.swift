/// A probability in millionths, from never to always.
package struct Odds: Sendable, Equatable {
    static let whole: UInt64 = 1_000_000
    static let never = Odds(millionths: 0)

    let millionths: UInt64

    private init(millionths: UInt64) { self.millionths = millionths }

    /// Reads `0`, `1` or a decimal between, such as `0.05`, with at most six decimals; otherwise returns `nil`.
    init?(_ text: Substring) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy(Self.isDigits), parts[0].utf8.count == 1,
            let units = UInt64(parts[0])
        else { return nil }
        let decimals = parts.count == 2 ? String(parts[1]) : "0"
        guard decimals.utf8.count <= 6,
            let fraction = UInt64(decimals + String(repeating: "0", count: 6 - decimals.count))
        else { return nil }
        let millionths = units * Self.whole + fraction
        guard millionths <= Self.whole else { return nil }
        self.millionths = millionths
    }

    /// Draws once, and returns whether the event happens.
    func hits(using generator: inout SplitMix64) -> Bool {
        generator.number(below: Self.whole) < millionths
    }

    static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
