import StrictJSON

/// How many purchases are started, and when: an open loop, whose times do not depend on how fast answers come.
package struct LoadPlan: Sendable, Equatable {
    /// Purchases a second.
    package static let rates: ClosedRange<Int64> = 1...10_000
    package static let seconds: ClosedRange<Int64> = 1...86_400
    package static let drains: ClosedRange<Int64> = 0...3_600
    /// Purchases of one run.
    package static let maxPurchases: Int64 = 1_000_000
    /// Calls whose answer is waited for at a time.
    static let maxInFlight = 512

    package let rate: Int64
    package let seconds: Int64
    /// Seconds to wait at the end for purchases that are pending.
    package let drain: Int64

    /// - Throws: a sentence that names the flag and says what is allowed.
    package init(rate: Int64, seconds: Int64, drain: Int64) throws(SandboxClient.OrderError) {
        try Self.check(rate, in: Self.rates, "--rate", "purchases a second")
        try Self.check(seconds, in: Self.seconds, "--for", "seconds")
        try Self.check(drain, in: Self.drains, "--drain", "seconds")
        guard rate * seconds <= Self.maxPurchases else {
            throw SandboxClient.OrderError(
                description:
                    "--rate and --for make \(rate * seconds) purchases; at most \(Self.maxPurchases) are allowed")
        }
        (self.rate, self.seconds, self.drain) = (rate, seconds, drain)
    }

    private static func check(
        _ value: Int64, in range: ClosedRange<Int64>, _ flag: String, _ unit: String
    ) throws(SandboxClient.OrderError) {
        guard range.contains(value) else {
            throw SandboxClient.OrderError(
                description: "\(flag) must be \(range.lowerBound) to \(range.upperBound) (\(unit))")
        }
    }

    var count: Int { Int(rate * seconds) }

    /// When the purchase of that number is due, from the start; the first is number 0.
    func due(_ number: Int) -> Duration { .nanoseconds(Int64(number) * 1_000_000_000 / rate) }

    /// What could not be sent by then is not sent at all: a little late is told as time, far too late as a rate.
    var end: Duration { .seconds(seconds + 5) }
}

/// Times in milliseconds, by rank.
package struct Percentiles: Sendable, Equatable {
    private let sorted: [Int64]

    init(of values: [Int64]) { sorted = values.sorted() }

    /// The least value that so many percent of the values do not exceed (nearest rank); nil if there is none.
    func value(_ percent: Int) -> Int64? {
        guard !sorted.isEmpty else { return nil }
        let rank = (sorted.count * percent + 99) / 100
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }

    /// `{"p50", "p90", "p99", "max"}`; null if there is no value.
    var json: JSONValue {
        func number(_ percent: Int) -> JSONValue { value(percent).map(JSONValue.integer) ?? .null }
        return ["p50": number(50), "p90": number(90), "p99": number(99), "max": number(100)]
    }

    var text: String {
        guard let max = value(100), let p50 = value(50), let p90 = value(90), let p99 = value(99) else { return "none" }
        return "p50 \(p50) ms, p90 \(p90) ms, p99 \(p99) ms, max \(max) ms"
    }
}
