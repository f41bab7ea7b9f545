/// The columns of one row.
///
/// A value that this program cannot have written is an error, never a default.
package struct Fields<Column: TableColumn> {
    // Only the methods that need it are generic over a value's type, because the runtime looks up such a type on each
    // call.

    private let row: any StatementRow
    private let start: Int

    init(_ row: any StatementRow, from start: Int = 0) {
        self.row = row
        self.start = start
    }

    /// The columns of another table, which the statement selects after the columns of this table.
    package func joined<Other>(_ table: TableLayout<Other>) -> Fields<Other> {
        Fields<Other>(row, from: start + Column.allCases.count)
    }

    package func text(_ column: Column) throws -> String {
        guard case .text(let text) = storage(column) else { throw unreadable(column) }
        return text
    }

    package func number<Number: FixedWidthInteger>(_ column: Column) throws -> Number {
        let found: Int64 = try number(column)
        guard let number = Number(exactly: found) else { throw unreadable(column) }
        return number
    }

    package func number(_ column: Column) throws -> Int64 {
        guard case .number(let number) = storage(column) else { throw unreadable(column) }
        return number
    }

    package func bytes(_ column: Column) throws -> [UInt8] {
        guard case .bytes(let bytes) = storage(column) else { throw unreadable(column) }
        return bytes
    }

    package func flag(_ column: Column) throws -> Bool { try number(column) as Int64 != 0 }

    /// Parses a column's text.
    ///
    /// Throws if `make` returns `nil` or throws.
    package func value<Value>(_ column: Column, _ make: (String) throws -> Value?) throws -> Value {
        try made(of: text(column), column, make)
    }

    package func optionalText(_ column: Column) throws -> String? {
        switch storage(column) {
        case .null: nil
        case .text(let text): text
        default: throw unreadable(column)
        }
    }

    package func optionalNumber<Number: FixedWidthInteger>(_ column: Column) throws -> Number? {
        let found: Int64? = try optionalNumber(column)
        guard let found else { return nil }
        guard let number = Number(exactly: found) else { throw unreadable(column) }
        return number
    }

    package func optionalNumber(_ column: Column) throws -> Int64? {
        switch storage(column) {
        case .null: nil
        case .number(let number): number
        default: throw unreadable(column)
        }
    }

    package func optionalBytes(_ column: Column) throws -> [UInt8]? {
        switch storage(column) {
        case .null: nil
        case .bytes(let bytes): bytes
        default: throw unreadable(column)
        }
    }

    package func optionalFlag(_ column: Column) throws -> Bool? {
        (try optionalNumber(column) as Int64?).map { $0 != 0 }
    }

    package func optionalValue<Value>(_ column: Column, _ make: (String) throws -> Value?) throws -> Value? {
        try optionalText(column).map { try made(of: $0, column, make) }
    }

    /// Parses a value that was read from a column.
    ///
    /// Throws if `make` returns `nil` or throws.
    package func made<Read, Value>(of read: Read, _ column: Column, _ make: (Read) throws -> Value?) throws -> Value {
        guard let value = try? make(read) else { throw unreadable(column) }
        return value
    }

    package func unreadable(_ column: Column) -> UnreadableRowError { Column.table.unreadable(column) }

    /// A column's value, without conversion.
    package func any(_ column: Column) throws -> ColumnValue {
        guard let value = storage(column) else { throw unreadable(column) }
        return value
    }

    private func storage(_ column: Column) -> ColumnValue? { row[start + column.rawValue] }
}
