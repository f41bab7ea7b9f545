#if PostgreSQL
/// A statement in the form in which it is sent.
final class KnownStatement {
    let text: String
    /// The name of the prepared statement, or `nil` if it is not prepared.
    fileprivate(set) var name: String?
    /// Whether this statement is cached.
    fileprivate let isKnown: Bool

    fileprivate init(_ text: String, isKnown: Bool) {
        self.text = text
        self.isKnown = isKnown
    }
}

/// The cached statements of a connection by their text, with the names of the prepared ones.
///
/// A name is used once in the life of a connection.
struct KnownStatements {
    /// The limit of the cache, in statements.
    private static let most = 512

    /// The limit of prepared statements.
    ///
    /// 0 for a PgBouncer that pools by transaction, which cannot have any.
    let limit: Int
    /// The number of prepared statements.
    private(set) var kept = 0
    private var all: [String: KnownStatement] = [:]
    private var next = 0

    init(limit: Int) { self.limit = limit }

    /// - Parameter sql: the text with SQLite's placeholders.
    mutating func statement(_ sql: String) throws(PostgresError) -> KnownStatement {
        if let known = all[sql] { return known }
        let new = KnownStatement(try Placeholders(sql).text, isKnown: all.count < max(Self.most, limit))
        if new.isKnown { all[sql] = new }
        return new
    }

    /// Assigns the name under which a statement is prepared.
    ///
    /// Returns `nil` if the limit is reached.
    mutating func name(_ statement: KnownStatement) -> String? {
        guard kept < limit, statement.isKnown else { return nil }
        statement.name = "s\(next)"
        next += 1
        kept += 1
        return statement.name
    }

    mutating func removeName(of statement: KnownStatement) {
        guard statement.name != nil else { return }
        statement.name = nil
        kept -= 1
    }
}
#endif
