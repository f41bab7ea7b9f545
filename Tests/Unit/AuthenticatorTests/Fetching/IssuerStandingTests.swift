import IssuerProtocol
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// An issuer that no longer knows a token: the same comes of it whichever call met it.
@Suite(.timeLimit(.minutes(20)))
struct IssuerStandingTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func forget(_ card: SampleEnrollment, byDecision: Bool) async throws -> [AgentEvent] {
        await sample.issuer.onFetch { (_) throws(IssuerError) in throw .problem(.invalidToken) }
        await sample.issuer.onDecision { (_) throws(IssuerError) in throw .problem(.invalidToken) }
        return try await sample.events {
            if byDecision {
                try await sample.deliverAll()
            } else {
                _ = try await sample.agent.fetch(card.id)
            }
        }
    }

    private func decided(_ card: SampleEnrollment) async throws {
        try await sample.receive(SampleRequest(), for: card)
        try await sample.decide(.deny(.userDenied), sample.onlyRequest().id)
    }

    @Test(arguments: [true, false]) func `it is suspended, journaled and told once`(byDecision: Bool) async throws {
        let card = try await sample.enrolled()
        try await decided(card)
        let events = try await forget(card, byDecision: byDecision)
        #expect(events.count { $0.tells(.suspended, of: card.id) } == 1)
        guard case .suspended = try await sample.enrollment(card.id).state else { throw SampleError("not suspended") }
        #expect(try await sample.journal().count { $0.kind == .suspended } == 1)
        let again = try await forget(card, byDecision: !byDecision)
        #expect(!again.contains { $0.kind == .suspended })
        #expect(try await sample.journal().count { $0.kind == .suspended } == 1)
    }

    @Test(arguments: [true, false]) func `one whose end its issuer is being told is not suspended`(
        byDecision: Bool
    ) async throws {
        let card = try await sample.enrolled()
        try await decided(card)
        sample.agent.health.setLeaving(card.id, true)
        _ = try await forget(card, byDecision: byDecision)
        guard case .active = try await sample.enrollment(card.id).state else { throw SampleError("not active") }
    }
}
