import Authenticator
import FoundationEssentials
import GRDB
import Glibc
import SQLiteStore
import Testing

/// What the file is, and what a commit is worth.
struct DurabilityTests {
    @Test func `a commit is on the disk: the writer is at synchronous FULL`() async throws {
        let sample = try SampleStore()
        #expect(try await sample.file.synchronousLevel() == 2)
        // Also once it has been written to.
        try await sample.enrollment()
        #expect(try await sample.file.synchronousLevel() == 2)
        #expect(try await SQLiteDatabase(path: sample.path).synchronousLevel() == 2)
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
        let again = try SQLiteDatabase(path: sample.path)
        #expect(try await again.read { try $0.enrollment(enrollment.id) }?.name == "my card")
    }

    @Test func `closed, it is one file with all that was written, and takes nothing more`() async throws {
        let sample = try SampleStore()
        let enrollment = try await sample.enrollment()
        #expect(FileManager.default.fileExists(atPath: sample.path + "-wal"))
        try sample.file.close()
        for suffix in ["-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: sample.path + suffix)) }
        await #expect(throws: (any Error).self) { try await sample.store.read { try $0.enrollmentCount() } }
        let again = try SQLiteDatabase(path: sample.path)
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

    @Test func `a file of a newer version is refused, and left as it is`() throws {
        let sample = try SampleStore()
        try sample.execute("INSERT INTO grdb_migrations (identifier) VALUES ('99-from-the-future')")
        let error = try #require(throws: StoreError.self) { try SQLiteDatabase(path: sample.path) }
        #expect(error.kind == .newerSchema && error.path == sample.path)
        #expect(error.sentence.contains("newer version of the agent (it knows 99-from-the-future)"))
    }

    @Test func `what is no database is refused with its path`() throws {
        let sample = try SampleStore()
        let path = sample.path + ".txt"
        try Data(repeating: 0x41, count: 5_000).write(to: URL(filePath: path))
        let error = try #require(throws: StoreError.self) { try SQLiteDatabase(path: path) }
        #expect(error.kind == .corrupt && error.sentence.contains(path))
        #expect(throws: StoreError.self) { try SQLiteDatabase(path: "/nonexistent/store.sqlite") }
    }
}
