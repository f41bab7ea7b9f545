/// Reads the columns of one row; a value that this program cannot have written is an error, never a default.
package struct Fields<Column: TableColumn> {
    // What is generic over a value's type is left to the few that need it: such a type is looked up anew at each call.

    private let row: any StatementRow
    private let start: Int

    init(_ row: any StatementRow, from start: Int = 0) {
        self.row = row
        self.start = start
    }

    /// The columns of another table that the statement gives after those of this one.
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

    /// Makes a value that can be refused of a column.
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

    /// Makes a value that can be refused of what was read from a column.
    package func made<Read, Value>(of read: Read, _ column: Column, _ make: (Read) throws -> Value?) throws -> Value {
        guard let value = try? make(read) else { throw unreadable(column) }
        return value
    }

    package func unreadable(_ column: Column) -> UnreadableRowError { Column.table.unreadable(column) }

    /// A column's value as it is.
    package func any(_ column: Column) throws -> ColumnValue {
        guard let value = storage(column) else { throw unreadable(column) }
        return value
    }

    private func storage(_ column: Column) -> ColumnValue? { row[start + column.rawValue] }
}
