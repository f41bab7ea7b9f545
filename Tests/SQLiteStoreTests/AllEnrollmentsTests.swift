import Authenticator
import GRDB
import TestStores
import Testing

@testable import SQLiteStore
@testable import StoreTables

/// What goes through all enrollments takes them some at a time, and leaves none out.
struct AllEnrollmentsTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (DatabaseTransaction) throws -> Value
    ) async throws -> Value {
        try await sample.store.read { store in
            guard let tables = store as? DatabaseTransaction else { throw SampleError("no tables") }
            return try body(tables)
        }
    }

    @Test(arguments: [1, 2, 3, 5, 6])
    func `all that are active are found, oldest first, however many a statement gives`(span: Int) async throws {
        var ids: [EnrollmentID] = []
        for digit in ["e", "d", "c", "b", "a"] { ids.append(try await sample.enrollment(digit).id) }
        try sample.execute("UPDATE enrollment SET state = 'suspended' WHERE id LIKE 'c%'")
        let found = try await transaction { try $0.enrollmentIDs(at: .active, span: span) }
        #expect(found == ids.filter { !$0.text.hasPrefix("c") })
    }

    @Test(arguments: [1, 2, 3, 5, 6])
    func `those that were written when the journal was longer are found, wherever they are`(span: Int) async throws {
        for digit in ["e", "d", "c", "b", "a"] { _ = try await sample.enrollment(digit) }
        // A number is missing, and others are far off.
        try sample.execute("DELETE FROM enrollment WHERE id LIKE 'd%'")
        try sample.execute("UPDATE enrollment SET seq = seq + 1000000 WHERE id LIKE 'a%'")
        try sample.execute("UPDATE enrollment SET journal_seq = 7 + (id LIKE 'e%') + (id LIKE 'a%')")
        let found = try await transaction { try $0.enrollments(writtenAfter: 7, span: span) }
        #expect(found.map { String($0.id.text.prefix(1)) } == ["e", "a"])
        #expect(try await transaction { try $0.enrollments(writtenAfter: 8, span: span) }.isEmpty)
    }

    @Test(arguments: [1, 2, 3, 5, 6])
    func `the signCounts of all that are not over are doubted, however many at a time`(limit: Int) async throws {
        for digit in ["e", "d", "c", "b", "a"] { _ = try await sample.enrollment(digit) }
        // One has ended, one is suspended, one is in doubt already, and one is far off.
        try sample.execute("UPDATE enrollment SET state = 'ended' WHERE id LIKE 'd%'")
        try sample.execute("UPDATE enrollment SET state = 'suspended' WHERE id LIKE 'c%'")
        try sample.execute("UPDATE enrollment SET refused_sign_count = 1 WHERE id LIKE 'b%'")
        try sample.execute("UPDATE enrollment SET seq = seq + 1000000 WHERE id LIKE 'a%'")
        var (place, steps): (Int64?, Int) = (nil, 0)
        repeat {
            let start = place
            place = try await sample.store.write { try $0.doubtSignCounts(after: start, limit: limit) }
            steps += 1
        } while place != nil
        #expect(steps == (5 + limit - 1) / limit + 1)
        let doubted = try sample.raw { database in
            try Row.fetchAll(database, sql: "SELECT id, refused_sign_count FROM enrollment ORDER BY id").map {
                "\(String($0["id"] as String).prefix(1))\(($0["refused_sign_count"] as Int64?) ?? 0)"
            }
        }
        #expect(doubted == ["a3", "b1", "c3", "d0", "e3"])
    }
}
