import Control

/// The agent as the page asks it.
struct InboxAgent: Sendable {
    /// Requests that are looked at for one page; the agent lists no more at once.
    static let most = 1_000

    let client: @Sendable () throws(ClientError) -> ControlClient

    /// Pending requests, or all, the newest first.
    func requests(all: Bool) async throws(ClientError) -> [RequestView] {
        Array(try await client().requests(all: all, limit: Self.most, enrollment: nil).reversed())
    }

    func request(_ id: String) async throws(ClientError) -> RequestView {
        try await client().request(id: id, enrollment: nil)
    }

    func evidence(of id: String) async throws(ClientError) -> EvidenceView {
        try await client().evidence(id: id, enrollment: nil)
    }

    func enrollments() async throws(ClientError) -> [EnrollmentView] { try await client().enrollments() }

    func decide(
        _ decision: Decision, _ id: String, with command: DecideCommand
    ) async throws(ClientError) -> RequestView {
        let selector: RequestSelector
        do throws(ControlError) { selector = try RequestSelector(id: id) } catch { throw .refused(error) }
        return try await client().decide(decision, on: selector, with: command)
    }
}
