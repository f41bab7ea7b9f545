import IssuerProtocol
import Keys
import TableRows
import TestStores
import Testing

@testable import Authenticator

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

    @Test func `an enrollment that is taken away is found`() async throws {
        let other = try await sample.enrolled("other")
        try sample.tamper("DELETE FROM enrollment WHERE id = ?", [other.id.text])
        try await expectFound(by: restarted(), "taken away")
    }

    @Test(arguments: [
        "UPDATE journal_mark SET rows = NULL", "UPDATE journal_mark SET rows = x'00'", "DELETE FROM row_key",
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
        try await changed.agent.prepare(rewrapping: sample.rewrapper(to: new))
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
        try await changed.agent.prepare(rewrapping: sample.rewrapper(to: new))
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
        try await after.approve(try await after.onlyRequest().id, pin: .right)
    }

    @Test func `an approval waits for the first look at the rows`() async throws {
        let again = try sample.restarted()
        try await again.agent.prepare(isReadingRows: false)
        let isRead = Box(false)
        let approval = Task {
            let approved = try await again.approve(request, pin: .right)
            return (approved, isRead.value)
        }
        // A denial of another request goes on.
        try await again.receive(.numbered(2), for: card)
        let other = try #require(try await again.requests().first { $0.id != request }).id
        try await again.decide(.deny(.userDenied), other)
        isRead.set(true)
        try await again.agent.rowWatch.look()
        let (approved, wasRead) = try await approval.value
        #expect(approved.life.state == .approved && wasRead)
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

#if PostgreSQL
/// The same on several hosts, each of which has a sum of its own.
@Suite(.timeLimit(.minutes(20)))
struct RowSumOfHostsTests {
    private let alpha: SampleAgent
    private let beta: SampleAgent

    init() async throws { (alpha, beta) = try await SampleAgent.twoHostsThatHaveMet() }

    private func isInDoubt(_ agent: SampleAgent) async throws -> Bool {
        try await agent.agent.rowWatch.look()
        return await agent.agent.figures().notReady[.rowsChanged] == 1
    }

    @Test func `what either host does agrees with the rows, also while both write`() async throws {
        let card = try await alpha.enrolled(authnType: .pin, pin: .right)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (host, number) in [(alpha, 1), (beta, 2)] {
                group.addTask {
                    for each in 0..<5 {
                        _ = try await host.enrolled("card-\(number)-\(each)")
                        try await host.change(card.id, .rowResealed)
                        try await host.agent.rowWatch.look()
                    }
                }
            }
            try await group.waitForAll()
        }
        for host in [alpha, beta] { #expect(try await !isInDoubt(host)) }
        #expect(try await beta.agent.journal.verify().fault == nil)
    }

    @Test func `a row that is put back for another host is found by its next look`() async throws {
        let card = try await alpha.enrolled(authnType: .pin, pin: .right)
        try await alpha.receive(.numbered(1), for: card)
        let putBack = try StoreKind.$current.withValue(.postgres) { try alpha.keptRow(of: card.id) }
        try await alpha.change(card.id, .suspended)
        try StoreKind.$current.withValue(.postgres) { try putBack() }
        for host in [beta, alpha] { #expect(try await isInDoubt(host)) }
        let request = try await beta.onlyRequest().id
        #expect(try await failureCode { try await beta.approve(request, pin: .right) } == .keyUnavailable)
    }

    @Test func `a chain that has become shorter since the last look is found, with its sum and its rows`() async throws
    {
        let card = try await beta.enrolled(authnType: .pin, pin: .right)
        let mark = try #require(try await beta.store.real.read { try $0.journalMark(.head) })
        let putBack = try StoreKind.$current.withValue(.postgres) { try alpha.keptRow(of: card.id) }
        try await beta.change(card.id, .suspended)
        try await beta.agent.conclude()
        #expect(try await !isInDoubt(alpha))
        try StoreKind.$current.withValue(.postgres) {
            try putBack()
            try alpha.tamper("DELETE FROM journal WHERE host = 'beta' AND seq > ?", [mark.point.sequence])
            try alpha.tamper(
                "UPDATE journal_mark SET seq = ?, digest = ?, signature = ?, rows = ? WHERE host = 'beta'",
                [mark.point.sequence, mark.point.digest, mark.signature, mark.rows])
        }
        #expect(try await isInDoubt(alpha))
    }
}
#endif
