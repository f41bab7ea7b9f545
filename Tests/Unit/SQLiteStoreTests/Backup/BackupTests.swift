import DurableFiles
import Foundation
import GRDB
import Glibc
import IssuerProtocol
import Records
import StoreTables
import TestStores
import Testing

@testable import SQLiteBackup
@testable import SQLiteStore

/// Copies of a state that is in use.
struct BackupTests {
    private let sample: SampleState

    init() throws { sample = try SampleState() }

    private func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
    }

    private func read<Value>(_ path: String, _ body: (Database) throws -> Value) throws -> Value {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration).read(body)
    }

    @Test func `a backup is one SQLite database, and its manifest has the digest of its rows`() async throws {
        try await sample.enroll()
        try await sample.store.write { try $0.touch() }
        let path = try sample.write(try await sample.backup())
        let members = try read(path) { try Row.fetchAll($0, sql: "SELECT name, value FROM manifest ORDER BY name") }
        let manifest = Dictionary(members.map { ($0["name"] as String, $0["value"] as String) }) { $1 }
        #expect(manifest["form"] == "1" && manifest["version"] == "1.2.3")
        #expect(manifest["created_at"] == "2023-11-14T22:13:20Z")
        #expect(try read(path) { try RowDigest.hexadecimal(of: $0) } == manifest["digest"])
        #expect(try read(path) { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        #expect(try !read(sample.database) { try $0.tableExists("manifest") })
    }

    @Test func `the digest is the same however the file is laid out, and another if a value is another`() async throws {
        try await sample.enroll()
        let bytes = try await sample.backup()
        let digest = try read(try sample.write(bytes)) { try RowDigest.hexadecimal(of: $0) }
        for sql in ["VACUUM", "PRAGMA page_size = 8192; VACUUM", "REINDEX"] {
            let path = try sample.altered(bytes, by: sql)
            #expect(try read(path) { try RowDigest.hexadecimal(of: $0) } == digest, "\(sql)")
        }
        for sql in [
            "UPDATE enrollment SET sign_count = 4", "UPDATE enrollment SET sealed_token = CAST('x' AS BLOB)",
            "DELETE FROM enrollment", "UPDATE sqlite_sequence SET seq = 9",
            "UPDATE manifest SET value = '1.2.4' WHERE name = 'version'",
        ] {
            let path = try sample.altered(bytes, by: sql)
            #expect(try read(path) { try RowDigest.hexadecimal(of: $0) } != digest, "\(sql)")
        }
    }

    @Test func `in a copy each enrollment waits for the issuer's signCount, also a suspended one`() async throws {
        let active = try await sample.enroll()
        let suspended = try await sample.enroll()
        try await sample.store.write { _ = try $0.change(suspended.id, .suspended) }
        let directory = try sample.restored(try sample.write(try await sample.backup()))
        let copied = try await SQLiteDatabase(path: "\(directory)/agent.db", dataKeys: UnsealedDataKeys()).read {
            try $0.enrollments(includingEnded: false)
        }
        #expect(copied.map(\.id) == [active.id, suspended.id])
        #expect(copied.map(\.refusedSignCount) == [3, 3])
    }

    @Test func `a copy has the key of each enrollment that was not over, and of no other`() async throws {
        let card = try await sample.enroll()
        try await sample.enroll()
        try await sample.store.write { _ = try $0.change(card.id, .ended(at: 30)) }
        let copy = try await sample.backups.copy()
        try await sample.enroll()
        var bytes: [UInt8] = []
        for try await piece in copy { bytes += piece }
        let directory = try sample.restored(try sample.write(bytes))
        let copied = try await SQLiteDatabase(path: "\(directory)/agent.db", dataKeys: UnsealedDataKeys()).read {
            try $0.enrollments(includingEnded: true)
        }
        #expect(copied.map(\.sealedKey) == [nil, [1, 2]])
    }

    @Test func `it comes in pieces that are small`() async throws {
        try await sample.enroll()
        var largest = 0
        for try await piece in try await sample.backups.copy() { largest = max(largest, piece.count) }
        #expect((1...65_536).contains(largest))
    }

    @Test func `to say how large a copy will be drops no lock that SQLite has on the database`() async throws {
        try await sample.enroll()
        // Closed at the end alone: that drops the locks as well.
        let file = try FileHandle(forUpdating: URL(filePath: sample.database))
        #expect(isLocked(file))
        #expect(sample.backups.size > 4_096)
        #expect(isLocked(file))
        try file.close()
    }

    /// Whether anybody has a lock on the bytes that SQLite locks, this process too: F_OFD_GETLK looks past no owner.
    private func isLocked(_ file: FileHandle) -> Bool {
        var lock = flock()
        (lock.l_type, lock.l_whence, lock.l_start, lock.l_len) = (Int16(F_WRLCK), Int16(SEEK_SET), 0x4000_0000, 512)
        return unsafe fcntl(file.fileDescriptor, 36, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    @Test func `once a copy is taken its file has no name, so that nothing is left whatever happens`() async throws {
        let copy = try await sample.backups.copy()
        #expect(try !names(in: sample.directory).contains { $0.hasPrefix(".backup-") })
        var bytes: [UInt8] = []
        for try await piece in copy { bytes += piece }
        #expect(try sample.refusal(of: sample.write(bytes)) == nil)
    }

    @Test func `a copy that is not the agent's own schema is refused, and leaves no file`() async throws {
        let queue = try DatabaseQueue(path: sample.database)
        try await queue.write { try $0.execute(sql: "CREATE INDEX own_idea ON enrollment (name)") }
        let error = await #expect(throws: CommandError.self) { _ = try await sample.backups.copy() }
        #expect(error?.message.contains("index own_idea is not the agent's") == true)
        #expect(try !names(in: sample.directory).contains { $0.hasPrefix(".backup-") })
    }

    @Test func `a start removes what a copy that was cut off left`() async throws {
        try PrivateDirectory.make(at: "\(sample.directory)/.backup-1")
        #expect(StateFiles.tidy(sample.directory))
        #expect(try Set(names(in: sample.directory)).isSubset(of: ["agent.db", "agent.db-wal", "agent.db-shm"]))
    }

    @Test func `a copy holds what was committed, and no free pages`() async throws {
        let card = try await sample.enroll()
        let names = try (1...200).map { try #require(TokenID("jti-\($0)")) }
        try await sample.store.write { store in
            for name in names {
                try store.insert(
                    SeenMessage(
                        enrollmentId: card.id, jti: name, payloadDigest: Array(repeating: 0x5A, count: 4_000),
                        requestId: nil, seenAt: 1))
            }
        }
        let full = try await sample.backup()
        #expect(try await sample.store.write { try $0.removeWhatWasOver(before: 2, limit: 1_000) } == 200)
        #expect(try await sample.backup().count < full.count - 700_000)
    }

    @Test func `the agent's own connections take no schema on trust, look at pages, and are defensive`() async throws {
        let settings = try await sample.store.pool.read { database in
            try ["trusted_schema", "cell_size_check"].map { try Int.fetchOne(database, sql: "PRAGMA \($0)") }
        }
        #expect(settings == [0, 1])
        await #expect(throws: DatabaseError.self) {
            try await sample.store.pool.write { database in
                try database.execute(sql: "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'x'")
            }
        }
    }
}
