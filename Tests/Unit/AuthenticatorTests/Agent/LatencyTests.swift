import IssuerProtocol
import StoreTables
import Testing

@testable import Authenticator
@testable import Records

/// Each call to an issuer never answers in turn, and the enrollments at other issuers go on.
///
/// The clock stands still: whatever waited for a time limit would wait for ever.
@Suite(.timeLimit(.minutes(20)))
struct LatencyTests {
    private let sample: SampleAgent
    private let other: IssuerTarget

    init() throws {
        sample = try SampleAgent(SamplePush.settings())
        other = IssuerTarget(issuer: try IssuerURL("https://other.example"), rootsPEM: nil)
    }

    /// Each fetch brings a request, once for each enrollment.
    private func script(_ cards: [SampleEnrollment], batch: Bool) async throws {
        var messages: [String: String] = [:]
        for card in cards {
            let message = try sample.message(SampleRequest(), for: card)
            messages[card.token] = message
            if let id = card.enrollment.membership?.authenticatorId.text { messages[id] = message }
        }
        let all = messages
        await sample.issuer.onFetch { (fetch) throws(IssuerError) in
            guard fetch.cursor == nil, let message = all[fetch.token] else { throw await .waitingWasCancelled }
            return RequestList(requests: [message], cursor: "c1")
        }
        guard batch else { return }
        await sample.issuer.onBatchFetch { (fetch) throws(IssuerError) in
            let results = fetch.cursors.compactMap { id, cursor -> BatchFetchAnswer.Result? in
                guard cursor == nil, let message = all[id], let id = TokenID(id) else { return nil }
                return BatchFetchAnswer.Result(
                    authenticatorId: id, outcome: .list(RequestList(requests: [message], cursor: "c1")))
            }
            if results.isEmpty { throw await .waitingWasCancelled }
            return BatchFetchAnswer(results: results)
        }
    }

    /// What a person does at the issuer that does not answer.
    private func use(_ call: ScriptedIssuer.Call, _ slow: SampleEnrollment) async throws {
        switch call {
        case .options, .enroll:
            let parameters = EnrollmentParameters(
                target: try SampleAgent.target, code: try SampleAgent.code, authnType: .presence, name: "new")
            _ = try await sample.agent.enroll(parameters, patience: 60)
        case .decide:
            let id = try await sample.eventually { try $0.oldestPending(enrollment: slow.id)?.id }
            try await sample.approve(id)
        case .unenroll: _ = try await sample.agent.unenroll(slow.id, locally: false, forced: true)
        default: _ = try await sample.agent.fetch(slow.id)
        }
    }

    @Test(arguments: ScriptedIssuer.Call.allCases)
    func `a call that never answers holds up nobody at another issuer`(call: ScriptedIssuer.Call) async throws {
        let slow = try await sample.enrolled("slow")
        let fast = try await sample.enrolled("fast", target: other)
        try await script([slow, fast], batch: call == .batchFetch)
        try await sample.issuer.enrolls()
        await sample.issuer.setVAPIDKey(try SamplePush().vapid.point)
        await sample.issuer.fallSilent(at: call, of: try SampleAgent.target.issuer)
        try await sample.running(sample.agent.loops(isPolling: true)) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await use(call, slow) }
                #expect(try await sample.issuer.fellSilent.next() == call)
                let id = try await sample.eventually { try $0.oldestPending(enrollment: fast.id)?.id }
                try await sample.approve(id)
                let delivery = try await sample.eventually { store in
                    let delivery = try store.request(id)?.life.delivery
                    return delivery == .queued ? nil : delivery
                }
                #expect(delivery == .delivered(.authenticated))
                #expect(try await sample.agent.fetch(fast.id).isEmpty)
                group.cancelAll()
            }
        }
    }

    @Test func `a fetch of all ends in its time, with what the others have`() async throws {
        let slow = try await sample.enrolled("slow")
        let fast = try await sample.enrolled("fast", target: other)
        let (message, mayAnswer) = (try sample.message(SampleRequest(), for: fast), Channel<Void>())
        await sample.issuer.onFetch { (_) throws(IssuerError) in
            guard (try? await mayAnswer.next()) != nil else { throw await .waitingWasCancelled }
            return RequestList(requests: [message], cursor: "c1")
        }
        await sample.issuer.fallSilent(at: .fetch, of: try SampleAgent.target.issuer)
        async let failures = sample.agent.fetch(nil)
        _ = try await sample.issuer.fellSilent.next()
        // Each of the two has its time limit. That of the fast one is gone once its fetch has returned.
        try await sample.clock.sleepers(2)
        mayAnswer.send(())
        while sample.clock.sleeperCount > 1, !Task.isCancelled { await Task.yield() }
        #expect(try await sample.onlyRequest().enrollmentId == fast.id)
        sample.clock.advance(by: Fetcher.patience)
        #expect(try await failures.map(\.enrollment.id) == [slow.id])
        #expect(try await failures.map(\.reason) == ["the issuer did not answer in time"])
    }
}
