import Foundation
package import GRDB

/// The columns that a statement writes, each beside its value, so that no two can be swapped.
package struct ColumnValues<Column: TableColumn>: ExpressibleByDictionaryLiteral {
    private let pairs: [(Column, (any DatabaseValueConvertible)?)]

    package init(dictionaryLiteral elements: (Column, (any DatabaseValueConvertible)?)...) { pairs = elements }

    private init(_ pairs: [(Column, (any DatabaseValueConvertible)?)]) { self.pairs = pairs }

    package static func + (left: ColumnValues, right: ColumnValues) -> ColumnValues {
        ColumnValues(left.pairs + right.pairs)
    }

    // id, name
    fileprivate var names: String { pairs.map { Column.table.name(of: $0.0) }.joined(separator: ", ") }
    // ?, ?
    fileprivate var parameters: String { pairs.map { _ in "?" }.joined(separator: ", ") }
    // id = ?, name = ?
    fileprivate func assignments(separator: String) -> String {
        pairs.map { Column.table.name(of: $0.0) + " = ?" }.joined(separator: separator)
    }
    fileprivate var arguments: StatementArguments { StatementArguments(pairs.map { $0.1 }) }
}

extension Database {
    /// Inserts one row; a column that is not named has its default.
    ///
    /// - Parameter action: done instead if there is such a row; nil: that is an error.
    package func insert<Column>(
        into table: TableLayout<Column>, _ values: ColumnValues<Column>, onConflict action: String? = nil
    ) throws {
        let conflict = action.map { " ON CONFLICT DO " + $0 } ?? ""
        try cachedStatement(sql: "INSERT INTO \(table.name) (\(values.names)) VALUES (\(values.parameters))\(conflict)")
            .execute(arguments: values.arguments)
    }

    /// Writes these columns of the rows that the key names.
    package func update<Column>(
        _ table: TableLayout<Column>, set values: ColumnValues<Column>, where key: ColumnValues<Column>
    ) throws {
        let (changes, condition) = (values.assignments(separator: ", "), key.assignments(separator: " AND "))
        try cachedStatement(sql: "UPDATE \(table.name) SET \(changes) WHERE \(condition)")
            .execute(arguments: values.arguments + key.arguments)
    }
}

extension [UInt8] {
    /// The bytes as SQLite takes them.
    package var blob: DatabaseValue { Data(self).databaseValue }
}
