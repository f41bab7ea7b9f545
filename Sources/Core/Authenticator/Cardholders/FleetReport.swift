package import Records

/// What became of the requests of all enrollments, or of those that one persona plays.
package struct FleetFigures: Sendable, Equatable {
    /// The longest time that is told apart from longer ones, in seconds.
    static let longest: Int64 = 86_400

    package var enrollments = 0
    package private(set) var requests = 0
    /// By the name of each state, delivery and transStatus.
    package private(set) var states: [String: Int] = [:]
    package private(set) var deliveries: [String: Int] = [:]
    package private(set) var transStatuses: [String: Int] = [:]
    /// How many were decided after so many seconds.
    private var latencies: [Int64: Int] = [:]

    package init() {}

    package mutating func add(_ tally: RequestTally) {
        requests += tally.count
        states[tally.state, default: 0] += tally.count
        deliveries[tally.delivery, default: 0] += tally.count
        if let status = tally.transStatus { transStatuses[status, default: 0] += tally.count }
        if let latency = tally.latency { latencies[min(max(latency, 0), Self.longest), default: 0] += tally.count }
    }

    /// The least seconds within which so many percent were decided (nearest rank), for each of `percents`.
    ///
    /// Nil if none was decided.
    package func latencies(at percents: [Int]) -> [Int64]? {
        let total = latencies.values.reduce(0, +)
        guard total > 0 else { return nil }
        let sorted = latencies.sorted { $0.key < $1.key }
        return percents.map { percent in
            var rank = max(1, (total * min(max(percent, 0), 100) + 99) / 100)
            for (seconds, count) in sorted {
                rank -= count
                if rank <= 0 { return seconds }
            }
            return sorted.last?.key ?? 0
        }
    }
}

/// What became of the requests that came within a time, by persona.
package struct FleetReport: Sendable, Equatable {
    /// The most requests that are looked at: the newest.
    package static let maxRequests = 1_000_000

    /// Seconds since 1970: those that came since.
    package let since: Int64
    /// Whether there were more than are looked at.
    package var isCut = false
    package var all = FleetFigures()
    /// By the persona that was to answer; of nobody under an empty name.
    package var personas: [String: FleetFigures] = [:]

    package init(since: Int64) { self.since = since }
}
