#if PostgreSQL
import TableRows

/// How a database is reached.
package struct PostgresSettings: Sendable {
    package let url: PostgresURL
    package let password: PostgresPassword?
    package var limits: PostgresLimits

    package init(url: PostgresURL, password: PostgresPassword? = nil, limits: PostgresLimits = PostgresLimits()) {
        self.url = url
        self.password = password
        self.limits = limits
    }

    /// Where it is, for people.
    var place: String { "\(url)" }

    /// Opens a connection, and waits until the synchronous standby has all that is seen with it.
    ///
    /// A server that comes up after a crash has commits on its disk that its standby may not have yet. Nobody was told of
    /// them, and if the server is lost now, they are gone: who acts on them would do what was never decided.
    package func connection() throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection.connect(to: url, password: password, limits: limits)
        // A commit returns when the standby has it, and so all that is before it in the write-ahead log.
        _ = try connection.rows("SELECT CAST(pg_logical_emit_message(true, 'oob-agent', '') AS TEXT)")
        return connection
    }
}

/// One row of an answer.
struct PostgresRow: StatementRow {
    let values: PostgresConnection.Row

    subscript(index: Int) -> ColumnValue? { values.indices.contains(index) ? values[index] : nil }
}

extension PostgresConnection {
    func queue(_ sql: String, _ values: StatementValues) throws(PostgresError) { try queue(sql, values.values) }

    /// Sends a statement, and waits for its rows and for the answers to all that was sent before.
    func rows(_ sql: String, _ values: StatementValues) throws(PostgresError) -> [Row] {
        try rows(sql, values.values)
    }
}
#endif
