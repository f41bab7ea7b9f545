import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
import ScratchDirectories
import StoreTables
import StrictJSON
import TableRows
import TestStores
import Testing
import TextAndTime

@testable import Authenticator
@testable import Journal
@testable import Records

/// Whoever can write the database, and has no secret, gets nothing that they wrote signed: nothing more is decided.
struct ForgedJournalTests {
    private let sample: SampleAgent
    private let card: SampleEnrollment

    init() async throws {
        sample = try SampleAgent(AgentSettings(auditRetention: 1_000, version: "1.2.3"))
        try await sample.agent.prepare()
        card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try await sample.approve(try await sample.requests()[0].id)
    }

    private func mark(_ name: JournalMark.Name) async throws -> JournalMark? {
        try await sample.store.real.read { try $0.journalMark(name) }
    }

    /// Writes the journal anew from the approval on, as a denial, with a chain and a head that fit.
    private func forge() async throws {
        let entries = try await sample.journal()
        let start = try #require(entries.firstIndex { $0.kind == .decided })
        var (rows, last): ([JournalRow], [UInt8]) = ([], entries[start].previous)
        for entry in entries[start...] {
            var json = entry.json
            if entry.kind == .decided { json["decision"] = "deny" }
            json["previous"] = .string(Hexadecimal.text(last))
            let bytes = try RFC8785.canonical(.object(json))
            last = try SHA256Digest.of(bytes)
            rows.append(JournalRow(sequence: entry.sequence, bytes: bytes))
        }
        for row in rows {
            try sample.tamper(
                "UPDATE journal SET entry = ? WHERE seq = ?",
                [String(decoding: row.bytes, as: UTF8.self), row.sequence])
        }
        try sample.tamper("UPDATE journal_mark SET digest = ?, signature = NULL", [last])
    }

    /// Nothing is decided, and the agent says why.
    private func expectRefused(by agent: SampleAgent, says word: String) async throws {
        let head = try await mark(.head)
        let pending = try await sample.requests()[1].id
        for decision in [RequestLife.Decision.approve, .deny(.userDenied)] {
            let error = await #expect(throws: StoreError.self) { try await agent.decide(decision, pending) }
            #expect(error?.kind == .forged)
        }
        #expect(try await sample.request(pending).life.state == .pending)
        #expect(try await mark(.head) == head)
        let trouble = try #require(agent.storeError)
        #expect(trouble.kind == .forged && trouble.isForGood && trouble.sentence.contains(word), "\(trouble)")
        #expect(try await agent.agent.troubles().contains { $0.contains(word) && $0.contains("restore a backup") })
        let findings = await agent.agent.checkup.findings()
        #expect(findings.contains { $0.weakness == .databaseTrouble && $0.message.contains(word) })
        #expect(try await agent.agent.journal.verify().fault != nil)
    }

    @Test func `a chain that was written anew under a head without a signature is never signed`() async throws {
        try await forge()
        #expect(try await mark(.head)?.signature == nil)
        let again = try sample.restarted()
        try await again.agent.prepare()
        try await expectRefused(by: again, says: "the audit key has not signed its head")
        await #expect(throws: StoreError.self) { try await again.agent.conclude() }
    }

    @Test func `the same under an agent that runs is refused at its next write`() async throws {
        try await forge()
        try await expectRefused(by: sample, says: "its head is not the one that this agent wrote last")
    }

