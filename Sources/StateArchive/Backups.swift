package import Authenticator
import DurableFiles
import FoundationEssentials
import Keys
import Synchronization

/// Makes copies of the state while the agent runs.
///
/// A copy has a consistent database, in which keys are sealed.
package struct Backups: StateCopier {
    private let directory: String
    private let store: any CopyableStore
    private let clock: any AgentClock
    private let version: String
    private let turn = Turn()

    /// - Parameter directory: the state directory, which has to have room for a second database.
    package init(
        directory: String, store: any CopyableStore, clock: any AgentClock, version: String
    ) {
        self.directory = directory
        self.store = store
        self.clock = clock
        self.version = version
    }

    package func copy() async throws -> any AsyncSequence<[UInt8], any Error> & Sendable {
        let staging = try Staging(in: directory, holding: turn.take())
        let takenAt = clock.now
        let copied = try await store.copy(to: staging.database)
        return try stream(Copy(schema: copied.schema, takenAt: takenAt), of: staging)
    }

    private struct Copy {
        let schema: [String]
        let takenAt: Int64
    }

    private func stream(_ copy: Copy, of staging: Staging) throws -> BackupStream {
        let version = version
        let entries = [BackupPieces.Entry(name: StateFiles.database, path: staging.database)]
        let pieces = try BackupPieces(entries, time: copy.takenAt) { bytes, digest in
            Manifest(
                version: version, takenAt: copy.takenAt, schema: copy.schema, bytes: bytes, digest: digest)
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

    init(in directory: String, holding place: Turn.Place) throws(FileError) {
        path = "\(directory)/\(StateFiles.backupPrefix)\(String(UInt64.random(in: .min ... .max), radix: 16))"
        self.place = place
        try PrivateDirectory.make(at: path)
    }

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
