package import Authenticator
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
    package func journal(after sequence: Int64, limit: Int) throws -> [JournalRow] {
        let condition = "WHERE seq > ? ORDER BY seq LIMIT ?"
        let newest = try database.rows(of: JournalColumn.table, condition, [sequence, limit]) { fields in
            JournalRow(sequence: try fields.count(.seq), bytes: Array(try fields.text(.entry).utf8))
        }
        // The next one is not packed, so none behind it is.
        if let first = newest.first, first.sequence - 1 == sequence { return newest }
        let packed = try packedJournal(after: sequence, limit: limit)
        guard let last = packed.last else { return newest }
        if newest.first.map({ $0.sequence > last.sequence }) != false { return Array((packed + newest).prefix(limit)) }
        // In their order, also if something else has put one in among the packed ones.
        return Array((packed + newest).sorted { $0.sequence < $1.sequence }.prefix(limit))
    }

    package func journalMark(_ name: JournalMark.Name) throws -> JournalMark? {
        if let mark = written?.state.marks[name] { return mark }
        let mark = try database.row(of: JournalMarkColumn.table, "WHERE name = ?", [name.rawValue]) { fields in
            let point = JournalPoint(sequence: try fields.count(.seq), digest: try fields.bytes(.digest))
            return JournalMark(point: point, signature: try fields.optionalBytes(.signature))
        }
        written?.state.marks[name] = mark
        return mark
    }

    package func sealedAuditKey() throws -> [UInt8]? {
        try database.row(of: AuditKeyColumn.table, "") { try $0.bytes(.sealed) }
    }

    package func insert(_ row: JournalRow) throws {
        let entry = String(decoding: row.bytes, as: UTF8.self)
        try database.insert(into: JournalColumn.table, [.seq: row.sequence, .entry: entry])
    }

    package func note(_ entry: JournalEntry) { written?.state.entries.append(entry) }

    package var newEntries: [JournalEntry] { written?.state.entries ?? [] }

    /// A mark that is not signed yet moves on, mostly: then only the last one is written.
    package func set(_ mark: JournalMark, as name: JournalMark.Name) throws {
        written?.state.marks[name] = mark
        guard let written, mark.signature == nil else {
            written?.state.unwrittenMarks.remove(name)
            return try write(mark, as: name)
        }
        written.state.unwrittenMarks.insert(name)
    }

    /// Writes what was left until the commit.
    package func writeMarks() throws {
        guard let written else { return }
        for name in written.state.unwrittenMarks {
            if let mark = written.state.marks[name] { try write(mark, as: name) }
        }
        written.state.unwrittenMarks = []
    }

    private func write(_ mark: JournalMark, as name: JournalMark.Name) throws {
        try database.insert(
            into: JournalMarkColumn.table,
            [
                .name: name.rawValue,
                .seq: mark.point.sequence,
                .digest: mark.point.digest,
                .signature: mark.signature,
            ],
            onConflict:
                "(name) DO UPDATE SET seq = excluded.seq, digest = excluded.digest, signature = excluded.signature")
    }

    package func removeJournal(through sequence: Int64) throws {
        try database.run("DELETE FROM journal WHERE seq <= ?", [sequence])
        try removePackedJournal(through: sequence)
    }

    package func insert(sealedAuditKey sealed: [UInt8]) throws {
        try database.run("INSERT INTO audit_key (one, sealed) VALUES (1, ?)", [sealed])
    }

    package func update(sealedAuditKey sealed: [UInt8]) throws {
        try database.run("UPDATE audit_key SET sealed = ?", [sealed])
    }
}
