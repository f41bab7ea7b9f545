import Authenticator
import Control
import Logging
import ThreeDS

/// What each call of the control API does: reads its arguments into the core's types, asks the core, makes views.
struct ControlCalls: Sendable {
    let agent: Agent
    let log: Logger

    func requests(_ query: RequestQuery) async throws -> Answer {
        let enrollment = try await id(of: query.enrollment)
        let records = try await agent.requests(
            pendingOnly: !query.all, enrollment: enrollment, limit: query.limit)
        let enrollments = Dictionary(
            uniqueKeysWithValues: try await agent.enrollments(includingEnded: true).map { ($0.id, $0) })
        return try .json(records.map { RequestView($0, enrollment: enrollments[$0.enrollmentId]) })
    }

    func request(_ name: String, _ query: RequestQuery) async throws -> Answer {
        let record = try await agent.request(
            try selector(name), enrollment: try await id(of: query.enrollment))
        return try .json(try await detailed(record))
    }

    func decide(_ decision: Decision, _ name: String, _ command: DecideCommand) async throws -> Answer {
        let record = try await agent.decide(
            try decision.inTheCore(command.reason), on: try selector(name),
            enrollment: try await id(of: command.enrollment), expecting: try Expectations(command),
            wait: Double(command.wait ?? 0),
            deliveryTimeout: Double(command.deliveryTimeout ?? DecideCommand.defaultDeliveryTimeout))
        return try .json(try await detailed(record))
    }

    /// The enrollment that a filter names, by its id or a unique prefix; nil for all.
    func id(of prefix: String?) async throws -> EnrollmentID? {
        guard let prefix else { return nil }
        return try await agent.enrollment(prefix: prefix, includingEnded: true).id
    }

    private func detailed(_ record: RequestRecord) async throws -> RequestView {
        var view = RequestView(record, enrollment: try await agent.enrollment(record.enrollmentId))
        if let shown = try await agent.text(of: record) {
            view.text = shown.text
            view.textDigest = try agent.digest(of: shown)
        }
        return view
    }

    private func selector(_ name: String) throws(ControlError) -> Authenticator.RequestSelector {
        guard let selector = Authenticator.RequestSelector(name) else {
            throw ControlError(
                .invalidArgument, "a request is named by next, or 1 to 64 characters of A-Z a-z 0-9 _ -")
        }
        return selector
    }
}
