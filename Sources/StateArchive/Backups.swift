package import Authenticator
import DurableFiles
import FoundationEssentials
import Keys
import Synchronization

/// Makes copies of the state while the agent runs.
///
/// A copy has a consistent database, and the key files that belong to it, still encrypted.
package struct Backups: StateCopier {
    private let directory: String
    private let store: any CopyableStore
    private let keys: any CopyableKeys
    private let clock: any AgentClock
    private let version: String
    private let turn = Turn()

    /// How often a copy is begun again because a key went while it was taken.
    private static let tries = 3

    /// - Parameter directory: the state directory, which has to have room for a second database.
    package init(
        directory: String, store: any CopyableStore, keys: any CopyableKeys, clock: any AgentClock,
        version: String
    ) {
        self.directory = directory
        self.store = store
        self.keys = keys
        self.clock = clock
        self.version = version
    }

    package func copy() async throws -> any AsyncSequence<[UInt8], any Error> & Sendable {
        let place = try turn.take()
        for _ in 1...Self.tries {
            let staging = try Staging(in: directory, holding: place)
            if let entries = try await take(into: staging) { return try stream(entries, of: staging) }
        }
        throw CommandError(.failed, "enrollments ended while the copy was taken: try again")
    }

    private struct Copy {
        let entries: [BackupPieces.Entry]
        let schema: [String]
        let takenAt: Int64
        let keys: Int
    }

    /// Copies the database, and gives the key files that belong to the copy a second name.
    ///
    /// Those that are there before the database is copied get it first, then those that came meanwhile. So every row of
    /// the copy has its key file, unless its enrollment began and ended in between: then nil.
    private func take(into staging: Staging) async throws -> Copy? {
        try keys.linkKeys(into: staging.keys)
        let takenAt = clock.now
        let copied = try await store.copy(to: staging.database)
        try keys.linkKeys(into: staging.keys)
        let pinned = copied.keyed.filter { staging.hasKey(keys.fileName(of: $0)) }
        guard try await areKeptElsewhere(Set(copied.keyed).subtracting(pinned)) else { return nil }
        let files = pinned.map(keys.fileName).map { name in
            BackupPieces.Entry(name: "\(StateFiles.keys)/\(name)", path: "\(staging.keys)/\(name)")
        }
        return Copy(
            entries: [
                BackupPieces.Entry(name: StateFiles.database, path: staging.database),
                BackupPieces.Entry(name: "\(StateFiles.keys)/", path: nil),
            ] + files,
            schema: copied.schema, takenAt: takenAt, keys: files.count)
    }

    /// Whether these enrollments go on without a key file: then their keys are somewhere else.
    private func areKeptElsewhere(_ enrollments: Set<EnrollmentID>) async throws -> Bool {
        try await store.read { store in
            try enrollments.allSatisfy { id in try store.enrollment(id)?.isOver == false }
        }
    }

    private func stream(_ copy: Copy, of staging: Staging) throws -> BackupStream {
        let version = version
        let pieces = try BackupPieces(copy.entries, time: copy.takenAt) { bytes, digest in
            Manifest(
                version: version, takenAt: copy.takenAt, schema: copy.schema, keys: copy.keys, bytes: bytes,
                digest: digest)
        }
        return BackupStream(pieces, of: staging)
    }
}

/// A file of the copy is shorter than it was: something else changed it.
struct ChangedFileError: Error, CustomStringConvertible {
    let description = "a file of the copy changed while it was sent"
}

/// A backup on its way: each iteration goes on where the last one stopped, and its files go with it.
private final class BackupStream: AsyncSequence, Sendable {
    private let pieces: Mutex<BackupPieces>
    private let staging: Staging

    init(_ pieces: consuming sending BackupPieces, of staging: Staging) {
        self.pieces = Mutex(pieces)
        self.staging = staging
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let stream: BackupStream

        mutating func next() async throws -> [UInt8]? { try stream.pieces.withLock { try $0.next() } }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }
}

/// A directory for one copy; it goes when the copy does.
private final class Staging: Sendable {
    private let path: String
    private let place: Turn.Place

    var database: String { "\(path)/\(StateFiles.database)" }
    var keys: String { "\(path)/\(StateFiles.keys)" }

    init(in directory: String, holding place: Turn.Place) throws(FileError) {
        path = "\(directory)/\(StateFiles.backupPrefix)\(String(UInt64.random(in: .min ... .max), radix: 16))"
        self.place = place
        try PrivateDirectory.make(at: path)
        try PrivateDirectory.make(at: keys)
    }

    func hasKey(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(keys)/\(name)") }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Lets one copy be taken at a time.
private final class Turn: Sendable {
    private let isTaken = Mutex(false)

    /// The turn is over when this is let go of.
    final class Place: Sendable {
        private let turn: Turn

        fileprivate init(_ turn: Turn) { self.turn = turn }

        deinit { turn.isTaken.withLock { $0 = false } }
    }

    func take() throws(CommandError) -> Place {
        let isFree = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        guard isFree else { throw CommandError(.failed, "another backup is being taken: wait for its end") }
        return Place(self)
    }
}
