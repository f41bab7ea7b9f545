import IssuerProtocol
import Keys
import StoreTables
import TableRows
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// Rows that are put back, taken away or put in while no agent runs, or another one does: found before anything is approved.
@Suite(.timeLimit(.minutes(20)))
struct RowSumTests {
    private let sample: SampleAgent
    private let card: SampleEnrollment
    private let request: RequestID

    init() async throws {
        sample = try SampleAgent()
        try await sample.agent.prepare()
        card = try await sample.enrolled(authnType: .pin, pin: .right)
        try await sample.receive(.numbered(1), for: card)
        request = try await sample.onlyRequest().id
    }

    private func restarted() async throws -> SampleAgent {
        let again = try sample.restarted()
        try await again.agent.prepare()
        return again
    }

    private func isInDoubt(_ agent: SampleAgent) async -> Bool {
        await agent.agent.figures().notReady[.rowsChanged] == 1
    }

    /// Sees that nothing is approved and no PIN tried, that a denial goes on, and that status, doctor and audit say why.
    private func expectFound(by agent: SampleAgent, _ change: String) async throws {
        #expect(await isInDoubt(agent), "\(change)")
        #expect(try await failureCode { try await agent.approve(request, pin: .right) } == .keyUnavailable, "\(change)")
        #expect(
            try await failureCode { try await agent.agent.changePIN(of: card.id, from: .right, to: .other) }
                == .keyUnavailable)
        #expect(try await agent.agent.troubles().contains { $0.hasPrefix("rowsChanged: ") })
        #expect(await agent.agent.checkup.findings().contains { $0.weakness == .rowsChanged })
        #expect(try await agent.agent.journal.verify().fault != nil, "\(change)")
    }

    private enum Change: String, CaseIterable {
        case wrongPIN, changedPIN, suspended

        func make(on sample: SampleAgent, _ card: SampleEnrollment, _ request: RequestID) async throws {
            switch self {
            case .wrongPIN:
                #expect(try await failureCode { try await sample.approve(request, pin: .wrong) } == .userNotVerified)
            case .changedPIN: _ = try await sample.agent.changePIN(of: card.id, from: .right, to: .other)
            case .suspended: try await sample.change(card.id, .suspended)
            }
        }
    }

    @Test(arguments: Change.allCases) private func `an older row is found at the start`(change: Change) async throws {
        let putBack = try sample.keptRow(of: card.id)
        try await change.make(on: sample, card, request)
        try await sample.agent.conclude()
        try putBack()
        let again = try await restarted()
        try await expectFound(by: again, change.rawValue)
        if change != .suspended {
            let fault = try #require(try await again.agent.journal.verify().fault)
            #expect(fault.problem.contains("enrollment \(card.id)"), "\(fault.problem)")
        }
        try await again.decide(.deny(.userDenied), request)
        // And by each start after it.
        #expect(await isInDoubt(try await restarted()))
    }

    @Test func `an ended enrollment whose row is put back is found at the start, also after much else`() async throws {
        let other = try await sample.enrolled("other")
        let putBack = try sample.keptRow(of: other.id)
        _ = try await sample.agent.unenroll(other.id, locally: true, forced: true, erasing: false)
        try await sample.write(entries: 1_200)
        try putBack()
        try await expectFound(by: restarted(), "ended")
    }

    @Test func `a row that was used after it was put back is found although the newest one is there again`()
        async throws
    {
        let old = try sample.keptRow(of: card.id)
        #expect(try await failureCode { try await sample.approve(request, pin: .wrong) } == .userNotVerified)
        let new = try sample.keptRow(of: card.id)
        try old()
        // A process that has seen nothing, and does not look.
        let blind = try sample.restarted()
        #expect(try await failureCode { try await blind.approve(request, pin: .wrong) } == .userNotVerified)
        try new()
        try await expectFound(by: restarted(), "used")
    }

    @Test(.ofSQLite) func `a removed enrollment that is put in again is found`() async throws {
        let other = try await sample.enrolled("other")
        _ = try await sample.agent.unenroll(other.id, locally: true, forced: true, erasing: false)
        try sample.tamper("CREATE TABLE gone AS SELECT * FROM enrollment WHERE id = '\(other.id.text)'")
        #expect(try await sample.store.write { try $0.removeWhatWasOver(before: .max, limit: 10) } == 1)
        #expect(try await !isInDoubt(restarted()))
        try sample.tamper("INSERT INTO enrollment SELECT * FROM gone")
        #expect(try await isInDoubt(restarted()))
        try sample.tamper("DELETE FROM enrollment WHERE id = ?", [other.id.text])
        #expect(try await !isInDoubt(restarted()))
    }

    @Test func `all that a survey reads is of one moment`() async throws {
        let (id, sample) = (card.id, sample)
        let counts = try await sample.agent.ports.store.survey { store in
            let before = try store.enrollment(id)?.signCount
            try sample.tamper("UPDATE enrollment SET sign_count = sign_count + 1 WHERE id = ?", [id.text])
            return (before, try store.enrollment(id)?.signCount)
        }
        #expect(counts.0 != nil && counts.0 == counts.1)
    }

    @Test func `an enrollment that somebody else has ended is found at the start`() async throws {
        let other = try await sample.enrolled("other")
        try sample.tamper(
            "UPDATE enrollment SET state = 'ended', ended_at = 1, end_reason = 'unenrolled' WHERE id = ?",
            [other.id.text])
        try await expectFound(by: restarted(), "ended")
    }

    @Test func `the counts of wrong PINs of more keys than a page has are read to the last`() async throws {
        let keys = try (0..<UInt64(2_001)).map { number in
            try #require(
                KeyIdentity(bytes: (0..<32).map { UInt8(truncatingIfNeeded: $0 < 8 ? number >> (56 - 8 * $0) : 0) }))
        }
        try await sample.agent.ports.store.write { store in
            let tried = PINTries(failures: 1, blockedUntil: nil)
            for key in keys { _ = try store.setPINTries(of: key, from: .fresh, to: tried) }
            try store.record(.started(version: "1"), at: sample.now)
        }
        #expect(await !isInDoubt(try await restarted()))
        let last = try #require(keys.last)
        try sample.tamper("DELETE FROM key_tries WHERE identity = ?", [last.bytes])
        #expect(await isInDoubt(try await restarted()))
    }

    @Test func `two looks are at most an hour apart, and hosts that began together do not look together`() throws {
        #expect(try RowWatch.pause(ConstantEntropy(byte: 0)) == 3_000)
        let longest = try RowWatch.pause(ConstantEntropy(byte: 0xff))
        #expect(longest > 3_599 && longest <= 3_600)
    }

    @Test func `an enrollment that is taken away is found`() async throws {
        let other = try await sample.enrolled("other")
        try sample.tamper("DELETE FROM enrollment WHERE id = ?", [other.id.text])
        try await expectFound(by: restarted(), "taken away")
    }

    @Test(arguments: [
        "UPDATE journal_mark SET rows = NULL", "UPDATE journal_mark SET rows = x'00'", "DELETE FROM row_key",
        "UPDATE row_key SET sealed = x'00'",
    ])
    func `a sum that is gone, or is none, vouches for nothing`(change: String) async throws {
        let change = StoreKind.current == .postgres ? change.replacing("x'00'", with: "'\\x00'") : change
        try await sample.agent.conclude()
        try sample.tamper(change)
        try await expectFound(by: restarted(), change)
    }

    @Test func `a sum of an earlier head vouches for nothing`() async throws {
        let old = try #require(try await sample.store.real.read { try $0.journalMark(.head)?.rows })
        try await sample.agent.conclude()
        try sample.tamper("UPDATE journal_mark SET rows = ? WHERE name = 'head'", [old])
        try await expectFound(by: restarted(), "an older sum")
    }

    @Test func `whatever an agent does, its rows are those that it wrote`() async throws {
        #expect(try await failureCode { try await sample.approve(request, pin: .wrong) } == .userNotVerified)
        try await sample.approve(request, pin: .right)
        _ = try await sample.agent.changePIN(of: card.id, from: .right, to: .other)
        try await sample.change(card.id, .suspended)
        try await sample.change(card.id, .resumed)
        let other = try await sample.enrolled("other")
        _ = try await sample.agent.unenroll(other.id, locally: true, forced: true, erasing: false)
        try await sample.store.write { store in
            try store.wantErasure(of: other.id)
            try store.eraseNames(of: other.id)
            _ = try store.concludeErasure(of: other.id)
        }
        let failure = try await sample.store.write { store in
            try store.undoing {
                _ = try store.change(card.id, .suspended)
                throw SampleError("undone")
            }
        }
        #expect(failure != nil)
        // Written without an entry of the journal.
        try await sample.store.write { _ = try $0.change(card.id, .rowResealed) }
        sample.store.breakWrites()
        await #expect(throws: StoreError.self) {
            try await sample.store.write { _ = try $0.change(card.id, .suspended) }
        }
        sample.store.breakWrites(false)
        #expect(try await sample.agent.journal.verify().fault == nil)
        _ = try await sample.store.write { try $0.removeWhatWasOver(before: .max, limit: 10) }
        let again = try await restarted()
        #expect(await !isInDoubt(again))
        let new = try AgentSecret.generate()
        let changed = try sample.restarted(secret: new, previous: sample.secret)
        try await changed.rotate(by: sample.rewrapper(to: new))
        let last = try sample.restarted(secret: new)
        try await last.agent.prepare()
        #expect(await !isInDoubt(last))
        #expect(try await last.agent.journal.verify().fault == nil)
    }

    @Test func `a change of the secret does not make a row that was put back a right one`() async throws {
        let putBack = try sample.keptRow(of: card.id)
        #expect(try await failureCode { try await sample.approve(request, pin: .wrong) } == .userNotVerified)
        try putBack()
        let new = try AgentSecret.generate()
        let changed = try sample.restarted(secret: new, previous: sample.secret)
        try await changed.rotate(by: sample.rewrapper(to: new))
        #expect(await isInDoubt(changed))
        let last = try sample.restarted(secret: new)
        try await last.agent.prepare()
        #expect(await isInDoubt(last))
    }

    @Test func `a person takes the rows as they are, and the journal says so`() async throws {
        let sample = try SampleAgent(keepsHead: true)
        try await sample.agent.prepare()
        let card = try await sample.enrolled(authnType: .pin, pin: .right)
        try await sample.receive(.numbered(1), for: card)
        let putBack = try sample.keptRow(of: card.id)
        try await sample.change(card.id, .suspended)
        try await sample.agent.conclude()
        try putBack()
        let found = try sample.restarted()
        try await found.agent.prepare()
        #expect(await isInDoubt(found))
        try await found.agent.conclude()
        #expect(try await sample.restarted().agent.acceptHead()?.hasPrefix("rowsChanged: ") == true)
        #expect(try await sample.newest(.headAccepted).text("why") == "rowsChanged")
        #expect(try await sample.restarted().agent.acceptHead() == nil)
        let after = try sample.restarted()
        try await after.agent.prepare()
        #expect(await !isInDoubt(after))
        // An older row has an older signCount.
        let request = try await after.onlyRequest().id
        await after.issuer.onStatus { (_) throws(IssuerError) in throw .down }
        #expect(try await failureCode { try await after.approve(request, pin: .right) } == .issuerUnreachable)
    }

    @Test(arguments: [
        "UPDATE journal_mark SET rows = NULL", "DELETE FROM row_key", "UPDATE row_key SET sealed = x'00'",
    ])
    func `a sum that is gone is made anew once a person has looked`(change: String) async throws {
        let change = StoreKind.current == .postgres ? change.replacing("x'00'", with: "'\\x00'") : change
        try await sample.agent.conclude()
        try sample.tamper(change)
        #expect(try await sample.restarted().agent.acceptHead()?.hasPrefix("rowsChanged: ") == true)
        #expect(try await !isInDoubt(restarted()))
    }

    @Test func `an approval waits for the first look at the rows, and a denial does not`() async throws {
        try await sample.receive(.numbered(2), for: card)
        let again = try sample.restarted()
        try await again.agent.prepare(isReadingRows: false)
        let refusal = Task { try await failureCode { try await again.approve(request, pin: .right) } }
        let other = try #require(try await again.requests().first { $0.id != request }).id
        try await again.decide(.deny(.userDenied), other)
        try await again.clock.wakeNext()
        #expect(try await refusal.value == .notInTime)
        #expect(try await again.request(request).life.state == .pending)
        #expect(try await again.enrollment(card.id).ownPINTries == .fresh)
        try await again.agent.rowWatch.look()
        try await again.approve(request, pin: .right)
    }

    @Test func `a row that goes back with the sum of the same head is found by who wrote it, and by nobody else`()
        async throws
    {
        let putBack = try sample.keptRow(of: card.id)
        let old = try #require(try await sample.store.real.read { try $0.journalMark(.head)?.rows })
        // Without an entry of the journal.
        try await sample.change(card.id, .rowResealed)
        try putBack()
        try sample.tamper("UPDATE journal_mark SET rows = ? WHERE name = 'head'", [old])
        #expect(try await !isInDoubt(restarted()))
        try putBack()
        try await sample.agent.rowWatch.look()
        #expect(await isInDoubt(sample))
    }

    @Test func `an ended enrollment whose row is put back after a look is not used in what is written`() async throws {
        let putBack = try sample.keptRow(of: card.id)
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true, erasing: false)
        // A process that has not ended it, but has read the rows since.
        let again = try await restarted()
        try putBack()
        #expect(try await again.store.write { try $0.enrollment(card.id) }?.isDamaged == true)
        #expect(try await again.store.read { try $0.enrollment(card.id) }?.isDamaged == false)
    }
}
