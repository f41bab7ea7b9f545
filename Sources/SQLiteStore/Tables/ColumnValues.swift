import GRDB

/// The columns that a statement writes, each beside its value, so that no two can be swapped.
struct ColumnValues: ExpressibleByDictionaryLiteral {
    private let pairs: [(String, (any DatabaseValueConvertible)?)]

    init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) { pairs = elements }

    private init(_ pairs: [(String, (any DatabaseValueConvertible)?)]) { self.pairs = pairs }

    static func + (left: ColumnValues, right: ColumnValues) -> ColumnValues { ColumnValues(left.pairs + right.pairs) }

    // id, name
    fileprivate var names: String { pairs.map(\.0).joined(separator: ", ") }
    // :id, :name
    fileprivate var parameters: String { pairs.map { ":\($0.0)" }.joined(separator: ", ") }
    // id = :id
    fileprivate var assignments: [String] { pairs.map { "\($0.0) = :\($0.0)" } }
    fileprivate var arguments: StatementArguments { StatementArguments(pairs) }
}

extension Database {
    /// Inserts one row; a column that is not named has its default.
    func insert(into table: String, _ values: ColumnValues) throws {
        try cachedStatement(sql: "INSERT INTO \(table) (\(values.names)) VALUES (\(values.parameters))")
            .execute(arguments: values.arguments)
    }

    /// Writes these columns of the rows that the key names; no column may be in both.
    func update(_ table: String, set values: ColumnValues, where key: ColumnValues) throws {
        let (changes, condition) = (values.assignments, key.assignments)
        try cachedStatement(
            sql: "UPDATE \(table) SET \(changes.joined(separator: ", ")) WHERE \(condition.joined(separator: " AND "))"
        ).execute(arguments: (values + key).arguments)
    }
}
