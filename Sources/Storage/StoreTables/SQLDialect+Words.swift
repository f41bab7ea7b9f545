import TableRows

/// The few words that the two databases do not share.
extension SQLDialect {
    /// The type of bytes.
    var bytes: String {
        switch self {
        case .sqlite: "BLOB"
        case .postgres: "BYTEA"
        }
    }

    /// A query of the texts in a parameter that is a JSON array of them.
    func elements(_ parameter: String) -> String {
        switch self {
        case .sqlite: "SELECT value FROM json_each(\(parameter))"
        case .postgres: "SELECT jsonb_array_elements_text(CAST(CAST(\(parameter) AS TEXT) AS JSONB))"
        }
    }

    /// The number of the piece of evidence that this connection has inserted last.
    var newestPiece: String {
        switch self {
        case .sqlite: "last_insert_rowid()"
        case .postgres: "currval(pg_get_serial_sequence('evidence', 'piece'))"
        }
    }

    /// A query of the bytes of the whole database; of a file, without its log.
    var databaseBytes: String {
        switch self {
        case .sqlite: "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        case .postgres: "SELECT pg_database_size(current_database())"
        }
    }

    /// Lets an insertion give the number that the database counts up itself.
    var givenIdentity: String {
        switch self {
        case .sqlite: ""
        case .postgres: "OVERRIDING SYSTEM VALUE"
        }
    }
}
