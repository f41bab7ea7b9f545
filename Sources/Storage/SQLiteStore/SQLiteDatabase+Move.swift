import GRDB
package import StoreTables
import TableRows

extension SQLiteDatabase {
    /// The place to which the state in a file was moved.
    ///
    /// `nil` if it was not moved, or the file is not a store. Opens the file read-only, and leaves it unchanged.
    package static func movedPlace(of path: String) throws -> String? {
        try reading(path) { try areTables(in: $0) ? movedPlace(in: $0) : nil }
    }

    private static func movedPlace(in database: Database) throws -> String? {
        try database.text("SELECT place FROM moved_state WHERE direction = 'out'")
    }

    private static func areTables(in database: Database) throws -> Bool {
        try StoreSchema.isMade(in: database, by: StoreSchema.statements(for: .sqlite))
    }

    /// Verifies that this version can use the database, without changing it.
    ///
    /// - Returns: false if it is empty.
    /// - Throws: `StoreFormError`, ``StateMovedError``, ``UnrestoredBackupError``.
    static func isMade(in database: Database) throws -> Bool {
        guard try areTables(in: database) else { return false }
        if let place = try movedPlace(in: database) { throw StateMovedError(place: place) }
        if try database.tableExists(backupTable) { throw UnrestoredBackupError() }
        return true
    }

    /// Reads all tables in one snapshot, on the caller's thread.
    package func withSession<Result>(_ body: (any StoreSession) throws -> Result) throws -> Result {
        try Self.naming(path) { try pool.read { try body($0) } }
    }

    /// Runs `body` in one database transaction that writes, on the caller's thread.
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

    /// Marks the state as moved away, so that no agent opens it.
    package func markMoved(to place: String) throws {
        try Self.naming(path) {
            try pool.write { database in
                try database.execute("INSERT INTO moved_state (one, direction, place) VALUES (1, 'out', ?)", [place])
            }
        }
    }
}

/// The state was moved elsewhere.
struct StateMovedError: Error {
    let place: String
}

/// The database is a backup that was not restored.
struct UnrestoredBackupError: Error {}
