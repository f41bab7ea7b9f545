import Foundation
import GRDB
import ThreeDS

/// Reads the columns of one row; a value that this agent cannot have written is an error, never a default.
struct Fields {
    let table: String
    let row: Row

    func text(_ column: String) throws -> String {
        guard let value = row[column] as String? else { throw unreadable(column) }
        return value
    }

    func integer(_ column: String) throws -> Int64 {
        guard let value = row[column] as Int64? else { throw unreadable(column) }
        return value
    }

    /// A time that this agent's clock gave: seconds since 1970, within `BoundedTime.range`.
    func time(_ column: String) throws -> Int64 {
        guard let value = try optionalTime(column) else { throw unreadable(column) }
        return value
    }

    func optionalTime(_ column: String) throws -> Int64? {
        guard let value = optionalInteger(column) else { return nil }
        guard BoundedTime.range.contains(value) else { throw unreadable(column) }
        return value
    }

    /// A time that an issuer gave; earlier versions kept any of 64 bits.
    func optionalClaimedTime(_ column: String) -> Int64? { optionalInteger(column).map(BoundedTime.nearest) }

    /// A number that is counted up from 0, one at a time.
    func count(_ column: String) throws -> Int64 {
        let value = try integer(column)
        // Nobody counts up to half of what fits, so one more always fits.
        guard (0...Int64.max / 2).contains(value) else { throw unreadable(column) }
        return value
    }

    func bytes(_ column: String) throws -> [UInt8] {
        guard let value = optionalBytes(column) else { throw unreadable(column) }
        return value
    }

    func optionalText(_ column: String) -> String? { row[column] }

    func optionalInteger(_ column: String) -> Int64? { row[column] }

    func optionalBytes(_ column: String) -> [UInt8]? { (row[column] as DatabaseValue).bytes }

    func flag(_ column: String) throws -> Bool { try integer(column) != 0 }

    /// Makes a value that can be refused of a column.
    func value<Value>(_ column: String, _ make: (String) throws -> Value?) throws -> Value {
        guard let value = try? make(try text(column)) else { throw unreadable(column) }
        return value
    }

    func optionalValue<Value>(_ column: String, _ make: (String) throws -> Value?) throws -> Value? {
        optionalText(column) == nil ? nil : try value(column, make)
    }

    func unreadable(_ column: String) -> UnreadableRowError { UnreadableRowError(table: table, column: column) }
}

extension DatabaseValue {
    fileprivate var bytes: [UInt8]? {
        if case .blob(let data) = storage { [UInt8](data) } else { nil }
    }
}

extension [UInt8] {
    /// The bytes as SQLite takes them.
    var blob: DatabaseValue { Data(self).databaseValue }
}

/// A row that this agent cannot have written; carries nothing of it.
struct UnreadableRowError: Error, CustomStringConvertible {
    let table: String
    let column: String

    var description: String { "a row of \(table) has an unreadable \(column)" }
}
