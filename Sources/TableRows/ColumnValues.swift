/// The columns that a statement writes, each beside its value, so that no two can be swapped.
package struct ColumnValues<Column: TableColumn>: ExpressibleByDictionaryLiteral {
    private let pairs: [(Column, ColumnValue)]

    package init(dictionaryLiteral elements: (Column, any ColumnValueConvertible)...) {
        pairs = elements.map { ($0, $1.columnValue) }
    }

    private init(_ pairs: [(Column, ColumnValue)]) { self.pairs = pairs }

    package static func + (left: ColumnValues, right: ColumnValues) -> ColumnValues {
        ColumnValues(left.pairs + right.pairs)
    }

    /// The same without the columns that have the same value in `others`, in which they are at the same places.
    package func without(_ others: ColumnValues) -> ColumnValues {
        ColumnValues(
            pairs.enumerated().filter { place, pair in
                guard place < others.pairs.count, others.pairs[place].0.rawValue == pair.0.rawValue else { return true }
                return others.pairs[place].1 != pair.1
            }.map(\.element))
    }

    fileprivate var columns: [Column] { pairs.map(\.0) }
    fileprivate var values: StatementValues { StatementValues(pairs.map(\.1)) }
}

extension StatementSession {
    /// Inserts one row; a column that is not named has its default.
    ///
    /// - Parameter action: what follows `ON CONFLICT` in the statement: the columns that are the same, and what is done
    ///   instead; nil: such a row is an error.
    package func insert<Column>(
        into table: TableLayout<Column>, _ values: ColumnValues<Column>, onConflict action: String? = nil
    ) throws {
        try run(table.insertion(of: values.columns, onConflict: action), values.values)
    }

    /// Writes these columns of the rows that the key names.
    package func update<Column>(
        _ table: TableLayout<Column>, set values: ColumnValues<Column>, where key: ColumnValues<Column>
    ) throws {
        try run(table.update(of: values.columns, where: key.columns), values.values + key.values)
    }
}
