/// The columns that a statement writes, each beside its value, so that no two can be swapped.
package struct ColumnValues<Column: TableColumn>: ExpressibleByDictionaryLiteral {
    // Plain numbers and values, and no pairs of a type that is known only when the program runs: those cost more than
    // the statement. For the same reason there are no key paths here.

    /// The columns' raw values.
    fileprivate private(set) var columns: [Int] = []
    fileprivate private(set) var values: [ColumnValue] = []

    package init(dictionaryLiteral elements: (Column, any ColumnValueConvertible)...) {
        columns.reserveCapacity(elements.count)
        values.reserveCapacity(elements.count)
        for (column, value) in elements {
            columns.append(column.rawValue)
            values.append(value.columnValue)
        }
    }

    package static func + (left: ColumnValues, right: ColumnValues) -> ColumnValues {
        var all = left
        all.columns += right.columns
        all.values += right.values
        return all
    }

    /// The same with other values in those of `chosen` that are among them.
    package func converting(
        _ chosen: [Column], _ convert: (ColumnValue, Column) throws -> ColumnValue
    ) rethrows -> ColumnValues {
        var all = self
        for column in chosen {
            guard let place = columns.firstIndex(of: column.rawValue) else { continue }
            all.values[place] = try convert(values[place], column)
        }
        return all
    }

    /// The same without the columns that have the same value in `others`, in which they are at the same places.
    package func without(_ others: ColumnValues) -> ColumnValues {
        var left: ColumnValues = [:]
        for place in columns.indices {
            if place < others.columns.count, others.columns[place] == columns[place],
                others.values[place] == values[place]
            {
                continue
            }
            left.columns.append(columns[place])
            left.values.append(values[place])
        }
        return left
    }
}

extension StatementSession {
    /// Inserts one row; a column that is not named has its default.
    ///
    /// - Parameter action: what follows `ON CONFLICT` in the statement: the columns that are the same, and what is done
    ///   instead; nil: such a row is an error.
    package func insert<Column>(
        into table: TableLayout<Column>, _ values: ColumnValues<Column>, onConflict action: String? = nil
    ) throws {
        try run(table.insertion(of: values.columns, onConflict: action), StatementValues(values.values))
    }

    /// Writes these columns of the rows that the key names.
    package func update<Column>(
        _ table: TableLayout<Column>, set values: ColumnValues<Column>, where key: ColumnValues<Column>
    ) throws {
        try run(table.update(of: values.columns, where: key.columns), StatementValues(values.values + key.values))
    }
}
