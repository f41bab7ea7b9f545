import StrictJSON
import Testing

@testable import Journal
@testable import Records

/// What the journal says of the rows of a state that was moved from several hosts, whose other chains are not there.
struct MovedRowsTests {
    private let row: Enrollment

    init() async throws { row = try await SampleAgent().enrolled().enrollment }

    /// The enrollment as its row is with these values.
    private func row(signCount: UInt32 = 12, failures: Int = 0, isOver: Bool = false) -> Enrollment {
        var row = row
        row.signCount = signCount
        row.ownPINTries = PINTries(failures: failures, blockedUntil: nil)
        if isOver { row.end(at: SampleAgent.start) }
        return row
    }

    private func moved(_ rows: [Enrollment], _ keys: [KeyIdentity: PINTries] = [:]) -> [JournalFact] {
        var facts = MovedRows.Facts()
        return facts.facts(of: rows) + facts.facts(concluding: keys)
    }

    private func entries(_ facts: [JournalFact]) throws -> [JournalEntry] {
        var (point, entries) = (JournalPoint.beginning, [JournalEntry]())
        for fact in facts {
            let row = try JournalEntry(fact, at: SampleAgent.start, after: point).row
            // As it is read.
            let entry = try #require(JournalEntry(row))
            point = try entry.point
            entries.append(entry)
        }
        return entries
    }

    /// What a journal of these facts finds wrong with rows.
    private func fault(
        _ rows: [Enrollment], _ keys: [KeyIdentity: PINTries] = [:], after facts: [JournalFact]
    ) throws -> String? {
        var (told, place) = (JournaledRows(starts: ["": 0]), ChainPlace(of: ""))
        let live = Dictionary(rows.filter { !$0.isOver }.map { ($0.id, $0) }) { $1 }
        for entry in try entries(facts) {
            try told.follow(entry, at: place, live: live)
            place.follow(entry)
        }
        for row in rows { told.compare([row], head: .beginning) }
        told.compare(keys, head: .beginning)
        return told.firstFault(all: true)?.problem
    }

    @Test func `a signCount that another host has signed is held against the row`() throws {
        let signed = JournalFact(.decided, ["enrollment": .string(row.id.text), "signCount": .integer(3)])
        let facts = [signed] + moved([row()])
        #expect(try fault([row()], after: facts) == nil)
        for other: UInt32 in [3, 11, 13] {
            #expect(try fault([row(signCount: other)], after: facts)?.contains("the journal at 12") == true)
        }
    }

    @Test func `wrong PINs count as in the row, whatever this chain has said before`() throws {
        let wrong = JournalFact.notVerified(PINTries.Subject(row.id), PINTries(failures: 3, blockedUntil: nil))
        #expect(try fault([row()], after: [wrong])?.contains("more wrong PINs") == true)
        #expect(try fault([row()], after: [wrong] + moved([row()])) == nil)
        #expect(try fault([row(failures: 2)], after: [wrong] + moved([row(failures: 2)])) == nil)
        #expect(try fault([row(failures: 1)], after: moved([row(failures: 2)]))?.contains("more wrong PINs") == true)
    }

    @Test func `so do those of a key that existed already`() throws {
        let key = try #require(KeyIdentity(bytes: [UInt8](repeating: 7, count: 32)))
        func tries(_ failures: Int) -> [KeyIdentity: PINTries] {
            [key: PINTries(failures: failures, blockedUntil: nil)]
        }
        let wrong = JournalFact.notVerified(PINTries.Subject(key), PINTries(failures: 3, blockedUntil: nil))
        #expect(try fault([], after: [wrong] + moved([])) == nil)
        #expect(try fault([], tries(2), after: [wrong] + moved([], tries(2))) == nil)
        #expect(try fault([], after: moved([], tries(2)))?.contains("more wrong PINs") == true)
    }

    @Test func `an older row of an enrollment that another host has ended is found`() throws {
        #expect(try fault([row(isOver: true)], after: moved([row(isOver: true)])) == nil)
        #expect(try fault([row()], after: moved([row(isOver: true)]))?.contains("ended enrollment") == true)
    }

    @Test func `many rows are in entries that are small enough to be read, and none has one too`() throws {
        let many = try (0..<40).map { number in
            let id = try #require(EnrollmentID(String(repeating: "0", count: 18) + String(number + 10)))
            return Enrollment(
                id: id, target: row.target, name: "", authnType: row.authnType, algorithm: row.algorithm,
                rpId: row.rpId,
                credentialId: [], userHandle: [], startedAt: 0, signCount: .max, state: row.state)
        }
        let parts = try entries(moved(many)).map { try #require(MovedRows($0)) }
        #expect(parts.map(\.part) == [1, 2, 3])
        #expect(Set(parts.flatMap(\.enrollments.keys)) == Set(many.map(\.id)))
        #expect(try entries(moved([])).compactMap(MovedRows.init).map(\.part) == [1])
    }
}
