/// What `oobctl enroll --count` has done.
package struct FleetEnrolledView: Codable, Sendable, Equatable {
    /// How many enrollments were asked for.
    package var count: Int
    /// How many of them were there before the run, and how many it made.
    package var before: Int
    package var made: Int
    /// How many the issuer has not answered yet; the agent goes on with them.
    package var waiting: Int

    package init(count: Int, before: Int, made: Int, waiting: Int) {
        self.count = count
        self.before = before
        self.made = made
        self.waiting = waiting
    }
}

/// The answer of `GET /v1/fleet`: what became of the requests that came within a time, by persona.
package struct FleetView: Codable, Sendable, Equatable {
    /// RFC 3339, UTC: the requests that came since.
    package var since: String
    /// Whether more came than are looked at: then these are the newest.
    package var cut: Bool
    package var all: FleetFiguresView
    /// By name; nobody's last.
    package var personas: [FleetFiguresView]

    package init(since: String, cut: Bool, all: FleetFiguresView, personas: [FleetFiguresView]) {
        self.since = since
        self.cut = cut
        self.all = all
        self.personas = personas
    }
}

/// What became of the requests that one persona was to answer, or of all.
///
/// A member without a value is left out.
package struct FleetFiguresView: Codable, Sendable, Equatable {
    /// Absent for all, and for those that nobody was to answer.
    package var persona: String?
    /// How many have this persona set; all that there are.
    package var enrollments: Int
    package var requests: Int
    /// How many are in each state, and in each state of delivery; how many have each transStatus of the issuer's.
    package var states: [String: Int]
    package var delivery: [String: Int]
    package var transStatus: [String: Int]
    /// From when requests came to their decision; absent if none was decided.
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

/// Whole seconds, which is what the agent keeps.
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
