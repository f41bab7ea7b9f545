import Synchronization

/// The columns of a table: the one list from which its rows are read and written.
///
/// A case is a column; statements name the columns in the order of the cases, and rows are read by position.
package protocol TableColumn: CaseIterable, RawRepresentable<Int>, Sendable {
    static var table: TableLayout<Self> { get }
}

/// A table, and the names of its columns as SQL has them.
package struct TableLayout<Column: TableColumn>: Sendable {
    /// How a column is named after its case.
    package enum Naming: Sendable {
        /// `rootsPEM` names `roots_pem`.
        case snakeCase
        /// `rootsPEM` names `rootsPEM`.
        case asWritten
    }

    package let name: String
    /// All columns, as a `SELECT` or a `RETURNING` lists them.
    package let columns: String
    /// The same, each with the table's name before it.
    package let qualifiedColumns: String
    private let names: [String]
    private let statements = TableStatements()

    package init(_ name: String, naming: Naming) {
        self.name = name
        names = Column.allCases.map { column in
            let name = naming == .snakeCase ? Self.snakeCase("\(column)") : "\(column)"
            // A word of PostgreSQL's own.
            return name == "offset" ? "\"\(name)\"" : name
        }
        columns = names.joined(separator: ", ")
        qualifiedColumns = names.map { "\(name).\($0)" }.joined(separator: ", ")
    }

    package func name(of column: Column) -> String { names[column.rawValue] }

    /// `INSERT INTO enrollment (id, name) VALUES (?, ?)`.
    ///
    /// - Parameter columns: their raw values.
    func insertion(of columns: [Int], onConflict action: String?) -> String {
        statements.statement(.init(columns: columns, action: action)) {
            let conflict = action.map { " ON CONFLICT " + $0 } ?? ""
            let parameters = columns.map { _ in "?" }.joined(separator: ", ")
            return
                "INSERT INTO \(name) (\(columns.map { names[$0] }.joined(separator: ", "))) VALUES (\(parameters))\(conflict)"
        }
    }

    /// `UPDATE enrollment SET name = ?, state = ? WHERE id = ?`.
    ///
    /// - Parameters:
    ///   - columns: the raw values of those that are written.
    ///   - key: of those that say which rows.
    func update(of columns: [Int], where key: [Int]) -> String {
        statements.statement(.init(columns: columns, key: key)) {
            let changes = columns.map { "\(names[$0]) = ?" }.joined(separator: ", ")
            let condition = key.map { "\(names[$0]) = ?" }.joined(separator: " AND ")
            return "UPDATE \(name) SET \(changes) WHERE \(condition)"
        }
    }

    /// The statement that gives the rows that a condition selects.
    package func selection(_ condition: String) -> String { "SELECT \(columns) FROM \(name) \(condition)" }

    package func unreadable(_ column: Column) -> UnreadableRowError {
        UnreadableRowError(table: name, column: name(of: column))
    }

    /// An underscore before each run of capitals.
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

/// The statements that write some columns of a table, each put together once: the program has few.
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

/// A row that this program cannot have written; carries nothing of it.
package struct UnreadableRowError: Error, CustomStringConvertible {
    let table: String
    let column: String

    package var description: String { "a row of \(table) has an unreadable \(column)" }
}

extension StatementSession {
    /// The rows of a table that a condition selects.
    ///
    /// - Parameter condition: what follows the table's name in the statement, such as `WHERE id = ?`.
    package func rows<Column, Value>(
        of table: TableLayout<Column>, _ condition: String, _ values: StatementValues = [],
        as value: (Fields<Column>) throws -> Value
    ) throws -> [Value] {
        try rows(of: table, sql: table.selection(condition), values, as: value)
    }

    /// The first row of a table that a condition selects; nil if there is none.
    package func row<Column, Value>(
        of table: TableLayout<Column>, _ condition: String, _ values: StatementValues = [],
        as value: (Fields<Column>) throws -> Value
    ) throws -> Value? {
        try row(of: table, sql: table.selection(condition), values, as: value)
    }

    /// The rows that a statement gives.
    ///
    /// - Parameter sql: gives ``TableLayout/columns`` of the table, and may give others after them.
    package func rows<Column, Value>(
        of table: TableLayout<Column>, sql: String, _ values: StatementValues = [],
        as value: (Fields<Column>) throws -> Value
    ) throws -> [Value] {
        var found: [Value] = []
        try step(sql, values, atMost: .max) { found.append(try value(Fields($0))) }
        return found
    }

    /// The first row that a statement gives; nil if it gives none.
    ///
    /// - Parameter sql: gives ``TableLayout/columns`` of the table, and may give others after them.
    package func row<Column, Value>(
        of table: TableLayout<Column>, sql: String, _ values: StatementValues = [],
        as value: (Fields<Column>) throws -> Value
    ) throws -> Value? {
        var found: Value?
        try step(sql, values, atMost: 1) { found = try value(Fields($0)) }
        return found
    }
}
