import FoundationEssentials
import GRDB
import Keys
import ScratchDirectories
import StrictJSON
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records
@testable import StoreTables

/// A journal with checkpoints, which lead to older ones.
@Suite(.ofSQLite) struct JournalCheckpointTests {
    /// Changes the file as any other program can.
    private func tamper(_ sql: String, _ arguments: StatementArguments = []) throws {
        try DatabaseQueue(path: path).write { try $0.execute(sql: sql, arguments: arguments) }
    }

    private let sample: SampleAgent
    private let card: SampleEnrollment

    init() async throws {
        sample = try SampleAgent(AgentSettings(auditRetention: 1_000, version: "1.2.3"))
        try await sample.agent.prepare()
        card = try await sample.enrolled()
    }

    /// One request, which is decided and delivered, and then so many entries about no request.
    private func requestAndMore(_ number: Int, entries: Int) async throws -> RequestID {
        try await sample.receive(.numbered(number), for: card)
        let id = try #require(try await sample.requests().last).id
        try await sample.approve(id)
        try await sample.deliverAll()
        try await lengthen(by: entries)
        return id
    }

    private func lengthen(by entries: Int) async throws {
        let now = sample.now
        try await sample.agent.ports.store.write { store in
            for _ in 0..<entries { try store.record(.stopped, at: now) }
        }
    }

    private func sign(_ sample: SampleAgent? = nil) async throws -> Int {
        try await CheckpointSigning(store: (sample ?? self.sample).agent.journal.store).signDue()
    }

    private func fault() async throws -> JournalError? { try await sample.agent.journal.verify().fault }

    private func found(_ id: RequestID) async throws -> JournalLookUp.Found? {
        try await JournalLookUp(store: sample.agent.journal.store, request: id).find()
    }

    private var path: String { "\(sample.directory.path)/store.sqlite" }

    private func checkpoints() throws -> Int {
        try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM journal_checkpoint") ?? 0 }
    }

    private func stored(_ sql: String) throws -> [StatementArguments] {
        try DatabaseQueue(path: path).read { database in
            try Row.fetchAll(database, sql: sql).map { StatementArguments($0.databaseValues) }
        }
    }

    @Test func `there is a checkpoint for each 256 entries, and the agent goes on with them`() async throws {
        _ = try await requestAndMore(1, entries: 1_500)
        let count = try await sample.journal().count
        #expect(try await sign() == count / 256)
        #expect(try checkpoints() == count / 256)
        #expect(try await sign() == 0)
        #expect(try await fault() == nil)
        #expect(try await sample.agent.journal.verify().count == count)
        let again = try sample.restarted()
        try await again.agent.prepare()
        try await again.agent.conclude()
        #expect(try await fault() == nil)
    }

    @Test func `at its start the agent signs the checkpoints that are due`() async throws {
        try await lengthen(by: 600)
        try await sample.running([sample.agent.checkpointer.run]) { try await sample.clock.sleepers() }
        #expect(try checkpoints() == 2)
    }

