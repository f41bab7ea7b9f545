/// A value of a column or of a statement's parameter.
package enum ColumnValue: Sendable, Hashable {
    case null
    case number(Int64)
    case text(String)
    case bytes([UInt8])
}

/// What a column or a parameter can be given.
package protocol ColumnValueConvertible {
    var columnValue: ColumnValue { get }
}

extension ColumnValue: ColumnValueConvertible {
    package var columnValue: ColumnValue { self }
}

extension Int: ColumnValueConvertible {
    package var columnValue: ColumnValue { .number(Int64(self)) }
}

extension Int64: ColumnValueConvertible {
    package var columnValue: ColumnValue { .number(self) }
}

extension Int32: ColumnValueConvertible {
    package var columnValue: ColumnValue { .number(Int64(self)) }
}

extension UInt32: ColumnValueConvertible {
    package var columnValue: ColumnValue { .number(Int64(self)) }
}

/// A flag is a number, 0 or 1: SQLite has no other, and PostgreSQL's columns are made alike.
extension Bool: ColumnValueConvertible {
    package var columnValue: ColumnValue { .number(self ? 1 : 0) }
}

extension String: ColumnValueConvertible {
    package var columnValue: ColumnValue { .text(self) }
}

extension Array: ColumnValueConvertible where Element == UInt8 {
    package var columnValue: ColumnValue { .bytes(self) }
}

extension Optional: ColumnValueConvertible where Wrapped: ColumnValueConvertible {
    // No key path: one of a generic type is made anew each time.
    package var columnValue: ColumnValue {
        switch self {
        case .some(let value): value.columnValue
        case nil: .null
        }
    }
}
