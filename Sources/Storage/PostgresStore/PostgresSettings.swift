#if PostgreSQL
import TableRows

/// The settings of the connections to a database.
package struct PostgresSettings: Sendable {
    package let url: PostgresURL
    package let password: PostgresPassword?
    package var limits: PostgresLimits

    package init(url: PostgresURL, password: PostgresPassword? = nil, limits: PostgresLimits = PostgresLimits()) {
        self.url = url
        self.password = password
        self.limits = limits
    }

    /// The place of the database, for messages.
    var place: String { "\(url)" }

    /// Opens a connection, and waits until the synchronous standby has all commits that are visible on it.
    ///
    /// After a crash, a server may have commits on its disk that its standby lacks. They were never acknowledged, and
    /// are lost if the server is lost now. Acting on them would mean acting on a decision that was never made.
    package func connection() throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection.connect(to: url, password: password, limits: limits)
        // This commit returns once the standby has it, and with it all earlier write-ahead log.
        _ = try connection.rows("SELECT CAST(pg_logical_emit_message(true, 'oob-agent', '') AS TEXT)")
        return connection
    }
}

/// A row of a result.
struct PostgresRow: StatementRow {
    let values: PostgresConnection.Row

    subscript(index: Int) -> ColumnValue? { values.indices.contains(index) ? values[index] : nil }
}

extension PostgresConnection {
    func queue(_ sql: String, _ values: StatementValues) throws(PostgresError) { try queue(sql, values.values) }

    /// Sends a statement, and waits for its rows and for all queued statements before it.
    func rows(_ sql: String, _ values: StatementValues) throws(PostgresError) -> [Row] {
        try rows(sql, values.values)
    }
}
#endif
