import FoundationEssentials
import GRDB
import Glibc
import Records
import SQLiteStore
import ScratchDirectories
import TableRows
import TestStores
import Testing

@testable import StoreTables

/// What the file is, and what a commit is worth.
struct DurabilityTests {
    @Test func `a commit is on the disk: the writer is at synchronous FULL`() async throws {
        let sample = try SampleStore()
        #expect(try await sample.file.synchronousLevel() == 2)
        // Also once it has been written to.
        try await sample.enrollment()
        #expect(try await sample.file.synchronousLevel() == 2)
        #expect(try await SQLiteDatabase(path: sample.path, dataKeys: UnsealedDataKeys()).synchronousLevel() == 2)
    }

    @Test func `the journal is a write-ahead log`() throws {
        let sample = try SampleStore()
        #expect(try sample.raw { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
    }

    @Test func `under the agent's umask the files are the owner's alone`() async throws {
        // The mask is the process's, so it is tightened and left so.
        umask(0o077)
        let sample = try SampleStore()
        try await sample.enrollment()
        for suffix in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: sample.path + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
        }
    }

    @Test func `what was written is there when the file is opened again`() async throws {
        let sample = try SampleStore()
        let enrollment = try await sample.enrollment()
        let again = try SQLiteDatabase(path: sample.path, dataKeys: UnsealedDataKeys())
        #expect(try await again.read { try $0.enrollment(enrollment.id) }?.name == "my card")
    }

    @Test func `closed, it is one file with all that was written, and takes nothing more`() async throws {
        let sample = try SampleStore()
        let enrollment = try await sample.enrollment()
        #expect(FileManager.default.fileExists(atPath: sample.path + "-wal"))
        try sample.file.close()
        for suffix in ["-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: sample.path + suffix)) }
        await #expect(throws: (any Error).self) { try await sample.store.read { try $0.enrollmentCount() } }
        let again = try SQLiteDatabase(path: sample.path, dataKeys: UnsealedDataKeys())
        #expect(try await again.read { try $0.enrollment(enrollment.id) } != nil)
    }

    @Test func `a write that throws leaves nothing behind`() async throws {
        let sample = try SampleStore()
        await #expect(throws: SampleError.self) {
            try await sample.store.write { store in
                try store.insert(try SampleStore.enrollment("a"))
                throw SampleError("the disk is full")
            }
        }
        #expect(try await sample.store.read { try $0.enrollments(includingEnded: true) }.isEmpty)
    }

    /// The file and its log.
    private func files(_ path: String) -> [Data] {
        ["", "-wal"].map { FileManager.default.contents(atPath: path + $0) ?? Data() }
    }

    @Test(arguments: [
        ("UPDATE oob_agent_store SET form = 3, least_form = 2", StoreError.Kind.newerForm, "form 3"),
        ("DROP TABLE oob_agent_store", .unknownForm, "table audit_key"),
        ("DELETE FROM oob_agent_store", .unknownForm, "table oob_agent_store"),
        ("ALTER TABLE oob_agent_store DROP COLUMN digest", .unknownForm, "table audit_key"),
        ("UPDATE oob_agent_store SET digest = 'x'", .unknownForm, "its tables are not those of this version"),
    ])
    func `a file of another form is refused, and left as it is`(
        change: String, kind: StoreError.Kind, detail: String
    ) async throws {
        let sample = try SampleStore()
        _ = try await sample.enrollment()
        try await sample.store.write { try $0.touch() }
        try sample.file.close()
        try sample.execute(change)
        let before = files(sample.path)
        let error = try #require(throws: StoreError.self) {
            try SQLiteDatabase(path: sample.path, dataKeys: UnsealedDataKeys())
        }
        #expect(error.kind == kind && error.path == sample.path && error.isForGood)
        #expect(error.sentence.contains(detail), "\(error.sentence)")
        #expect(files(sample.path) == before)
    }

    @Test func `a database of another program is refused, and left as it is`() throws {
        let directory = try ScratchDirectory()
        let path = directory("other.db")
        try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE payroll (salary)") }
        let before = files(path)
        let error = try #require(throws: StoreError.self) {
            try SQLiteDatabase(path: path, dataKeys: UnsealedDataKeys())
        }
        #expect(error.kind == .unknownForm && error.sentence.contains("by another program (it has a table payroll)"))
        #expect(files(path) == before)
    }

    @Test func `a later form that only adds is worked on`() async throws {
        let sample = try SampleStore()
        let card = try await sample.enrollment()
        try sample.file.close()
        try sample.execute(
            """
            ALTER TABLE enrollment ADD COLUMN colour TEXT; CREATE TABLE colour (name TEXT);
            UPDATE oob_agent_store SET form = 2, least_form = 1
            """)
        let store = try SQLiteDatabase(path: sample.path, dataKeys: UnsealedDataKeys())
        #expect(try await store.read { try $0.enrollment(card.id) } != nil)
        try await store.write { try $0.insert(try SampleStore.enrollment("b")) }
    }

    @Test func `SQLite keeps the statements of the schema as they are`() throws {
        let sample = try SampleStore()
        let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
        let kept = try sample.raw { try String.fetchAll($0, sql: sql) }
        #expect(kept.filter { !$0.contains("sqlite_sequence") } == StoreSchema.statements(for: .sqlite))
    }

    @Test func `what is no database is refused with its path`() throws {
        let sample = try SampleStore()
        let path = sample.path + ".txt"
        try Data(repeating: 0x41, count: 5_000).write(to: URL(filePath: path))
        let error = try #require(throws: StoreError.self) {
            try SQLiteDatabase(path: path, dataKeys: UnsealedDataKeys())
        }
        #expect(error.kind == .corrupt && error.sentence.contains(path))
        #expect(throws: StoreError.self) {
            try SQLiteDatabase(path: "/nonexistent/store.sqlite", dataKeys: UnsealedDataKeys())
        }
    }
}
