package import Records

/// The outcomes of the requests of all enrollments, or of one persona's enrollments.
package struct FleetFigures: Sendable, Equatable {
    /// The longest latency that is counted apart from longer ones, in seconds.
    static let longest: Int64 = 86_400

    package var enrollments = 0
    package private(set) var requests = 0
    /// The numbers of requests by state; the next two are by delivery and by transStatus.
    package private(set) var states: [String: Int] = [:]
    package private(set) var deliveries: [String: Int] = [:]
    package private(set) var transStatuses: [String: Int] = [:]
    /// The number of requests by the seconds from their arrival to their decision.
    private var latencies: [Int64: Int] = [:]

    package init() {}

    package mutating func add(_ tally: RequestTally) {
        requests += tally.count
        states[tally.state, default: 0] += tally.count
        deliveries[tally.delivery, default: 0] += tally.count
        if let status = tally.transStatus { transStatuses[status, default: 0] += tally.count }
        if let latency = tally.latency { latencies[min(max(latency, 0), Self.longest), default: 0] += tally.count }
    }

    /// Returns the percentiles of the latency in seconds (nearest rank), one for each of `percents`.
    ///
    /// `nil` if no request was decided.
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

/// The outcomes of the requests of a period, by persona.
package struct FleetReport: Sendable, Equatable {
    /// The limit for requests that are read; the newest are.
    package static let maxRequests = 1_000_000

    /// The start of the period, in seconds since 1970.
    package let since: Int64
    /// Whether more than ``maxRequests`` came in the period.
    package var isCut = false
    package var all = FleetFigures()
    /// The figures by persona; requests that no persona was to answer are under an empty name.
    package var personas: [String: FleetFigures] = [:]

    package init(since: Int64) { self.since = since }
}
