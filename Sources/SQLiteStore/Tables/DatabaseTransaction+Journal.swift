import Authenticator
import GRDB
import TableRows

/// The columns of the journal.
enum JournalColumn: Int, TableColumn {
    static let table = TableLayout<Self>("journal", naming: .snakeCase)

    case seq, entry
}

/// The columns of a signed point of the journal.
enum JournalMarkColumn: Int, TableColumn {
    static let table = TableLayout<Self>("journal_mark", naming: .snakeCase)

    case name, seq, digest, signature
}

/// The columns of the key that signs those points.
enum AuditKeyColumn: Int, TableColumn {
    static let table = TableLayout<Self>("audit_key", naming: .snakeCase)

    case sealed
}

extension DatabaseTransaction {
    func journal(after sequence: Int64, limit: Int) throws -> [JournalRow] {
        let condition = "WHERE seq > ? ORDER BY seq LIMIT ?"
        return try database.rows(of: JournalColumn.table, condition, [sequence, limit]) { fields in
            JournalRow(sequence: try fields.count(.seq), bytes: Array(try fields.text(.entry).utf8))
        }
    }

    func journalMark(_ name: JournalMark.Name) throws -> JournalMark? {
        try database.row(of: JournalMarkColumn.table, "WHERE name = ?", [name.rawValue]) { fields in
            let point = JournalPoint(sequence: try fields.count(.seq), digest: try fields.bytes(.digest))
            return JournalMark(point: point, signature: try fields.optionalBytes(.signature))
        }
    }

    func sealedAuditKey() throws -> [UInt8]? {
        try database.row(of: AuditKeyColumn.table, "") { try $0.bytes(.sealed) }
    }

    func insert(_ row: JournalRow) throws {
        let entry = String(decoding: row.bytes, as: UTF8.self)
        try database.insert(into: JournalColumn.table, [.seq: row.sequence, .entry: entry])
    }

    func set(_ mark: JournalMark, as name: JournalMark.Name) throws {
        try database.insert(
            into: JournalMarkColumn.table,
            [
                .name: name.rawValue,
                .seq: mark.point.sequence,
                .digest: mark.point.digest.blob,
                .signature: mark.signature?.blob,
            ],
            onConflict: "UPDATE SET seq = excluded.seq, digest = excluded.digest, signature = excluded.signature")
    }

    func removeJournal(through sequence: Int64) throws {
        try database.cachedStatement(sql: "DELETE FROM journal WHERE seq <= ?").execute(arguments: [sequence])
    }

    func insert(sealedAuditKey sealed: [UInt8]) throws {
        try database.cachedStatement(sql: "INSERT INTO audit_key (one, sealed) VALUES (1, ?)")
            .execute(arguments: [sealed.blob])
    }

    func update(sealedAuditKey sealed: [UInt8]) throws {
        try database.cachedStatement(sql: "UPDATE audit_key SET sealed = ?").execute(arguments: [sealed.blob])
    }
}
