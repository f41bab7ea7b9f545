import IssuerProtocol
import StoreTables
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// The journal of a real agent, held against what the audit key has signed.
struct JournalAuditTests {
    let sample: SampleAgent

    init() throws { sample = try SampleAgent(AgentSettings(auditRetention: 1_000, version: "1.2.3")) }

    /// Entries at the time that it is.
    private func record(_ count: Int) async throws {
        for _ in 0..<count { try await sample.agent.conclude() }
    }

    private func verify() async throws -> JournalVerdict { try await sample.agent.journal.verify() }

    private func mark(_ name: JournalMark.Name) async throws -> JournalMark? {
        try await sample.store.real.read { try $0.journalMark(name) }
    }

    /// Changes the store behind the agent's back.
    private func tamper(_ body: @escaping @Sendable (StoreTransaction) throws -> Void) async throws {
        try await sample.store.real.write(body)
    }

    /// Puts the journal of an earlier time in the place of the present one.
    private func setBack(to rows: [JournalRow], under head: JournalMark) async throws {
        try await tamper { store in
            try store.removeJournal(through: .max)
            for row in rows { try store.insert(row) }
            try store.set(head, as: .head)
        }
    }

    @Test func `more entries than one batch are whole, and their number is told`() async throws {
        try await record(1_234)
        let verdict = try await verify()
        #expect(verdict.fault == nil)
        #expect(verdict.count == 1_235)
        #expect(try await verdict.head == mark(.head))
        #expect(verdict.floor == nil)
    }

    @Test func `an empty journal, and one whose head is gone, are not whole`() async throws {
        #expect(try await verify().fault?.sequence == 1)
    }

    @Test func `entries cut off at the end together with the head are found`() async throws {
        try await record(1)
        let early = try #require(try await mark(.head))
        try await record(5)
        let late = try #require(try await mark(.head))
        // The head of an earlier time, as an old copy has it: what stands behind it was put in.
        try await tamper { try $0.set(early, as: .head) }
        #expect(try await verify().fault?.sequence == early.point.sequence + 1)
        // A head that nobody signed.
        try await tamper { try $0.set(JournalMark(point: late.point, signature: early.signature), as: .head) }
        #expect(try await verify().fault?.sequence == late.point.sequence)
        try await tamper { try $0.set(JournalMark(point: late.point, signature: nil), as: .head) }
        #expect(try await verify().fault?.sequence == late.point.sequence)
        // Nobody knows any more for which rows it vouched.
        try await tamper { try $0.set(late, as: .head) }
        #expect(try await verify().fault?.problem.hasPrefix("does not vouch for all rows") == true)
    }

    @Test func `an old head does not pass for a floor`() async throws {
        try await record(3)
        let early = try #require(try await mark(.head))
        try await record(3)
        try await tamper { store in
            try store.set(early, as: .floor)
            try store.removeJournal(through: early.point.sequence)
        }
        #expect(try await verify().fault?.sequence == early.point.sequence)
    }

    @Test func `another secret cannot make a head`() async throws {
        try await record(3)
        let other = try SampleAgent()
        try await other.agent.prepare()
        let point = try #require(try await mark(.head)).point
        let forged = try await other.store.real.read { try other.agent.journal.store.mark(.head, at: point, in: $0) }
        #expect(forged.signature != nil)
        try await tamper { try $0.set(forged, as: .head) }
        #expect(try await verify().fault != nil)
    }

