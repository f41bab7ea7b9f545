import IssuerProtocol
import StoreTables
import StrictJSON
import Testing
import ThreeDS
import WebAuthn

@testable import Authenticator
@testable import Journal
@testable import Records

/// The same transaction under another jti.
@Suite(.timeLimit(.minutes(20)))
struct SupersedeTests {
    private let sample: SampleAgent
    private let first = SampleRequest(jti: "first", iat: 10)

    init() throws { sample = try SampleAgent() }

    private func verify(_ entry: OutboxEntry, answers request: SampleRequest, of card: SampleEnrollment) throws {
        let signCount = try AssertionVerifier.verify(
            try entry.assertion, publicKey: card.publicKey, credentialId: card.enrollment.credentialId,
            challenge: try request.challenge, origin: "https://issuer.example", rpId: "issuer.example",
            userVerificationRequired: false, signCount: .mustRise(above: 0))
        #expect(signCount == entry.signCount)
    }

    @Test func `a later approval answers the newest, under the id that was presented`() async throws {
        let card = try await sample.enrolled()
        let newest = SampleRequest(jti: "newest", iat: 20, exp: 700, nonce: Array(1...32))
        try await sample.receive(first, for: card)
        let id = try await sample.onlyRequest().id
        let events = try await sample.events { try await sample.receive(newest, for: card) }
        #expect(events.contains { $0.kind == .superseded && $0.request == id })
        #expect(!events.contains { $0.kind == .presented })
        let superseded = try await sample.onlyRequest()
        #expect(superseded.id == id && superseded.jti.text == "newest" && superseded.life == .pending)
        #expect(superseded.exp == SampleAgent.start + 700)
        try await sample.approve(id)
        let outbox = try await sample.outbox(of: card)
        #expect(outbox.map(\.jti.text) == ["newest"])
        try verify(outbox[0], answers: newest, of: card)
    }

    @Test(arguments: [10, 9] as [Int64])
    func `one with an equal or older iat changes nothing and is not answered`(iat: Int64) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(first, for: card)
        try await sample.receive(SampleRequest(jti: "late", iat: iat, nonce: Array(1...16)), for: card)
        let record = try await sample.onlyRequest()
        #expect(record.jti.text == "first" && record.life == .pending && record.presented?.nonce == Array(0..<16))
        try await sample.approve(record.id)
        #expect(try await sample.outbox(of: card).map(\.jti.text) == ["first"])
        try verify(try await sample.outbox(of: card)[0], answers: first, of: card)
    }

    @Test func `the newest says when it ends, also if that is sooner`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(first, SampleRequest(jti: "newest", iat: 20, exp: 300), for: card)
        let record = try await sample.onlyRequest()
        #expect(record.jti.text == "newest" && record.exp == SampleAgent.start + 300)
    }

    @Test func `the older ones that come again stay unanswered`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(first, SampleRequest(jti: "newest", iat: 20), for: card)
        try await sample.restarted().receive(first, for: card)
        #expect(try await sample.onlyRequest().jti.text == "newest")
        #expect(try await sample.outbox(of: card).isEmpty)
    }

    @Test func `an acsTransId in another case is the same transaction, and its own bytes are signed`() async throws {
        let card = try await sample.enrolled()
        var newest = SampleRequest(jti: "newest", iat: 20)
        newest.acsTransId = first.acsTransId.uppercased()
        try await sample.receive(first, newest, for: card)
        let record = try await sample.onlyRequest()
        #expect(record.jti.text == "newest" && !record.hasConflict)
        try await sample.approve(record.id)
        try verify(try await sample.outbox(of: card)[0], answers: newest, of: card)
    }

    @Test(arguments: [.approve, .deny(.userDenied)] as [RequestLife.Decision])
    func `after a decision it is denied as a duplicate`(decision: RequestLife.Decision) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(first, for: card)
        let decided = try await sample.decide(decision, sample.onlyRequest().id)
        let later = try sample.restarted()
        let again = SampleRequest(jti: "again", iat: 20, exp: 650)
        let events = try await later.events { try await later.receive(again, again, for: card) }
        #expect(events.contains { $0.kind == .duplicate && $0.request == decided.id })
        #expect(try await later.onlyRequest().life == decided.life)
        let outbox = try await later.outbox(of: card)
        #expect(outbox.map(\.jti.text) == ["first", "again"])
        #expect(try outbox[1].decision == .deny(.duplicate))
        #expect(outbox[1].requestId == nil && outbox[1].exp == SampleAgent.start + 650)
    }

    @Test func `a duplicate's end changes nothing of the decision`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(first, for: card)
        let decided = try await sample.approve(sample.onlyRequest().id)
        try await sample.receive(SampleRequest(jti: "again", iat: 20), for: card)
        await sample.issuer.onDecision { (decision) throws(IssuerError) in
            guard decision.jti != "again" else { throw .problem(.alreadyDecided) }
            return .authenticated
        }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.eventually { try $0.outboxCount(enrollment: nil) == 0 ? true : nil }
        }
        #expect(try await sample.request(decided.id).life.delivery == .delivered(.authenticated))
    }

    @Test(arguments: ["expired", "cancelled"])
    func `after an undecided end it is presented anew, by a greater iat alone`(end: String) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(first, for: card)
        if end == "expired" {
            // Nobody has closed it yet: the newcomer's look at the clock does.
            sample.clock.advance(by: 600)
        } else {
            try await sample.receive(SampleCancellation(cancels: "first"), for: card)
        }
        let later = try sample.restarted()
        try await later.receive(SampleRequest(jti: "older", iat: 9, exp: 2_000), for: card)
        try await later.receive(SampleRequest(jti: "equal", iat: 10, exp: 2_000), for: card)
        #expect(try await later.requests().count == 1)
        try await later.receive(SampleRequest(jti: "newer", iat: 11, exp: 2_000), for: card)
        let records = try await later.requests()
        #expect(records.map(\.life) == [end == "expired" ? .expired : .cancelled, .pending])
        #expect(records.map(\.jti.text) == ["first", "newer"] && Set(records.map(\.id)).count == 2)
        #expect(try await later.outbox(of: card).isEmpty)
    }
}
