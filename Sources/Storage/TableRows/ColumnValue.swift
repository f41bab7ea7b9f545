/// A value of a column or of a statement's parameter.
package enum ColumnValue: Sendable, Hashable {
    case null
    case number(Int64)
    case text(String)
    case bytes([UInt8])
}

/// A type that converts to a column value, for columns and parameters.
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

/// A flag is the number 0 or 1: SQLite has no Boolean type, and PostgreSQL's columns have the same types.
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
    // Not a key path, because a key path of a generic type is created anew on each use.
    package var columnValue: ColumnValue {
        switch self {
        case .some(let value): value.columnValue
        case nil: .null
        }
    }
}

extension ColumnValue {
    /// The value's type, length and content, so that no two different rows give the same bytes.
    package var unmistakableBytes: [UInt8] {
        let (type, content): (UInt8, [UInt8]) =
            switch self {
            case .null: (0, [])
            case .number(let number): (1, Self.bytes(UInt64(bitPattern: number)))
            case .text(let text): (2, Array(text.utf8))
            case .bytes(let bytes): (3, bytes)
            }
        return [type] + Self.bytes(UInt64(content.count)) + content
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}
