package import Authenticator
import GRDB

/// The book in one SQLite file: WAL, `synchronous=FULL`, so what a write has acknowledged survives a power cut.
package struct SQLiteBook: Book {
    private let pool: DatabasePool

    /// Opens the file, makes it where it is not there, and brings its schema up to date.
    ///
    /// The caller has set a umask that keeps others out, and holds the lock of the state directory.
    ///
    /// - Throws: ``StorageError`` where the file is not usable, or was written by a newer version.
    package init(path: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 2
        configuration.label = "book"
        pool = try StorageError.naming(path) { try DatabasePool(path: path, configuration: configuration) }
        try StorageError.naming(path) {
            // GRDB sets NORMAL when it opens a WAL database, whatever was asked for before: so after it.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            try Schema.bringUpToDate(pool)
        }
    }

    package func read<T: Sendable>(_ body: @escaping @Sendable (any BookReader) throws -> T) async throws -> T {
        try await pool.read { try body(Pages(database: $0)) }
    }

    package func write<T: Sendable>(_ body: @escaping @Sendable (any BookWriter) throws -> T) async throws -> T {
        try await pool.write { try body(Pages(database: $0)) }
    }

    /// SQLite's own word for how durable a commit is: 2 is FULL.
    package func synchronousLevel() async throws -> Int? {
        try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    }
}

/// One database transaction's view of the book.
struct Pages: BookWriter {
    let database: Database
}
