import Authenticator
import Control
import Records
import ThreeDS

extension ControlCalls {
    /// Returns the agent's state, also if the database cannot be read: then the state matters most.
    func status() async throws -> Answer {
        do {
            return try .json(try await wholeStatus())
        } catch let trouble as StoreError {
            return try .json(
                StatusView(
                    version: agent.settings.version, personas: agent.settings.hasPersonas, state: .degraded,
                    reasons: ["\(trouble)", "what the database holds cannot be counted"], pending: 0, queued: 0,
                    warnings: await weaknesses(), clock: testClock))
        }
    }

    private func wholeStatus() async throws -> StatusView {
        let enrollments = try await agent.enrollments(after: nil, limit: StatusView.maxEnrollments)
        let counts = try await agent.counts()
        let reasons = try await agent.troubles()
        return StatusView(
            version: agent.settings.version, personas: agent.settings.hasPersonas,
            state: AgentState(isStarting: agent.isStarting, isWell: reasons.isEmpty), reasons: reasons,
            enrollments: enrollments.map { EnrollmentView($0, of: agent) }, enrollmentCount: counts.enrollments,
            pending: counts.pending, queued: counts.queued, warnings: await weaknesses(), clock: testClock)
    }

    func health() async throws -> Answer {
        let reasons = try await agent.troubles()
        return try .json(
            HealthView(ready: reasons.isEmpty, reasons: reasons), status: reasons.isEmpty ? 200 : 503)
    }
}

extension AgentState {
    init(isStarting: Bool, isWell: Bool) {
        self = isStarting ? .starting : isWell ? .ready : .degraded
    }
}

extension ControlCalls {
    /// Returns the weaknesses of the host, and the checks that could not be made.
    func doctor() async throws -> Answer {
        try .json(await agent.findings().map(WarningView.init))
    }

    /// The certain weaknesses, for `status`.
    private func weaknesses() async -> [WarningView] {
        await agent.findings().filter(\.isCertain).map(WarningView.init)
    }
}

extension WarningView {
    init(_ finding: Finding) {
        self.init(
            id: finding.weakness.rawValue, message: finding.message, severity: finding.severity.rawValue,
            enrollment: finding.enrollment?.text, others: finding.others, cannotTell: finding.isCertain ? nil : true)
    }
}
