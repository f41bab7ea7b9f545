import Keys
package import Records
import TableRows
import TextAndTime

/// The column of the key under which rows stand in sums, sealed.
enum RowKeyColumn: Int, TableColumn {
    static let table = TableLayout<Self>("row_key", naming: .snakeCase)

    case sealed
}

/// A row that has a seal, as it is in the database.
struct RowMark {
    /// Of an enrollment, as its column has it: nobody checks the seal of one that has ended.
    var state = ""
    let version: Int64
    let seal: [UInt8]
}

/// The numbers for which rows stand in a ``RowSum``.
///
/// They are secret, and so are the sums: who knew them could look for older rows that together leave a sum as it is.
final class RowTerms {
    private static let use = "oob-agent row 1"
    private static let useForNames = "oob-agent name 1"

    private let key: DataKey
    /// Made for the first row: most database transactions write none.
    private var hash: KeyedHash?

    init(_ key: DataKey) { self.key = key }

    func term(of row: SealedRow, _ mark: RowMark) throws -> RowSum {
        // Neither a name nor a state has a zero byte, and a key is of fixed length: so no two rows give the same bytes.
        var bytes = Array(row.table.utf8) + [0] + row.key + [0] + Array(mark.state.utf8) + [0]
        unsafe withUnsafeBytes(of: mark.version.bigEndian) { unsafe bytes.append(contentsOf: $0) }
        bytes += mark.seal
        let hash = try self.hash ?? key.keyedHash(for: Self.use)
        self.hash = hash
        guard let term = RowSum(try hash.code(of: bytes)) else { throw RowKeyColumn.table.unreadable(.sealed) }
        return term
    }

    /// A number from 1 to 65,536 by which an enrollment's name is looked up: the name itself is encrypted.
    ///
    /// Another name has the same number once in 65,536 times, so a number that is left after an erasure proves no name; without
    /// the key it tells nothing.
    func bucket(of name: String) throws -> Int64 {
        let code = try key.keyedHash(for: Self.useForNames).code(of: Array(name.utf8))
        return 1 + (Int64(code[0]) << 8 | Int64(code[1]))
    }

    func seal(_ sum: RowSum, of host: String, at point: JournalPoint) throws -> [UInt8] {
        try key.encrypt(sum.bytes, for: Self.place(host, point))
    }

    /// Nil if it was not sealed for this head of this host.
    func open(_ sealed: [UInt8], of host: String, at point: JournalPoint) throws -> RowSum? {
        try key.decrypt(sealed, for: Self.place(host, point)).flatMap { RowSum($0) }
    }

    private static func place(_ host: String, _ point: JournalPoint) -> String {
        "journal_mark \(host) \(point.sequence) \(point.hexadecimal)"
    }
}

extension RowMark {
    /// Whether the row is of something that has not ended.
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

    /// Words for a person.
    var name: String {
        switch self {
        case .enrollment(let id): "enrollment \(id.text)"
        case .keyTries(let identity): "the wrong PINs of key \(Base64URL.encode(identity.bytes))"
        }
    }
}

// MARK: What a database transaction writes

extension StoreReading {
    /// Notes a row as it is in the database, which this database transaction may write over.
    func noteRead(_ row: SealedRow, _ mark: RowMark) { written?.state.rows[row] = mark }

    /// Has the sum of this host go along with a row that is written over, made, or taken away.
    ///
    /// - Parameter new: nil if it is taken away.
    func count(_ row: SealedRow, as new: RowMark?) throws {
        guard let written else { return }
        let terms = try rowTerms(written)
        if let old = written.state.rows[row] { written.state.rowChange -= try terms.term(of: row, old) }
        if let new { written.state.rowChange += try terms.term(of: row, new) }
        written.state.rows[row] = new
        written.state.isSumDue = true
    }

    /// The name of the chain that it has; empty for the only one.
    var chain: String { host?.text ?? "" }

