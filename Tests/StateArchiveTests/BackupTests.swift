import Authenticator
import DurableFiles
import FoundationEssentials
import IssuerProtocol
import Keys
import SQLiteStore
import Testing

@testable import StateArchive

/// Copies of a state that is in use.
struct BackupTests {
    private let sample: SampleState

    init() throws { sample = try SampleState() }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// The sealed keys of a state.
    private func keys(in directory: String) async throws -> [[UInt8]?] {
        try await SQLiteDatabase(path: "\(directory)/agent.db").read { try $0.enrollments(includingEnded: true) }
            .map(\.sealedKey)
    }

    @Test func `Debian's tar unpacks the database and the manifest, for their owner alone`() async throws {
        try await sample.enroll()
        try Data("secret".utf8).write(to: URL(filePath: "\(sample.directory)/secret"))
        let path = try sample.write(try await sample.backup())
        let names = try run("tar", "-tf", path).split(separator: "\n").map(String.init)
        #expect(names == ["agent.db", "manifest.json"])
        let directory = try sample.emptyDirectory()
        _ = try run("tar", "-xpf", path, "-C", directory)
        #expect(try mode("\(directory)/agent.db") == 0o600)
        #expect(try await keys(in: directory) == [[1, 2]])
    }

    @Test func `in a copy each enrollment waits for the issuer's signCount, also a suspended one`() async throws {
        let active = try await sample.enroll()
        let suspended = try await sample.enroll()
        try await sample.store.write { _ = try $0.change(suspended.id, .suspended) }
        let directory = try sample.restored(try await sample.backup())
        let copied = try await SQLiteDatabase(path: "\(directory)/agent.db").read {
            try $0.enrollments(includingEnded: false)
        }
        #expect(copied.map(\.id) == [active.id, suspended.id])
        #expect(copied.map(\.refusedSignCount) == [3, 3])
    }

    @Test func `the manifest has the SHA-256 of all that stands before it`() async throws {
        try await sample.enroll()
        let bytes = try await sample.backup()
        let path = try sample.write(bytes)
        let manifest = try Manifest(json: Array(try run("tar", "-xOf", path, "manifest.json").utf8))
        #expect(manifest.version == "1.2.3" && manifest.createdAt == "2023-11-14T22:13:20Z")
        #expect(manifest.schema == SQLiteDatabase.knownSchema)
        let digest = try run("sh", "-c", "head -c \(manifest.bytes) '\(path)' | sha256sum")
        #expect(digest.hasPrefix(manifest.sha256))
        let written = try run("tar", "-xOf", path, "manifest.json").utf8.count
        #expect(bytes.count == Int(manifest.bytes) + 512 + (written + 511) / 512 * 512 + 1_024)
    }

    @Test func `it comes in pieces that are small`() async throws {
        try await sample.enroll()
        var largest = 0
        for try await piece in try await sample.backups.copy() { largest = max(largest, piece.count) }
        #expect((1...66_048).contains(largest))
    }

    @Test func `a copy has the key of each enrollment that was not over, and of no other`() async throws {
        let card = try await sample.enroll()
        try await sample.enroll()
        try await sample.unenroll(card)
        sample.store.afterCopying { [sample] in try await sample.enroll() }
        let directory = try sample.restored(try await sample.backup())
        #expect(try await keys(in: directory) == [nil, [1, 2]])
    }

    @Test func `one copy is taken at a time, and what it took goes with it`() async throws {
        var first: (any AsyncSequence<[UInt8], any Error> & Sendable)? = try await sample.backups.copy()
        await #expect(throws: CommandError.self) { _ = try await sample.backups.copy() }
        #expect(try names(in: sample.directory).contains { $0.hasPrefix(".backup-") })
        first = nil
        #expect(first == nil)
        #expect(try !names(in: sample.directory).contains { $0.hasPrefix(".backup-") })
        #expect(try await !sample.backup().isEmpty)
    }

    @Test func `a start removes what a copy that was cut off left`() async throws {
        try PrivateDirectory.make(at: "\(sample.directory)/.backup-1")
        #expect(StateFiles.tidy(sample.directory))
        #expect(
            try Set(names(in: sample.directory)).isSubset(of: ["agent.db", "agent.db-wal", "agent.db-shm"]))
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

    private func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
    }
}
