import Records

/// Exponential back-off with full jitter: each wait is drawn evenly from zero to a ceiling that doubles.
struct Backoff: Sendable {
    // Seconds. Small, as there is one for each enrollment.
    private let first: UInt16
    private let limit: UInt16
    private var ceiling: UInt16

    /// Ceilings go from `first` to `limit` seconds.
    init(first: UInt16, limit: UInt16) {
        self.first = first
        self.limit = limit
        ceiling = first
    }

    /// Returns the seconds to wait before the next try.
    ///
    /// They are never less than the server's Retry-After, which counts for an hour at most.
    mutating func next(retryAfter: Int64?, entropy: any Entropy) throws -> Double {
        let drawn = Double(ceiling) * (try entropy.fraction())
        ceiling = ceiling < limit / 2 ? ceiling * 2 : limit
        guard let retryAfter else { return drawn }
        return max(drawn, Double(min(max(retryAfter, 0), 3_600)))
    }

    mutating func reset() { ceiling = first }
}

extension Entropy {
    /// Draws a number from 0 to 1, excluding 1.
    func fraction() throws -> Double {
        let drawn = try bytes(4).reduce(0) { $0 << 8 | UInt32($1) }
        return Double(drawn) / 4_294_967_296
    }
}
