import IssuerProtocol
import Keys
import TableRows
import TestStores
import Testing
import ThreeDS
import WebAuthn

@testable import Authenticator
@testable import Records

/// The promises of docs/explanation/reliability.md, at each moment of its table that one agent can be put into.
@Suite(.timeLimit(.minutes(20)))
struct PromiseTests {
    enum Moment: CaseIterable, Sendable {
        case running, atRest, paused, clockAhead, clockBehind
    }

    private let sample: SampleAgent

    init() throws { sample = try SampleAgent(keepsHead: true) }

    /// An agent that has decided request 1, and has shown request 2, in that moment.
    private func agent(_ moment: Moment, after body: () async throws -> Void = {}) async throws
        -> (agent: SampleAgent, card: SampleEnrollment, pending: RequestID)
    {
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        try await sample.approve(ids[0])
        try await body()
        return (try await agent(sample, in: moment, deciding: ids[1]), card, ids[1])
    }

    private func agent(
        _ agent: SampleAgent, in moment: Moment, deciding id: RequestID
    ) async throws -> SampleAgent {
        switch moment {
        case .running: break
        case .atRest:
            try await agent.agent.conclude()
            let again = try agent.restarted()
            try await again.agent.prepare()
            return again
        case .paused:
            // Between its look at the time and its act the host stands still, for longer than a decision may take.
            agent.custody.beforeSigning { agent.clock.advance(by: 120) }
            #expect(try await failureCode { try await agent.approve(id) } != nil)
            agent.custody.beforeSigning(nil)
        // The requests are good for ten minutes, and a host takes part with a clock that is less than that off.
        case .clockAhead: agent.clock.set(ahead: 240)
        case .clockBehind: agent.clock.set(ahead: -240)
        }
        return agent
    }

    @Test(arguments: Moment.allCases) func `what is signed is what was shown`(_ moment: Moment) async throws {
        let (agent, card, id) = try await agent(moment)
        let shown = try #require(try await agent.request(id).presented)
        #expect(shown.transaction.merchantName == SampleRequest.numbered(2).merchantName)
        try await agent.approve(id)
        let approval = try #require(try await agent.outbox(of: card).last { $0.jti.text == "request-2" })
        try verify(try approval.assertion, of: card, signCount: 1)
    }

    @Test(arguments: Moment.allCases) func `a transaction is presented once and decided once`(
        _ moment: Moment
    ) async throws {
        let (agent, card, id) = try await agent(moment)
        try await agent.approve(id)
        let body = try await agent.outbox(of: card).last?.body
        #expect(try await failureCode { try await agent.approve(id) } == .noLongerDecidable)
        #expect(try await failureCode { try await agent.decide(.deny(.userDenied), id) } == .noLongerDecidable)
        try await agent.receive(.numbered(1), .numbered(2), for: card)
        #expect(try await agent.requests().count == 2)
        #expect(try await agent.outbox(of: card).last?.body == body)
        #expect(try await agent.journal().count { $0.kind == .presented } == 2)
    }

    @Test(arguments: Moment.allCases) func `an approval that was acknowledged is delivered`(
        _ moment: Moment
    ) async throws {
        // The one of request 1, which was acknowledged before, and the one of that moment.
        let (agent, card, id) = try await agent(moment)
        try await agent.approve(id)
        let bodies = try await agent.outbox(of: card).compactMap(\.body)
        #expect(bodies.count == 2)
        try await agent.deliverAll()
        #expect(await agent.issuer.decisions.map(\.body) == bodies)
        #expect(try await agent.requests().allSatisfy { $0.life.delivery == .delivered(.authenticated) })
    }

    @Test(arguments: Moment.allCases) func `signCount never repeats and never falls`(_ moment: Moment) async throws {
        let (agent, card, id) = try await agent(moment)
        try await agent.approve(id)
        #expect(try await agent.outbox(of: card).map(\.signCount) == [1, 2])
        #expect(try await agent.enrollment(card.id).signCount == 2)
    }

    @Test(arguments: Moment.allCases) func `nothing undecided is sent`(_ moment: Moment) async throws {
        let (agent, _, id) = try await agent(moment)
        try await agent.deliverAll()
        #expect(await agent.issuer.decisions.map(\.jti) == ["request-1"])
        #expect(try await agent.request(id).life == .pending)
    }

    // MARK: Who writes the database while no agent runs

    @Test func `a message that was changed at rest is never signed as the issuer sent it`() async throws {
        let (agent, card, id) = try await agent(.running)
        try await agent.agent.conclude()
        var other = SampleRequest.numbered(2)
        other.merchantName = "CoffeeHouse3"
        let forged = try other.message(for: card.enrollment, signedBy: SigningKey.generate(.es256))
        try agent.tamper(
            "UPDATE evidence SET bytes = ? WHERE piece = (SELECT message_piece FROM request WHERE jti = 'request-2')",
            [Array(forged.utf8)])
        let again = try agent.restarted()
        try await again.agent.prepare()
        // It is not under the enrollment's data key.
        let refusal = await #expect(throws: CommandError.self) { try await again.approve(id) }
        #expect(refusal?.code == .noLongerDecidable)
    }

    @Test func `a request that was taken away at rest is presented again, and its issuer decides`() async throws {
        let (agent, card, _) = try await agent(.running) { try await sample.deliverAll() }
        try await agent.agent.conclude()
        try agent.tamper("DELETE FROM message WHERE jti = 'request-1'; DELETE FROM request WHERE jti = 'request-1'")
        let again = try agent.restarted()
        try await again.agent.prepare()
        try await again.receive(.numbered(1), for: card)
        let id = try #require(try await again.requests().last).id
        #expect(try await again.request(id).life == .pending)
        await again.issuer.onDecision { (_) throws(IssuerError) in throw .problem(.alreadyDecided) }
        try await again.approve(id)
        try await again.deliverAll()
        guard case .failed = try await again.request(id).life.delivery else {
            Issue.record("the issuer has taken it twice")
            return
        }
    }

    @Test func `an approval that somebody wrote at rest holds for no issuer`() async throws {
        let (agent, card, _) = try await agent(.running)
        try await agent.agent.conclude()
        try agent.tamper(
            """
            UPDATE request SET state = 'approved', delivery = 'queued', queue_place = 2, decided_at = received_at,
                decision_piece = (SELECT decision_piece FROM request WHERE jti = 'request-1')
            WHERE jti = 'request-2'
            """)
        let again = try agent.restarted()
        try await again.agent.prepare()
        // A decision is encrypted for the request that it belongs to.
        #expect(try await again.outbox(of: card).map { $0.body == nil } == [false, true])
    }

    private func verify(
        _ response: AuthenticationResponse, of card: SampleEnrollment, signCount: UInt32
    ) throws {
        _ = try AssertionVerifier.verify(
            response, publicKey: card.publicKey, credentialId: card.enrollment.credentialId,
            userHandle: Array("user".utf8), challenge: SampleRequest.numbered(2).challenge,
            origin: "https://issuer.example", rpId: "issuer.example", userVerificationRequired: false,
            signCount: .mustRise(above: signCount))
    }
}
