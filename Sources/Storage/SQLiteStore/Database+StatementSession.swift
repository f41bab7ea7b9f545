package import GRDB
import GRDBSQLite
package import TableRows

/// A SQLite database inside a GRDB database access.
extension Database: StatementSession {
    package var dialect: SQLDialect { .sqlite }

    /// Steps the statement through GRDB.
    ///
    /// GRDB tracks the database transaction, also if a failure makes SQLite roll it back.
    package func execute(_ sql: String, _ values: StatementValues) throws {
        let statement = try cachedStatement(sql: sql)
        // A reset returns the error of a failed earlier run. GRDB would trap on it.
        SQLiteRow.reset(statement)
        statement.setUncheckedArguments([])
        try values.bind(to: statement)
        try statement.execute()
    }

    package func changes(_ sql: String, _ values: StatementValues) throws -> Int {
        try execute(sql, values)
        return changesCount
    }

    package func step(
        _ sql: String, _ values: StatementValues, atMost limit: Int, _ body: (any StatementRow) throws -> Void
    ) throws {
        let statement = try cachedStatement(sql: sql)
        try values.bind(to: statement)
        defer { SQLiteRow.reset(statement) }
        var count = 0
        while count < limit, let row = try SQLiteRow(stepping: statement) {
            try body(row)
            count += 1
        }
    }
}

extension StatementValues {
    /// Resets a statement and binds its values.
    ///
    /// - Throws: `DatabaseError`, also if the number of parameters differs.
    fileprivate func bind(to statement: Statement) throws {
        let handle = unsafe statement.sqliteStatement
        unsafe sqlite3_reset(handle)
        let count = unsafe sqlite3_bind_parameter_count(handle)
        guard count == values.count else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "\(values.count) values for \(count) parameters",
                sql: statement.sql)
        }
        for (index, value) in values.enumerated() {
            let code = unsafe value.bind(to: handle, at: CInt(index) + 1)
            guard code == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), sql: statement.sql)
            }
        }
    }
}

extension ColumnValue {
    /// Binds the value.
    ///
    /// SQLite copies it before the call returns.
    fileprivate func bind(to statement: SQLiteStatement, at index: CInt) -> CInt {
        switch self {
        case .null: return unsafe sqlite3_bind_null(statement, index)
        case .number(let number): return unsafe sqlite3_bind_int64(statement, index, number)
        case .text(var text):
            return text.withUTF8 { text in
                // A null address would bind NULL.
                guard let start = text.baseAddress else {
                    return unsafe sqlite3_bind_text(statement, index, "", 0, nil)
                }
                return unsafe start.withMemoryRebound(to: CChar.self, capacity: text.count) {
                    unsafe sqlite3_bind_text64(
                        statement, index, $0, UInt64(text.count), Self.copied, UInt8(SQLITE_UTF8))
                }
            }
        case .bytes(let bytes):
            return unsafe bytes.withUnsafeBytes { bytes in
                // An empty blob has a null address, which would bind NULL.
                guard let start = bytes.baseAddress else { return unsafe sqlite3_bind_zeroblob(statement, index, 0) }
                return unsafe sqlite3_bind_blob64(statement, index, start, UInt64(bytes.count), Self.copied)
            }
        }
    }

    /// SQLITE_TRANSIENT.
    private static var copied: sqlite3_destructor_type { unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
