package import Authenticator
import Keys
import TableRows

/// The columns of a block of the journal: its checkpoint, and what is packed in it.
enum JournalBlockColumn: Int, TableColumn {
    static let table = TableLayout<Self>("journal_block", naming: .snakeCase)

    case last, first, digest, earlier, signature, entries
}

extension DatabaseTransaction {
    /// The entries of blocks after one, in their order: `limit` at least, if there are as many, and whole blocks.
    package func packedJournal(after sequence: Int64, limit: Int) throws -> [JournalRow] {
        var (rows, place): ([JournalRow], Int64) = ([], sequence)
        while rows.count < limit {
            let next = try database.row(
                of: JournalBlockColumn.table, "WHERE \(ofHost())last > ? ORDER BY last LIMIT 1", [place]
            ) { fields in
                let block = PackedJournal(bytes: try fields.bytes(.entries))
                let (first, last) = (try fields.count(.first) as Int64, try fields.count(.last))
                // One that cannot be read is an entry that is none: whoever checks the journal says so.
                let found = block.rows(from: first) ?? [JournalRow(sequence: first, bytes: [])]
                return (last, found)
            }
            guard let (last, found) = next else { break }
            rows += found.filter { $0.sequence > sequence }
            place = last
        }
        return rows
    }

    package func checkpoint(at sequence: Int64) throws -> JournalCheckpoint? {
        try database.row(of: JournalBlockColumn.table, "WHERE \(ofHost())last = ?", [sequence], as: checkpoint)
    }

    package func newestCheckpoint() throws -> JournalCheckpoint? {
        try database.row(
            of: JournalBlockColumn.table, "WHERE \(ofHost())TRUE ORDER BY last DESC LIMIT 1", as: checkpoint)
    }

    private func checkpoint(_ fields: Fields<JournalBlockColumn>) throws -> JournalCheckpoint {
        let point = JournalPoint(sequence: try fields.count(.last), digest: try fields.bytes(.digest))
        return JournalCheckpoint(
            point: point, earlier: try fields.made(of: fields.bytes(.earlier), .earlier, JournalPoint.list),
            signature: try fields.bytes(.signature))
    }

    package func checkpoints(of request: RequestID) throws -> [Int64] {
        try database.numbers(
            """
            SELECT block FROM journal_of_request
            WHERE \(ofHost())request_seq = (SELECT seq FROM request WHERE id = ?) ORDER BY block
            """, [request.text])
    }

    package func pack(_ rows: [JournalRow], under checkpoint: JournalCheckpoint, about requests: Set<RequestID>) throws
        -> Bool
    {
        let last = checkpoint.point.sequence
        guard let first = rows.first?.sequence, let packed = PackedJournal(rows) else { return false }
        // All that are not packed so far and no others, whatever has been removed or put in since they were read.
        let there = "SELECT COUNT(*) = ? AND MIN(seq) = ? AND MAX(seq) = ? FROM journal WHERE \(ofHost())seq <= ?"
        guard try database.number(there, [rows.count, first, last, last]) == 1 else { return false }
        try database.run("DELETE FROM journal WHERE \(ofHost())seq <= ?", [last])
        try database.run(
            """
            INSERT INTO journal_block (\(hostColumn)last, first, digest, earlier, signature, entries)
            VALUES (\(hostValue)?, ?, ?, ?, ?, ?)
            """,
            [
                last, first, checkpoint.point.digest, JournalPoint.bytes(checkpoint.earlier), checkpoint.signature,
                packed.bytes,
            ])
        let about = """
            INSERT INTO journal_of_request (\(hostColumn)request_seq, block)
            SELECT \(hostValue)seq, CAST(? AS BIGINT) FROM request WHERE id = ? ON CONFLICT DO NOTHING
            """
        for request in requests.sorted(by: { $0.text < $1.text }) { try database.run(about, [last, request.text]) }
        return true
    }

    /// Of a block that is removed in part, the rest is packed anew.
    package func removePackedJournal(through sequence: Int64) throws {
        try database.run("DELETE FROM journal_block WHERE \(ofHost())last <= ?", [sequence])
        let condition = "WHERE \(ofHost())last > ? ORDER BY last LIMIT 1"
        let next = try database.row(of: JournalBlockColumn.table, condition, [sequence]) {
            (last: try $0.count(.last), first: try $0.count(.first) as Int64, packed: try $0.bytes(.entries))
        }
        guard let split = next, split.first <= sequence else { return }
        let rows = PackedJournal(bytes: split.packed).rows(from: split.first)?.filter { $0.sequence > sequence }
        guard let rows, let first = rows.first, let packed = PackedJournal(rows) else {
            throw JournalBlockColumn.table.unreadable(.entries)
        }
        try database.run(
            "UPDATE journal_block SET first = ?, entries = ? WHERE \(ofHost())last = ?",
            [first.sequence, packed.bytes, split.last])
    }
}

extension JournalPoint {
    private static let length = 8 + SHA256Digest.count

    /// A number of eight bytes, big-endian, and a digest, for each.
    fileprivate static func bytes(_ points: [JournalPoint]) -> [UInt8] {
        points.flatMap { point in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: point.sequence >> $0) } + point.digest
        }
    }

    fileprivate static func list(_ bytes: [UInt8]) -> [JournalPoint]? {
        guard bytes.count.isMultiple(of: length) else { return nil }
        return stride(from: 0, to: bytes.count, by: length).map { start in
            let sequence = bytes[start..<start + 8].reduce(0) { $0 << 8 | Int64($1) }
            return JournalPoint(sequence: sequence, digest: Array(bytes[start + 8..<start + length]))
        }
    }
}
