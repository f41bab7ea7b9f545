import GRDB
import Records
import SQLiteStore

extension SQLiteDatabase {
    /// Writes a consistent copy to a new file, as a backup with its manifest.
    ///
    /// Reads and writes do not wait. It uses a connection of its own with one long read. The writer continues, and its
    /// log grows until the copy is complete. `VACUUM INTO` copies only rows, so deleted data in the file's free space
    /// is not in the copy. Cancelling the task interrupts SQLite.
    ///
    /// - Parameters:
    ///   - version: the agent's version.
    ///   - time: the present time, in seconds since 1970.
    /// - Throws: `CommandError` if the database has a table, an index, a trigger or a view that is not the agent's. A
    ///   restore would refuse such a copy.
    func copy(to path: String, version: String, takenAt time: Int64) async throws {
        try await Self.working(on: self.path, Self.readOnly) { source in
            // Check before the disk is filled with a useless copy.
            try source.read { try Self.checkSchema(of: $0) }
            // A cancellation between two statements interrupts none of them.
            try Task.checkCancellation()
            try source.vacuum(into: path)
            try Task.checkCancellation()
        }
        try await Self.working(on: path, Self.wary) { copy in
            try copy.write { copy in
                try Self.markAsCopy(copy)
                try Manifest.write(into: copy, version: version, takenAt: time)
            }
        }
    }

    /// Works with a file on the caller's thread, which may have a low priority.
    ///
    /// Cancelling the task interrupts it.
    private static func working(
        on path: String, _ configuration: Configuration, _ work: @Sendable (DatabaseQueue) throws -> Void
    ) async throws {
        try await naming(path) {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try await withTaskCancellationHandler {
                try work(queue)
            } onCancel: {
                queue.interrupt()
            }
            try queue.close()
        }
    }

    private static func checkSchema(of database: Database) throws {
        let foreign = try SchemaObjects(of: database).differences(from: .ofThisVersion())
        guard foreign.isEmpty else {
            throw CommandError(
                .failed,
                "the database is not as this version makes it, and no restore would take a copy: "
                    + foreign.joined(separator: ", "))
        }
    }

    /// Marks every signCount of a copy as uncertain.
    ///
    /// The source may have used later signCounts. So the copy uses none before the issuer has said which one it
    /// accepted.
    static func markAsCopy(_ copy: Database) throws {
        try copy.execute(
            sql: "UPDATE enrollment SET refused_sign_count = sign_count WHERE state IN ('active', 'suspended')")
    }
}
