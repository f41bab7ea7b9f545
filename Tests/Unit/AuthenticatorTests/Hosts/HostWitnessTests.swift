#if PostgreSQL
import Keys
import StoreTables
import TableRows
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// Each host certifies the others' audit keys, and records how far their chains go.
@Suite(.timeLimit(.minutes(20)))
struct HostWitnessTests {
    private let alpha: SampleAgent
    private let beta: SampleAgent

    init() async throws {
        (alpha, beta) = try SampleAgent.twoHosts()
        try await alpha.agent.prepare()
    }

    private func key(of host: SampleAgent) async throws -> [UInt8] {
        let key = try await host.agent.journal.store.publicKey()
        return try SHA256Digest.of(try #require(key).subjectPublicKeyInfo)
    }

    private func head(of host: SampleAgent) async throws -> JournalPoint {
        try #require(try await host.store.real.read { try $0.journalMark(.head) }).point
    }

    private func tamper(_ sql: String, _ values: StatementValues = []) throws {
        try StoreKind.$current.withValue(.postgres) { try alpha.tamper(sql, values) }
    }

    /// What a host's newest record says.
    private func newest(by host: SampleAgent) async throws -> [SeenHost] {
        try #require(try await host.newest(.hostsSeen).hostsSeen)
    }

    @Test func `a new host names the chains that it finds behind its first entry`() async throws {
        let head = try await head(of: alpha)
        try await beta.agent.prepare()
        let entries = try await beta.journal()
        #expect(entries.map(\.kind) == [.auditKeyMade, .hostsSeen, .started])
        #expect(entries[0].text("host") == "beta")
        #expect(try await newest(by: beta) == [SeenHost(host: "alpha", head: head, key: try await key(of: alpha))])
    }

    @Test func `a running host certifies the key of a new one, and where its chain ends`() async throws {
        try await beta.agent.prepare()
        let head = try await head(of: beta)
        #expect(try await alpha.recorded { try await alpha.agent.hostWitness.look() } == [.hostsSeen])
        #expect(try await newest(by: alpha) == [SeenHost(host: "beta", head: head, key: try await key(of: beta))])
    }

    @Test func `each minute it records what is new, and idle hosts do not make each other write`() async throws {
        try await beta.agent.prepare()
        try await alpha.running([alpha.agent.hostWitness.run]) {
            while try await alpha.clock.naps.next() != HostWitness.pause {}
            try await beta.agent.hostWitness.look()
            let before = try await (alpha.journal().count, beta.journal().count)
            for _ in 1...3 {
                alpha.clock.advance(by: HostWitness.pause)
                while try await alpha.clock.naps.next() != HostWitness.pause {}
                try await beta.agent.hostWitness.look()
            }
            #expect(try await (alpha.journal().count, beta.journal().count) == before)
            try await beta.agent.conclude()
            let end = try await head(of: beta)
            alpha.clock.advance(by: HostWitness.pause)
            while try await alpha.clock.naps.next() != HostWitness.pause {}
            #expect(try await newest(by: alpha).map(\.head) == [end])
        }
    }

    @Test func `at its stop a host records what the others have written`() async throws {
        try await beta.agent.prepare()
        #expect(try await alpha.recorded { try await alpha.agent.conclude() } == [.hostsSeen, .stopped])
    }

    @Test func `many hosts are named in entries of at most sixteen`() async throws {
        let point = JournalPoint(sequence: 1 << 52, digest: JournalEntry.nothingBefore)
        let name = String(repeating: "x", count: 61)
        let hosts = (10...49).map { SeenHost(host: "\(name)\($0)", head: point, key: JournalEntry.nothingBefore) }
        let facts = JournalFact.hostsSeen(hosts)
        let entries = try facts.map { try JournalEntry($0, at: alpha.now, after: point) }
        let read = entries.compactMap { JournalEntry($0.row) }
        #expect(read.count == 3 && read.flatMap { $0.hostsSeen ?? [] } == hosts)
    }

    @Test func `of a chain that is not as it was signed nothing is recorded`() async throws {
        try await beta.agent.prepare()
        // One with another's key, one whose head another key has signed, one under a key of nobody's.
        try tamper(
            """
            INSERT INTO host SELECT 'ghost', identity, 1, alive_until FROM host WHERE name = 'alpha';
            INSERT INTO audit_key SELECT 'ghost', one, sealed FROM audit_key WHERE host = 'alpha';
            INSERT INTO journal_mark SELECT 'ghost', name, seq, digest, signature, rows FROM journal_mark WHERE host = 'alpha';
            UPDATE journal_mark SET seq = seq + 1 WHERE host = 'beta'
            """)
        try await alpha.agent.hostWitness.look()
        #expect(try await !alpha.journal().contains { $0.kind == .hostsSeen })
        try tamper(
            """
            UPDATE journal_mark SET seq = seq - 1 WHERE host = 'beta';
            UPDATE audit_key SET sealed = zeroblob(100) WHERE host = 'ghost'
            """)
        try await alpha.agent.hostWitness.look()
        #expect(try await newest(by: alpha).map(\.host) == ["beta"])
    }

    @Test func `a chain that was cut off is not recorded again`() async throws {
        try await beta.agent.prepare()
        let old = try #require(try await beta.store.real.read { try $0.journalMark(.head) })
        try await beta.agent.conclude()
        try await alpha.agent.hostWitness.look()
        try tamper("DELETE FROM journal WHERE host = 'beta' AND seq > ?", [old.point.sequence])
        try tamper(
            "UPDATE journal_mark SET seq = ?, digest = ?, signature = ? WHERE host = 'beta'",
            [old.point.sequence, old.point.digest, old.signature])
        #expect(try await alpha.recorded { try await alpha.agent.hostWitness.look() } == [])
    }
}
#endif
