import DurableFiles
import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
import Records
import SQLiteBackup
import SQLiteStore
import ScratchDirectories
import StandingClocks
import StoreTables
import TestStores

/// A state directory with a store in it, and directories to restore into.
final class SampleState: Sendable {
    private let scratch: ScratchDirectory
    let store: SQLiteDatabase
    let backups: Backups

    var folder: String { scratch.path }
    var directory: String { "\(folder)/state" }
    var database: String { "\(directory)/agent.db" }

    init() throws {
        scratch = try ScratchDirectory()
        let directory = scratch("state")
        try PrivateDirectory.make(at: directory)
        store = try SQLiteDatabase(path: "\(directory)/agent.db", dataKeys: UnsealedDataKeys())
        backups = Backups(
            directory: directory, store: store, clock: StandingClock(now: 1_700_000_000), version: "1.2.3")
    }

    /// Puts an active enrollment in, whose key is in its row.
    @discardableResult
    func enroll() async throws -> Enrollment {
        guard let id = EnrollmentID(SampleState.hexadecimal(try SecureRandom.bytes(10))),
            let authenticator = TokenID("auth-\(id.text)")
        else { throw SampleError("no id") }
        let membership = Membership(authenticatorId: authenticator, sealedToken: [1, 2, 3], enrolledAt: 20)
        let enrollment = Enrollment(
            id: id, target: IssuerTarget(issuer: try IssuerURL("https://issuer.example"), rootsPEM: nil),
            name: "card", authnType: .presence, algorithm: -7, rpId: "issuer.example",
            credentialId: Array(id.text.utf8), userHandle: [1], startedAt: 10, sealedKey: [1, 2], signCount: 3,
            state: .active(membership))
        try await store.write { try $0.insert(enrollment) }
        return enrollment
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The bytes of a backup.
    func backup() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in try await backups.copy() { bytes += piece }
        return bytes
    }

    /// The path of a new file with these bytes.
    func write(_ bytes: [UInt8]) throws -> String {
        let path = "\(folder)/\(UUID().uuidString).db"
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    /// The path of a backup into which a test has written.
    func altered(_ bytes: [UInt8], by sql: String) throws -> String {
        let path = try write(bytes)
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
        return path
    }

    /// A new empty directory.
    func emptyDirectory() throws -> String {
        let path = "\(folder)/\(UUID().uuidString)"
        try PrivateDirectory.make(at: path)
        return path
    }

    /// Restores a backup into a new directory, and returns that.
    func restored(_ path: String) throws -> String {
        let directory = try emptyDirectory()
        _ = try Restoration(of: path, into: directory).restore()
        return directory
    }

    /// Why a backup is not restored; nil if it is.
    ///
    /// - Throws: if anything is left of it.
    func refusal(of path: String) throws -> RestoreError? {
        let directory = try emptyDirectory()
        do {
            _ = try Restoration(of: path, into: directory).restore()
            return nil
        } catch {
            let left = try FileManager.default.contentsOfDirectory(atPath: directory)
            guard left.isEmpty else { throw SampleError("\(left) was left after \(error)") }
            return error
        }
    }
}
