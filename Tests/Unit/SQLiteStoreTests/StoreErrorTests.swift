import FoundationEssentials
import GRDB
import Records
import StoreTables
import TestStores
import Testing

@testable import SQLiteStore

/// What is wrong with the database, in the agent's words.
struct StoreErrorTests {
    @Test(arguments: [
        (ResultCode.SQLITE_FULL, StoreError.Kind.full), (.SQLITE_READONLY, .readOnly), (.SQLITE_BUSY, .busy),
        (.SQLITE_BUSY_SNAPSHOT, .busy), (.SQLITE_LOCKED, .busy), (.SQLITE_CORRUPT, .corrupt),
        (.SQLITE_NOTADB, .corrupt), (.SQLITE_CANTOPEN, .notOurs), (.SQLITE_IOERR_FSYNC, .io), (.SQLITE_NOMEM, .other),
    ])
    func `each of SQLite's results is one trouble`(code: ResultCode, kind: StoreError.Kind) throws {
        let path = FileManager.default.temporaryDirectory.path
        let trouble = try #require(StoreError(DatabaseError(resultCode: code), at: path))
        #expect(trouble.kind == kind && trouble.sentence.contains(path))
        #expect(trouble.detail?.contains("\(code.rawValue)") == true)
    }

    @Test(arguments: [ResultCode.SQLITE_CONSTRAINT_UNIQUE, .SQLITE_ERROR, .SQLITE_MISUSE])
    func `a fault of the program's is no trouble of the database's`(code: ResultCode) {
        #expect(StoreError(DatabaseError(resultCode: code), at: "/") == nil)
    }

    @Test func `a lock of another process fails a write after its time and not a read`() async throws {
        let sample = try SampleStore()
        let enrollment = try await sample.enrollment()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: sample.path, configuration: configuration)
        try other.inDatabase { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let trouble = try await #require(throws: StoreError.self) { try await sample.store.write { try $0.touch() } }
        #expect(trouble.kind == .busy && !trouble.isInDoubt)
        #expect(try await sample.store.read { try $0.enrollment(enrollment.id) } != nil)
        try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try await sample.store.write { try $0.touch() }
    }

    @Test func `a touch writes to the log, and changes nothing`() async throws {
        let sample = try SampleStore()
        func size() throws -> UInt64? {
            try FileManager.default.attributesOfItem(atPath: sample.path + "-wal")[.size] as? UInt64
        }
        let before = try #require(try size())
        try await sample.store.write { _ in }
        #expect(try size() == before)
        try await sample.store.write { try $0.touch() }
        #expect(try #require(try size()) > before)
    }

    @Test func `files that are not plain are refused by name`() throws {
        let sample = try SampleStore()
        for suffix in ["", "-wal", "-shm"] {
            let path = sample.path + ".linked"
            try FileManager.default.createSymbolicLink(atPath: path + suffix, withDestinationPath: sample.path)
            let trouble = try #require(throws: StoreError.self) {
                try SQLiteDatabase(path: path, dataKeys: UnsealedDataKeys())
            }
            #expect(trouble.kind == .notOurs && trouble.path == path + suffix)
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// Constraint errors come from the row, so the next write goes through.
    @Test func `a write that breaks a rule of the tables is rolled back and is no trouble`() async throws {
        let sample = try SampleStore()
        let enrollment = try await sample.enrollment()
        await #expect(throws: DatabaseError.self) { try await sample.store.write { try $0.insert(enrollment) } }
        try await sample.enrollment("b")
    }
}
