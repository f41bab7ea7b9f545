import DurableFiles
package import Records
package import SQLiteStore
import Synchronization

/// Backs up the state while the agent runs.
///
/// A backup is one SQLite file that contains a manifest.
package struct Backups: StateCopier {
    private let directory: String
    private let store: SQLiteDatabase
    private let clock: any AgentClock
    private let version: String

    /// - Parameter directory: the state directory, which needs space for a second database.
    package init(directory: String, store: SQLiteDatabase, clock: any AgentClock, version: String) {
        self.directory = directory
        self.store = store
        self.clock = clock
        self.version = version
    }

    package var size: Int64 { store.size }

    package func copy() async throws -> any AsyncSequence<[UInt8], any Error> & Sendable {
        let staging = "\(directory)/\(StateFiles.backupPrefix)\(String(UInt64.random(in: .min ... .max), radix: 16))"
        try PrivateDirectory.make(at: staging)
        // The stream keeps the unlinked copy open, so the copy ends with this process at the latest.
        defer { StateFiles.remove(staging) }
        let path = "\(staging)/\(StateFiles.database)"
        try await store.copy(to: path, version: version, takenAt: clock.now)
        return BackupStream(try FileStream(reading: path))
    }
}

/// The stream of a backup.
///
/// Each iteration continues where the last one stopped. The file is unlinked, so its bytes are freed with the stream.
private final class BackupStream: AsyncSequence, Sendable {
    /// The largest size of a piece, in bytes.
    private static let pieceSize = 65_536

    private let file: Mutex<FileStream>

    init(_ file: consuming sending FileStream) { self.file = Mutex(file) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let stream: BackupStream

        mutating func next() async throws -> [UInt8]? {
            let piece = try stream.file.withLock { try $0.read(BackupStream.pieceSize) }
            return piece.isEmpty ? nil : piece
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }
}
