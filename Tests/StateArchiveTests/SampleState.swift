import Authenticator
import DurableFiles
import Foundation
import IssuerProtocol
import Keys
import SQLiteStore
import ScratchDirectories
import SpawnedProcesses
import StandingClocks
import Synchronization

@testable import StateArchive

/// A state directory with a store in it, and directories to restore into.
final class SampleState: Sendable {
    private let scratch: ScratchDirectory
    let store: HookedStore
    let backups: Backups

    var folder: String { scratch.path }
    var directory: String { "\(folder)/state" }

    init() throws {
        scratch = try ScratchDirectory()
        let directory = scratch("state")
        try PrivateDirectory.make(at: directory)
        store = HookedStore(try SQLiteDatabase(path: "\(directory)/agent.db"))
        backups = Backups(
            directory: directory, store: store, clock: StandingClock(now: 1_700_000_000),
            version: "1.2.3")
    }

    /// Puts an enrollment in.
    @discardableResult
    func enroll() async throws -> Enrollment {
        guard let id = EnrollmentID(Manifest.hexadecimal(try SecureRandom.bytes(10))),
            let authenticator = TokenID("auth-\(id.text)")
        else { throw SampleError(reason: "no id") }
        let membership = Membership(authenticatorId: authenticator, sealedToken: [1, 2, 3], enrolledAt: 20)
        let enrollment = Enrollment(
            id: id, target: IssuerTarget(issuer: try IssuerURL("https://issuer.example"), rootsPEM: nil),
            name: "card", authnType: .presence, algorithm: -7, rpId: "issuer.example",
            credentialId: Array(id.text.utf8), userHandle: [1], startedAt: 10, sealedKey: [1, 2], signCount: 3,
            state: .active(membership))
        try await store.write { try $0.insert(enrollment) }
        return enrollment
    }

    /// Ends one.
    func unenroll(_ enrollment: Enrollment) async throws {
        try await store.write { _ = try $0.change(enrollment.id, .ended(at: 30)) }
    }

    /// The bytes of a backup.
    func backup() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in try await backups.copy() { bytes += piece }
        return bytes
    }

    func write(_ bytes: [UInt8], as name: String = "backup.tar") throws -> String {
        let path = "\(folder)/\(name)"
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    /// A new empty directory.
    func emptyDirectory() throws -> String {
        let path = "\(folder)/\(UUID().uuidString)"
        try PrivateDirectory.make(at: path)
        return path
    }

    /// Restores bytes into a new directory, and returns that.
    func restored(_ bytes: [UInt8]) throws -> String {
        let directory = try emptyDirectory()
        _ = try restoration(of: write(bytes), into: directory).run()
        return directory
    }

    /// A restore as an agent does it.
    func restoration(
        of path: String, into directory: String, knownSchema: [String] = SQLiteDatabase.knownSchema
    ) -> Restoration {
        Restoration(of: path, into: directory, knownSchema: knownSchema, schema: SQLiteDatabase.schema(of:))
    }
}

/// A store that lets a test act while it is copied.
struct HookedStore: CopyableStore {
    typealias Copying = @Sendable () async throws -> StoreCopy

    let real: SQLiteDatabase
    private let action = Mutexed<(@Sendable (Copying) async throws -> StoreCopy)?>(nil)

    init(_ real: SQLiteDatabase) { self.real = real }

    /// What is done instead of the next copy.
    func duringCopying(_ action: @escaping @Sendable (Copying) async throws -> StoreCopy) { self.action.value = action }

    func afterCopying(_ action: @escaping @Sendable () async throws -> Void) {
        duringCopying { copy in
            let contents = try await copy()
            try await action()
            return contents
        }
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (any StoreReader) throws -> T) async throws -> T {
        try await real.read(body)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any StoreWriter) throws -> T) async throws -> T {
        try await real.write(body)
    }

    func scrub() async throws { try await real.scrub() }

    func copy(to path: String) async throws -> StoreCopy {
        let action = action.value
        self.action.value = nil
        guard let action else { return try await real.copy(to: path) }
        return try await action { try await real.copy(to: path) }
    }
}

final class Mutexed<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    init(_ value: Value) { content = Mutex(value) }

    var value: Value {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}

/// Why a sample could not be made; a fault of the test.
struct SampleError: Error {
    let reason: String
}

/// Runs a program to its end, and returns what it printed; another exit status than 0 is an error.
func run(_ words: String...) throws -> String {
    let process = try SpawnedProcess(words)
    let output = try process.output.readToEnd() ?? Data()
    let errors = try process.errors.readToEnd() ?? Data()
    guard process.waitUntilExit() == 0 else {
        throw SampleError(reason: "\(words): \(String(decoding: errors, as: UTF8.self))")
    }
    return String(decoding: output, as: UTF8.self)
}
