import IssuerProtocol
import StoreTables
import TableRows
import TestStores
import Testing
import ThreeDS

@testable import Authenticator
@testable import Records

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
        var requests = try await sample.requests()
        #expect(requests.map(\.jti.text) == ["newer", "request-2", "other"])
        #expect(requests.map(\.isDamaged) == [false, true, false])
        #expect(requests.map(\.hasConflict) == [false, true, false])
        #expect(try await sample.approve(requests[0].id).life.state == .approved)
        // What the others have written since is left as it is, though the row still has the numbers of its pieces.
        var third = SampleRequest.numbered(2).early(5)
        third.jti = "third"
        try await sample.receive(third, for: card)
        requests = try await sample.requests()
        #expect(requests.map(\.jti.text) == ["newer", "third", "other"])
        #expect(requests.map(\.isDamaged) == [false, false, false])
        #expect(try await sample.outbox(of: card).map { $0.body == nil } == [false, false])
    }

    @Test func `of a transaction that is not known any more the newer message is presented`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        try sample.tamper("UPDATE request SET transaction_digest = NULL")
        #expect(try await sample.onlyRequest().isDamaged)
        var newer = SampleRequest.numbered(1).early(5)
        newer.jti = "newer"
        try await sample.receive(newer, for: card)
        let request = try await sample.onlyRequest()
        #expect(!request.isDamaged && !request.hasConflict)
        #expect(try await sample.approve(request.id).life.state == .approved)
        try await sample.deliverAll()
        #expect(await sample.issuer.decisions.map(\.jti) == ["newer"])
    }

    @Test(arguments: ["message_piece = NULL", "is_presented = 0"])
    func `one that is pending and shows nothing is damaged, and is not the next one`(change: String) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try sample.tamper("UPDATE request SET \(change) WHERE jti = 'request-1'")
        let requests = try await sample.requests()
        #expect(requests.map(\.isDamaged) == [true, false])
        #expect(requests[0].warnings(for: card.enrollment).map(\.id) == ["damaged"])
        let next = try await sample.store.real.read { store in
            try Selection.find(.next, enrollment: nil, isWaitedFor: false, in: store)
        }
        #expect(next == requests[1].id)
    }

    private static let pieces = ["message", "text", "decision"]

    @Test(arguments: pieces) func `there is no evidence of it, and others are decided`(piece: String) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        try await sample.approve(ids[0])
        try sample.tamper(
            "UPDATE evidence SET bytes = ? WHERE piece = (SELECT \(piece)_piece FROM request WHERE jti = 'request-1')",
            [[UInt8](repeating: 7, count: 80)])
        let refusal = await #expect(throws: CommandError.self) { _ = try await sample.agent.evidence(about: ids[0]) }
        #expect(refusal?.code == .failed)
        #expect(try await sample.approve(ids[1]).life.state == .approved)
        #expect(try await sample.agent.evidence(about: ids[1]).assertion != nil)
    }

    @Test(arguments: [[], [UInt8](repeating: 7, count: 80)])
    func `a decision that does not open is not sent, and those behind it are`(bytes: [UInt8]) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        for request in try await sample.requests() { try await sample.approve(request.id) }
        try sample.tamper(
            "UPDATE evidence SET bytes = ? WHERE piece = (SELECT decision_piece FROM request WHERE jti = 'request-1')",
            [bytes])
        #expect(try await sample.outbox(of: card).map { $0.body == nil } == [true, false])
        try await sample.deliverAll()
        #expect(await sample.issuer.decisions.map(\.jti) == ["request-2"])
        #expect(
            try await sample.requests().map(\.life.delivery) == [.failed(token: "damaged"), .delivered(.authenticated)])
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
