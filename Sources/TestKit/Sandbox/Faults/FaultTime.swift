/// The syntax of a time in a specification of faults.
struct FaultTime<Time> {
    /// The bounds, for a message.
    let allowed: String
    /// Reads a time, or returns `nil` if it is malformed or out of bounds.
    let read: (Substring) -> Time?

    /// Reads up to five digits and the unit.
    private static func count(_ text: Substring, unit: String) -> Int64? {
        let digits = text.dropLast(unit.count)
        guard text.hasSuffix(unit), Odds.isDigits(digits), digits.utf8.count <= 5 else { return nil }
        return Int64(digits)
    }
}

extension FaultTime<Duration> {
    static var delay: Self {
        Self(allowed: "1ms to 60s") { text in
            let milliseconds = count(text, unit: "ms") ?? count(text, unit: "s").map { $0 * 1_000 }
            guard let milliseconds, (1...60_000).contains(milliseconds) else { return nil }
            return .milliseconds(milliseconds)
        }
    }
}

extension FaultTime<Int64> {
    /// Whole seconds, as in Retry-After (RFC 9110 §10.2.3).
    static var retryAfter: Self {
        Self(allowed: "0s to 3600s, in whole seconds") { text in
            count(text, unit: "s").flatMap { (0...3_600).contains($0) ? $0 : nil }
        }
    }
}
