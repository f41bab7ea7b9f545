#if PostgreSQL
/// How a database is reached.
package struct PostgresSettings: Sendable {
    /// libpq's connection parameters (PostgreSQL's manual, 34.1.2).
    let parameters: [String: String]
    /// Where it is, for people: no password.
    package let place: String
    /// Milliseconds that an answer may take.
    package let patience: Int64

    package init(parameters: [String: String], place: String, patience: Int64) {
        self.parameters = parameters
        self.place = place
        self.patience = patience
    }

    /// Opens a connection.
    package func connection() throws(PostgresError) -> PostgresConnection {
        try PostgresConnection(parameters, patience: patience)
    }
}
#endif
