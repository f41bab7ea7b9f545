import Authenticator
import Control

extension ControlCalls {
    /// How the agent is; also if its database cannot be read, which is when it is asked for most.
    func status() async throws -> Answer {
        do {
            return try .json(try await wholeStatus())
        } catch let trouble as StoreError {
            return try .json(
                StatusView(
                    version: agent.settings.version, state: .degraded,
                    reasons: ["\(trouble)", "what the database holds cannot be counted"], pending: 0, queued: 0,
                    warnings: await weaknesses))
        }
    }

    private func wholeStatus() async throws -> StatusView {
        let enrollments = try await agent.enrollments()
        let counts = try await agent.counts()
        let reasons = agent.troubles(with: enrollments)
        return StatusView(
            version: agent.settings.version, state: AgentState(isStarting: agent.isStarting, isWell: reasons.isEmpty),
            reasons: reasons,
            enrollments: enrollments.map { EnrollmentView($0, of: agent) },
            pending: counts.pending, queued: counts.queued,
            warnings: await weaknesses)
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
