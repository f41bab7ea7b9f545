import Keys
package import TableRows
import TextAndTime

/// The tables of the store: one text for both databases.
///
/// It is written in SQLite's words; ``statements(for:)`` puts PostgreSQL's in their place. Times are seconds since 1970,
/// and flags are numbers. Everything that is looked up has an index, so cost stays flat as history grows.
package enum StoreSchema {
    /// The form of the tables.
    package static let form: Int64 = 1
    /// The oldest form that an agent must know to work on these tables.
    ///
    /// A change that only adds leaves it, so that the version before goes on; one that takes something away raises it.
    static let leastForm: Int64 = 1

    /// The statements that make the tables, in their order.
    ///
    /// SQLite keeps each as it is here: they are `sqlite_schema`'s texts of a store of this form.
    package static func statements(for dialect: SQLDialect) -> [String] {
        switch dialect {
        case .sqlite: tables.map(sqlite) + [scrubDue] + sqliteTallies
        case .postgres: tables.map(postgres) + postgresTallies
        }
    }

    /// One row if the file is to be rewritten at the next start.
    private static let scrubDue = "CREATE TABLE scrub_due (one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT"

    private static func sqlite(_ statement: String) -> String {
        statement.replacing("/*host,*/", with: "").replacing("/*host*/", with: "").replacing("/*marks*/", with: "")
            .replacing("/*by marks*/", with: marks(for: .sqlite)).replacing("/*counted*/", with: "")
    }

    /// A bit for each of the core's marks of an enrollment (`EnrollmentMark`), by its raw value.
    ///
    /// An expression in SQLite, which uses its index for exactly this one: `VACUUM INTO` of a connection that only reads
    /// fails for a generated column. PostgreSQL reads an index alone only for columns.
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

    /// The statement that writes down which form the tables have, in the database transaction that makes them.
    ///
    /// - Parameter statements: all that make them, also those of one database alone.
    package static func record(of statements: [String]) throws -> String {
        """
        INSERT INTO oob_agent_store (one, form, least_form, digest)
        VALUES (1, \(form), \(leastForm), '\(try digest(of: statements))')
        """
    }

    /// SHA-256 of the statements: an unreleased version may have made other tables under the same number of the form.
    private static func digest(of statements: [String]) throws -> String {
        Base64URL.encode(try SHA256Digest.of(Array(statements.joined(separator: ";\n").utf8)))
    }

    /// Checks that this version can work on a database as it is.
    ///
    /// - Parameter statements: all that make the tables of this version.
    /// - Returns: whether the tables are there; false: the database has none at all.
    /// - Throws: ``StoreFormError``; what the database throws.
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

    /// A statement in PostgreSQL's words: texts are compared by their bytes, and the journal has a chain for each host.
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

/// Why a database is not for this version; nothing of it was changed.
package enum StoreFormError: Error, Equatable {
    /// It has tables, and none that says their form.
    case unknown(table: String)
    /// They have this form's number, and are others: it may change as long as no version has it.
    case unreleased
    case newer(form: Int64)
}
