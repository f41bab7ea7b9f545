import Keys
package import Records
import TableRows
import TextAndTime

/// The column of the sealed row key, under which ``RowTerms`` computes the terms of the row sums.
enum RowKeyColumn: Int, TableColumn {
    static let table = TableLayout<Self>("row_key", naming: .snakeCase)

    case sealed
}

/// The state, version and seal of a sealed row, as the database has them.
struct RowMark {
    /// The value of an enrollment's `state` column.
    ///
    /// No seal of an ended enrollment is verified.
    var state = ""
    let version: Int64
    let seal: [UInt8]
}

/// Computes the term that each row adds to a ``RowSum``.
///
/// Terms and sums are secret. With them, an attacker could search for older rows that leave the sum unchanged.
final class RowTerms {
    private static let use = "oob-agent row 1"
    private static let useForNames = "oob-agent name 1"

    private let key: DataKey
    /// Created for the first row, because most database transactions write none.
    private var hash: KeyedHash?

    init(_ key: DataKey) { self.key = key }

    func term(of row: SealedRow, _ mark: RowMark) throws -> RowSum {
        // Table names and states have no zero byte, and a key has a fixed length, so no two rows give the same bytes.
        var bytes = Array(row.table.utf8) + [0] + row.key + [0] + Array(mark.state.utf8) + [0]
        unsafe withUnsafeBytes(of: mark.version.bigEndian) { unsafe bytes.append(contentsOf: $0) }
        bytes += mark.seal
        let hash = try self.hash ?? key.keyedHash(for: Self.use)
        self.hash = hash
        guard let term = RowSum(try hash.code(of: bytes)) else { throw RowKeyColumn.table.unreadable(.sealed) }
        return term
    }

    /// The bucket of a name, 1 to 65,536, by which enrollments are looked up.
    ///
    /// The name itself is encrypted. Another name falls into the same bucket once in 65,536 times. So a bucket that
    /// remains after an erasure proves no name, and without the key it reveals no information about the name.
    func bucket(of name: String) throws -> Int64 {
        let code = try key.keyedHash(for: Self.useForNames).code(of: Array(name.utf8))
        return 1 + (Int64(code[0]) << 8 | Int64(code[1]))
    }

    func seal(_ sum: RowSum, of host: String, at point: JournalPoint) throws -> [UInt8] {
        try key.encrypt(sum.bytes, for: Self.place(host, point))
    }

    /// Decrypts a sum.
    ///
    /// Returns `nil` if it was not sealed for this head of this host.
    func open(_ sealed: [UInt8], of host: String, at point: JournalPoint) throws -> RowSum? {
        try key.decrypt(sealed, for: Self.place(host, point)).flatMap { RowSum($0) }
    }

    private static func place(_ host: String, _ point: JournalPoint) -> String {
        "journal_mark \(host) \(point.sequence) \(point.hexadecimal)"
    }
}

extension RowMark {
    /// Whether this is a row of PIN tries, or of an enrollment that has not ended.
    var isLive: Bool { state != StateColumns.ended }
}

extension SealedRow {
    fileprivate var table: String {
        switch self {
        case .enrollment: EnrollmentColumn.table.name
        case .keyTries: KeyTriesColumn.table.name
        }
    }

    fileprivate var key: [UInt8] {
        switch self {
        case .enrollment(let id): Array(id.text.utf8)
        case .keyTries(let identity): identity.bytes
        }
    }

    /// A description for a person.
    var name: String {
        switch self {
        case .enrollment(let id): "enrollment \(id.text)"
        case .keyTries(let identity): "the wrong PINs of key \(Base64URL.encode(identity.bytes))"
        }
    }
}

// MARK: What a database transaction writes

extension StoreReading {
    /// Records the stored state of a row that this database transaction may overwrite.
    func noteRead(_ row: SealedRow, _ mark: RowMark) { written?.state.rows[row] = mark }

    /// Updates this host's row sum for a row that is overwritten, inserted or deleted.
    ///
    /// - Parameter new: the row as it is written. `nil` if the row is deleted.
    func count(_ row: SealedRow, as new: RowMark?) throws {
        guard let written else { return }
        let terms = try rowTerms(written)
        if let old = written.state.rows[row] { written.state.rowChange -= try terms.term(of: row, old) }
        if let new { written.state.rowChange += try terms.term(of: row, new) }
        written.state.rows[row] = new
        written.state.isSumDue = true
    }

    /// The name of the host whose journal chain this database transaction uses.
    ///
    /// Empty if the store has one chain.
    var chain: String { host?.text ?? "" }

    /// The bucket of an enrollment's name.
    ///
    /// `nil` if there is no row key. No name has a bucket then.
    func nameBucket(of name: String) throws -> Int64? {
        let terms = try written.map(rowTerms) ?? keptRowKey().map(RowTerms.init)
        return try terms?.bucket(of: name)
    }

