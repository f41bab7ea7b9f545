import Synchronization

/// The columns of a table, in the one list by which its rows are read and written.
///
/// Each case is a column. Statements list the columns in the order of the cases, and rows are read by position.
package protocol TableColumn: CaseIterable, RawRepresentable<Int>, Sendable {
    static var table: TableLayout<Self> { get }
}

/// A table with the SQL names of its columns.
package struct TableLayout<Column: TableColumn>: Sendable {
    /// The rule that turns the name of a case into a column's name.
    package enum Naming: Sendable {
        /// `rootsPEM` becomes `roots_pem`.
        case snakeCase
        /// `rootsPEM` stays `rootsPEM`.
        case asWritten
    }

    package let name: String
    /// All columns, as a list for `SELECT` or `RETURNING`.
    package let columns: String
    /// All columns, each qualified with the table's name.
    package let qualifiedColumns: String
    private let names: [String]
    private let statements = TableStatements()

    package init(_ name: String, naming: Naming) {
        self.name = name
        names = Column.allCases.map { column in
            let name = naming == .snakeCase ? Self.snakeCase("\(column)") : "\(column)"
            // A reserved word of PostgreSQL.
            return name == "offset" ? "\"\(name)\"" : name
        }
        columns = names.joined(separator: ", ")
        qualifiedColumns = names.map { "\(name).\($0)" }.joined(separator: ", ")
    }

    package func name(of column: Column) -> String { names[column.rawValue] }

    /// Returns `INSERT INTO enrollment (id, name) VALUES (?, ?)`.
    ///
    /// - Parameter columns: the raw values of the columns.
    func insertion(of columns: [Int], onConflict action: String?) -> String {
        statements.statement(.init(columns: columns, action: action)) {
            let conflict = action.map { " ON CONFLICT " + $0 } ?? ""
            let parameters = columns.map { _ in "?" }.joined(separator: ", ")
            return
                "INSERT INTO \(name) (\(columns.map { names[$0] }.joined(separator: ", "))) VALUES (\(parameters))\(conflict)"
        }
    }

    /// Returns `UPDATE enrollment SET name = ?, state = ? WHERE id = ?`.
    ///
    /// - Parameters:
    ///   - columns: the raw values of the columns that are written.
    ///   - key: the raw values of the columns in the `WHERE` clause.
    func update(of columns: [Int], where key: [Int]) -> String {
        statements.statement(.init(columns: columns, key: key)) {
            let changes = columns.map { "\(names[$0]) = ?" }.joined(separator: ", ")
            let condition = key.map { "\(names[$0]) = ?" }.joined(separator: " AND ")
            return "UPDATE \(name) SET \(changes) WHERE \(condition)"
        }
    }

    /// Returns a `SELECT` of all columns of the rows that match a condition.
    package func selection(_ condition: String) -> String { "SELECT \(columns) FROM \(name) \(condition)" }

    package func unreadable(_ column: Column) -> UnreadableRowError {
        UnreadableRowError(table: name, column: name(of: column))
    }

    /// Puts an underscore before each run of capitals.
    private static func snakeCase(_ name: String) -> String {
        var (snake, wasCapital) = ("", true)
        for character in name {
            if character.isUppercase && !wasCapital { snake += "_" }
            snake += character.lowercased()
            wasCapital = character.isUppercase
        }
        return snake
    }
}

/// A cache of the texts of `INSERT` and `UPDATE` statements.
///
/// The program has few of them.
private final class TableStatements: Sendable {
    struct Key: Hashable {
        let columns: [Int]
        var key: [Int] = []
        var action: String?
    }

    private let texts = Mutex<[Key: String]>([:])

    func statement(_ key: Key, _ make: () -> String) -> String {
        if let text = texts.withLock({ $0[key] }) { return text }
        let text = make()
        texts.withLock { $0[key] = text }
        return text
    }
}

/// The error for a row that this program cannot have written.
///
/// It contains none of the row's values.
package struct UnreadableRowError: Error, CustomStringConvertible {
    let table: String
    let column: String

    package var description: String { "a row of \(table) has an unreadable \(column)" }
}

extension StatementSession {
    /// The rows of a table that match a condition.
    ///
    /// - Parameter condition: the part of the statement after the table's name, such as `WHERE id = ?`.
    package func rows<Column, Value>(
        of table: TableLayout<Column>, _ condition: String, _ values: StatementValues = [],
        as value: (Fields<Column>) throws -> Value
    ) throws -> [Value] {
        try rows(of: table, sql: table.selection(condition), values, as: value)
    }

    /// The first row of a table that matches a condition, or `nil` if there is none.
    package func row<Column, Value>(
        of table: TableLayout<Column>, _ condition: String, _ values: StatementValues = [],
        as value: (Fields<Column>) throws -> Value
    ) throws -> Value? {
        try row(of: table, sql: table.selection(condition), values, as: value)
    }

    /// The rows of a query.
    ///
    /// - Parameter sql: a query that selects ``TableLayout/columns`` of the table first. Other columns may follow.
    package func rows<Column, Value>(
        of table: TableLayout<Column>, sql: String, _ values: StatementValues = [],
        as value: (Fields<Column>) throws -> Value
    ) throws -> [Value] {
        var found: [Value] = []
        try step(sql, values, atMost: .max) { found.append(try value(Fields($0))) }
        return found
    }

    /// The first row of a query, or `nil` if there is none.
    ///
    /// - Parameter sql: a query that selects ``TableLayout/columns`` of the table first. Other columns may follow.
    package func row<Column, Value>(
        of table: TableLayout<Column>, sql: String, _ values: StatementValues = [],
        as value: (Fields<Column>) throws -> Value
    ) throws -> Value? {
        var found: Value?
        try step(sql, values, atMost: 1) { found = try value(Fields($0)) }
        return found
    }
}
