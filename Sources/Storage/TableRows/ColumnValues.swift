/// Columns of a statement, each next to its value, so that values cannot be swapped by mistake.
///
/// The statement writes them, or selects rows by them.
package struct ColumnValues<Column: TableColumn>: ExpressibleByDictionaryLiteral {
    // Two arrays, because pairs of a generic type that is not specialized cost more than the statement itself. For the
    // same reason there are no key paths here.

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

    /// A copy in which the values of the `chosen` columns are converted.
    ///
    /// Columns that are not in it are skipped.
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

    /// A copy without the columns whose position and value are the same in `others`.
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
    /// Inserts one row.
    ///
    /// A column that is not named gets its default.
    ///
    /// - Parameter action: the text after `ON CONFLICT`, such as `(id) DO NOTHING`. If `nil`, a conflict is an error.
    package func insert<Column>(
        into table: TableLayout<Column>, _ values: ColumnValues<Column>, onConflict action: String? = nil
    ) throws {
        try execute(table.insertion(of: values.columns, onConflict: action), StatementValues(values.values))
    }

    /// Updates these columns of the rows that the key selects.
    package func update<Column>(
        _ table: TableLayout<Column>, set values: ColumnValues<Column>, where key: ColumnValues<Column>
    ) throws {
        try execute(table.update(of: values.columns, where: key.columns), StatementValues(values.values + key.values))
    }
}
