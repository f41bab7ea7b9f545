import TableRows

/// The SQL that differs between SQLite and PostgreSQL.
extension SQLDialect {
    /// The type of a column of bytes.
    var bytes: String {
        switch self {
        case .sqlite: "BLOB"
        case .postgres: "BYTEA"
        }
    }

    /// A query for the texts of a parameter that is a JSON array.
    func elements(_ parameter: String) -> String {
        switch self {
        case .sqlite: "SELECT value FROM json_each(\(parameter))"
        case .postgres: "SELECT jsonb_array_elements_text(CAST(CAST(\(parameter) AS TEXT) AS JSONB))"
        }
    }

    /// An expression for the `piece` of the newest row that this connection has inserted into `evidence`.
    var newestPiece: String {
        switch self {
        case .sqlite: "last_insert_rowid()"
        case .postgres: "currval(pg_get_serial_sequence('evidence', 'piece'))"
        }
    }

    /// A query for the size of the database, in bytes.
    ///
    /// For SQLite, the size of the file without its write-ahead log.
    var databaseBytes: String {
        switch self {
        case .sqlite: "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        case .postgres: "SELECT pg_database_size(current_database())"
        }
    }

    /// The clause that lets an `INSERT` supply the value of an identity column.
    var givenIdentity: String {
        switch self {
        case .sqlite: ""
        case .postgres: "OVERRIDING SYSTEM VALUE"
        }
    }
}
