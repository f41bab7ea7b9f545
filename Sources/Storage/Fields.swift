import Foundation
import GRDB

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

    func octets(_ column: String) throws -> [UInt8] {
        guard let value = optionalOctets(column) else { throw unreadable(column) }
        return value
    }

    func optionalText(_ column: String) -> String? { row[column] }

    func optionalInteger(_ column: String) -> Int64? { row[column] }

    func optionalOctets(_ column: String) -> [UInt8]? { (row[column] as DatabaseValue).octets }

    func flag(_ column: String) throws -> Bool { try integer(column) != 0 }

    /// Makes a value that can be refused of a column.
    func value<Value>(_ column: String, _ make: (String) throws -> Value?) throws -> Value {
        guard let value = try? make(try text(column)) else { throw unreadable(column) }
        return value
    }

    func optionalValue<Value>(_ column: String, _ make: (String) throws -> Value?) throws -> Value? {
        optionalText(column) == nil ? nil : try value(column, make)
    }

    func unreadable(_ column: String) -> UnreadableRow { UnreadableRow(table: table, column: column) }
}

extension DatabaseValue {
    fileprivate var octets: [UInt8]? {
        if case .blob(let data) = storage { [UInt8](data) } else { nil }
    }
}

extension [UInt8] {
    /// The octets as SQLite takes them.
    var blob: DatabaseValue { Data(self).databaseValue }
}
