import Custody
import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
import StoreTables
import TableRows
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// Whoever can write the database, and has no secret, gains no token, no signature, no user verification and no try of a
/// PIN; and one row that was changed takes no other enrollment along.
struct RowSealTests {
    private let sample: SampleAgent

    init() async throws {
        sample = try SampleAgent()
        try await sample.agent.prepare()
    }

    /// An agent that begins on the state as it is.
    private func begun() async throws -> SampleAgent {
        let again = try sample.restarted()
        try await again.agent.prepare()
        return again
    }

    @Test(arguments: [
        "issuer = 'https://thief.example'", "roots_pem = x'50454D'", "name = x'61'", "authn_type = 'test'",
        "authn_type = 'pin'", "algorithm = -8", "rp_id = 'thief.example'", "credential_id = x'00'", "user_handle = x''",
        "started_at = 1", "takes_push = 0", "credential_key = NULL", "sign_count = 0", "state = 'suspended'",
        "authenticator_id = 'another'", "sealed_token = x'00'", "enrolled_at = 1", "pin_failures = 1",
        "pin_blocked_until = 1", "pin_guessable = 1", "end_reason = 'x'", "ended_at = 1", "journal_seq = 1",
        "version = 9", "pin_epoch = 9",
        "seal = x''", "seal = zeroblob(32)",
    ])
    func `a row that was changed is not used, and the others are`(change: String) async throws {
        let (card, other) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try await sample.receive(.numbered(3), for: other)
        let requests = try await sample.requests()
        try await sample.approve(requests[0].id)
        try sample.tamper("UPDATE enrollment SET \(change) WHERE id = ?", [card.id.text])
        let again = try await begun()

        let row = try await again.enrollment(card.id)
        #expect(row.isDamaged && row.membership == nil)
        for decision in [RequestLife.Decision.approve, .deny(.userDenied)] {
            #expect(try await failureCode { try await again.decide(decision, requests[1].id) } != nil)
        }
        #expect(try await again.request(requests[1].id).life.state == .pending)
        #expect(
            try await again.agent.troubles().contains { $0.contains("\(card.id)") && $0.contains("not as the agent") })
        #expect(await again.agent.checkup.findings().contains { $0.weakness == .enrollmentDamaged })
        #expect(try await again.agent.journal.verify().fault?.problem.contains("\(card.id)") == true)
        #expect(again.storeError == nil)
        // The head vouches for state, version and seal of each row: where those were changed, nothing is approved.
        guard !["state =", "version =", "seal ="].contains(where: change.hasPrefix) else {
            return #expect(try await failureCode { try await again.approve(requests[2].id) } == .keyUnavailable)
        }
        try await again.approve(requests[2].id)
        // It can be ended, here alone, and then the agent is ready again.
        #expect(
            try await failureCode {
                _ = try await again.agent.unenroll(card.id, locally: false, forced: true, erasing: false)
            } == .keyUnavailable)
        _ = try await again.agent.unenroll(card.id, locally: true, forced: true, erasing: false)
        let isCountGone = change == "sign_count = 0"
        #expect(try await (again.agent.journal.verify().fault == nil) == !isCountGone)
        #expect(try await again.enrollment(other.id).isDamaged == false)
    }

    @Test(arguments: [RequestLife.Decision.approve, .deny(.userDenied)])
    func `a row that is changed under its seal while the agent knows it is not used either`(
        decision: RequestLife.Decision
    ) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        try await sample.approve(ids[0])
        #expect(try await sample.enrollment(card.id).isDamaged == false)
        try sample.tamper("UPDATE enrollment SET rp_id = 'thief.example' WHERE id = ?", [card.id.text])

        #expect(try await failureCode { try await sample.decide(decision, ids[1]) } != nil)
        #expect(try await sample.request(ids[1]).life.state == .pending)
        #expect(try await sample.enrollment(card.id).isDamaged)
        try sample.tamper("UPDATE enrollment SET rp_id = 'issuer.example' WHERE id = ?", [card.id.text])
        try await sample.decide(decision, ids[1])
    }

    @Test func `a signCount that a copy marks as refused is seen in a row that was read before`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        try await sample.approve(sample.onlyRequest().id)
        #expect(try await sample.enrollment(card.id).refusedSignCount == nil)
        #expect(try await sample.enrollment(card.id).refusedSignCount == nil)
        try sample.tamper("UPDATE enrollment SET refused_sign_count = 1 WHERE id = ?", [card.id.text])
        #expect(try await sample.enrollment(card.id).refusedSignCount == 1)
    }

    @Test func `the row of another enrollment, or of another secret, has no seal that holds`() async throws {
        let (card, other) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        try sample.tamper(
            "UPDATE enrollment SET seal = (SELECT seal FROM enrollment WHERE id = ?) WHERE id = ?",
            [other.id.text, card.id.text])
        let again = try await begun()
        #expect(try await again.enrollment(card.id).isDamaged)
        #expect(try await again.enrollment(other.id).isDamaged == false)
    }

    // MARK: Older rows

    private func tryWrongPIN(_ id: RequestID, of agent: SampleAgent) async throws -> CommandError.Code? {
        try await failureCode { try await agent.approve(id, pin: .wrong) }
    }

    @Test func `a count of wrong PINs that is set back while the agent runs ends the tries`() async throws {
        let card = try await sample.enrolled(authnType: .pin, pin: .right)
        try await sample.receive(.numbered(1), for: card)
        let request = try await sample.onlyRequest().id
        let putBack = try sample.keptRow(of: card.id)
        #expect(try await tryWrongPIN(request, of: sample) == .userNotVerified)
        try putBack()
        #expect(try await tryWrongPIN(request, of: sample) == .keyUnavailable)
        #expect(try await failureCode { try await sample.approve(request, pin: .right) } == .keyUnavailable)
    }

    @Test func `one that is set back while no agent runs is named by the audit, and no PIN is tried`() async throws {
        let card = try await sample.enrolled(authnType: .pin, pin: .right)
        try await sample.receive(.numbered(1), for: card)
        let request = try await sample.onlyRequest().id
        let putBack = try sample.keptRow(of: card.id)
        for _ in 1...5 { #expect(try await tryWrongPIN(request, of: sample) != nil) }
        try putBack()
        #expect(try await sample.agent.journal.verify().fault?.problem.contains("more wrong PINs") == true)
        let again = try await begun()
        #expect(try await failureCode { try await again.approve(request, pin: .right) } == .keyUnavailable)
        #expect(try await again.enrollment(card.id).ownPINTries == .fresh)
        #expect(try await again.agent.journal.verify().fault?.problem.contains("more wrong PINs") == true)
    }

    @Test func `an old sealed key that is put back while the agent runs is named by the next check`() async throws {
        let card = try await sample.enrolled(authnType: .pin, pin: .right)
        let id = card.id.text
        try sample.tamper("CREATE TABLE kept AS SELECT sealed_key FROM enrollment WHERE id = '\(id)'")
        _ = try await sample.agent.changePIN(of: card.id, from: .right, to: .wrong)
        #expect(try await sample.enrollment(card.id).isDamaged == false)
        try sample.tamper("UPDATE enrollment SET sealed_key = (SELECT sealed_key FROM kept) WHERE id = ?", [id])
        let findings = await sample.agent.checkup.findings().filter { $0.enrollment == card.id }
        #expect(findings.map(\.weakness) == [.enrollmentDamaged])
    }

    @Test func `an enrollment that is over, and whose older row is put back, is found`() async throws {
        let card = try await sample.enrolled()
        let putBack = try sample.keptRow(of: card.id)
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true, erasing: false)
        #expect(try await sample.agent.journal.verify().fault == nil)
        try putBack()
        #expect(try await sample.agent.journal.verify().fault?.problem.contains("ended enrollment") == true)
    }

    @Test func `a journal that is older than a row vouches for no rows`() async throws {
        let card = try await sample.enrolled()
        let head = try #require(try await sample.store.real.read { try $0.journalMark(.head) })
        let rows = try await sample.journal().count
        try await sample.receive(.numbered(1), for: card)
        try await sample.approve(try await sample.onlyRequest().id)
        try sample.tamper("DELETE FROM journal WHERE seq > ?", [rows])
        try sample.tamper(
            "UPDATE journal_mark SET seq = ?, digest = ?, signature = ?, rows = ?",
            [head.point.sequence, head.point.digest, try #require(head.signature), head.rows])
        #expect(try await begun().agent.figures().notReady[.rowsChanged] == 1)
    }

    @Test func `a journal that is new vouches for nothing that was enrolled before`() async throws {
        _ = try await sample.enrolled()
        for table in ["journal", "journal_mark", "audit_key"] { try sample.tamper("DELETE FROM \(table)") }
        #expect(try await begun().agent.figures().notReady[.rowsChanged] == 1)
    }
}
