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
}
