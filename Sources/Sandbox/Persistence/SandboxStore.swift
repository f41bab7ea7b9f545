import GRDB

/// The sandbox's database: in memory, or one SQLite file.
package struct SandboxStore: Sendable {
    /// What went wrong when the file was opened.
    package struct OpeningError: Error, CustomStringConvertible {
        package let description: String
    }

    let queue: DatabaseQueue
    /// Marks this database in cursors, so that a cursor of another one is known as such.
    let epoch: String

    /// Without a path everything is gone when the process ends.
    package init(path: String?, dependencies: SandboxDependencies) throws {
        do {
            queue = try path.map(Self.openFile) ?? DatabaseQueue()
            try Schema.migrator.migrate(queue)
        } catch {
            throw OpeningError(description: "the database \(path ?? "in memory") cannot be opened: \(error)")
        }
        let fresh = try dependencies.randomID()
        epoch = try queue.write { db in
            try db.execute(sql: "INSERT INTO fact VALUES ('epoch', ?) ON CONFLICT DO NOTHING", arguments: [fresh])
            return try String.fetchOne(db, sql: "SELECT value FROM fact WHERE name = 'epoch'") ?? fresh
        }
    }

    private static func openFile(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // Set after opening: GRDB's own set-up of WAL would put it back to NORMAL.
        let level = try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            return try Int.fetchOne(db, sql: "PRAGMA synchronous")
        }
        guard level == 2 else { throw OpeningError(description: "synchronous is \(level ?? -1) and not FULL") }
        return queue
    }
}
