import Authenticator
import GRDB
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
        let statement = try database.cachedStatement(
            sql: "SELECT content FROM past_request WHERE request_seq = (SELECT seq FROM request WHERE id = ?)")
        return try past(statement, id.text)
    }

    private func past(_ statement: Statement, _ key: some DatabaseValueConvertible) throws -> PastRequest? {
        guard let content = try DatabaseValue.fetchOne(statement, arguments: [key]) else { return nil }
        guard case .blob(let bytes) = content.storage, let past = PastRequest(packed: [UInt8](bytes)) else {
            throw PastRequestColumn.table.unreadable(.content)
        }
        return past
    }

    func pastEvidence(of id: RequestID) throws -> KeptEvidence {
        guard let past = try past(id) else { return KeptEvidence() }
        var kept = KeptEvidence(text: past.text.map { String(decoding: $0, as: UTF8.self) }, decision: past.decision)
        guard let key = past.issuerKey else { return kept }
        let statement = try database.cachedStatement(sql: "SELECT key FROM issuer_key WHERE id = ?")
        guard let value = try DatabaseValue.fetchOne(statement, arguments: [key]),
            case .blob(let bytes) = value.storage,
            let issuerKey = try? PublicKey(kept: [UInt8](bytes))
        else { throw IssuerKeyColumn.table.unreadable(.key) }
        kept.issuerKey = issuerKey
        return kept
    }

    func packRequests(after place: Int64, sparing newest: Int, limit: Int) throws -> Int64? {
        let statement = try database.cachedStatement(
            sql: """
                SELECT seq FROM request INDEXED BY request_unpacked
                WHERE state <> 'pending' AND delivery <> 'queued' AND message <> '' AND seq > ?1
                    AND seq <= (SELECT MAX(seq) FROM request) - ?2
                ORDER BY seq LIMIT ?3
                """)
        let found = try Int64.fetchAll(statement, arguments: [place, newest, limit])
        for seq in found { try packRequest(seq) }
        return found.last
    }

    private func packRequest(_ seq: Int64) throws {
        let select = try database.cachedStatement(sql: "SELECT * FROM request WHERE seq = ?")
        guard let row = try Row.fetchOne(select, arguments: [seq]) else { return }
        let names = Array(row.columnNames)
        var values = Array(row.databaseValues)
        func take(_ column: RequestColumn, leaving rest: DatabaseValue = .null) throws -> [UInt8]? {
            guard let place = names.firstIndex(of: RequestColumn.table.name(of: column)) else {
                throw RequestColumn.table.unreadable(column)
            }
            let value = values[place]
            values[place] = value.isNull ? .null : rest
            switch value.storage {
            case .null: return nil
            case .string(let text): return Array(text.utf8)
            case .blob(let bytes): return [UInt8](bytes)
            default: throw RequestColumn.table.unreadable(column)
            }
        }
        let content = try database.cachedStatement(sql: "SELECT content FROM past_request WHERE request_seq = ?")
        var past = try past(content, seq) ?? PastRequest()
        past.message = try take(.message, leaving: "".databaseValue)
        // Not null, which says that it was never presented.
        past.members = try take(.members, leaving: [UInt8]().blob.databaseValue)
        past.nonce = try take(.nonce)
        past.warnings = try take(.warnings)
        past.payment = try take(.payment)
        past.traceparent = try take(.traceparent)
        try addEvidence(to: &past, seq)
        // More than any message has: something else has written it, and it stays as it is.
        guard let packed = past.packed, PastRequest(packed: packed) == past else { return }
        // Not changed in its place: its page would keep the room that it had. Its evidence goes with it.
        try database.cachedStatement(sql: "DELETE FROM request WHERE seq = ?").execute(arguments: [seq])
        let (columns, marks) = (names.joined(separator: ", "), names.map { _ in "?" }.joined(separator: ", "))
        try database.cachedStatement(sql: "INSERT INTO request (\(columns)) VALUES (\(marks))")
            .execute(arguments: StatementArguments(values))
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO past_request (request_seq, content) VALUES (?, ?)")
            .execute(arguments: [seq, packed.blob])
    }

    private func addEvidence(to past: inout PastRequest, _ seq: Int64) throws {
        let columns = EvidenceColumn.table.columns
        let sql = "SELECT \(columns) FROM evidence WHERE request_seq = ?"
        let found = try database.row(of: EvidenceColumn.table, sql: sql, [seq]) { fields in
            (try fields.optionalBytes(.issuerKey), try fields.optionalText(.text), try fields.optionalBytes(.decision))
        }
        guard let (key, text, decision) = found else { return }
        if let text { past.text = Array(text.utf8) }
        if let decision { past.decision = decision }
        guard let key else { return }
        try database.cachedStatement(sql: "INSERT OR IGNORE INTO issuer_key (key) VALUES (?)")
            .execute(arguments: [key.blob])
        past.issuerKey = try Int64.fetchOne(
            try database.cachedStatement(sql: "SELECT id FROM issuer_key WHERE key = ?"), arguments: [key.blob])
    }
}
