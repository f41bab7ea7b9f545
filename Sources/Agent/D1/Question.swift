import AgentHost
import Authenticator
import Journal
import Records
import ThreeDS

/// A question to the payer, until it is answered or the request can no longer be decided.
struct Question: Sendable {
    let agent: Agent
    let request: RequestRecord
    let authn: D1Authn

    /// - Throws: if the payer did not answer. Then nothing is decided.
    func answer() async throws -> ConfirmationAnswer {
        guard let transaction = request.presented?.transaction else {
            throw D1Error(.authn, "failed", "the request \(request.id) shows no transaction")
        }
        let (answers, continuation) = AsyncStream.makeStream(of: ConfirmationAnswer.self)
        let data = Dictionary(transaction.members.map { ($0.name, $0.value) }) { first, _ in first }
        guard await authn.asker.ask(authn, about: data, answering: continuation) else { throw D1Error.delegateGone }
        return try await withThrowingTaskGroup(of: ConfirmationAnswer.self) { group in
            group.addTask { try await Self.first(of: answers) }
            group.addTask { try await untilClosed() }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }

    private static func first(of answers: AsyncStream<ConfirmationAnswer>) async throws -> ConfirmationAnswer {
        for await answer in answers { return answer }
        try Task.checkCancellation()
        throw D1Error(
            .authn, "unanswered", "nothing was decided: the delegate let both handlers go without calling one")
    }

    /// Waits until the request leaves the state pending; checks at each event of it, and every few seconds.
    private func untilClosed() async throws -> ConfirmationAnswer {
        let id = request.id
        while true {
            // Subscribe before the check: a change in between would be missed.
            let changes = agent.hub.notifier { $0.request == id }
            try await expectPending()
            try await SystemClock().sleep(seconds: AgentSettings.lookPause, orUntil: changes)
        }
    }

    private func expectPending() async throws {
        guard let current = try await agent.request(request.id), current.life.state != .pending else { return }
        throw D1Error(
            .authn, "noLongerDecidable",
            "the request \(request.id) can no longer be decided: it is "
                + "\(current.life.state)")
    }
}
