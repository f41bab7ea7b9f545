import GRDB
import GRDBSQLite
import TableRows

/// The current row of a statement, read directly from SQLite.
///
/// GRDB's `Row` takes ten times as long, mostly for column names that are not needed.
///
/// The row is valid until the statement steps to the next row.
@safe
struct SQLiteRow: StatementRow {
    private let statement: SQLiteStatement

    /// Steps a statement.
    ///
    /// - Returns: its next row. `nil` at the end.
    /// - Throws: `DatabaseError`.
    init?(stepping statement: Statement) throws {
        unsafe self.statement = statement.sqliteStatement
        switch unsafe sqlite3_step(self.statement) {
        case SQLITE_ROW: break
        case SQLITE_DONE: return nil
        default:
            let database = unsafe sqlite3_db_handle(self.statement)
            let message = unsafe sqlite3_errmsg(database).map { unsafe String(cString: $0) }
            let code = unsafe ResultCode(rawValue: sqlite3_extended_errcode(database))
            throw DatabaseError(resultCode: code, message: message, sql: statement.sql)
        }
    }

    /// Resets a statement, which releases its row, so that it can run again.
    static func reset(_ statement: Statement) { unsafe sqlite3_reset(statement.sqliteStatement) }

    subscript(index: Int) -> ColumnValue? {
        let column = CInt(index)
        switch unsafe sqlite3_column_type(statement, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .number(unsafe sqlite3_column_int64(statement, column))
        case SQLITE_TEXT:
            let start = unsafe sqlite3_column_text(statement, column)
            return .text(unsafe String(decoding: bytes(of: column, from: start), as: UTF8.self))
        case SQLITE_BLOB:
            let start = unsafe sqlite3_column_blob(statement, column)
            return .bytes(unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count(of: column))))
        default: return nil
        }
    }

    /// The length of a value.
    ///
    /// Call it after the text or the blob was fetched, as SQLite requires.
    private func count(of column: CInt) -> Int { unsafe Int(sqlite3_column_bytes(statement, column)) }

    private func bytes(of column: CInt, from start: UnsafePointer<UInt8>?) -> UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(start: start, count: count(of: column))
    }
}
