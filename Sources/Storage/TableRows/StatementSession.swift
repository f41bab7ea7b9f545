/// A connection to a database, which runs one statement at a time.
///
/// Statements use the SQL that SQLite and PostgreSQL share. Parameters are `?`, or `?1` if a parameter is used more
/// than once. Each text is parsed once and cached, so it must not contain values that vary.
package protocol StatementSession {
    var dialect: SQLDialect { get }

    /// Runs a statement that changes data.
    ///
    /// - Throws: the error of the statement. A database on another host may report it only with a later query.
    func execute(_ sql: String, _ values: StatementValues) throws

    /// Runs a statement that changes data, and returns the number of changed rows.
    func changes(_ sql: String, _ values: StatementValues) throws -> Int

    /// Calls `body` for each row of a query, and resets the statement at the end.
    func step(
        _ sql: String, _ values: StatementValues, atMost limit: Int, _ body: (any StatementRow) throws -> Void) throws
}

/// The database system, for the SQL that the two do not share.
package enum SQLDialect: Sendable {
    case sqlite
    case postgres
}

/// The current row of a statement.
///
/// It is valid until the statement steps to the next row.
package protocol StatementRow {
    /// A column's value, or `nil` if its type is not one of ``ColumnValue``.
    subscript(index: Int) -> ColumnValue? { get }
}

/// The values of a statement's parameters, in their order.
package struct StatementValues: ExpressibleByArrayLiteral, Sendable {
    package private(set) var values: [ColumnValue]

    package init(arrayLiteral elements: any ColumnValueConvertible...) { values = elements.map { $0.columnValue } }

    package init(_ values: [ColumnValue]) { self.values = values }

    package static func + (left: StatementValues, right: StatementValues) -> StatementValues {
        StatementValues(left.values + right.values)
    }

    package static func += (left: inout StatementValues, right: StatementValues) { left.values += right.values }
}

extension StatementSession {
    package func execute(_ sql: String) throws { try execute(sql, []) }

    /// The number in the first column of the first row of a query, or `nil` if there is none.
    package func number(_ sql: String, _ values: StatementValues = []) throws -> Int64? {
        var number: Int64?
        try step(sql, values, atMost: 1) { if case .number(let found) = $0[0] { number = found } }
        return number
    }

    /// The text in the first column of the first row of a query, or `nil` if there is none.
    package func text(_ sql: String, _ values: StatementValues = []) throws -> String? {
        var text: String?
        try step(sql, values, atMost: 1) { if case .text(let found) = $0[0] { text = found } }
        return text
    }

    /// The numbers in the first column of the rows of a query.
    package func numbers(_ sql: String, _ values: StatementValues = []) throws -> [Int64] {
        var numbers: [Int64] = []
        try step(sql, values, atMost: .max) { if case .number(let found) = $0[0] { numbers.append(found) } }
        return numbers
    }

    /// The rows of a query, each converted by `value`.
    package func rows<Value>(
        _ sql: String, _ values: StatementValues = [], as value: (any StatementRow) throws -> Value
    ) throws -> [Value] {
        var found: [Value] = []
        try step(sql, values, atMost: .max) { found.append(try value($0)) }
        return found
    }
}