    @Test(
        .ofSQLite,
        arguments: [
            ("DELETE FROM journal_mark", "it has no head"),
            ("UPDATE journal_mark SET seq = seq - 1", "the audit key has not signed its head"),
            ("UPDATE journal_mark SET signature = x'00'", "the audit key has not signed its head"),
            (
                "INSERT INTO journal_mark SELECT 'floor', seq, digest, NULL, NULL FROM journal_mark",
                "the audit key has not signed its floor"
            ),
            (
                "INSERT INTO journal_mark SELECT 'floor', seq, digest, signature, NULL FROM journal_mark",
                "the audit key has not signed its floor"
            ),
            ("DELETE FROM journal WHERE seq = (SELECT max(seq) FROM journal)", "is missing"),
            ("DELETE FROM journal", "is missing"),
            (
                "UPDATE journal SET entry = replace(entry, '\"at\":\"2', '\"at\":\"1') WHERE seq = (SELECT max(seq) FROM journal)",
                "was changed"
            ),
            ("INSERT INTO journal SELECT max(seq) + 1, '{}' FROM journal", "was put in behind its head"),
            ("DELETE FROM audit_key", "its audit key is gone"),
            ("DELETE FROM audit_key; DELETE FROM journal_mark", "its audit key is gone"),
            ("DELETE FROM audit_key; DELETE FROM journal", "its audit key is gone"),
        ])
    func `no other change of its ends is accepted at a start`(change: String, word: String) async throws {
        try sample.tamper(change)
        let keys = try await sample.store.real.read { try $0.sealedAuditKey() }
        let again = try sample.restarted()
        try await again.agent.prepare()
        try await expectRefused(by: again, says: word)
        #expect(try await sample.store.real.read { try $0.sealedAuditKey() } == keys)
    }

    @Test func `an older head that was signed too is refused while the agent runs, and its audit says so`() async throws
    {
        let (early, last) = (try #require(try await mark(.head)), try await sample.journal().count)
        for _ in 1...3 { try await sample.agent.conclude() }
        try sample.tamper("DELETE FROM journal WHERE seq > ?", [last])
        try sample.tamper(
            "UPDATE journal_mark SET seq = ?, digest = ?, signature = ?",
            [early.point.sequence, early.point.digest, try #require(early.signature)])
        let fault = try #require(try await sample.agent.journal.verify().fault)
        #expect(fault.sequence == early.point.sequence + 1 && fault.problem.contains("is missing"))
        try await expectRefused(by: sample, says: "its head is not the one that this agent wrote last")
    }

    @Test func `an audit key of another secret is not taken`() async throws {
        let other = try SampleAgent()
        try await other.agent.prepare()
        let sealed = try #require(try await other.store.real.read { try $0.sealedAuditKey() })
        try sample.tamper("UPDATE audit_key SET sealed = ?", [sealed])
        await #expect(throws: SealError.notSealedByThisSecret) { try await sample.restarted().agent.prepare() }
    }

    @Test func `a secret is not changed over a forged journal`() async throws {
        let new = try AgentSecret.generate()
        try sample.tamper("UPDATE journal_mark SET signature = NULL")
        let keys = try await sample.allEnrollments().map(\.sealedKey)
        let rotating = try sample.restarted(secret: new, previous: sample.secret)
        let error = try await #require(throws: StoreError.self) {
            try await rotating.rotate(by: sample.rewrapper(to: new))
        }
        #expect(error.kind == .forged)
        #expect(try await sample.allEnrollments().map(\.sealedKey) == keys)
    }

    private func read(_ name: String) throws -> Data {
        try Data(contentsOf: URL(filePath: "\(sample.directory.path)/\(name)"))
    }

    @Test func `a write that fails moves nothing, and many at once all go through`() async throws {
        sample.store.breakWrites()
        await #expect(throws: StoreError.self) { try await sample.agent.conclude() }
        sample.store.breakWrites(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...100 { group.addTask { try await sample.agent.conclude() } }
            try await group.waitForAll()
        }
        try await sample.approve(try await sample.requests()[1].id)
        #expect(try await sample.agent.journal.verify().fault == nil)
    }

    @Test func `a state that was put back as it was, with its journal, goes on`() async throws {
        let copy = "\(sample.directory.path)/copy"
        try sample.copyStore(to: copy)
        for _ in 1...3 { try await sample.agent.conclude() }
        for name in ["store.sqlite-wal", "store.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: "\(sample.directory.path)/\(name)")
        }
        try FileManager.default.removeItem(atPath: "\(sample.directory.path)/store.sqlite")
        try FileManager.default.moveItem(atPath: copy, toPath: "\(sample.directory.path)/store.sqlite")
        let again = try sample.restarted()
        try await again.agent.prepare()
        try await again.approve(try await again.requests()[1].id)
        #expect(try await again.agent.journal.verify().fault == nil)
    }
}
