import DurableFiles
package import Records
package import SQLiteStore
import Synchronization

/// Makes copies of the state while the agent runs: one SQLite file each, with a manifest in it.
package struct Backups: StateCopier {
    private let directory: String
    private let store: SQLiteDatabase
    private let clock: any AgentClock
    private let version: String

    /// - Parameter directory: the state directory, which has to have room for a second database.
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
        // From then on the copy is this process's alone, and goes with it.
        defer { StateFiles.remove(staging) }
        let path = "\(staging)/\(StateFiles.database)"
        try await store.copy(to: path, version: version, takenAt: clock.now)
        return BackupStream(try FileStream(reading: path))
    }
}

/// A backup on its way: each iteration goes on where the last one stopped.
///
/// Its file has no name any more, and its bytes go with the stream.
private final class BackupStream: AsyncSequence, Sendable {
    /// The most bytes of a piece.
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
