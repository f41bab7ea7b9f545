import Authenticator
import IssuerProtocol
import Keys
import TableRows

/// The columns of what is packed of a request.
enum PastRequestColumn: Int, TableColumn {
    static let table = TableLayout<Self>("past_request", naming: .snakeCase)

    case content
}

/// The columns of an issuer's key, which many requests share.
enum IssuerKeyColumn: Int, TableColumn {
    static let table = TableLayout<Self>("issuer_key", naming: .snakeCase)

    case key
}

extension DatabaseTransaction {
    /// What is packed of a request; nil if nothing is.
    func past(_ id: RequestID) throws -> PastRequest? {
        try past("id = ?", [id.text])
    }

    private func past(_ condition: String, _ key: StatementValues) throws -> PastRequest? {
        let sql = """
            SELECT \(PastRequestColumn.table.columns), \(OwnerColumn.table.qualifiedColumns)\(dataKeyColumn(of: "request.enrollment_id"))
            FROM past_request JOIN request ON request.seq = request_seq WHERE \(condition)
            """
        return try database.row(of: PastRequestColumn.table, sql: sql, key) { fields in
            let cipher = try cipher(PastRequestColumn.table, fields.joined(OwnerColumn.table))
            return try fields.made(of: cipher.bytes(fields, .content), .content, PastRequest.init(packed:))
        }
    }

    func pastEvidence(of id: RequestID) throws -> KeptEvidence {
        guard let past = try past(id) else { return KeptEvidence() }
        var kept = KeptEvidence(text: past.text.map { String(decoding: $0, as: UTF8.self) }, decision: past.decision)
        guard let key = past.issuerKey else { return kept }
        kept.issuerKey = try database.row(of: IssuerKeyColumn.table, "WHERE id = ?", [key]) { try $0.publicKey(.key) }
        guard kept.issuerKey != nil else { throw IssuerKeyColumn.table.unreadable(.key) }
        return kept
    }

    private static let isUnpacked = "state <> 'pending' AND delivery <> 'queued' AND message <> ''"

    package func packRequests(after place: Int64, sparing newest: Int, limit: Int) throws -> Int64? {
        let found = try database.numbers(
            """
            SELECT seq FROM request \(database.dialect.indexed(by: "request_unpacked"))
            WHERE \(Self.isUnpacked) AND seq > ?1
                AND seq <= (SELECT MAX(seq) FROM request) - ?2
            ORDER BY seq LIMIT ?3
            """, [place, newest, limit])
        for seq in found { try packRequest(seq) }
        return found.last
    }

    private func packRequest(_ seq: Int64) throws {
        try hold(.enrollmentOfPlace(seq))
        let columns = RequestColumn.allCases
        guard let (found, owner) = try unpackedRequest(seq) else { return }
        var values = found
        func take(_ column: RequestColumn, leaving rest: ColumnValue = .null) throws -> [UInt8]? {
            let value = values[column.rawValue]
            values[column.rawValue] = value == .null ? .null : rest
            switch value {
            case .null: return nil
            case .text(let text): return Array(text.utf8)
            case .bytes(let bytes): return bytes
            case .number: throw RequestColumn.table.unreadable(column)
            }
        }
        var past = try past("request_seq = ?", [seq]) ?? PastRequest()
        past.message = try take(.message, leaving: .text(""))
        // Not null, which says that it was never presented.
        past.members = try take(.members, leaving: .bytes([]))
        past.nonce = try take(.nonce)
        past.warnings = try take(.warnings)
        past.payment = try take(.payment)
        past.traceparent = try take(.traceparent)
        try addEvidence(to: &past, seq)
        let cipher = try cipher(PastRequestColumn.table, row: owner.request, of: owner.enrollment)
        // More than any message has: something else has written it, and it stays as it is.
        guard let packed = past.packed, PastRequest(packed: packed) == past else { return }
        // Not changed in its place: its page would keep the room that it had. Its evidence goes with it.
        try database.run("DELETE FROM request WHERE seq = ?", [seq])
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        try database.run(
            "INSERT INTO request (\(RequestColumn.table.columns), seq) \(database.dialect.givenIdentity) VALUES (\(marks), ?)",
            StatementValues(values) + [seq])
        try database.run(
            """
            INSERT INTO past_request (request_seq, content) VALUES (?, ?)
            ON CONFLICT (request_seq) DO UPDATE SET content = excluded.content
            """, [seq, try cipher.closed(packed, PastRequestColumn.content)])
    }

    /// As it is now that nobody else changes it, with what is personal in clear, and whose it is.
    private func unpackedRequest(
        _ seq: Int64
    ) throws -> (values: [ColumnValue], owner: (request: String, enrollment: EnrollmentID))? {
        let sql = """
            SELECT \(RequestColumn.table.columns)\(dataKeyColumn(of: "request.enrollment_id")) FROM request
            WHERE seq = ? AND \(Self.isUnpacked)
            """
        return try database.row(of: RequestColumn.table, sql: sql, [seq]) { fields in
            let (request, id) = (try fields.text(.id), try fields.value(.enrollmentId, EnrollmentID.init))
            let cipher = try cipher(RequestColumn.table, row: request, of: id, fields.joined(DataKeyColumn.table))
            let values = try RequestColumn.allCases.map { column in
                try RequestColumn.personal.contains(column) ? cipher.value(fields, column) : fields.any(column)
            }
            return (values, (request, id))
        }
    }

    private func addEvidence(to past: inout PastRequest, _ seq: Int64) throws {
        let sql = """
            SELECT \(EvidenceColumn.table.columns), \(OwnerColumn.table.qualifiedColumns)\(dataKeyColumn(of: "request.enrollment_id"))
            FROM evidence JOIN request ON request.seq = request_seq WHERE request_seq = ?
            """
        let found = try database.row(of: EvidenceColumn.table, sql: sql, [seq]) { fields in
            let cipher = try cipher(EvidenceColumn.table, fields.joined(OwnerColumn.table))
            return (
                try fields.optionalBytes(.issuerKey), try cipher.optionalText(fields, .text),
                try cipher.optionalBytes(fields, .decision)
            )
        }
        guard let (key, text, decision) = found else { return }
        if let text { past.text = Array(text.utf8) }
        if let decision { past.decision = decision }
        guard let key else { return }
        try database.run("INSERT INTO issuer_key (key) VALUES (?) ON CONFLICT DO NOTHING", [key])
        past.issuerKey = try database.number("SELECT id FROM issuer_key WHERE key = ?", [key])
    }
}
