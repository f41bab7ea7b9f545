import AgentHost
import IssuerProtocol
import StoreTables
import StrictJSON
import TestStores
import Testing

@testable import Authenticator
@testable import Records

/// A decision whose commit is known only after its deadline is not sent: whoever asked may rely on that moment.
@Suite(.timeLimit(.minutes(20)))
struct LateDecisionTests {
    private let sample: SampleAgent
    private let card: SampleEnrollment

    init() async throws {
        sample = try SampleAgent()
        card = try await sample.enrolled()
    }

    private func pending(_ number: Int) async throws -> RequestID {
        try await sample.receive(.numbered(number), for: card)
        return try #require(try await sample.requests().last).id
    }

    /// Decides while the disk stands still from the last look at the deadline to behind it.
    private func decideLate(_ decision: RequestLife.Decision, _ id: RequestID, on agent: SampleAgent) async throws {
        agent.store.beforeCommitting { store in
            guard (try? store.request(id))?.life.state != .pending else { return }
            agent.clock.advance(by: DecisionLimit.standardSeconds)
        }
        let failure = try await #require(throws: CommandError.self) { try await agent.decide(decision, id) }
        agent.store.beforeCommitting { _ in }
        #expect(failure.code == .notInTime && failure.message.hasPrefix("the decision is not sent"), "\(failure)")
    }

    @Test(arguments: [RequestLife.Decision.approve, .deny(.userDenied)])
    func `it ends as decidedLate, and the next one goes out`(decision: RequestLife.Decision) async throws {
        let late = try await pending(1)
        try await decideLate(decision, late, on: sample)
        #expect(try await sample.request(late).life.state != .pending)
        let next = try await pending(2)
        try await sample.approve(next)
        try await sample.deliverAll()
        #expect(try await sample.request(late).life.delivery == .failed(token: "decidedLate"))
        #expect(try await sample.newest(.deliveryFailed).json["failure"] == "decidedLate")
        #expect(try await sample.request(next).life.delivery == .delivered(.authenticated))
        #expect(await sample.issuer.decisions.map(\.jti) == ["request-2"])
    }

    @Test func `a client that is gone by the commit does not make a decision late`() async throws {
        let (id, wanted) = (try await pending(1), sample.agent.wanted(for: 30, before: nil))
        sample.store.beforeCommitting { store in
            if (try? store.request(id))?.life.state != .pending { wanted.withdraw() }
        }
        try await sample.decide(.approve, id, while: wanted)
        sample.store.beforeCommitting { _ in }
        try await sample.deliverAll()
        #expect(try await sample.request(id).life.delivery == .delivered(.authenticated))
    }

    @Test func `a process that was killed before it knew of the commit sends it, as it may have been acknowledged`()
        async throws
    {
        let id = try await pending(1)
        try await decideLate(.approve, id, on: sample)
        let again = try sample.restarted()
        try await again.deliverAll()
        #expect(try await again.request(id).life.delivery == .delivered(.authenticated))
    }

    @Test func `none is remembered for longer than until its exp`() throws {
        let late = LateDecisions()
        let ids = try (0..<3).map { _ in try RequestID(random: SystemEntropy()) }
        late.insert(ids[0], at: 100, until: 110)
        late.insert(ids[1], at: 109, until: 120)
        #expect(late.contains(ids[0]) && late.contains(ids[1]))
        late.insert(ids[2], at: 110, until: 130)
        #expect(!late.contains(ids[0]) && late.contains(ids[1]) && late.contains(ids[2]))
    }

    #if PostgreSQL
    @Test func `one that another host would deliver is ended by the host that decided it`() async throws {
        let (alpha, _) = try SampleAgent.twoHosts()
        let card = try await alpha.enrolled()
        let other = try StoreKind.$current.withValue(.postgres) {
            try alpha.neighbour("gamma", shares: SetShare(isOurs: false))
        }
        try await alpha.receive(SampleRequest(), for: card)
        let id = try await alpha.onlyRequest().id
        try await decideLate(.approve, id, on: other)
        #expect(
            try await alpha.request(id).life == RequestLife(state: .approved, delivery: .failed(token: "decidedLate")))
        #expect(try await alpha.outbox(of: card).isEmpty)
    }
    #endif
}