    fileprivate func rowTerms(_ written: Written) throws -> RowTerms {
        if let terms = written.state.rowTerms { return terms }
        let terms = RowTerms(try keptRowKey() ?? newRowKey())
        written.state.rowTerms = terms
        return terms
    }

    /// Returns the row key, or `nil` if there is none or it does not open.
    ///
    /// A key that was opened once is cached in the process.
    func keptRowKey() throws -> DataKey? {
        if let key = sealing.rowKey.value { return key }
        // A key that does not open counts as lost, because the same secret has opened the audit key.
        guard let sealed = try sealedRowKey(), let key = try? sealing.seals.openRowKey(sealed) else { return nil }
        sealing.rowKey.value = key
        return key
    }

    fileprivate static let keepRowKey = "UPDATE row_key SET sealed = ? WHERE one = 1"

    /// Creates the row key, unless another host has created it meanwhile.
    ///
    /// The new key is not cached before it is read again, because this database transaction may still fail.
    private func newRowKey() throws -> DataKey {
        let made = try DataKey.generate()
        let sealed = try sealing.seals.seal(rowKey: made)
        try database.execute("INSERT INTO row_key (one, sealed) VALUES (1, ?) ON CONFLICT (one) DO NOTHING", [sealed])
        if let kept = try sealedRowKey(), let key = try? sealing.seals.openRowKey(kept) { return key }
        try database.execute(Self.keepRowKey, [sealed])
        // The buckets were computed under the lost key. 0 makes a look-up by name read these rows one by one.
        try database.execute("UPDATE enrollment SET name_bucket = 0 WHERE name_bucket > 0")
        return made
    }

    /// The sealed row key, or `nil` before the first write.
    package func sealedRowKey() throws -> [UInt8]? {
        try database.row(of: RowKeyColumn.table, "WHERE one = 1") { try $0.bytes(.sealed) }
    }
}

extension StoreTransaction {
    /// Creates the row key if there is none.
    package func makeRowKey() throws { if let written { _ = try rowTerms(written) } }

    func set(rowSum sum: RowSum) throws {
        written?.state.rowSum = sum
        written?.state.isSumDue = true
    }

    /// Sets this host's sum so that the sums of all hosts match the rows of a survey.
    ///
    /// The sum also covers the rows of silent hosts, whose heads vouch for no rows.
    package func accept(_ survey: RowSurvey) throws {
        guard let written else { return }
        try set(rowSum: survey.due)
        let terms = try rowTerms(written)
        // A silent host's share of the rows is unknown. From now on this host's sum covers those rows.
        for head in try headRows() where head.host != chain && survey.silent.contains(head.host) {
            try database.execute(
                "UPDATE journal_mark SET rows = ? WHERE host = ? AND name = 'head' AND seq = ?",
                [try terms.seal(.zero, of: head.host, at: head.point), head.host, head.point.sequence])
        }
    }

    /// Updates the head's row sum for rows that were written without a journal entry.
    ///
    /// Call it as the last write before a commit.
    package func vouchForRows() throws {
        guard let written, written.state.isSumDue, let head = try journalMark(.head) else { return }
        let rows = try sealedRowSum(at: head.point)
        try database.execute("UPDATE journal_mark SET rows = ? WHERE \(ofHost())name = 'head'", [rows])
        written.state.marks[.head] = JournalMark(point: head.point, signature: head.signature, rows: rows)
    }

    /// This host's row sum after the writes so far, sealed for a head.
    ///
    /// Empty, which vouches for no rows, if the sum before it was empty or does not decrypt.
    func sealedRowSum(at point: JournalPoint) throws -> [UInt8]? {
        guard let written else { return nil }
        let terms = try rowTerms(written)
        guard var sum = try written.state.rowSum ?? committedSum(written, terms) else {
            written.state.isSumDue = false
            return []
        }
        sum += written.state.rowChange
        written.state.isSumDue = false
        let sealed = try terms.seal(sum, of: chain, at: point)
        // Valid even if the commit fails: the sealed bytes stand for this sum in any case.
        sealing.rowKey.cache(sum, sealedAs: sealed)
        return sealed
    }

    private func committedSum(_ written: Written, _ terms: RowTerms) throws -> RowSum? {
        // Loads the head, unless it was loaded already.
        if written.state.committedHead == nil { _ = try journalMark(.head) }
        guard let head = written.state.committedHead ?? nil else { return .zero }
        guard let rows = head.rows else { return nil }
        return try sealing.rowKey.sum(sealedAs: rows) ?? terms.open(rows, of: chain, at: head.point)
    }

    package func update(sealedRowKey sealed: [UInt8]) throws {
        try database.execute(Self.keepRowKey, [sealed])
    }
}
