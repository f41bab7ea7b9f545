package import Records
package import TableRows

/// The columns of the journal.
enum JournalColumn: Int, TableColumn {
    static let table = TableLayout<Self>("journal", naming: .snakeCase)

    case seq, entry
}

/// The columns of a journal mark, a signed point of the journal.
enum JournalMarkColumn: Int, TableColumn {
    static let table = TableLayout<Self>("journal_mark", naming: .snakeCase)

    case name, seq, digest, signature, rows
}

/// The column of the sealed key that signs the marks.
enum AuditKeyColumn: Int, TableColumn {
    static let table = TableLayout<Self>("audit_key", naming: .snakeCase)

    case sealed
}

extension StoreReading {
    /// The host whose journal chain this database transaction uses, or `nil` if the store has one chain.
    package var journalHost: String? { host?.text }

    /// The entries after an entry, in order.
    package func journal(after sequence: Int64, limit: Int) throws -> [JournalRow] {
        try database.rows(of: JournalColumn.table, entriesAfter, [sequence, limit]) { fields in
            JournalRow(sequence: try fields.count(.seq), bytes: Array(try fields.text(.entry).utf8))
        }
    }

    /// The ends of the other hosts' chains, by host.
    ///
    /// Empty if the store has one chain.
    package func headsOfOthers() throws -> [String: Int64] {
        guard let host else { return [:] }
        let heads = try database.rows(
            "SELECT host, seq FROM journal_mark WHERE name = 'head' AND host <> ?", [host.text]
        ) { row -> (String, Int64) in
            guard case .text(let name) = row[0], case .number(let sequence) = row[1] else {
                throw JournalMarkColumn.table.unreadable(.seq)
            }
            return (name, sequence)
        }
        return Dictionary(heads) { first, _ in first }
    }

    /// The other hosts that have any row of a journal chain, by name, at most ``HostName/maxOthers``.
    package func otherHosts() throws -> [String] {
        guard let host else { return [] }
        // Each subquery uses an index. PostgreSQL may hash an `EXISTS` instead, which reads a whole table.
        let firsts = [
            "journal_mark": "name", "audit_key": "one", "journal": "seq", "journal_checkpoint": "seq",
        ]
        let hasAny = firsts.sorted { $0.key < $1.key }.map { table, column in
            "(SELECT t.\(column) FROM \(table) AS t WHERE t.host = host.name ORDER BY t.\(column) LIMIT 1) IS NOT NULL"
        }
        return try database.rows(
            """
            SELECT name FROM host WHERE name <> ? AND (\(hasAny.joined(separator: " OR ")))
            ORDER BY name LIMIT \(HostName.maxOthers)
            """, [host.text]
        ) { row in
            guard case .text(let name) = row[0] else { throw JournalMarkColumn.table.unreadable(.name) }
            return name
        }
    }

    /// A reader of the same database transaction for another host's chain, or `nil` if no host can have that name.
    package func reader(of host: String) -> StoreReading? {
        guard self.host != nil, let name = HostName(host) else { return nil }
        return StoreReading(database: database, sealing: sealing, host: name)
    }

    fileprivate var entriesAfter: String { "WHERE \(ofHost())seq > ? ORDER BY seq LIMIT ?" }
    fileprivate var markNamed: String { "WHERE \(ofHost())name = ?" }

    package func journalMark(_ name: JournalMark.Name) throws -> JournalMark? {
        if let mark = written?.state.marks[name] { return mark }
        let mark = try database.row(of: JournalMarkColumn.table, markNamed, [name.rawValue]) {
            fields in
            let point = JournalPoint(sequence: try fields.count(.seq), digest: try fields.bytes(.digest))
            return JournalMark(
                point: point, signature: try fields.optionalBytes(.signature), rows: try fields.optionalBytes(.rows))
        }
        if name == .head { written?.state.committedHead = .some(mark) }
        written?.state.marks[name] = .some(mark)
        return mark
    }

    /// The sealed key that signs the journal's marks.
    package func sealedAuditKey() throws -> [UInt8]? {
        try database.row(of: AuditKeyColumn.table, "WHERE \(ofHost())one = 1") { try $0.bytes(.sealed) }
    }

    /// The sealed audit keys of the other hosts.
    ///
    /// Empty if the store has one chain.
    package func sealedAuditKeysOfOthers() throws -> [[UInt8]] {
        guard let host else { return [] }
        return try database.rows(of: AuditKeyColumn.table, "WHERE host <> ? ORDER BY host", [host.text]) {
            try $0.bytes(.sealed)
        }
    }
}

extension StoreTransaction {
    /// The first queries of a database transaction that records in the journal: the marks and the newest entry.
    ///
    /// A database on another host can answer them in one round trip.
    ///
    /// - Parameter head: the end of the journal in this process's last write. `nil` if there was none.
    package func openingQuestions(head: Int64?) -> [(sql: String, values: StatementValues)] {
        let marks = JournalMarkColumn.table.selection(markNamed)
        let entries = JournalColumn.table.selection(entriesAfter)
        var questions = JournalMark.Name.allCases.map { (sql: marks, values: [$0.rawValue] as StatementValues) }
        if let head { questions.append((sql: entries, values: [head - 1, 2])) }
        return questions
    }

    /// The end of the journal that this database transaction has read or written, or `nil` if it has done neither.
    package var headSeen: Int64? { written?.state.marks[.head]??.point.sequence }

    package func insert(_ row: JournalRow) throws {
        let entry = String(decoding: row.bytes, as: UTF8.self)
        try database.execute(
            "INSERT INTO journal (\(hostColumn)seq, entry) VALUES (\(hostValue)?, ?)", [row.sequence, entry])
    }

    /// Records an inserted entry for ``newEntries``.
    package func keep(_ entry: JournalEntry) { written?.state.entries.append(entry) }

    /// The entries that this database transaction has recorded and not undone, in order.
    package var newEntries: [JournalEntry] { written?.state.entries ?? [] }

    package func set(_ mark: JournalMark, as name: JournalMark.Name) throws {
        // The head is written without a signature first, and then with it. Only the signed head needs the row sum.
        let isWhole = name == .head && mark.signature != nil
        let rows = try isWhole ? sealedRowSum(at: mark.point) : nil
        written?.state.marks[name] = JournalMark(point: mark.point, signature: mark.signature, rows: rows)
        try database.execute(
            """
            INSERT INTO journal_mark (\(hostColumn)name, seq, digest, signature, rows)
            VALUES (\(hostValue)?, ?, ?, ?, ?)
            ON CONFLICT (\(hostColumn)name) DO UPDATE SET
                seq = excluded.seq, digest = excluded.digest, signature = excluded.signature, rows = excluded.rows
            """, [name.rawValue, mark.point.sequence, mark.point.digest, mark.signature, rows])
    }

    package func removeJournal(through sequence: Int64) throws {
        for table in ["journal", "journal_checkpoint"] {
            try database.execute("DELETE FROM \(table) WHERE \(ofHost())seq <= ?", [sequence])
        }
    }

    package func insert(sealedAuditKey sealed: [UInt8]) throws {
        try database.execute("INSERT INTO audit_key (\(hostColumn)one, sealed) VALUES (\(hostValue)1, ?)", [sealed])
    }

    /// Replaces the sealed form of the audit key.
    package func update(sealedAuditKey sealed: [UInt8]) throws {
        try database.execute("UPDATE audit_key SET sealed = ? WHERE \(ofHost())one = 1", [sealed])
    }
}
