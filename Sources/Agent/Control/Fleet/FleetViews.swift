/// The result of `oobctl enroll --count`.
package struct FleetEnrolledView: Codable, Sendable, Equatable {
    /// The requested number of enrollments.
    package var count: Int
    /// The numbers of enrollments that existed before the run, and that the run made.
    package var before: Int
    package var made: Int
    /// The number of enrollments that the issuer has not answered yet.
    ///
    /// The agent continues them.
    package var waiting: Int

    package init(count: Int, before: Int, made: Int, waiting: Int) {
        self.count = count
        self.before = before
        self.made = made
        self.waiting = waiting
    }
}

/// The answer of `GET /v1/fleet`: the outcomes of the requests that arrived within a period, by persona.
package struct FleetView: Codable, Sendable, Equatable {
    /// The start of the period: RFC 3339, UTC.
    package var since: String
    /// Whether more requests arrived than the report counts.
    ///
    /// It then counts the newest.
    package var cut: Bool
    package var all: FleetFiguresView
    /// The figures of each persona by name, then the figures of requests without a persona.
    package var personas: [FleetFiguresView]

    package init(since: String, cut: Bool, all: FleetFiguresView, personas: [FleetFiguresView]) {
        self.since = since
        self.cut = cut
        self.all = all
        self.personas = personas
    }
}

/// The outcomes of the requests that one persona was to answer, or of all requests.
///
/// A member without a value is left out.
package struct FleetFiguresView: Codable, Sendable, Equatable {
    /// The name of the persona.
    ///
    /// Absent for all requests, and for requests without a persona.
    package var persona: String?
    /// The number of enrollments that have this persona set, or of all enrollments.
    package var enrollments: Int
    package var requests: Int
    /// The numbers of requests by state, by state of delivery, and by the issuer's transStatus.
    package var states: [String: Int]
    package var delivery: [String: Int]
    package var transStatus: [String: Int]
    /// The time from the arrival of a request to its decision.
    ///
    /// Absent if no request was decided.
    package var latencySeconds: FleetLatencyView?

    package init(
        persona: String?, enrollments: Int, requests: Int, states: [String: Int], delivery: [String: Int],
        transStatus: [String: Int], latencySeconds: FleetLatencyView?
    ) {
        self.persona = persona
        self.enrollments = enrollments
        self.requests = requests
        self.states = states
        self.delivery = delivery
        self.transStatus = transStatus
        self.latencySeconds = latencySeconds
    }
}

/// Percentiles in whole seconds, the precision that the agent keeps.
package struct FleetLatencyView: Codable, Sendable, Equatable {
    package var p50: Int
    package var p90: Int
    package var p99: Int
    package var max: Int

    package init(p50: Int, p90: Int, p99: Int, max: Int) {
        self.p50 = p50
        self.p90 = p90
        self.p99 = p99
        self.max = max
    }
}
