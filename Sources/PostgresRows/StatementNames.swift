#if PostgreSQL
/// The statements that a connection has parsed, by their text, and what it calls them.
///
/// A name is used once in the life of a connection.
struct StatementNames {
    /// How many statements a connection keeps parsed; 0 keeps none, as PgBouncer needs it that pools by transaction.
    let limit: Int
    private var names: [String: String] = [:]
    private var next = 0

    init(limit: Int) { self.limit = limit }

    subscript(sql: String) -> String? { names[sql] }

    /// The name to parse a statement under; nil if no more are kept.
    mutating func add(_ sql: String) -> String? {
        guard names.count < limit else { return nil }
        let name = "s\(next)"
        next += 1
        names[sql] = name
        return name
    }

    mutating func remove(_ sql: String) { names[sql] = nil }

    var count: Int { names.count }
}
#endif
