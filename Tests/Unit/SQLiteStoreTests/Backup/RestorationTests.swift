import DurableFiles
import FoundationEssentials
import GRDB
import Records
import SQLiteStore
import StoreTables
import TestStores
import Testing

@testable import SQLiteBackup

/// Backups that come back, and those that are refused and leave nothing.
struct RestorationTests {
    private let sample: SampleState

    init() throws { sample = try SampleState() }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    private func isDamaged(_ error: RestoreError?) -> Bool {
        if case .damaged = error { true } else { false }
    }

    @Test func `a restored state is the one that was copied, for its owner alone, without the manifest`() async throws {
        let card = try await sample.enroll()
        let directory = try sample.restored(try sample.write(try await sample.backup()))
        #expect(try names(in: directory) == ["agent.db", "head"])
        // The first start takes it as it is, once.
        #expect(try DurableFile.read("\(directory)/head", maxBytes: 512) == HeadNote.accepted.bytes)
        #expect(try mode("\(directory)/agent.db") == 0o600 && mode("\(directory)/head") == 0o600)
        let read = try await SQLiteDatabase(path: "\(directory)/agent.db", dataKeys: UnsealedDataKeys()).read {
            try $0.enrollment(card.id)
        }
        #expect(read?.signCount == 3)
        let objects = try await DatabaseQueue(path: "\(directory)/agent.db").read { try SchemaObjects(of: $0) }
        #expect(try objects.differences(from: .ofThisVersion()).isEmpty && !objects.hasTable("manifest"))
    }

