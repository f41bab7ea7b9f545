/// How often something took how long: whole seconds, in buckets with fixed bounds.
package struct DurationHistogram: Sendable, Equatable {
    /// The most seconds of each bucket but the last, which has no bound.
    package static let bounds: [Int64] = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600]

    /// How many are in each bucket and in no lower one.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// All seconds together.
    package private(set) var sum: Int64 = 0

    /// A time that a clock set back made negative counts as none.
    mutating func note(_ seconds: Int64) {
        let seconds = max(seconds, 0)
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }
}
