import GRDB

/// Why the book cannot be used; never carries a row's content.
package enum StorageError: Error, CustomStringConvertible {
    /// SQLite's own message, with the file that it is about.
    case database(path: String, reason: String)
    /// The file was written by a newer version of the agent.
    case newerSchema(path: String, unknown: [String])
    /// A row that this agent cannot have written.
    case unreadable(table: String, column: String)

    package var description: String {
        switch self {
        case .database(let path, let reason): "the database \(path) cannot be used: \(reason)"
        case .newerSchema(let path, let unknown):
            "the database \(path) was written by a newer version of the agent (it knows \(unknown.joined(separator: ", "))): "
                + "use that version, or a backup from before the upgrade"
        case .unreadable(let table, let column): "a row of \(table) in the database has an unreadable \(column)"
        }
    }

    static func naming<T>(_ path: String, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw StorageError.database(path: path, reason: error.message ?? "\(error.resultCode)")
        } catch let unknown as Schema.UnknownMigrations {
            throw StorageError.newerSchema(path: path, unknown: unknown.names)
        }
    }
}