    @Test func `an approval cut off together with the head is found, though an older head is signed`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let requests = try await sample.requests()
        try await sample.approve(requests[0].id)
        let early = try #require(try await mark(.head))
        let rest = try await sample.journal().map(\.row)
        try await sample.approve(requests[1].id)
        #expect(try await verify().fault == nil)
        try await setBack(to: rest, under: early)
        let fault = try #require(try await verify().fault)
        #expect(fault.sequence == early.point.sequence + 1)
        #expect(fault.problem.contains("is at signCount 2, the journal at 1"))
    }

    @Test func `what was cut off at work is missing, though an older head is signed and no approval was cut`()
        async throws
    {
        try await record(1)
        let early = try #require(try await mark(.head))
        let rest = try await sample.journal().map(\.row)
        try await record(3)
        try await setBack(to: rest, under: early)
        let fault = try #require(try await verify().fault)
        #expect(fault.sequence == early.point.sequence + 1)
        #expect(fault.problem.contains("this agent has written up to entry \(early.point.sequence + 3)"))
    }

    @Test func `an enrollment that was set back under a whole journal is found`() async throws {
        let card = try await sample.enrolled()
        var counts = JournaledSignCounts()
        for signCount in [1, 2] as [UInt32] {
            try await sample.receive(.numbered(Int(signCount)), for: card)
            try await sample.approve(try #require(try await sample.requests().last).id)
        }
        for entry in try await sample.journal() { counts.follow(entry, at: ChainPlace(of: "")) }
        var enrollment = try await sample.enrollment(card.id)
        #expect(enrollment.signCount == 2 && counts.firstMissing(of: [enrollment]) == nil)
        enrollment.signCount = 1
        #expect(counts.firstMissing(of: [enrollment])?.contains("is at signCount 1, the journal at 2") == true)
    }

    @Test func `a signCount that was raised, or of which no kept entry speaks, is no fault`() async throws {
        let card = try await sample.enrolled()
        await sample.issuer.onStatus { (_) throws(IssuerError) in 41 }
        try await sample.receive(SampleRequest(), for: card)
        try await sample.approve(try await sample.onlyRequest().id)
        #expect(try await verify().fault == nil)
        sample.clock.advance(by: 1_001)
        try await record(1)
        try await prune()
        #expect(try await sample.journal().count == 1)
        #expect(try await verify().fault == nil)
    }

    // MARK: Pruning

    private func prune() async throws {
        while try await sample.agent.journalPruner.step() {}
    }

    @Test func `entries go when their time is over, behind a signed floor, and the rest is whole`() async throws {
        try await record(500)
        sample.clock.advance(by: 500)
        try await record(10)
        try await prune()
        #expect(try await sample.journal().count == 511)
        sample.clock.advance(by: 501)
        try await prune()
        let verdict = try await verify()
        #expect(verdict.fault == nil)
        #expect(verdict.count == 10)
        #expect(verdict.floor?.point.sequence == 501)
        try await record(1)
        #expect(try await verify().fault == nil)
    }

    @Test func `an entry that is exactly as old as they are kept stays, and goes a second later`() async throws {
        try await record(3)
        sample.clock.advance(by: 1_000)
        try await record(1)
        try await prune()
        #expect(try await sample.journal().count == 5)
        sample.clock.advance(by: 1)
        try await prune()
        #expect(try await sample.journal().count == 1)
        #expect(try await verify().fault == nil)
    }

    /// Entries while the clock is wrong by so many seconds.
    private func record(_ count: Int, off seconds: Double) async throws {
        sample.clock.advance(by: seconds)
        try await record(count)
        sample.clock.advance(by: -seconds)
    }

    @Test(arguments: [1, 250]) func `entries from when the clock was ahead hold nothing up`(ahead: Int) async throws {
        try await record(2)
        try await record(ahead, off: 1_000_000)
        try await record(ahead + 1)
        sample.clock.advance(by: 500)
        try await record(3)
        sample.clock.advance(by: 501)
        try await prune()
        #expect(try await sample.journal().count == 3)
        #expect(try await verify().fault == nil)
        sample.clock.advance(by: 500)
        try await record(1)
        try await prune()
        #expect(try await sample.journal().count == 1)
    }

    @Test func `entries from when the clock was behind take none with them whose time is not over`() async throws {
        try await record(300)
        try await record(3, off: -1_000_000)
        try await record(5)
        try await prune()
        #expect(try await sample.journal().count == 309)
        sample.clock.advance(by: 1_001)
        try await record(1)
        try await prune()
        #expect(try await sample.journal().count == 1)
        #expect(try await verify().fault == nil)
    }

    @Test func `the newest entry stays, however old`() async throws {
        try await record(3)
        sample.clock.advance(by: 10_000)
        try await prune()
        #expect(try await sample.journal().count == 1)
        #expect(try await verify().fault == nil)
    }

    @Test func `one step removes at most 200, and a decision between two steps goes through`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(exp: 5_000), for: card)
        try await record(600)
        sample.clock.advance(by: 1_001)
        let before = try await sample.journal().count
        #expect(try await sample.agent.journalPruner.step())
        let after = try await sample.journal().count
        #expect((1...200).contains(before - after))
        try await sample.approve(try await sample.onlyRequest().id)
        try await prune()
        #expect(try await sample.journal().map(\.kind) == [.decided])
        #expect(try await verify().fault == nil)
    }

    @Test func `an entry that was changed is not removed, so that pruning hides nothing`() async throws {
        try await record(5)
        let forged = JournalRow(sequence: 3, bytes: try await sample.journal()[3].bytes)
        let rest = try await sample.journal().dropFirst(3).map(\.row)
        try await tamper { store in
            try store.removeJournal(through: 6)
            for row in [forged] + rest { try store.insert(row) }
        }
        sample.clock.advance(by: 1_001)
        await #expect(throws: JournalError.self) { try await prune() }
        #expect(try await sample.store.real.read { try $0.journal(after: 0, limit: 10) }.count == 4)
        #expect(try await mark(.floor) == nil)
    }

    @Test func `pruning goes on by itself when the database can be written again`() async throws {
        try await record(3)
        sample.clock.advance(by: 10_000)
        sample.store.breakWrites()
        try await sample.running([sample.agent.journalPruner.run, sample.agent.storeWatch.run]) {
            try await sample.clock.sleepers()
            #expect(try await sample.journal().count == 4)
            sample.store.breakWrites(false)
            try await sample.clock.wakeNext()
            try await sample.clock.sleepers()
            #expect(try await sample.journal().count == 1)
        }
        #expect(try await verify().fault == nil)
    }

    @Test func `pruning while it is verified is no fault`() async throws {
        try await record(700)
        sample.clock.advance(by: 1_001)
        try await record(700)
        async let verdict = verify()
        try await prune()
        #expect(try await verdict.fault == nil)
    }
}