    @Test(arguments: ["agent.db", "head", "keys", "control.sock", "agent.db-wal", "x"])
    func `a directory with something in it is refused, and named`(name: String) async throws {
        let path = try sample.write(try await sample.backup())
        let directory = try sample.emptyDirectory()
        try Data("kept".utf8).write(to: URL(filePath: "\(directory)/\(name)"))
        #expect(throws: RestoreError.occupied(directory: directory, names: [name])) {
            try Restoration(of: path, into: directory).restore()
        }
        #expect(try names(in: directory) == [name])
        #expect(FileManager.default.contents(atPath: "\(directory)/\(name)") == Data("kept".utf8))
    }

    @Test func `a backup that somebody put in the place of the database is refused, and left as it is`() async throws {
        try await sample.enroll()
        let path = try sample.write(try await sample.backup())
        let before = FileManager.default.contents(atPath: path)
        let error = try #require(throws: StoreError.self) {
            try SQLiteDatabase(path: path, dataKeys: UnsealedDataKeys())
        }
        #expect(error.kind == .backup && error.sentence.contains("oob-agent --restore"))
        #expect(FileManager.default.contents(atPath: path) == before)
        #expect(try sample.refusal(of: path) == nil)
    }

    @Test func `the secret and the lock may be there before`() async throws {
        let path = try sample.write(try await sample.backup())
        let directory = try sample.emptyDirectory()
        for name in ["secret", "agent.lock"] { try Data("x".utf8).write(to: URL(filePath: "\(directory)/\(name)")) }
        _ = try Restoration(of: path, into: directory).restore()
        #expect(try names(in: directory) == ["agent.db", "agent.lock", "head", "secret"])
    }

    @Test func `a backup that is cut off anywhere, or goes on, leaves nothing`() async throws {
        try await sample.enroll()
        let bytes = try await sample.backup()
        for count in stride(from: 0, to: bytes.count, by: 16_384).flatMap({ [$0, $0 + 1] }) + [bytes.count - 1] {
            #expect(isDamaged(try sample.refusal(of: sample.write(Array(bytes.prefix(count))))), "\(count) bytes")
        }
        for more in [[0], [UInt8](repeating: 0, count: 4_096), bytes] {
            #expect(isDamaged(try sample.refusal(of: sample.write(bytes + more))))
        }
        #expect(try sample.refusal(of: sample.write(bytes)) == nil)
    }

    @Test func `a backup with a byte changed is refused, or what it restores is the same`() async throws {
        try await sample.enroll()
        let bytes = try await sample.backup()
        let whole = try await digest(in: sample.restored(sample.write(bytes)))
        var refused = 0
        for place in stride(from: 0, to: bytes.count, by: 1_999) {
            var changed = bytes
            changed[place] ^= 1
            let directory = try sample.emptyDirectory()
            do {
                _ = try Restoration(of: sample.write(changed), into: directory).restore()
                #expect(try await digest(in: directory) == whole, "byte \(place)")
            } catch {
                refused += 1
                #expect(try names(in: directory) == [], "byte \(place): \(error)")
            }
        }
        #expect(refused > 0)
    }

    private func digest(in directory: String) async throws -> String {
        try await DatabaseQueue(path: "\(directory)/agent.db").read { try RowDigest.hexadecimal(of: $0) }
    }

    @Test(arguments: [
        "UPDATE enrollment SET pin_failures = 4", "UPDATE enrollment SET refused_sign_count = NULL",
        "DELETE FROM enrollment", "UPDATE manifest SET value = '9.9.9' WHERE name = 'version'",
        "UPDATE manifest SET value = '2033-11-14T22:13:20Z' WHERE name = 'created_at'",
        "INSERT INTO manifest VALUES ('more', '1')",
    ])
    func `a row that was changed is found by the digest`(sql: String) async throws {
        try await sample.enroll()
        let error = try sample.refusal(of: sample.altered(try await sample.backup(), by: sql))
        guard case .damaged(_, let fault) = error, fault.contains("SHA-256") else {
            throw SampleError("\(error, default: "nil")")
        }
    }

    @Test(arguments: [
        (
            "CREATE TRIGGER evil AFTER UPDATE ON enrollment BEGIN UPDATE enrollment SET pin_failures = 0; END",
            "trigger evil is not the agent's"
        ),
        (
            "CREATE TRIGGER manifest AFTER INSERT ON journal BEGIN SELECT 1; END", "trigger manifest is not the agent's"
        ),
        ("CREATE VIEW evil AS SELECT 1", "view evil is not the agent's"),
        ("CREATE INDEX evil ON enrollment (name)", "index evil is not the agent's"),
        ("CREATE TABLE evil (x)", "table evil is not the agent's"),
        ("ALTER TABLE enrollment ADD COLUMN evil TEXT", "table enrollment is not as the agent makes it"),
        ("DROP INDEX request_by_jti", "index request_by_jti is missing"),
        ("CREATE TABLE \"\u{1B}[2J\" (x)", "table ?[2J is not the agent's"),
    ])
    func `what is not of this version's schema is refused by its name`(sql: String, words: String) async throws {
        let error = try sample.refusal(of: sample.altered(try await sample.backup(), by: sql))
        guard case .otherSchema(_, "1.2.3", let differences) = error else {
            throw SampleError("\(error, default: "nil")")
        }
        #expect(differences == [words])
    }

    @Test func `a digest that was made to fit hides no trigger`() async throws {
        let path = try sample.altered(
            try await sample.backup(), by: "CREATE TRIGGER evil AFTER INSERT ON journal BEGIN SELECT 1; END")
        try await fitDigest(of: path)
        guard case .otherSchema = try sample.refusal(of: path) else { throw SampleError("it was restored") }
    }

    private func fitDigest(of path: String) async throws {
        let queue = try DatabaseQueue(path: path)
        try await queue.write { database in
            let digest = try RowDigest.hexadecimal(of: database)
            try database.execute(sql: "UPDATE manifest SET value = ? WHERE name = 'digest'", arguments: [digest])
        }
        try queue.close()
    }

    @Test func `a signCount is uncertain after a restore, whatever the backup says of it`() async throws {
        let card = try await sample.enroll()
        let path = try sample.altered(
            try await sample.backup(), by: "UPDATE enrollment SET refused_sign_count = NULL")
        try await fitDigest(of: path)
        let directory = try sample.restored(path)
        let read = try await SQLiteDatabase(path: "\(directory)/agent.db", dataKeys: UnsealedDataKeys()).read {
            try $0.enrollment(card.id)
        }
        #expect(read?.refusedSignCount == 3)
    }

    @Test func `the digest is of a text's own bytes, also where they are no UTF-8`() async throws {
        try await sample.enroll()
        func name(_ hexadecimal: String) -> String {
            "UPDATE enrollment SET end_reason = CAST(x'\(hexadecimal)' AS TEXT)"
        }
        let path = try sample.altered(try await sample.backup(), by: name("41FF42"))
        try await fitDigest(of: path)
        #expect(try sample.refusal(of: path) == nil)
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        let error = try #require(try sample.refusal(of: try sample.altered(bytes, by: name("41FE42"))))
        #expect("\(error)".contains("its rows are not those"), "\(error)")
    }

    @Test func `a value that no agent writes is refused before it is in memory`() async throws {
        try await sample.enroll()
        let path = try sample.altered(
            try await sample.backup(), by: "UPDATE enrollment SET user_handle = zeroblob(17000000)")
        #expect(isDamaged(try sample.refusal(of: path)))
    }

    @Test func `a header that forbids to write is the backup's fault`() async throws {
        var bytes = try await sample.backup()
        bytes[18] = 3
        let error = try #require(try sample.refusal(of: try sample.write(bytes)))
        #expect(isDamaged(error), "\(error)")
    }

    @Test func `the agent's own database is no backup`() async throws {
        try sample.store.close()
        let bytes = Array(FileManager.default.contents(atPath: sample.database) ?? Data())
        let error = try sample.refusal(of: sample.write(bytes))
        #expect("\(error, default: "nil")".contains("it has no manifest"))
    }

    @Test func `what is no database is said so with its path`() throws {
        let path = try sample.write(Array(repeating: 0x41, count: 5_000))
        let error = try #require(try sample.refusal(of: path))
        #expect(isDamaged(error) && "\(error)".contains(path))
        #expect("\(error)".contains("it is no SQLite database"))
        let missing = Restoration(of: "/nonexistent/b.db", into: try sample.emptyDirectory())
        guard case .unreadable(let cause) = #expect(throws: RestoreError.self, performing: { try missing.restore() })
        else {
            throw SampleError("it was readable")
        }
        #expect(cause.reason == .missing && cause.path == "/nonexistent/b.db")
    }

    @Test func `a restore that a crash cut off is no state, and can be begun again`() async throws {
        try await sample.enroll()
        let path = try sample.write(try await sample.backup())
        let directory = try sample.emptyDirectory()
        try PrivateDirectory.make(at: "\(directory)/.restore")
        try Data([1]).write(to: URL(filePath: "\(directory)/.restore/agent.db"))
        #expect(!StateFiles.tidy(directory))
        _ = try Restoration(of: path, into: directory).restore()
        #expect(try names(in: directory) == ["agent.db", "head"])
    }

    @Test func `one that was cut off right after the database got its name is a state`() async throws {
        let path = try sample.write(try await sample.backup())
        let directory = try sample.restored(path)
        try PrivateDirectory.make(at: "\(directory)/.restore")
        #expect(throws: RestoreError.self) { try Restoration(of: path, into: directory).restore() }
        try DurableFile.move("\(directory)/head", to: "\(directory)/.restore/head")
        #expect(StateFiles.tidy(directory))
        #expect(try names(in: directory) == ["agent.db", "head"])
    }
}
