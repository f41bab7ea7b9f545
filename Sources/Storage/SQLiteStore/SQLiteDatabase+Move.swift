import GRDB
package import StoreTables
import TableRows

extension SQLiteDatabase {
    /// Where the state in a file was moved to; nil if it was not, or the file is not a store.
    ///
    /// Opened for reading alone: the file stays as it is.
    package static func movedPlace(of path: String) throws -> String? {
        try reading(path) { try areTables(in: $0) ? movedPlace(in: $0) : nil }
    }

    private static func movedPlace(in database: Database) throws -> String? {
        try database.text("SELECT place FROM moved_state WHERE direction = 'out'")
    }

    private static func areTables(in database: Database) throws -> Bool {
        try StoreSchema.isMade(in: database, by: StoreSchema.statements(for: .sqlite))
    }

    /// Checks that this version can work on a database as it is.
    ///
    /// - Returns: false if it is empty.
    /// - Throws: `StoreFormError`, ``StateMovedError``, ``UnrestoredBackupError``.
    static func isMade(in database: Database) throws -> Bool {
        guard try areTables(in: database) else { return false }
        if let place = try movedPlace(in: database) { throw StateMovedError(place: place) }
        if try database.tableExists(backupTable) { throw UnrestoredBackupError() }
        return true
    }

    /// Reads all as of one moment, on the caller's thread.
    package func withSession<Result>(_ body: (any StoreSession) throws -> Result) throws -> Result {
        try Self.naming(path) { try pool.read { try body($0) } }
    }

    /// Writes all that `body` writes, or nothing of it, on the caller's thread.
    package func withWritingSession<Result>(_ body: (any StoreSession) throws -> Result) throws -> Result {
        try Self.naming(path) {
            var results: [Result] = []
            try pool.writeWithoutTransaction { database in
                try database.inTransaction {
                    results.append(try body(database))
                    return .commit
                }
            }
            return results[0]
        }
    }

    /// Marks the state as moved: no agent opens it any more.
    package func markMoved(to place: String) throws {
        try Self.naming(path) {
            try pool.write { database in
                try database.run("INSERT INTO moved_state (one, direction, place) VALUES (1, 'out', ?)", [place])
            }
        }
    }
}

/// The state is not here any more.
struct StateMovedError: Error {
    let place: String
}

/// A database is a backup that nobody restored.
struct UnrestoredBackupError: Error {}
