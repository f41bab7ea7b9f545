import Custody
import Keys
import StrictJSON
import Testing

@testable import Journal
@testable import Records

/// Whoever changes, removes, puts in or moves an entry is found, and the first such entry is named.
struct JournalCheckTests {
    private static let count = 8

    private let rows: [JournalRow]
    private let head: JournalPoint

    init() throws {
        let keys = SealedAuditKeys(secret: try AgentSecret.generate())
        let key = try keys.open(try keys.make()).publicKey
        var rows: [JournalRow] = []
        var point = JournalPoint.beginning
        for number in 1...Self.count {
            let fact = number == 1 ? JournalFact.auditKeyMade(key) : .started(version: "\(number)")
            let entry = try JournalEntry(fact, at: SampleAgent.start, after: point)
            rows.append(entry.row)
            point = try entry.point
        }
        self.rows = rows
        head = point
    }

    /// The entry that is named; nil if all are as they were written.
    private func named(_ rows: [JournalRow], head: JournalPoint? = nil, floor: JournalPoint = .beginning) throws
        -> Int64?
    {
        let followed = try named(rows, head: head, floor: floor, byDigests: true)
        // Whoever reads each entry names the same one as whoever follows digests as long as they hold.
        #expect(try named(rows, head: head, floor: floor, byDigests: false) == followed)
        return followed
    }

    private func named(
        _ rows: [JournalRow], head: JournalPoint?, floor: JournalPoint, byDigests: Bool
    ) throws -> Int64? {
        var check = JournalCheck(after: floor)
        do {
            for row in rows {
                if byDigests, try check.follow(row) { continue }
                try check.verify(row)
            }
            try check.verifyEnd(at: head ?? self.head)
            return nil
        } catch let fault as JournalError {
            return fault.sequence
        }
    }

    /// The row with a member of another value; still in the canonical form.
    private func changed(_ row: JournalRow, member name: String, to value: JSONValue) throws -> JournalRow {
        var json = try JSONReader.object(row.bytes, limits: JSONLimits(maxBytes: 4_096))
        json[name] = value
        return JournalRow(sequence: row.sequence, bytes: try RFC8785.canonical(.object(json)))
    }

    @Test func `a journal as it was written is whole, also from a floor on`() throws {
        #expect(try named(rows) == nil)
        let floor = try #require(JournalEntry(rows[3])).point
        #expect(try named(Array(rows[4...]), floor: floor) == nil)
    }

    @Test(arguments: 1...8) func `an entry that was changed is named`(number: Int) throws {
        for (name, value) in [("at", "2020-01-01T00:00:00Z"), ("version", "0"), ("more", nil as JSONValue)] {
            var rows = rows
            rows[number - 1] = try changed(rows[number - 1], member: name, to: value)
            #expect(try named(rows) == Int64(number), "\(name)")
        }
    }

    @Test(arguments: 2...8) func `an entry whose link to the one before was changed is named`(number: Int) throws {
        var rows = rows
        rows[number - 1] = try changed(
            rows[number - 1], member: "previous", to: .string(String(repeating: "0", count: 64)))
        #expect(try named(rows) == Int64(number))
    }

    @Test(arguments: 1...8) func `an entry that was removed is named`(number: Int) throws {
        var rows = rows
        rows.remove(at: number - 1)
        #expect(try named(rows) == Int64(number))
    }

    @Test(arguments: 1...7) func `of two entries that were exchanged the first is named`(number: Int) throws {
        let (first, second) = (rows[number - 1], rows[number])
        var rows = rows
        rows[number - 1] = JournalRow(sequence: first.sequence, bytes: second.bytes)
        rows[number] = JournalRow(sequence: second.sequence, bytes: first.bytes)
        #expect(try named(rows) == Int64(number))
        // Also if each says the number of its new place.
        rows[number - 1] = try changed(rows[number - 1], member: "seq", to: .integer(first.sequence))
        rows[number] = try changed(rows[number], member: "seq", to: .integer(second.sequence))
        #expect(try named(rows) == Int64(number))
    }

    @Test(arguments: 1...7) func `if the end was cut off the first missing entry is named`(kept: Int) throws {
        #expect(try named(Array(rows.prefix(kept))) == Int64(kept + 1))
    }

    @Test func `an entry twice, or one from before the floor, is named`() throws {
        #expect(try named(rows + [rows[7]]) == 8)
        let floor = try #require(JournalEntry(rows[3])).point
        #expect(try named(Array(rows[3...]), floor: floor) == 4)
    }

    @Test func `a chain that was written anew from an entry on ends with another head`() throws {
        var point = try #require(JournalEntry(rows[4])).point
        var forged = Array(rows[...4])
        for number in 6...8 {
            let entry = try JournalEntry(.started(version: "forged \(number)"), at: SampleAgent.start, after: point)
            forged.append(entry.row)
            point = try entry.point
        }
        #expect(try named(forged) == 8)
        #expect(try named(forged, head: point) == nil, "that head is not signed, which JournalAudit looks at")
    }

    @Test(arguments: ["", "{}", "[]", "garbage", #"{"seq":3}"#]) func `what is no entry is named`(text: String) throws {
        var rows = rows
        rows[2] = JournalRow(sequence: 3, bytes: Array(text.utf8))
        #expect(try named(rows) == 3)
    }

    @Test func `bytes that mean the same but are not in the canonical form are named`() throws {
        var rows = rows
        rows[2] = JournalRow(sequence: 3, bytes: Array(" ".utf8) + rows[2].bytes)
        #expect(try named(rows) == 3)
    }

    @Test func `a second audit key is named, and so is a beginning without one`() throws {
        var rows = rows
        rows[4] = try changed(rows[4], member: "entry", to: "auditKeyMade")
        #expect(try named(rows) == 5)
        rows = self.rows
        rows[0] = try changed(rows[0], member: "entry", to: "started")
        #expect(try named(rows) == 1)
    }

    @Test func `a second audit key is named though the chain and its head hold`() throws {
        let keys = SealedAuditKeys(secret: try AgentSecret.generate())
        let other = try keys.open(try keys.make()).publicKey
        var point = head
        var forged = rows
        for fact in [JournalFact.auditKeyMade(other), .started(version: "10")] {
            let entry = try JournalEntry(fact, at: SampleAgent.start, after: point)
            forged.append(entry.row)
            point = try entry.point
        }
        #expect(try named(forged, head: point) == 9)
    }
}
