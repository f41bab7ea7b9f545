import Authenticator
import FoundationEssentials
import GRDB
import Keys
import ScratchDirectories
import Testing

@testable import SQLiteStore

/// The way back from an upgrade.
struct MigrationBackupTests {
    private let directory: ScratchDirectory
    private let path: String

    init() throws {
        directory = try ScratchDirectory()
        path = directory("agent.db")
    }

    private var backups: [String] {
        get throws {
            try directory.names.filter { $0.contains(".before-") }
        }
    }

    /// A database as the version before wrote it, with one enrollment.
    private func writeOldVersion(upTo migration: String = "2-payment") throws {
        let pool = try DatabasePool(path: path)
        try Schema.migrator.migrate(pool, upTo: migration)
        try pool.write { database in
            try database.execute(
                sql: """
                    INSERT INTO enrollment (id, issuer, name, authn_type, algorithm, rp_id, credential_id, user_handle,
                        started_at, sign_count, state)
                    VALUES ('0123456789abcdef0123', 'https://issuer.example', 'card', 'presence', -7, 'issuer.example',
                        x'01', x'02', 1700000000, 41, 'keyless')
                    """)
        }
        try pool.close()
    }

    private func applied(at path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { try Schema.migrator.appliedMigrations($0) }
    }

    @Test func `going back after an upgrade: the backup is what the version before wrote, and it goes on with it`()
        async throws
    {
        try writeOldVersion()
        let store = try SQLiteDatabase(path: path)
        #expect(try await store.read { try $0.enrollments(includingEnded: true) }.map(\.signCount) == [41])
        let backup = MigrationBackup.path(of: path, before: "3-journal")
        #expect(try backups == ["agent.db.before-3-journal"])
        let mode = try FileManager.default.attributesOfItem(atPath: backup)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        // As docs/explanation/reliability.md says: the database and its two helpers go, the backup takes their place.
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try FileManager.default.moveItem(atPath: backup, toPath: path)
        #expect(try applied(at: path) == ["1-the-book", "2-payment"])
        let old = try DatabasePool(path: path)
        try Schema.migrator.migrate(old, upTo: "2-payment")
        let signCounts = try await old.write { database in
            try database.execute(sql: "UPDATE enrollment SET sign_count = sign_count + 1")
            return try Int.fetchAll(database, sql: "SELECT sign_count FROM enrollment")
        }
        #expect(signCounts == [42])
        #expect(try await old.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        try old.close()
    }

    @Test func `messages that came before an upgrade count in their day`() async throws {
        try writeOldVersion(upTo: "10-push")
        let queue = try DatabaseQueue(path: path)
        try await queue.write { database in
            for (jti, seenAt) in [("a", 99), ("b", 100), ("c", 101)] {
                try database.execute(
                    sql: """
                        INSERT INTO message (enrollment_id, jti, payload_digest, seen_at)
                        VALUES ('0123456789abcdef0123', ?, x'00', ?)
                        """, arguments: [jti, seenAt])
            }
        }
        try queue.close()
        let id = try #require(EnrollmentID("0123456789abcdef0123"))
        let other = try #require(EnrollmentID("0123456789abcdef0124"))
        let store = try SQLiteDatabase(path: path)
        #expect(try backups == ["agent.db.before-11-messages-a-day"])
        #expect(try await store.read { try $0.messageCount(enrollment: id, since: 100) } == 2)
        #expect(try await store.read { try $0.messageCount(enrollment: other, since: 0) } == 0)
    }

    @Test func `tries of a PIN that were counted before keys were identified stay with their enrollment`() async throws
    {
        try writeOldVersion(upTo: "11-messages-a-day")
        let queue = try DatabaseQueue(path: path)
        let publicKey = try SigningKey.generate(.es256).publicKey
        try await queue.write { database in
            try database.execute(
                sql: """
                    UPDATE enrollment SET pin_failures = 4, key_uri = 'file:/a', key_kind = 'file', key_public = ?
                    """, arguments: [Data(publicKey.subjectPublicKeyInfo)])
        }
        try queue.close()
        let store = try SQLiteDatabase(path: path)
        let read = try #require(try await store.read { try $0.enrollments(includingEnded: false) }.first)
        #expect(read.countedTries == PINTries(failures: 4, blockedUntil: nil))
        #expect(read.key.external?.identity == nil && read.key.external?.uri.text == "file:/a")
    }

    @Test func `an enrollment from before an upgrade has no refused signCount, and a copy of it has its own`()
        async throws
    {
        try writeOldVersion(upTo: "11-messages-a-day")
        let queue = try DatabaseQueue(path: path)
        try await queue.write { database in
            try database.execute(
                sql: """
                    UPDATE enrollment SET state = 'active', authenticator_id = 'authenticator-1',
                        sealed_token = x'03', enrolled_at = 1700000001
                    """)
        }
        try queue.close()
        let store = try SQLiteDatabase(path: path)
        let before = try #require(try await store.read { try $0.enrollments(includingEnded: true) }.first)
        #expect(before.refusedSignCount == nil)
        let place = path + ".copy"
        _ = try await store.copy(to: place)
        let copy = try SQLiteDatabase(path: place)
        let copied = try #require(try await copy.read { try $0.enrollments(includingEnded: true) }.first)
        #expect(copied.refusedSignCount == copied.signCount)
        #expect(try await store.read { try $0.enrollment(before.id)?.refusedSignCount } == nil)
    }

    @Test func `a new database, and one that is up to date, has none`() throws {
        _ = try SQLiteDatabase(path: path)
        _ = try SQLiteDatabase(path: path)
        #expect(try backups.isEmpty)
    }

    @Test func `the newest two are kept`() throws {
        for name in ["7-a", "8-b", "10-c"] {
            try Data().write(to: URL(filePath: "\(path).before-\(name)"))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000 + Double(name.utf8.count))],
                ofItemAtPath: "\(path).before-\(name)")
        }
        try writeOldVersion()
        _ = try SQLiteDatabase(path: path)
        #expect(try backups == ["agent.db.before-10-c", "agent.db.before-3-journal"])
    }

    @Test func `if no backup can be made nothing is migrated`() throws {
        try writeOldVersion()
        // What stands in its place cannot be replaced by a file.
        try FileManager.default.createDirectory(
            atPath: MigrationBackup.path(of: path, before: "3-journal") + "/x", withIntermediateDirectories: true)
        #expect(throws: StoreError.self) { try SQLiteDatabase(path: path) }
        #expect(try applied(at: path) == ["1-the-book", "2-payment"])
    }

    @Test func `what an upgrade that was cut short left behind is made anew`() throws {
        try writeOldVersion()
        let backup = MigrationBackup.path(of: path, before: "3-journal")
        for file in [backup, backup + ".partial"] { try Data([1, 2, 3]).write(to: URL(filePath: file)) }
        _ = try SQLiteDatabase(path: path)
        #expect(try applied(at: backup) == ["1-the-book", "2-payment"])
        #expect(try backups == ["agent.db.before-3-journal"])
    }
}
