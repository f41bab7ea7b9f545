import Authenticator
import IssuerProtocol
import TableRows

extension DatabaseTransaction {
    package func removeWhatWasOver(before time: Int64, limit: Int) throws -> Int {
        var removed = try removeRequests(before: time, limit: limit)
        if removed < limit { removed += try removeMessages(before: time, limit: limit - removed) }
        if removed < limit { removed += try removeEnrollments(before: time, limit: limit - removed) }
        return removed
    }

    /// A request lasts as long as its newest message does, which may have come long after the first.
    private func removeRequests(before time: Int64, limit: Int) throws -> Int {
        let over = try database.numbers(
            """
            SELECT seq FROM request
            WHERE state <> 'pending' AND delivery <> 'queued' AND received_at < ?1
                AND (is_presented = 0 OR exp < ?1)
            ORDER BY received_at LIMIT ?2
            """, [time, limit])
        for seq in over {
            try removePieces(ofRequests: "seq = ?1", [seq])
            for table in [
                "journal_of_request WHERE request_seq", "script WHERE request_seq", "request WHERE seq",
            ] {
                try database.run("DELETE FROM \(table) = ?", [seq])
            }
        }
        return over.count
    }

    /// Messages of requests that are gone, and cancellations.
    private func removeMessages(before time: Int64, limit: Int) throws -> Int {
        try remove(
            """
            DELETE FROM message WHERE (enrollment_id, jti) IN (
                SELECT enrollment_id, jti FROM message AS old
                WHERE seen_at < ?1 AND answer_until IS NULL AND NOT EXISTS (SELECT * FROM request WHERE id = old.request_id)
                ORDER BY seen_at LIMIT ?2)
            """, before: time, limit: limit)
    }

    private func removeEnrollments(before time: Int64, limit: Int) throws -> Int {
        written?.state.enrollments = [:]
        return try remove(
            """
            DELETE FROM enrollment WHERE seq IN (
                SELECT seq FROM enrollment AS old
                WHERE state = 'ended' AND ended_at < ?1 AND COALESCE(erasure, '') <> 'wanted'
                    AND NOT EXISTS (SELECT * FROM request WHERE enrollment_id = old.id)
                    AND NOT EXISTS (SELECT * FROM message WHERE enrollment_id = old.id)
                    AND NOT EXISTS (SELECT * FROM cancellation WHERE enrollment_id = old.id)
                ORDER BY ended_at LIMIT ?2)
            """, before: time, limit: limit)
    }

    private func remove(_ sql: String, before time: Int64, limit: Int) throws -> Int {
        try database.changes(sql, [time, limit])
    }
}