    @Test func `evidence is proved from the checkpoints, whatever stands between them and the head`() async throws {
        let early = try await requestAndMore(1, entries: 5_000)
        let late = try await requestAndMore(2, entries: 700)
        let newest = try await requestAndMore(3, entries: 0)
        #expect(try await found(early) == nil)
        #expect(try await sign() > 20)
        let all = try await sample.journal()
        let key = try #require(try await sample.agent.journal.store.publicKey())
        for id in [early, late, newest] {
            let own = all.filter { $0.text("request") == id.text }
            #expect(own.map(\.kind) == [.presented, .decided, .answered])
            #expect(try await found(id)?.rows.map(\.bytes) == own.map(\.bytes))
            let extract = try await sample.agent.journal.extract(about: id)
            let seal = try #require(extract.seal)
            let points = try ([#require(all.last)] + own).map { try $0.point }
            let lines = points.map { "\($0.sequence) \($0.hexadecimal)\n" }
            #expect(seal.statement == Array("oob-agent journal extract 1\n\(lines.joined())".utf8))
            #expect(try key.isValid(signature: seal.signature, over: seal.statement))
        }
    }

    @Test func `a checkpoint leads to every older one in few steps`() async throws {
        var (checkpoints, earlier): ([Int64: JournalCheckpoint], [JournalPoint]) = ([:], [])
        let count: Int64 = 5_000
        for number in 1...count {
            let point = JournalPoint(sequence: number * JournalCheckpoint.length, digest: [UInt8(number % 251)])
            let checkpoint = JournalCheckpoint(point: point, earlier: earlier, signature: [])
            checkpoints[point.sequence] = checkpoint
            earlier = checkpoint.earlierOfNext
            #expect(earlier.count <= 4 && earlier == earlier.sorted { $0.sequence > $1.sequence })
        }
        for wanted in stride(from: 1, through: count, by: 7) {
            var (place, steps) = (count * JournalCheckpoint.length, 0)
            while place > wanted * JournalCheckpoint.length {
                place = try #require(checkpoints[place]?.earliest(from: wanted * JournalCheckpoint.length)).sequence
                steps += 1
            }
            #expect(place == wanted * JournalCheckpoint.length && steps <= 4 * 16)
        }
    }

    @Test func `what is changed is found, and no evidence is signed from it`() async throws {
        let id = try await requestAndMore(1, entries: 1_000)
        _ = try await sign()
        let rows = try await sample.store.real.read { try $0.journal(after: 0, limit: 256) }
        let place = try #require(rows.first { $0.request == id }).sequence
        let other = try SampleAgent()
        try await other.agent.prepare()
        let point = JournalPoint(sequence: 256, digest: try SHA256Digest.of(try #require(rows.last).bytes))
        let otherSigned = try await other.agent.journal.store.checkpoint(at: point, earlier: [])
        let signed = try #require(otherSigned)
        let changes: [(String, StatementArguments, Int64)] = [
            ("UPDATE journal SET entry = replace(entry, '2023-11-14', '2023-11-13') WHERE seq = \(place)", [], place),
            ("UPDATE journal_checkpoint SET digest = zeroblob(32) WHERE seq = 256", [], 256),
            ("UPDATE journal_checkpoint SET signature = x'00' WHERE seq = 512", [], 512),
            ("UPDATE journal_checkpoint SET earlier = zeroblob(40) WHERE seq = 512", [], 512),
            (
                "UPDATE journal_checkpoint SET signature = ? WHERE seq = 256", [Data(signed.signature)], 256
            ),
            ("UPDATE journal SET entry = '{}' WHERE seq = 300", [], 300),
        ]
        let saved = try stored("SELECT * FROM journal_checkpoint")
        let entries = try stored("SELECT * FROM journal")
        for (sql, arguments, sequence) in changes {
            try tamper(sql, arguments)
            #expect(try await fault()?.sequence == sequence, "\(sql)")
            let extract = try await sample.agent.journal.extract(about: id)
            // What was changed where nothing is looked for changes nothing of the proof.
            #expect((extract.seal == nil && extract.fault != nil) == (sequence != 300), "\(sql)")
            try tamper("DELETE FROM journal_checkpoint; DELETE FROM journal")
            for row in saved { try tamper("INSERT INTO journal_checkpoint VALUES (?, ?, ?, ?)", row) }
            for row in entries { try tamper("INSERT INTO journal VALUES (?, ?)", row) }
            #expect(try await fault() == nil)
        }
        // The whole journal proves the entries then.
        for sequence in [512, 256] {
            try tamper("DELETE FROM journal_checkpoint WHERE seq = \(sequence)")
            #expect(try await fault() == nil)
            if sequence == 256 { #expect(try await found(id) == nil) }
            #expect(try await sample.agent.journal.extract(about: id).seal != nil)
            for row in saved { try tamper("INSERT OR IGNORE INTO journal_checkpoint VALUES (?, ?, ?, ?)", row) }
        }
    }

    @Test func `an entry that was changed gets no checkpoint behind it`() async throws {
        _ = try await requestAndMore(1, entries: 1_500)
        try tamper("UPDATE journal SET entry = replace(entry, '2023-11-14', '2023-11-13') WHERE seq = 600")
        await #expect(throws: JournalError.self) { try await sign() }
        #expect(try await fault()?.sequence == 600)
        #expect(try checkpoints() == 0)
    }

    @Test func `a checkpoint of another history of the agent does not take the place of one`() async throws {
        let id = try await requestAndMore(1, entries: 300)
        let copy = "\(sample.directory.path)/copy.sqlite"
        try sample.copyStore(to: copy)
        try await lengthen(by: 700)
        _ = try await sign()
        let row = "SELECT digest, earlier, signature FROM journal_checkpoint WHERE seq = 512"
        let old = try #require(try stored(row).first)
        // The copy takes the place of what has happened since, and other things happen.
        try await DatabaseQueue(path: path).writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH ? AS copy", arguments: [copy])
            for table in ["journal", "journal_checkpoint", "journal_of_request", "journal_mark"] {
                try database.execute(sql: "DELETE FROM \(table); INSERT INTO \(table) SELECT * FROM copy.\(table)")
            }
        }
        sample.clock.advance(by: 1)
        let again = try sample.restarted()
        let now = again.now
        try await again.agent.ports.store.write { store in
            for _ in 0..<1_000 { try store.record(.stopped, at: now) }
        }
        #expect(try await sign(again) > 3)
        let lookUp = JournalLookUp(store: again.agent.journal.store, request: id)
        #expect(try await lookUp.find() != nil)
        try tamper(
            "UPDATE journal_checkpoint SET digest = ?, earlier = ?, signature = ? WHERE seq = 512",
            old)
        #expect(try await lookUp.find() == nil)
        // Its entries fit each other, and not it: the first of them is named.
        #expect(try await again.agent.journal.verify().fault?.sequence == 257)
    }

    @Test func `entries are removed for their age also from between two checkpoints`() async throws {
        try await lengthen(by: 700)
        sample.clock.advance(by: 900)
        try await lengthen(by: 700)
        _ = try await sign()
        let all = try await sample.journal()
        sample.clock.advance(by: 500)
        while try await sample.agent.journalPruner.step() {}
        let left = try await sample.journal()
        #expect(left.map(\.bytes) == all.suffix(left.count).map(\.bytes) && left.count < 705 && left.count > 695)
        #expect(try await fault() == nil)
        try await lengthen(by: 300)
        #expect(try await sign() > 0)
        #expect(try await fault() == nil)
    }

    @Test func `what is cut off in the middle leaves every entry, and the next start goes on`() async throws {
        let id = try await requestAndMore(1, entries: 1_500)
        let before = try await sample.journal().map(\.bytes)
        // The third checkpoint's database transaction fails at its end.
        let writes = Box(0)
        sample.store.beforeWriting { [store = sample.store] in
            writes.change { $0 += 1 }
            if writes.value == 3 { store.breakWrites() }
        }
        await #expect(throws: StoreError.self) { try await sign() }
        sample.store.beforeWriting(nil)
        sample.store.breakWrites(false)
        #expect(try checkpoints() == 2)
        #expect(try await sample.journal().map(\.bytes) == before)
        #expect(try await fault() == nil)
        let again = try sample.restarted()
        #expect(try await sign(again) > 2)
        #expect(try await sample.journal().map(\.bytes) == before)
        #expect(try await found(id)?.rows.count == 3)
    }

    @Test func `if the look-up misses entries that the request's state asks for, the whole journal is read`()
        async throws
    {
        let id = try await requestAndMore(1, entries: 1_000)
        _ = try await sign()
        try tamper("DELETE FROM journal_of_request")
        #expect(try await found(id) == nil)
        let extract = try await sample.agent.journal.extract(about: id)
        #expect(extract.rows.count == 3 && extract.seal != nil)
    }
}
