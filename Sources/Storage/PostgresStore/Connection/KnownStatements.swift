#if PostgreSQL
/// A statement as the server gets it.
final class KnownStatement {
    let text: String
    /// What the server calls it; nil if it does not keep it parsed.
    fileprivate(set) var name: String?
    /// Whether it is found again.
    fileprivate let isKnown: Bool

    fileprivate init(_ text: String, isKnown: Bool) {
        self.text = text
        self.isKnown = isKnown
    }
}

/// The statements that a connection has sent, by their text, and those that its server keeps parsed.
///
/// A name is used once in the life of a connection.
struct KnownStatements {
    /// The most that are known.
    private static let most = 512

    /// How many statements the server keeps parsed; 0: none, as PgBouncer needs it that pools by transaction.
    let limit: Int
    /// How many it does.
    private(set) var kept = 0
    private var all: [String: KnownStatement] = [:]
    private var next = 0

    init(limit: Int) { self.limit = limit }

    /// - Parameter sql: with SQLite's placeholders.
    mutating func statement(_ sql: String) throws(PostgresError) -> KnownStatement {
        if let known = all[sql] { return known }
        let new = KnownStatement(try Placeholders(sql).text, isKnown: all.count < max(Self.most, limit))
        if new.isKnown { all[sql] = new }
        return new
    }

    /// The name to parse a statement under; nil if no more are kept.
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
