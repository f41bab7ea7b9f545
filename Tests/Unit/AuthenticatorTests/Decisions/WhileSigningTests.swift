import IssuerProtocol
import Testing
import WebAuthn

@testable import Authenticator
@testable import Records

/// What happens to the request while the key is at work.
@Suite(.timeLimit(.minutes(20)))
struct WhileSigningTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func pending(_ request: SampleRequest = SampleRequest(), for card: SampleEnrollment) async throws
        -> RequestID
    {
        try await sample.receive(request, for: card)
        return try await sample.onlyRequest().id
    }

    @Test func `its time runs out, and the signature does not leave`() async throws {
        let card = try await sample.enrolled()
        let id = try await pending(for: card)
        sample.custody.beforeSigning { [sample] in sample.clock.advance(by: 600) }
        #expect(try await failureCode { try await sample.approve(id) } == .noLongerDecidable)
        #expect(try await sample.outbox(of: card).isEmpty)
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.enrollment(card.id).signCount == 0)
    }

    @Test func `it is cancelled, and the signature does not leave`() async throws {
        let card = try await sample.enrolled()
        let id = try await pending(for: card)
        sample.custody.beforeSigning { [sample] in try await sample.receive(SampleCancellation(), for: card) }
        #expect(try await failureCode { try await sample.approve(id) } == .noLongerDecidable)
        #expect(try await sample.request(id).life == .cancelled)
        #expect(try await sample.outbox(of: card).isEmpty)
    }

    @Test func `it is denied, and the signature does not leave`() async throws {
        let card = try await sample.enrolled()
        let id = try await pending(for: card)
        sample.custody.beforeSigning { [sample] in try await sample.decide(.deny(.suspectedFraud), id) }
        #expect(try await failureCode { try await sample.approve(id) } == .noLongerDecidable)
        #expect(try await sample.outbox(of: card).map(\.body) == [DecisionBody.deny(.suspectedFraud)])
    }

    @Test func `its enrollment is suspended, and the signature does not leave`() async throws {
        let card = try await sample.enrolled()
        let id = try await pending(for: card)
        sample.custody.beforeSigning { [sample] in try await sample.change(card.id, .suspended) }
        #expect(try await failureCode { try await sample.approve(id) } == .notEnrolled)
        #expect(try await sample.outbox(of: card).isEmpty)
    }

    @Test func `its key was another one when it was opened, and the signature does not leave`() async throws {
        let card = try await sample.enrolled(authnType: .pin, pin: .right)
        let id = try await pending(for: card)
        let putOlderBack = try sample.keptRow(of: card.id)
        try await sample.agent.changePIN(of: card.id, from: .right, to: .other)
        #expect(try await failureCode { try await sample.approve(id, pin: .right) } == .userNotVerified)
        let putNewestBack = try sample.keptRow(of: card.id)
        // Whoever administers PostgreSQL can show an older row for a moment; on SQLite the agent notices it by itself.
        try putOlderBack()
        sample.custody.beforeSigning { try putNewestBack() }
        #expect(try await failureCode { try await sample.approve(id, pin: .right) } == .keyUnavailable)
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty)
        // Nor does the older PIN take back what was counted of the newer one.
        try putNewestBack()
        #expect(try await sample.enrollment(card.id).ownPINTries.failures == 1)
    }

    @Test func `a PIN is tried on no other key than that whose tries are counted`() async throws {
        let card = try await sample.enrolled(authnType: .pin, pin: .right)
        let read = try await sample.enrollment(card.id)
        try await sample.agent.changePIN(of: card.id, from: .right, to: .other)
        let check = PINCheck(ports: sample.ports.decision)
        let code = try await failureCode { try await check.tryPIN(read) { _ = Issue.record("a PIN was tried") } }
        #expect(code == .keyUnavailable)
        #expect(try await sample.enrollment(card.id).ownPINTries == .fresh)
    }

    @Test func `it is superseded, and the newer message is signed instead`() async throws {
        let card = try await sample.enrolled()
        let id = try await pending(SampleRequest(jti: "first", iat: 1), for: card)
        let newest = SampleRequest(jti: "newest", iat: 2, nonce: Array(1...16))
        let signatures = Box(0)
        sample.custody.beforeSigning { [sample] in
            guard signatures.next() == 1 else { return }
            try await sample.receive(newest, for: card)
        }
        try await sample.approve(id)
        let outbox = try await sample.outbox(of: card)
        #expect(outbox.map(\.jti.text) == ["newest"] && signatures.value == 2)
        let clientData = try CollectedClientData.parse(try outbox[0].assertion.clientDataJSON)
        #expect(clientData.challenge == (try newest.challenge))
    }

    @Test func `the issuer's signCount turns out to be greater, and a number above it is signed instead`()
        async throws
    {
        let card = try await sample.enrolled()
        let id = try await pending(for: card)
        let signatures = Box(0)
        sample.custody.beforeSigning { [sample] in
            guard signatures.next() == 1 else { return }
            try await sample.change(card.id, .signCountRaised(SignCountRaise(from: 0, to: 41, at: sample.now)))
        }
        try await sample.approve(id)
        #expect(try await sample.outbox(of: card).map(\.signCount) == [42])
        #expect(try await sample.enrollment(card.id).signCount == 42)
    }
}
