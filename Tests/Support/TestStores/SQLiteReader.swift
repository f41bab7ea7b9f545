import GRDB

/// A connection to a SQLite file that reads from its making until it is closed, as one that copies the file does.
package struct SQLiteReader: Sendable {
    private let connection: DatabaseQueue

    package init(path: String) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        connection = try DatabaseQueue(path: path, configuration: configuration)
        try connection.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN")
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema")
        }
    }

    package func close() throws {
        try connection.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try connection.close()
    }
}
