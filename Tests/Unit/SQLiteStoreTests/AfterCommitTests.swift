import GRDB
import Records
import Synchronization
import TestStores
import Testing

@testable import StoreTables

/// Actions for after a commit, which a write or a part that was undone never runs.
struct AfterCommitTests {
    private let sample: SampleStore
    private let done = Done()

    /// The actions that were done, in their order.
    private final class Done: Sendable {
        private let names = Mutex<[String]>([])

        var list: [String] { names.withLock(\.self) }

        func note(_ name: String) { names.withLock { $0.append(name) } }
    }

    init() throws { sample = try SampleStore() }

    @Test func `it is done once after the commit, in the order of the parts`() async throws {
        try await sample.store.write { [done] store in
            store.afterCommit { done.note("first") }
            _ = try store.undoing { store.afterCommit { done.note("second") } }
            #expect(done.list.isEmpty)
        }
        #expect(done.list == ["first", "second"])
        try await sample.enrollment()
        #expect(done.list == ["first", "second"])
    }

    @Test func `of a part that is undone it is not done, though the others are committed`() async throws {
        try await sample.store.write { [done] store in
            let failure = try store.undoing {
                store.afterCommit { done.note("undone") }
                throw SampleError("of this part alone")
            }
            #expect(failure is SampleError)
            store.afterCommit { done.note("kept") }
            try store.insert(SampleStore.enrollment("a"))
        }
        #expect(done.list == ["kept"])
    }

    @Test(.ofSQLite, arguments: Failure.allCases)
    func `after a write that failed it is not done, also not with the next commit`(failure: Failure) async throws {
        await #expect(throws: (any Error).self) {
            try await sample.store.write { [done] store in
                store.afterCommit { done.note("\(failure)") }
                try store.insert(SampleStore.enrollment("a"))
                guard let database = store.database as? Database else {
                    return done.note("no database")
                }
                try failure.fail(database)
            }
        }
        try await sample.enrollment("b")
        #expect(done.list.isEmpty)
        #expect(try await sample.store.read { try $0.enrollments(includingEnded: true) }.map(\.id.text.first) == ["b"])
    }

    enum Failure: CaseIterable {
        /// A statement that finds no room, at which SQLite itself rolls back.
        case fullDisk
        /// A commit that is refused: nothing is written, and the database transaction is still open.
        case refusedCommit
        /// The write's own error.
        case own

        func fail(_ database: Database) throws {
            switch self {
            case .fullDisk:
                try database.execute(sql: "PRAGMA max_page_count = 1")
                defer { try? database.execute(sql: "PRAGMA max_page_count = 1000000") }
                try database.execute(sql: "CREATE TABLE big (b BLOB); INSERT INTO big VALUES (zeroblob(1000000))")
            case .refusedCommit:
                try database.execute(sql: "PRAGMA defer_foreign_keys = TRUE; INSERT INTO persona VALUES ('none', '{}')")
            case .own: throw SampleError("its own")
            }
        }
    }
}
