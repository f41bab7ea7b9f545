import FoundationEssentials
import GRDB
import Keys
import ScratchDirectories
import StrictJSON
import TestStores
import Testing

@testable import Authenticator
@testable import StoreTables

/// A journal whose older entries are in blocks, each with a checkpoint that leads to older ones.
@Suite(.ofSQLite) struct JournalBlockTests {
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

    private func pack(_ sample: SampleAgent? = nil) async throws -> Int {
        try await JournalPacking(store: (sample ?? self.sample).agent.journal.store).run()
    }

    private func fault() async throws -> JournalError? { try await sample.agent.journal.verify().fault }

    private func found(_ id: RequestID) async throws -> JournalLookUp.Found? {
        try await JournalLookUp(store: sample.agent.journal.store, request: id).find()
    }

    private var path: String { "\(sample.directory.path)/store.sqlite" }

    /// How many entries are not packed.
    private func loose() throws -> Int {
        try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM journal") ?? 0 }
    }

    private func stored(_ sql: String) throws -> [StatementArguments] {
        try DatabaseQueue(path: path).read { database in
            try Row.fetchAll(database, sql: sql).map { StatementArguments($0.databaseValues) }
        }
    }

    @Test func `packed entries are read as they were written, from any place on`() async throws {
        _ = try await requestAndMore(1, entries: 1_500)
        let before = try await sample.journal()
        #expect(try await pack() == 4)
        #expect(try loose() == before.count - 1_024)
        #expect(try await pack() == 0)
        let after = try await sample.journal()
        #expect(after.map(\.bytes) == before.map(\.bytes) && after.map(\.sequence) == before.map(\.sequence))
        for (place, limit) in [(0, 3), (255, 2), (256, 1), (700, 900), (1_023, 5), (1_024, 5), (9_999, 5), (.max, 5)] {
            let rows = try await sample.store.real.read { try $0.journal(after: Int64(place), limit: limit) }
            let expected = before.filter { $0.sequence > place }.prefix(limit)
            #expect(rows.map(\.bytes) == expected.map(\.bytes), "after \(place)")
        }
        #expect(try await fault() == nil)
        #expect(try await sample.agent.journal.verify().count == before.count)
        // The agent starts on it, and goes on with it.
        let again = try sample.restarted()
        try await again.agent.prepare()
        try await again.agent.conclude()
        #expect(try await fault() == nil)
    }

