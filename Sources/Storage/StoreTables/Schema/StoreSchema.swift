import Keys
package import TableRows
import TextAndTime

/// The tables of the store, as one text for both databases.
///
/// The text is in SQLite's dialect; ``statements(for:)`` translates it to PostgreSQL's. Times are seconds since 1970,
/// and flags are numbers. Every look-up has an index, so its cost does not grow with history.
package enum StoreSchema {
    /// The number of the schema's form.
    package static let form: Int64 = 1
    /// The oldest form that an agent must know to work on these tables.
    ///
    /// A change that only adds keeps this number, so that the version before still works. A change that removes raises
    /// it.
    static let leastForm: Int64 = 1

    /// The statements that create the tables, in order.
    ///
    /// Their text is part of the form: SQLite stores it unchanged in `sqlite_schema`.
    package static func statements(for dialect: SQLDialect) -> [String] {
        switch dialect {
        case .sqlite: tables.map(sqlite) + [scrubDue] + sqliteTallies
        case .postgres: tables.map(postgres) + postgresTallies
        }
    }

    /// The table of a pending scrub: it has one row if the file must be rewritten at the next start.
    private static let scrubDue = "CREATE TABLE scrub_due (one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT"

    private static func sqlite(_ statement: String) -> String {
        statement.replacing("/*host,*/", with: "").replacing("/*host*/", with: "").replacing("/*marks*/", with: "")
            .replacing("/*by marks*/", with: marks(for: .sqlite)).replacing("/*counted*/", with: "")
    }

    /// The expression or column for the weaknesses of an enrollment, one bit for each raw value of `EnrollmentMark`.
    ///
    /// SQLite has an expression, and its index serves exactly this text. It has no generated column, because `VACUUM
    /// INTO` on a read-only connection fails for one. PostgreSQL has a column, because it can do index-only scans only
    /// on columns.
    static func marks(for dialect: SQLDialect) -> String {
        switch dialect {
        case .sqlite: marks
        case .postgres: "marks"
        }
    }

    private static let marks = """
        (CASE WHEN sign_count_raised_at IS NOT NULL AND sign_count_raised_elsewhere <> 0 THEN 1 ELSE 0 END
        + CASE WHEN sign_count_raised_at IS NOT NULL AND sign_count_raised_elsewhere = 0 THEN 2 ELSE 0 END
        + CASE WHEN authn_type = 'test' THEN 4 ELSE 0 END
        + CASE WHEN pin_guessable <> 0 THEN 8 ELSE 0 END
        + CASE WHEN key_uri IS NOT NULL AND key_kind IS DISTINCT FROM 'file' AND key_exportable <> 0 THEN 16 ELSE 0 END
        + CASE WHEN key_uri IS NOT NULL AND key_kind IS DISTINCT FROM 'file' AND key_exportable IS NULL
            THEN 32 ELSE 0 END
        + CASE WHEN key_uri IS NULL OR key_kind = 'file' THEN 64 ELSE 0 END
        + CASE WHEN substr(issuer, 1, 5) = 'http:' THEN 128 ELSE 0 END)
        """

    /// The statement that records the form, for the database transaction that creates the tables.
    ///
    /// - Parameter statements: all statements that create the tables, including the ones for one database only.
    package static func record(of statements: [String]) throws -> String {
        """
        INSERT INTO oob_agent_store (one, form, least_form, digest)
        VALUES (1, \(form), \(leastForm), '\(try digest(of: statements))')
        """
    }

    /// SHA-256 of the statements.
    ///
    /// An unreleased version may have used the same form number for other tables.
    private static func digest(of statements: [String]) throws -> String {
        Base64URL.encode(try SHA256Digest.of(Array(statements.joined(separator: ";\n").utf8)))
    }

    /// Verifies that this version can use the database, without changing it.
    ///
    /// - Parameter statements: all statements that create the tables of this version.
    /// - Returns: whether the tables exist. If false, the database is empty.
    /// - Throws: ``StoreFormError``, or an error of the database.
    package static func isMade(in database: any StatementSession, by statements: [String]) throws -> Bool {
        let (ofAgent, any) =
            switch database.dialect {
            case .sqlite:
                (
                    "SELECT COUNT(*) FROM pragma_table_info('oob_agent_store') WHERE name = 'digest'",
                    "SELECT name FROM sqlite_schema ORDER BY name LIMIT 1"
                )
            case .postgres:
                (
                    """
                    SELECT COUNT(*) FROM pg_attribute
                    WHERE attrelid = to_regclass('oob_agent_store') AND attname = 'digest'
                    """,
                    """
                    SELECT CAST(relname AS TEXT) FROM pg_class
                    WHERE relnamespace = to_regnamespace(current_schema()) AND relkind IN ('r', 'p', 'v', 'm')
                    ORDER BY relname LIMIT 1
                    """
                )
            }
        guard try database.number(ofAgent) != 0 else {
            if let table = try database.text(any) { throw StoreFormError.unknown(table: table) }
            return false
        }
        guard let form = try database.number("SELECT form FROM oob_agent_store"),
            let least = try database.number("SELECT least_form FROM oob_agent_store")
        else { throw StoreFormError.unknown(table: "oob_agent_store") }
        guard least <= Self.form else { throw StoreFormError.newer(form: form) }
        let digest = try database.text("SELECT digest FROM oob_agent_store")
        guard try form != Self.form || digest == Self.digest(of: statements) else {
            throw StoreFormError.unreleased
        }
        return true
    }

    /// Translates a statement to PostgreSQL: texts compare by bytes, and each host has a journal chain.
    private static func postgres(_ statement: String) -> String {
        statement.replacing("/*host,*/", with: "host, ")
            .replacing("/*host*/", with: "host TEXT NOT NULL REFERENCES host (name), ")
            .replacing("/*marks*/", with: ", marks INTEGER NOT NULL GENERATED ALWAYS AS \(marks) STORED")
            .replacing("/*by marks*/", with: marks(for: .postgres))
            .replacing("/*counted*/", with: " GENERATED ALWAYS AS IDENTITY")
            .replacing("INTEGER PRIMARY KEY AUTOINCREMENT", with: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
            .replacing("INTEGER", with: "BIGINT")
            .replacing("BLOB", with: "BYTEA")
            .replacing("TEXT", with: #"TEXT COLLATE "C""#)
            .replacing(" STRICT, WITHOUT ROWID", with: "")
            .replacing(" STRICT", with: "")
    }
}

/// The reason why this version cannot use a database.
///
/// The check changes no data.
package enum StoreFormError: Error, Equatable {
    /// The database has tables, but none that records a form.
    case unknown(table: String)
    /// The tables have this form's number, but other statements made them.
    ///
    /// A form may change until a version with it is released.
    case unreleased
    case newer(form: Int64)
}
