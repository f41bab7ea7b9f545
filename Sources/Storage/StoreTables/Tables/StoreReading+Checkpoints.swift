import Keys
package import Records
import TableRows

/// The columns of a checkpoint: its entry, the digests of `earlier` checkpoints, and the signature over both.
enum CheckpointColumn: Int, TableColumn {
    static let table = TableLayout<Self>("journal_checkpoint", naming: .snakeCase)

    case seq, digest, earlier, signature
}

extension StoreReading {
    /// The checkpoint at an entry, or `nil` if there is none.
    package func checkpoint(at sequence: Int64) throws -> JournalCheckpoint? {
        try database.row(of: CheckpointColumn.table, "WHERE \(ofHost())seq = ?", [sequence], as: checkpoint)
    }

    package func newestCheckpoint() throws -> JournalCheckpoint? {
        try database.row(of: CheckpointColumn.table, "WHERE \(ofHost())TRUE ORDER BY seq DESC LIMIT 1", as: checkpoint)
    }

    fileprivate func checkpoint(_ fields: Fields<CheckpointColumn>) throws -> JournalCheckpoint {
        let point = JournalPoint(sequence: try fields.count(.seq), digest: try fields.bytes(.digest))
        return JournalCheckpoint(
            point: point, earlier: try fields.made(of: fields.bytes(.earlier), .earlier, JournalPoint.list),
            signature: try fields.bytes(.signature))
    }

    /// The checkpoints that cover entries about a request, oldest first.
    ///
    /// The list is written with each checkpoint. No signature covers it.
    package func checkpoints(of request: RequestID) throws -> [Int64] {
        try database.numbers(
            """
            SELECT checkpoint FROM journal_of_request
            WHERE \(ofHost())request_seq = (SELECT seq FROM request WHERE id = ?) ORDER BY checkpoint
            """, [request.text])
    }
}

extension StoreTransaction {
    /// - Parameter requests: the requests that the checkpoint's entries are about.
    package func insert(_ checkpoint: JournalCheckpoint, about requests: Set<RequestID>) throws {
        let sequence = checkpoint.point.sequence
        try database.execute(
            """
            INSERT INTO journal_checkpoint (\(hostColumn)seq, digest, earlier, signature) VALUES (\(hostValue)?, ?, ?, ?)
            """,
            [sequence, checkpoint.point.digest, JournalPoint.bytes(checkpoint.earlier), checkpoint.signature])
        let about = """
            INSERT INTO journal_of_request (\(hostColumn)request_seq, checkpoint)
            SELECT \(hostValue)seq, CAST(? AS BIGINT) FROM request WHERE id = ? ON CONFLICT DO NOTHING
            """
        for request in requests.sorted(by: { $0.text < $1.text }) {
            try database.execute(about, [sequence, request.text])
        }
    }
}

extension JournalPoint {
    private static let length = 8 + SHA256Digest.count

    /// Encodes each point as its number, eight bytes big-endian, and its digest.
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
