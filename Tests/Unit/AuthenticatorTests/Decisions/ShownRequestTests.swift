import IssuerProtocol
import Keys
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// A request that was shown: what has become of it since.
@Suite(.timeLimit(.minutes(20)))
struct ShownRequestTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    /// One whose signCount the issuer was asked for, so that no approval asks, and looks again after that.
    private func enrolled() async throws -> SampleEnrollment {
        let card = try await sample.enrolled()
        await sample.agent.signCountWatch.ensureChecked(card.id)
        return card
    }

    @discardableResult
    private func approve(_ id: RequestID, pin: PIN? = nil) async throws -> DecidedRequest {
        try await sample.agent.decided(
            .approve, on: id, expecting: Expectations(),
            by: .command(SampleAgent.peer, shownTextDigest: nil), pin: pin,
            while: sample.agent.wanted(for: 30, before: nil))
    }

    @Test func `it was denied since, and is not approved`() async throws {
        let card = try await enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let shown = try await sample.onlyRequest().id
        try await sample.decide(.deny(.suspectedFraud), shown)
        #expect(try await failureCode { try await approve(shown) } == .noLongerDecidable)
        #expect(try await sample.outbox(of: card).map(\.body) == [DecisionBody.deny(.suspectedFraud)])
    }

    @Test func `it was denied since, and no PIN is tried for it`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        await sample.agent.signCountWatch.ensureChecked(card.id)
        try await sample.decide(.deny(.suspectedFraud), request)
        #expect(try await failureCode { try await approve(request, pin: .wrong) } == .noLongerDecidable)
        #expect(try await sample.tries(of: card) == .fresh)
    }

    @Test func `its enrollment was suspended since, and it is not approved`() async throws {
        let card = try await enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let shown = try await sample.onlyRequest().id
        try await sample.change(card.id, .suspended)
        #expect(try await failureCode { try await approve(shown) } == .notEnrolled)
        #expect(try await sample.outbox(of: card).isEmpty)
    }

    @Test func `another was approved since, and its signCount is not taken again`() async throws {
        let card = try await enrolled()
        for number in 1...2 { try await sample.receive(.numbered(number), for: card) }
        let ids = try await sample.requests().map(\.id)
        try await sample.approve(ids[0])
        try await approve(ids[1])
        #expect(try await sample.outbox(of: card).map(\.signCount) == [1, 2])
    }

    @Test func `a newer message has taken over since, and is what is signed`() async throws {
        let card = try await enrolled()
        try await sample.receive(SampleRequest(jti: "first", iat: 1), for: card)
        let shown = try await sample.onlyRequest().id
        try await sample.receive(SampleRequest(jti: "newest", iat: 2, nonce: Array(1...16)), for: card)
        try await approve(shown)
        #expect(try await sample.outbox(of: card).map(\.jti.text) == ["newest"])
    }
}
