import Authenticator
import GRDB

extension DatabaseTransaction {
    func journal(after sequence: Int64, limit: Int) throws -> [JournalRow] {
        let statement = try database.cachedStatement(
            sql: "SELECT seq, entry FROM journal WHERE seq > ? ORDER BY seq LIMIT ?")
        return try Row.fetchAll(statement, arguments: [sequence, limit]).map { row in
            let fields = Fields(table: "journal", row: row)
            return JournalRow(sequence: try fields.count("seq"), bytes: Array(try fields.text("entry").utf8))
        }
    }

    func journalMark(_ name: JournalMark.Name) throws -> JournalMark? {
        let statement = try database.cachedStatement(sql: "SELECT * FROM journal_mark WHERE name = ?")
        return try Row.fetchOne(statement, arguments: [name.rawValue]).map { row in
            let fields = Fields(table: "journal_mark", row: row)
            let point = JournalPoint(sequence: try fields.count("seq"), digest: try fields.bytes("digest"))
            return JournalMark(point: point, signature: fields.optionalBytes("signature"))
        }
    }

    func sealedAuditKey() throws -> [UInt8]? {
        let statement = try database.cachedStatement(sql: "SELECT sealed FROM audit_key")
        return try Row.fetchOne(statement).map { try Fields(table: "audit_key", row: $0).bytes("sealed") }
    }

    func insert(_ row: JournalRow) throws {
        try database.cachedStatement(sql: "INSERT INTO journal (seq, entry) VALUES (?, ?)")
            .execute(arguments: [row.sequence, String(decoding: row.bytes, as: UTF8.self)])
    }

    func set(_ mark: JournalMark, as name: JournalMark.Name) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO journal_mark (name, seq, digest, signature) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET seq = excluded.seq, digest = excluded.digest, signature = excluded.signature
                """
        ).execute(arguments: [name.rawValue, mark.point.sequence, mark.point.digest.blob, mark.signature?.blob])
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