    @Test func `evidence is proved from the checkpoints, whatever stands between them and the head`() async throws {
        let early = try await requestAndMore(1, entries: 5_000)
        let late = try await requestAndMore(2, entries: 700)
        let newest = try await requestAndMore(3, entries: 0)
        #expect(try await found(early) == nil)
        #expect(try await pack() > 20)
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

    @Test func `what is changed of a block is found, and no evidence is signed from it`() async throws {
        let id = try await requestAndMore(1, entries: 1_000)
        _ = try await pack()
        let rows = try await sample.store.real.read { try $0.journal(after: 0, limit: 256) }
        let request = try #require(rows.firstIndex { $0.request == id })
        var changed = rows
        let text = String(decoding: rows[request].bytes, as: UTF8.self)
        let bytes = Array(text.replacing("2023-11-14", with: "2023-11-13").utf8)
        changed[request] = JournalRow(sequence: rows[request].sequence, bytes: bytes)
        // One whose chain is broken is not packed, so whoever changes an entry has to write the chain anew.
        #expect(PackedJournal(changed) == nil)
        var chained: [JournalRow] = []
        for row in changed {
            let before = try chained.last.map { Hexadecimal.text(try SHA256Digest.of($0.bytes)) }
            var json = try #require(JournalEntry(JournalRow(sequence: row.sequence, bytes: row.bytes))).json
            if let before { json["previous"] = .string(before) }
            chained.append(JournalRow(sequence: row.sequence, bytes: try RFC8785.canonical(.object(json))))
        }
        let forged = Data(try #require(PackedJournal(chained)).bytes)
        let other = try SampleAgent()
        try await other.agent.prepare()
        let point = JournalPoint(sequence: 256, digest: try SHA256Digest.of(try #require(chained.last).bytes))
        let otherSigned = try await other.agent.journal.store.checkpoint(at: point, earlier: [])
        let signed = try #require(otherSigned)
        let changes: [(String, StatementArguments, Int64)] = [
            ("UPDATE journal_block SET entries = ? WHERE last = 256", [forged], 1),
            ("UPDATE journal_block SET entries = x'01' WHERE last = 256", [], 1),
            ("UPDATE journal_block SET digest = zeroblob(32) WHERE last = 256", [], 256),
            ("UPDATE journal_block SET signature = x'00' WHERE last = 512", [], 512),
            ("UPDATE journal_block SET earlier = zeroblob(40) WHERE last = 512", [], 512),
            (
                "UPDATE journal_block SET entries = ?, digest = ?, signature = ? WHERE last = 256",
                [forged, Data(point.digest), Data(signed.signature)], 256
            ),
            ("DELETE FROM journal_block WHERE last = 256", [], 1),
            ("INSERT INTO journal (seq, entry) VALUES (300, '{}')", [], 300),
        ]
        let saved = try stored("SELECT * FROM journal_block")
        for (sql, arguments, sequence) in changes {
            try tamper(sql, arguments)
            #expect(try await fault()?.sequence == sequence, "\(sql)")
            let extract = try await sample.agent.journal.extract(about: id)
            // What was put in where nothing is looked for changes nothing of the proof.
            #expect((extract.seal == nil && extract.fault != nil) == (sequence != 300), "\(sql)")
            try tamper("DELETE FROM journal_block")
            try tamper("DELETE FROM journal WHERE seq = 300")
            for row in saved { try tamper("INSERT INTO journal_block VALUES (?, ?, ?, ?, ?, ?)", row) }
            #expect(try await fault() == nil)
        }
    }

    @Test func `an entry that was changed before it was packed is not packed, and nothing behind it`() async throws {
        _ = try await requestAndMore(1, entries: 1_500)
        try tamper("UPDATE journal SET entry = replace(entry, '2023-11-14', '2023-11-13') WHERE seq = 600")
        await #expect(throws: JournalError.self) { try await pack() }
        #expect(try await fault()?.sequence == 600)
        #expect(try loose() > 1_500)
    }

    @Test func `a block of another history of the agent does not take the place of one`() async throws {
        let id = try await requestAndMore(1, entries: 300)
        let copy = "\(sample.directory.path)/copy.sqlite"
        try sample.copyStore(to: copy)
        try await lengthen(by: 700)
        _ = try await pack()
        let row = "SELECT digest, earlier, signature, entries FROM journal_block WHERE last = 512"
        let old = try #require(try stored(row).first)
        // The copy takes the place of what has happened since, and other things happen.
        try await DatabaseQueue(path: path).writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH ? AS copy", arguments: [copy])
            for table in ["journal", "journal_block", "journal_of_request", "journal_mark"] {
                try database.execute(sql: "DELETE FROM \(table); INSERT INTO \(table) SELECT * FROM copy.\(table)")
            }
        }
        sample.clock.advance(by: 1)
        let again = try sample.restarted()
        let now = again.now
        try await again.agent.ports.store.write { store in
            for _ in 0..<1_000 { try store.record(.stopped, at: now) }
        }
        #expect(try await pack(again) == 4)
        let lookUp = JournalLookUp(store: again.agent.journal.store, request: id)
        #expect(try await lookUp.find() != nil)
        try tamper(
            "UPDATE journal_block SET digest = ?, earlier = ?, signature = ?, entries = ? WHERE last = 512",
            old)
        #expect(try await lookUp.find() == nil)
        #expect(try await again.agent.journal.verify().fault?.sequence == 512)
    }

    @Test func `entries are removed for their age also out of the middle of a block`() async throws {
        try await lengthen(by: 700)
        sample.clock.advance(by: 900)
        try await lengthen(by: 700)
        _ = try await pack()
        let all = try await sample.journal()
        sample.clock.advance(by: 500)
        while try await sample.agent.journalPruner.step() {}
        let left = try await sample.journal()
        #expect(left.map(\.bytes) == all.suffix(left.count).map(\.bytes) && left.count < 705 && left.count > 695)
        #expect(try await fault() == nil)
        try await lengthen(by: 300)
        #expect(try await pack() > 0)
        #expect(try await fault() == nil)
    }

    @Test func `what is cut off in the middle leaves every entry, and the next start goes on`() async throws {
        let id = try await requestAndMore(1, entries: 1_500)
        let before = try await sample.journal().map(\.bytes)
        // The third block's database transaction fails at its end.
        let writes = Box(0)
        sample.store.beforeWriting { [store = sample.store] in
            writes.change { $0 += 1 }
            if writes.value == 3 { store.breakWrites() }
        }
        await #expect(throws: StoreError.self) { try await pack() }
        sample.store.beforeWriting(nil)
        sample.store.breakWrites(false)
        #expect(try loose() == before.count - 512)
        #expect(try await sample.journal().map(\.bytes) == before)
        #expect(try await fault() == nil)
        let again = try sample.restarted()
        #expect(try await pack(again) == 2)
        #expect(try await sample.journal().map(\.bytes) == before)
        #expect(try await found(id)?.rows.count == 6)
    }

    @Test func `if the look-up misses entries that the request's state asks for, the whole journal is read`()
        async throws
    {
        let id = try await requestAndMore(1, entries: 1_000)
        _ = try await pack()
        try tamper("DELETE FROM journal_of_request")
        #expect(try await found(id) == nil)
        let extract = try await sample.agent.journal.extract(about: id)
        #expect(extract.rows.count == 6 && extract.seal != nil)
    }
}
