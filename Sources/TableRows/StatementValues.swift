import Foundation
package import GRDB
import GRDBSQLite

/// The values of a statement's parameters, in their order.
package struct StatementValues: ExpressibleByArrayLiteral {
    private var values: [(any DatabaseValueConvertible)?]

    package init(arrayLiteral elements: (any DatabaseValueConvertible)?...) { values = elements }

    init(_ values: [(any DatabaseValueConvertible)?]) { self.values = values }

    package static func + (left: StatementValues, right: StatementValues) -> StatementValues {
        StatementValues(left.values + right.values)
    }

    package static func += (left: inout StatementValues, right: StatementValues) { left.values += right.values }

    /// Makes a statement ready to be stepped from its beginning with these values.
    ///
    /// - Throws: `DatabaseError`, also if the statement has another number of parameters.
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
            let place = CInt(index) + 1
            let code = unsafe value?.bind(to: handle, at: place) ?? sqlite3_bind_null(handle, place)
            guard code == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), sql: statement.sql)
            }
        }
    }
}

extension Database {
    /// Runs a statement that changes something.
    ///
    /// GRDB steps it, which keeps account of the database transaction, also if the statement fails and SQLite undoes all.
    package func run(_ sql: String, _ values: StatementValues = []) throws {
        let statement = try cachedStatement(sql: sql)
        // A reset gives the error of a run that failed before, which GRDB would trap on.
        StatementRow.end(statement)
        statement.setUncheckedArguments([])
        try values.bind(to: statement)
        try statement.execute()
    }

    /// The number in the first column of the first row that a statement gives; nil if there is none.
    package func number(_ sql: String, _ values: StatementValues = []) throws -> Int64? {
        var number: Int64?
        try step(sql, values, atMost: 1) { if case .number(let found) = $0[0] { number = found } }
        return number
    }

    /// Steps through the rows that a statement gives, and lets go of it.
    func step(
        _ sql: String, _ values: StatementValues, atMost limit: Int = .max, _ body: (StatementRow) throws -> Void
    ) throws {
        let statement = try cachedStatement(sql: sql)
        try values.bind(to: statement)
        defer { StatementRow.end(statement) }
        var count = 0
        while count < limit, let row = try StatementRow(stepping: statement) {
            try body(row)
            count += 1
        }
    }
}

/// Bytes as SQLite takes them.
package struct Blob: DatabaseValueConvertible {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var databaseValue: DatabaseValue { Data(bytes).databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> Blob? {
        Data.fromDatabaseValue(value).map { Blob([UInt8]($0)) }
    }

    package func bind(to statement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe bytes.withUnsafeBytes { bytes in
            // An empty blob has no address, which would be NULL.
            guard let start = bytes.baseAddress else { return unsafe sqlite3_bind_zeroblob(statement, index, 0) }
            return unsafe sqlite3_bind_blob(statement, index, start, CInt(bytes.count), Self.copied)
        }
    }

    /// SQLITE_TRANSIENT: SQLite copies the bytes before it returns.
    private static var copied: sqlite3_destructor_type { unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

extension [UInt8] {
    /// The bytes as SQLite takes them.
    package var blob: Blob { Blob(self) }
}
