import GRDB
import IssuerProtocol
import ScratchDirectories
import TestStores
import Testing

@testable import Authenticator

/// What is over is brought into few bytes while the agent runs.
struct PackerTests {
    private let sample: SampleAgent
    private let card: SampleEnrollment

    init() async throws {
        sample = try SampleAgent()
        try await sample.agent.prepare()
        card = try await sample.enrolled()
    }

    /// Requests that were denied and delivered, and one that is open.
    private func past(_ count: Int) async throws {
        for number in 1...count { try await sample.receive(.numbered(number), for: card) }
        for request in try await sample.requests() { try await sample.decide(.deny(.userDenied), request.id) }
        try await sample.deliverAll()
        try await sample.receive(.numbered(count + 1), for: card)
    }

    private func count(_ condition: String) throws -> Int {
        try DatabaseQueue(path: "\(sample.directory.path)/store.sqlite").read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(condition)") ?? 0
        }
    }

    @Test(.ofSQLite) func `at its start the agent packs what is over, and evidence of it is what it was`() async throws
    {
        try await past(Packer.newest + 20)
        let now = sample.now
        try await sample.agent.ports.store.write { store in
            for _ in 0..<200 { try store.record(.stopped, at: now) }
        }
        let first = try #require(try await sample.requests().first)
        let before = try await sample.agent.evidence(about: first.id)
        try await sample.running([sample.agent.packer.run]) {
            try await sample.clock.sleepers()
        }
        #expect(try count("past_request") == 21 && count("journal_block") == 1)
        let after = try await sample.agent.evidence(about: first.id)
        #expect(after.kept == before.kept && after.request.message == before.request.message)
        #expect(
            after.transaction == before.transaction
                && after.journal.rows.map(\.bytes) == before.journal.rows.map(\.bytes))
        #expect(after.journal.seal != nil && after.journal.fault == nil)
        #expect(try await sample.agent.journal.verify().fault == nil)
    }

    @Test(.ofSQLite) func `what comes late for a packed request is the same as before`() async throws {
        try await past(Packer.newest + 5)
        try await sample.agent.packer.packRequests()
        let first = try #require(try await sample.requests().first)
        #expect(try count("request WHERE message = ''") == 6)
        let before = try await sample.agent.evidence(about: first.id).kept
        let acsTransId = try #require(first.acsTransId)
        let again = try await sample.recorded {
            try await sample.receive(SampleRequest(jti: "again", acsTransId: acsTransId), for: card)
        }
        #expect(again.contains(.duplicate))
        let other = try await sample.recorded {
            let request = SampleRequest(jti: "other", acsTransId: acsTransId, purchaseAmount: "200")
            try await sample.receive(request, for: card)
        }
        #expect(other.contains(.conflict))
        let now = try await sample.request(first.id)
        #expect(now.message == first.message && now.life == first.life)
        #expect(now.presented?.nonce == first.presented?.nonce)
        try await sample.agent.packer.packRequests()
        #expect(try count("request WHERE message = ''") >= 6)
        #expect(try await sample.agent.evidence(about: first.id).kept == before)
    }
}
