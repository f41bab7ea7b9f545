import Records
import TableRows

/// A table that both databases have, so that its rows can move from one to the other.
struct MovedTable: Sendable {
    let name: String
    /// The join that reads the rows with their owners, or `nil` if the table alone is enough.
    var source: String?
    /// The order of the rows.
    ///
    /// Both databases compare texts and bytes by their bytes.
    let key: [String]
    /// Whether PostgreSQL has an additional column for the host whose journal chain the row belongs to.
    var isOfHost = false
    /// The identity column, or `nil` if there is none.
    var counter: String?
    /// The encrypted columns.
    var personal: Set<String> = []
    /// The SQL for the row's enrollment, which has the data key, and for the row's key in its table.
    ///
    /// `nil` if no column is encrypted.
    var owner: (enrollment: String, row: String)?
    /// The columns that are written again after the copy, and therefore not compared.
    var written: Set<String> = []

    /// The tables, each after the tables that its rows refer to.
    ///
    /// `message_tally` and `stored_bytes` are missing, because triggers fill them in both databases.
    static let all = [
        MovedTable(
            name: "enrollment", key: ["seq"], counter: "seq", personal: names(EnrollmentColumn.personal),
            owner: ("enrollment.id", "enrollment.id"),
            written: ["seal", "version", "pin_epoch", "journal_seq", "journal_host"]),
        MovedTable(name: "key_tries", key: ["identity"]),
        MovedTable(
            name: "request", key: ["seq"], counter: "seq", personal: names(RequestColumn.personal),
            owner: ("request.enrollment_id", "request.id")),
        MovedTable(name: "message", key: ["enrollment_id", "jti"]),
        MovedTable(name: "cancellation", key: ["enrollment_id", "cancels"]),
        MovedTable(
            name: "evidence",
            source: "request JOIN evidence ON piece IN (message_piece, text_piece, decision_piece)",
            key: ["seq", "piece"], counter: "piece", personal: names([PieceColumn.bytes]),
            owner: ("request.enrollment_id", rowOfPiece)),
        MovedTable(name: "push_subscription", key: ["seq"], counter: "seq"),
        MovedTable(name: "persona", key: ["enrollment_id"]),
        MovedTable(name: "script", key: ["request_seq"]),
        MovedTable(name: "test_clock", key: ["one"]),
        MovedTable(name: "proven_time", key: ["one"]),
        MovedTable(name: "row_key", key: ["one"]),
        MovedTable(name: "journal", key: ["seq"], isOfHost: true),
        MovedTable(name: "journal_mark", key: ["name"], isOfHost: true),
        MovedTable(name: "audit_key", key: ["one"], isOfHost: true),
        MovedTable(name: "journal_checkpoint", key: ["seq"], isOfHost: true),
        MovedTable(name: "journal_of_request", key: ["request_seq", "checkpoint"], isOfHost: true),
    ]

    /// The key of a piece's row, as in ``Piece``.
    private static let rowOfPiece = """
        request.id || CASE piece WHEN message_piece THEN ' message' WHEN text_piece THEN ' text' ELSE ' decision' END
        """

    private static func names<Column: TableColumn>(_ columns: [Column]) -> Set<String> {
        Set(columns.map { Column.table.name(of: $0) })
    }

    /// The writable columns in alphabetical order, without the host's.
    func columns(in session: any StoreSession) throws -> [String] {
        let sql =
            switch session.dialect {
            case .sqlite: "SELECT name FROM pragma_table_info(?)"
            case .postgres:
                """
                SELECT CAST(attname AS TEXT) FROM pg_attribute
                WHERE attrelid = to_regclass(CAST(? AS TEXT)) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
                """
            }
        let names = try session.rows(sql, [name]) { row -> String in
            guard case .text(let name)? = row[0] else { throw StateMoveError("table \(self.name) has no columns") }
            return name
        }
        return names.filter { !isOfHost || $0 != "host" }.sorted()
    }

    /// A query for a page of rows, each followed by its ``owner``: the first page, or the one after a key.
    func page(of columns: [String], host: HostName?, isFirst: Bool, limit: Int) -> String {
        var conditions = host.map { isOfHost ? ["host = '\($0.text)'"] : [] } ?? []
        if !isFirst {
            let places = (1...key.count).map { "?\($0)" }.joined(separator: ", ")
            conditions.append("(\(Self.list(key))) > (\(places))")
            // PostgreSQL uses an index for the start of a join only with this condition.
            if source != nil { conditions.append("\(Self.list([key[0]])) >= ?1") }
        }
        let condition = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        let whose = owner.map { ", \($0.enrollment), \($0.row)" } ?? ""
        return """
            SELECT \(Self.list(columns))\(whose) FROM \(source ?? name) \(condition) ORDER BY \(Self.list(key)) LIMIT \(limit)
            """
    }

    func insertion(of columns: [String], host: HostName?, dialect: SQLDialect) -> String {
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let (hostColumn, hostValue) = isOfHost ? host.map { ("host, ", "'\($0.text)', ") } ?? ("", "") : ("", "")
        return """
            INSERT INTO \(name) (\(hostColumn)\(Self.list(columns))) \(dialect.givenIdentity) \
            VALUES (\(hostValue)\(places))
            """
    }

    /// Quotes the names, because one of them is a reserved word of SQL.
    private static func list(_ columns: [String]) -> String { columns.map { "\"\($0)\"" }.joined(separator: ", ") }
}