    /// The number by which a name is looked up; nil if there is no key for it, and nothing to be looked up.
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

    /// Nil if there is none; it is looked for once.
    func keptRowKey() throws -> DataKey? {
        if let key = sealing.rowKey.value { return key }
        // A key that does not open is as good as gone: this secret has opened the audit key.
        guard let sealed = try sealedRowKey(), let key = try? sealing.seals.openRowKey(sealed) else { return nil }
        sealing.rowKey.value = key
        return key
    }

    fileprivate static let keepRowKey = "UPDATE row_key SET sealed = ? WHERE one = 1"

    /// Made, unless another host has made one meanwhile.
    ///
    /// It is not kept in memory before it is read again: this database transaction may still fail.
    private func newRowKey() throws -> DataKey {
        let made = try DataKey.generate()
        let sealed = try sealing.seals.seal(rowKey: made)
        try database.run("INSERT INTO row_key (one, sealed) VALUES (1, ?) ON CONFLICT (one) DO NOTHING", [sealed])
        if let kept = try sealedRowKey(), let key = try? sealing.seals.openRowKey(kept) { return key }
        try database.run(Self.keepRowKey, [sealed])
        // Under the key that is gone: these names are looked for in all rows that have none.
        try database.run("UPDATE enrollment SET name_bucket = 0 WHERE name_bucket > 0")
        return made
    }

    /// The key under which rows stand in sums, as it was sealed; nil before the first write.
    package func sealedRowKey() throws -> [UInt8]? {
        try database.row(of: RowKeyColumn.table, "WHERE one = 1") { try $0.bytes(.sealed) }
    }
}

extension StoreTransaction {
    /// Makes the key under which rows stand in sums, unless there is one.
    package func makeRowKey() throws { if let written { _ = try rowTerms(written) } }

    func set(rowSum sum: RowSum) throws {
        written?.state.rowSum = sum
        written?.state.isSumDue = true
    }

    /// Has this host's head vouch for the rows as a survey has found them, also for those of hosts whose heads vouch for
    /// none.
    package func accept(_ survey: RowSurvey) throws {
        guard let written else { return }
        try set(rowSum: survey.due)
        let terms = try rowTerms(written)
        // Of a host that is silent nothing is known: what it wrote is in this host's sum from now on.
        for head in try headRows() where head.host != chain && survey.silent.contains(head.host) {
            try database.run(
                "UPDATE journal_mark SET rows = ? WHERE host = ? AND name = 'head' AND seq = ?",
                [try terms.seal(.zero, of: head.host, at: head.point), head.host, head.point.sequence])
        }
    }

    /// Has the head vouch for rows that were written without an entry behind them; the last that is written before a commit.
    package func vouchForRows() throws {
        guard let written, written.state.isSumDue, let head = try journalMark(.head) else { return }
        let rows = try sealedRowSum(at: head.point)
        try database.run("UPDATE journal_mark SET rows = ? WHERE \(ofHost())name = 'head'", [rows])
        written.state.marks[.head] = JournalMark(point: head.point, signature: head.signature, rows: rows)
    }

    /// This host's sum after what was written, sealed for a head; empty, which vouches for nothing, if the one before it
    /// vouched for nothing.
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
        // True whether it is committed or not.
        sealing.rowKey.note(sum, sealedAs: sealed)
        return sealed
    }

    private func committedSum(_ written: Written, _ terms: RowTerms) throws -> RowSum? {
        // Looked for, if nothing was yet.
        if written.state.committedHead == nil { _ = try journalMark(.head) }
        guard let head = written.state.committedHead ?? nil else { return .zero }
        guard let rows = head.rows else { return nil }
        return try sealing.rowKey.sum(sealedAs: rows) ?? terms.open(rows, of: chain, at: head.point)
    }

    package func update(sealedRowKey sealed: [UInt8]) throws {
        try database.run(Self.keepRowKey, [sealed])
    }
}
