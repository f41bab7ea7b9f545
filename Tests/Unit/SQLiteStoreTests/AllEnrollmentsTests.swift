import Dispatch
import GRDB
import Records
import Synchronization
import TestStores
import Testing

@testable import SQLiteStore
@testable import StoreTables

/// What goes through all enrollments takes them some at a time, and leaves none out.
@Suite(.timeLimit(.minutes(20)))
struct AllEnrollmentsTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func reading<Value: Sendable>(
        _ body: @escaping @Sendable (StoreReading) throws -> Value
    ) async throws -> Value { try await sample.store.read(body) }

    @Test(arguments: [1, 2, 3, 5, 6])
    func `all that are active are found, oldest first, however many a statement gives`(span: Int) async throws {
        var ids: [EnrollmentID] = []
        for digit in ["e", "d", "c", "b", "a"] { ids.append(try await sample.enrollment(digit).id) }
        try sample.execute("UPDATE enrollment SET state = 'suspended' WHERE id LIKE 'c%'")
        let found = try await reading { try $0.enrollmentIDs(at: .active, span: span) }
        #expect(found == ids.filter { !$0.text.hasPrefix("c") })
    }

    @Test(arguments: [1, 2, 3, 5, 6], [false, true])
    func `pages leave none out, though the last of each is removed meanwhile`(limit: Int, ended: Bool) async throws {
        for digit in ["e", "d", "c", "b", "a"] { _ = try await sample.enrollment(digit) }
        try sample.execute("UPDATE enrollment SET state = 'ended' WHERE id LIKE 'd%'")
        try sample.execute("UPDATE enrollment SET seq = seq + 1000000 WHERE id LIKE 'a%'")
        var (found, place): ([String], Int64?) = ([], nil)
        while true {
            let after = place
            let page = try await sample.store.read {
                try $0.enrollmentPage(after: after, limit: limit, includingEnded: ended)
            }
            guard let page else { break }
            #expect(page.enrollments.count <= limit)
            found += page.enrollments.map { String($0.id.text.prefix(1)) }
            place = page.place
            try sample.execute("DELETE FROM enrollment WHERE id LIKE '\(found.last ?? "")%'")
        }
        #expect(found == (ended ? ["e", "d", "c", "b", "a"] : ["e", "c", "b", "a"]))
    }

    @Test func `a survey takes no place of other reads, nor of writes`() async throws {
        let (store, gate) = (sample.store, Gate())
        // If all else waited for the surveys, it would wait for ever.
        let watch = Task {
            try await Task.sleep(for: .seconds(600))
            gate.open()
        }
        try await withThrowingDiscardingTaskGroup { tasks in
            for _ in 1...3 { tasks.addTask { try await store.survey { _ in gate.pass() } } }
            while gate.come == 0, !Task.isCancelled { await Task.yield() }
            for _ in 1...4 { _ = try await store.read { try $0.enrollmentCount() } }
            _ = try await store.write { try $0.touch() }
            #expect(gate.passed == 0, "the reads and the write waited for the surveys")
            gate.open()
        }
        watch.cancel()
        #expect(gate.passed == 3)
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

/// Keeps those who come until it is opened.
private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let counts = Mutex((come: 0, passed: 0))

    var come: Int { counts.withLock(\.come) }
    var passed: Int { counts.withLock(\.passed) }

    func pass() {
        counts.withLock { $0.come += 1 }
        semaphore.wait()
        semaphore.signal()
        counts.withLock { $0.passed += 1 }
    }

    func open() { semaphore.signal() }
}
