/// The agent's status: the answer of `GET /v1/status`.
package struct StatusView: Codable, Sendable, Equatable {
    package var version: String
    /// Whether this build of the agent has personas, which are for tests.
    package var personas: Bool
    package var state: AgentState
    /// The reasons why the agent is not ready, one sentence each.
    ///
    /// Empty if it is ready.
    package var reasons: [String]
    /// The oldest enrollments, at most ``maxEnrollments``.
    package var enrollments: [EnrollmentView]
    /// The number of all enrollments.
    ///
    /// Absent if the agent cannot count them.
    package var enrollmentCount: Int?
    /// Requests that wait for a decision.
    package var pending: Int
    /// Decisions that the issuer has not answered yet.
    package var queued: Int
    package var warnings: [WarningView]
    /// The agent's clock.
    ///
    /// Absent if it is the machine's clock.
    package var clock: ClockView?

    package static let maxEnrollments = 100

    package init(
        version: String, personas: Bool = false, state: AgentState, reasons: [String] = [],
        enrollments: [EnrollmentView] = [],
        enrollmentCount: Int? = nil, pending: Int, queued: Int, warnings: [WarningView] = [],
        clock: ClockView? = nil
    ) {
        self.version = version
        self.personas = personas
        self.state = state
        self.reasons = reasons
        self.enrollments = enrollments
        self.enrollmentCount = enrollmentCount
        self.pending = pending
        self.queued = queued
        self.warnings = warnings
        self.clock = clock
    }
}

/// The state of the agent as a whole.
package enum AgentState: String, Codable, Sendable, CaseIterable {
    case starting, ready, degraded
}

/// The answer of `GET /v1/health`: with status 200 if ready, else 503.
package struct HealthView: Codable, Sendable, Equatable {
    package static let statusIfNotReady: UInt = 503

    package var live: Bool
    package var ready: Bool
    package var reasons: [String]

    package init(live: Bool = true, ready: Bool, reasons: [String] = []) {
        self.live = live
        self.ready = ready
        self.reasons = reasons
    }
}

/// The result of a fetch at every issuer.
package struct FetchView: Codable, Sendable, Equatable {
    /// Requests that wait for a decision after the fetch.
    package var pending: Int
    /// The issuers that could not be asked: one entry for each issuer and reason.
    package var failures: [FetchFailureView]

    package init(pending: Int, failures: [FetchFailureView] = []) {
        self.pending = pending
        self.failures = failures
    }
}

/// An issuer that could not be asked, and the reason.
package struct FetchFailureView: Codable, Sendable, Equatable {
    package var issuer: String
    package var message: String

    package init(issuer: String, message: String) {
        self.issuer = issuer
        self.message = message
    }
}
