import GRDB
import SQLiteRows
package import StoreTables

extension SQLiteDatabase {
    /// A migration of this name tells every version of the agent that the state is not here any more.
    private static let movedPrefix = "moved to "

    /// Where the state in a file was moved to, as its migrations say; nil if it was not.
    static func movedPlace(_ migrations: some Sequence<String>) -> String? {
        migrations.first { $0.hasPrefix(movedPrefix) }.map { String($0.dropFirst(movedPrefix.count)) }
    }

    /// The same; the file stays as it is.
    package static func movedPlace(of path: String) throws -> String? { movedPlace(try schema(of: path)) }

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

    /// Marks the state as moved: neither this version nor an older one opens it any more.
    package func markMoved(to place: String) throws {
        try Self.naming(path) {
            try pool.write { database in
                try database.execute(
                    sql: "INSERT INTO grdb_migrations (identifier) VALUES (?)", arguments: [Self.movedPrefix + place])
            }
        }
    }
}
