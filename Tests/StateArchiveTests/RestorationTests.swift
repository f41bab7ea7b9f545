import Authenticator
import DurableFiles
import FoundationEssentials
import Keys
import SQLiteStore
import Testing

@testable import StateArchive

/// What is made of a backup, and of what is none.
struct RestorationTests {
    private let sample: SampleState

    init() throws { sample = try SampleState() }

    private func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// The error of a restore of these bytes, after which nothing may be left.
    private func failure(
        _ bytes: [UInt8], knownSchema: [String] = SQLiteDatabase.knownSchema,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> RestoreError? {
        let directory = try sample.emptyDirectory()
        let path = try sample.write(bytes)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        do throws(RestoreError) {
            _ = try sample.restoration(of: path, into: directory, knownSchema: knownSchema).run()
            return nil
        } catch {
            #expect(try names(in: directory).isEmpty, "something is left", sourceLocation: sourceLocation)
            return error
        }
    }

    private func isDamaged(_ error: RestoreError?) -> Bool {
        if case .damaged = error { true } else { false }
    }

    /// A tar of these entries with a manifest that holds.
    private func archive(
        _ entries: [(TarHeader, [UInt8])], schema: [String] = SQLiteDatabase.knownSchema
    ) throws -> [UInt8] {
        let body = entries.flatMap { header, content in
            header.bytes(time: 0) + content + [UInt8](repeating: 0, count: header.padding)
        }
        let json = Manifest(
            version: "1", takenAt: 0, schema: schema, bytes: Int64(body.count),
            digest: try SHA256Digest.of(body)
        ).json
        return body + end(json)
    }

    private func end(_ json: [UInt8]) -> [UInt8] {
        let header = TarHeader(name: "manifest.json", size: Int64(json.count))
        return header.bytes(time: 0) + json + [UInt8](repeating: 0, count: header.padding + 1_024)
    }

    private func file(_ name: String, _ content: [UInt8] = [1]) -> (TarHeader, [UInt8]) {
        (TarHeader(name: name, size: Int64(content.count)), content)
    }

    /// The entry of a store with nothing in it, which opens as a log-writing one (WAL).
    private func database() throws -> (TarHeader, [UInt8]) {
        let path = "\(sample.folder)/empty.db"
        _ = try SQLiteDatabase(path: path)
        return file("agent.db", Array(FileManager.default.contents(atPath: path) ?? Data()))
    }

    @Test func `a restored state is the one that was copied, for its owner alone`() async throws {
        let card = try await sample.enroll()
        let directory = try sample.restored(try await sample.backup())
        #expect(try names(in: directory) == ["agent.db"])
        #expect(try mode("\(directory)/agent.db") == 0o600)
        let read = try await SQLiteDatabase(path: "\(directory)/agent.db").read { try $0.enrollment(card.id) }
        #expect(read?.signCount == 3 && read?.sealedKey == [1, 2])
    }

    @Test(arguments: ["agent.db", "keys", "control.sock", "agent.db-wal", "x"])
    func `a directory with something in it is refused, and named`(name: String) async throws {
        let path = try sample.write(try await sample.backup())
        let directory = try sample.emptyDirectory()
        try Data("kept".utf8).write(to: URL(filePath: "\(directory)/\(name)"))
        let restoration = sample.restoration(of: path, into: directory)
        #expect(throws: RestoreError.occupied(directory: directory, names: [name])) { try restoration.run() }
        #expect(try names(in: directory) == [name])
        #expect(FileManager.default.contents(atPath: "\(directory)/\(name)") == Data("kept".utf8))
    }

    @Test func `the secret and the lock may be there before`() async throws {
        let path = try sample.write(try await sample.backup())
        let directory = try sample.emptyDirectory()
        for name in ["secret", "agent.lock"] { try Data("x".utf8).write(to: URL(filePath: "\(directory)/\(name)")) }
        _ = try sample.restoration(of: path, into: directory).run()
        #expect(try names(in: directory) == ["agent.db", "agent.lock", "secret"])
    }

    @Test func `a backup that is cut off anywhere leaves nothing`() async throws {
        try await sample.enroll()
        let bytes = try await sample.backup()
        for count in stride(from: 0, to: bytes.count, by: 8_192).flatMap({ [$0, $0 + 1] }) + [bytes.count - 1] {
            #expect(isDamaged(try failure(Array(bytes.prefix(count)))), "\(count) bytes")
        }
        #expect(try failure(bytes) == nil)
    }

    @Test func `a backup with any byte changed leaves nothing`() async throws {
        try await sample.enroll()
        let bytes = try await sample.backup()
        let places =
            Array(stride(from: 0, to: bytes.count - 2_048, by: 9_973))
            + stride(from: bytes.count - 2_048, to: bytes.count, by: 13)
        for place in places {
            var changed = bytes
            changed[place] ^= 1
            // What stands in the manifest for people, or says how it was made, changes nothing else.
            guard let error = try failure(changed) else {
                #expect(place >= bytes.count - 2_048, "byte \(place)")
                continue
            }
            if case .newer = error { continue }
            #expect(isDamaged(error), "byte \(place): \(error)")
        }
    }

    @Test func `more after the end is refused`() async throws {
        let bytes = try await sample.backup()
        for more in [[0], [UInt8](repeating: 0, count: 512), bytes] { #expect(isDamaged(try failure(bytes + more))) }
    }

    @Test(arguments: [
        "../agent.db", "/agent.db", "agent.db/", "./agent.db", "keys/../x.key", "keys/x.key", "secret", "agent.lock",
        "agent.db-wal", "keys/0123456789abcdef0123.key", "keys", ".restore",
    ])
    func `a name that no backup has is refused`(name: String) throws {
        #expect(isDamaged(try failure(archive([database(), file(name)]))))
    }

    @Test func `an entry that is there twice, or is a directory, is refused`() throws {
        let directory = (TarHeader(name: "keys/", kind: .directory), [UInt8]())
        #expect(isDamaged(try failure(archive([database(), directory]))))
        #expect(isDamaged(try failure(archive([database(), database()]))))
        #expect(isDamaged(try failure(archive([(TarHeader(name: "agent.db", kind: .directory), [])]))))
    }

    @Test func `an archive without a database is refused`() throws {
        #expect(isDamaged(try failure(archive([]))))
    }

    @Test(arguments: ["", "{}", "[]", #"{"format":"1"}"#, #"{"format":1}"#, "\u{0}"])
    func `a manifest that cannot be read is refused`(json: String) throws {
        let body = file("agent.db").0.bytes(time: 0) + [UInt8](repeating: 1, count: 512)
        #expect(isDamaged(try failure(body + end(Array(json.utf8)))))
    }

    @Test func `a backup of a newer version is refused as that, and names what is not known`() throws {
        let schema = SQLiteDatabase.knownSchema + ["99-from-the-future"]
        let newer = try failure(archive([database()], schema: schema))
        guard case .newer(_, let fault) = newer else { throw SampleError(reason: "\(String(describing: newer))") }
        #expect(fault.contains("99-from-the-future"))
        guard case .newer(_, "its format is 2") = try failure(end(Array(#"{"format":2}"#.utf8))) else {
            throw SampleError(reason: "not newer")
        }
    }

    @Test func `a database that is none, or has another schema than the manifest names, is refused`() throws {
        let whole = try database().1
        let noStore = [
            [], [1], Array("SQLite format 3\u{0}".utf8), Array(whole.dropLast(4_096)), Array(whole.dropFirst()),
        ]
        for bytes in noStore {
            let error = try failure(archive([file("agent.db", bytes)]))
            #expect(isDamaged(error) && "\(String(describing: error))".contains("agent.db"), "\(bytes.count) bytes")
            #expect(isDamaged(try failure(archive([file("agent.db", bytes)], schema: []))), "\(bytes.count) bytes")
        }
        #expect(isDamaged(try failure(archive([database()], schema: SQLiteDatabase.knownSchema.dropLast()))))
        #expect(isDamaged(try failure(archive([database()], schema: []))))
    }

    @Test func `the database is not touched by a look at it, and nothing is left beside it`() throws {
        let entry = try database()
        let bytes = try archive([entry])
        let directory = try sample.restored(bytes)
        #expect(try names(in: directory) == ["agent.db"])
        #expect(FileManager.default.contents(atPath: "\(directory)/agent.db") == Data(entry.1))
    }

    @Test func `what is no backup is said so with its path`() throws {
        let error = try #require(try failure(Array(repeating: 0x41, count: 5_000)))
        #expect(isDamaged(error) && "\(error)".contains("\(sample.folder)/backup.tar"))
        let missing = sample.restoration(of: "/nonexistent/b.tar", into: try sample.emptyDirectory())
        guard case .unreadable(let cause) = #expect(throws: RestoreError.self, performing: { try missing.run() }) else {
            throw SampleError(reason: "it was readable")
        }
        #expect(cause.reason == .missing && cause.path == "/nonexistent/b.tar")
    }

    @Test func `a restore that a crash cut off before the database is no state, and can be begun again`() async throws {
        try await sample.enroll()
        let bytes = try await sample.backup()
        let directory = try sample.restored(bytes)
        try PrivateDirectory.make(at: "\(directory)/.restore")
        try DurableFile.move("\(directory)/agent.db", to: "\(directory)/.restore/agent.db")
        #expect(!StateFiles.tidy(directory))
        _ = try sample.restoration(of: sample.write(bytes), into: directory).run()
        #expect(try names(in: directory) == ["agent.db"])
    }

    @Test func `one that was cut off right after the database is a state`() async throws {
        try await sample.enroll()
        let directory = try sample.restored(try await sample.backup())
        try PrivateDirectory.make(at: "\(directory)/.restore")
        #expect(StateFiles.tidy(directory))
        #expect(try names(in: directory) == ["agent.db"])
    }

    @Test func `beside a state nothing is taken for an unfinished restore`() async throws {
        try await sample.enroll()
        let bytes = try await sample.backup()
        let directory = try sample.restored(bytes)
        try PrivateDirectory.make(at: "\(directory)/.restore")
        let restoration = sample.restoration(of: try sample.write(bytes), into: directory, knownSchema: [])
        #expect(throws: RestoreError.self) { try restoration.run() }
        #expect(try names(in: directory).contains("agent.db"))
    }
}
