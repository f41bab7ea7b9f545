#if PostgreSQL
package import PostgresRows
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

    /// Opens a connection.
    package func connection() throws(PostgresError) -> PostgresConnection {
        try PostgresConnection.connect(to: url, password: password, limits: limits)
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
