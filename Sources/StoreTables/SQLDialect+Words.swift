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

    /// Makes SQLite take an index, which PostgreSQL finds by the figures that it keeps.
    func indexed(by index: String) -> String {
        switch self {
        case .sqlite: "INDEXED BY \(index)"
        case .postgres: ""
        }
    }

    /// Lets an insertion give the number that the database counts up itself.
    var givenIdentity: String {
        switch self {
        case .sqlite: ""
        case .postgres: "OVERRIDING SYSTEM VALUE"
        }
    }

    /// A bit for each of the core's marks of an enrollment, by its raw value.
    ///
    /// SQLite uses its index for exactly this expression. It is no column there: `VACUUM INTO` fails for a generated one.
    package var enrollmentMarks: String {
        switch self {
        case .sqlite:
            """
            ((sign_count_raised_at IS NOT NULL AND sign_count_raised_elsewhere <> 0)
            | ((sign_count_raised_at IS NOT NULL AND sign_count_raised_elsewhere = 0) << 1)
            | ((authn_type = 'test') << 2)
            | ((pin_guessable <> 0) << 3)
            | ((key_uri IS NOT NULL AND key_kind IS NOT 'file' AND key_exportable IS NOT NULL AND key_exportable <> 0) << 4)
            | ((key_uri IS NOT NULL AND key_kind IS NOT 'file' AND key_exportable IS NULL) << 5)
            | ((key_uri IS NULL OR key_kind IS 'file') << 6)
            | ((substr(issuer, 1, 5) = 'http:') << 7))
            """
        case .postgres: "marks"
        }
    }
}
