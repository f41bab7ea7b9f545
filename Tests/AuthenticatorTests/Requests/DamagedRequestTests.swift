import IssuerProtocol
import TableRows
import TestStores
import Testing

@testable import Authenticator

/// What somebody changed in the database, or a disk has lost, stops nothing else.
@Suite(.timeLimit(.minutes(20)))
struct DamagedRequestTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private static let changes = [
        "UPDATE evidence SET bytes = ? WHERE piece = (SELECT message_piece FROM request WHERE jti = 'request-1')",
        "UPDATE data_key SET sealed = ? WHERE enrollment_id = (SELECT enrollment_id FROM request WHERE jti = 'request-1')",
    ]

    @Test(arguments: changes)
    func `a message that does not open is not decided, and holds up no other request`(change: String) async throws {
        let (card, other) = (try await sample.enrolled("card"), try await sample.enrolled("other"))
        try await sample.receive(.numbered(1), for: card)
        try await sample.receive(.numbered(2), .numbered(3), for: other)
        try sample.tamper(change, [[UInt8](repeating: 7, count: 80)])
        let again = try sample.restarted()
        try await again.agent.prepare()
        let requests = try await again.requests()
        #expect(requests.map(\.isDamaged) == [true, false, false])
        #expect(requests.map { $0.presented == nil } == [true, false, false])
        for decision in [RequestLife.Decision.approve, .deny(.userDenied)] {
            let refusal = await #expect(throws: CommandError.self) { try await again.decide(decision, requests[0].id) }
            #expect(refusal?.code == .noLongerDecidable || refusal?.code == .keyUnavailable)
        }
        #expect(try await again.approve(requests[1].id).life.state == .approved)
        again.clock.advance(by: 86_400)
        try await again.agent.expiryService.work()
        #expect(try await again.requests().map(\.life.state) == [.expired, .approved, .expired])
    }

    @Test(arguments: ["UPDATE evidence SET bytes = ?", "DELETE FROM evidence"])
    func `a newer message of the same transaction takes its place, and another transaction is a conflict`(
        change: String
    ) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try sample.tamper(change, change.contains("?") ? [[UInt8](repeating: 7, count: 80)] : [])
        var (newer, other) = (SampleRequest.numbered(1).early(5), SampleRequest.numbered(2).early(5))
        (newer.jti, other.jti, other.merchantName) = ("newer", "other", "CoffeeHouse3")
        try await sample.receive(newer, other, for: card)
        let requests = try await sample.requests()
        #expect(requests.map(\.jti.text) == ["newer", "request-2", "other"])
        #expect(requests.map(\.isDamaged) == [false, true, false])
        #expect(requests.map(\.hasConflict) == [false, true, false])
        #expect(try await sample.approve(requests[0].id).life.state == .approved)
    }

    @Test func `it is not the next one, and there is no evidence of it`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try sample.tamper(Self.changes[0], [[UInt8](repeating: 7, count: 80)])
        let requests = try await sample.requests()
        let next = try await sample.store.real.read { store in
            try Selection.find(.next, enrollment: nil, isWaitedFor: false, in: store)
        }
        #expect(requests[0].isDamaged && next == requests[1].id)
        let refusal = await #expect(throws: CommandError.self) {
            _ = try await sample.agent.evidence(about: requests[0].id)
        }
        #expect(refusal?.code == .failed)
    }

    @Test func `a decision that does not open is not sent, and ends as expired`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        for request in try await sample.requests() { try await sample.approve(request.id) }
        try sample.tamper(
            "UPDATE evidence SET bytes = ? WHERE piece = (SELECT decision_piece FROM request WHERE jti = 'request-1')",
            [[UInt8](repeating: 7, count: 80)])
        #expect(try await sample.outbox(of: card).map { $0.body == nil } == [true, false])
        sample.clock.advance(by: 601)
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.eventually { try $0.outboxCount(enrollment: nil) == 0 ? () : nil }
        }
        #expect(await sample.issuer.decisions.isEmpty)
        for request in try await sample.requests() {
            #expect(request.life.delivery == .failed(token: "expired"))
        }
    }

    @Test func `an enrollment ends although a decision of it does not open`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        try await sample.approve(try await sample.onlyRequest().id)
        try sample.tamper("UPDATE evidence SET bytes = ?", [[UInt8](repeating: 7, count: 80)])
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
        #expect(try await sample.outbox(of: card).isEmpty)
        #expect(try await sample.onlyRequest().life.delivery == .failed(token: DeliveryState.unenrolled))
    }
}
