/// A connection to a database, which runs one statement after another.
///
/// Statements are SQL as both SQLite and PostgreSQL understand it; their parameters are `?`, or `?1` if one is named
/// more than once. Each is parsed once, so a statement's text must not hold what varies.
package protocol StatementSession {
    var dialect: SQLDialect { get }

    /// Runs a statement that changes something.
    ///
    /// - Throws: what is wrong with it; a database on another host may say so only when it is asked for something.
    func run(_ sql: String, _ values: StatementValues) throws

    /// The same, and says how many rows it has changed.
    func changes(_ sql: String, _ values: StatementValues) throws -> Int

    /// Steps through the rows that a statement gives, and lets go of it.
    func step(
        _ sql: String, _ values: StatementValues, atMost limit: Int, _ body: (any StatementRow) throws -> Void) throws
}

/// Which database it is, for the few words that the two do not share.
package enum SQLDialect: Sendable {
    case sqlite
    case postgres
}

/// The row that a statement stands at.
///
/// It is valid until the statement steps on.
package protocol StatementRow {
    /// A column's value; nil if it is of a type that no column has.
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
    package func run(_ sql: String) throws { try run(sql, []) }

    /// The number in the first column of the first row that a statement gives; nil if there is none.
    package func number(_ sql: String, _ values: StatementValues = []) throws -> Int64? {
        var number: Int64?
        try step(sql, values, atMost: 1) { if case .number(let found) = $0[0] { number = found } }
        return number
    }

    /// The text in the first column of the first row that a statement gives; nil if there is none.
    package func text(_ sql: String, _ values: StatementValues = []) throws -> String? {
        var text: String?
        try step(sql, values, atMost: 1) { if case .text(let found) = $0[0] { text = found } }
        return text
    }

    /// The numbers in the first column of the rows that a statement gives.
    package func numbers(_ sql: String, _ values: StatementValues = []) throws -> [Int64] {
        var numbers: [Int64] = []
        try step(sql, values, atMost: .max) { if case .number(let found) = $0[0] { numbers.append(found) } }
        return numbers
    }

    /// The rows that a statement gives, each as the values of its columns.
    package func rows<Value>(
        _ sql: String, _ values: StatementValues = [], as value: (any StatementRow) throws -> Value
    ) throws -> [Value] {
        var found: [Value] = []
        try step(sql, values, atMost: .max) { found.append(try value($0)) }
        return found
    }
}
