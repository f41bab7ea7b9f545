import IssuerProtocol
import Records
import TableRows

extension StoreReading {
    /// The condition of requests that were never shown: too late, refused, or cancelled before they arrived.
    ///
    /// A request that was cancelled before it arrived has no text. The index `request_never_shown` has this very
    /// condition. An erased request has no message, so it does not match.
    static let neverShown = """
        (is_presented = 0 OR state = 'cancelled' AND text_piece IS NULL AND message_piece IS NOT NULL)
        """

    fileprivate func remove(_ sql: String, before time: Int64, limit: Int) throws -> Int {
        try database.changes(sql, [time, limit])
    }
}

extension StoreTransaction {
    /// Deletes at most `limit` rows of work that ended before `time`, in seconds since 1970.
    ///
    /// First requests that are decided or closed and wait for no answer, then messages without a request, then
    /// enrollments that no row refers to.
    ///
    /// - Returns: the number of deleted rows. Fewer than `limit` if no more rows match.
    package func removeWhatWasOver(before time: Int64, limit: Int) throws -> Int {
        var removed = try removeRequests(before: time, limit: limit)
        if removed < limit { removed += try removeMessages(before: time, limit: limit - removed) }
        if removed < limit { removed += try removeEnrollments(before: time, limit: limit - removed) }
        return removed
    }

    /// Deletes requests that have ended.
    ///
    /// A presented request stays until `time` is after the expiry of its newest message, which may have arrived long
    /// after the first one.
    private func removeRequests(before time: Int64, limit: Int) throws -> Int {
        let over = try database.numbers(
            """
            SELECT seq FROM request
            WHERE state <> 'pending' AND delivery <> 'queued' AND received_at < ?1
                AND (is_presented = 0 OR exp < ?1)
            ORDER BY received_at LIMIT ?2
            """, [time, limit])
        try removeRequests(over)
        return over.count
    }

    /// Deletes at most `limit` requests that arrived before `time` and were never shown.
    ///
    /// The digests of their messages stay. The requests were too late, refused, or cancelled before they arrived. A
    /// request that waits for an answer stays.
    package func removeWhatWasNeverShown(before time: Int64, limit: Int) throws -> Int {
        let over = try database.numbers(
            """
            SELECT seq FROM request
            WHERE \(Self.neverShown) AND received_at < ?1
                AND state IN ('expired', 'cancelled', 'refused') AND delivery IN ('none', 'delivered', 'failed')
                AND (is_presented = 0 OR exp < ?1)
            ORDER BY received_at LIMIT ?2
            """, [time, limit])
        try removeRequests(over)
        return over.count
    }

    private func removeRequests(_ over: [Int64]) throws {
        for seq in over {
            try removePieces(ofRequests: "seq = ?1", [seq])
            for table in [
                "journal_of_request WHERE request_seq", "script WHERE request_seq", "request WHERE seq",
            ] {
                try database.execute("DELETE FROM \(table) = ?", [seq])
            }
        }
    }

    /// Deletes cancellation messages, and messages whose request is gone.
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
        // The deletion itself returns the rows, because another host may delete the same ones.
        let gone = try database.rows(
            """
            DELETE FROM enrollment WHERE seq IN (
                SELECT seq FROM enrollment AS old
                WHERE state = 'ended' AND ended_at < ?1 AND COALESCE(erasure, '') <> 'wanted'
                    AND NOT EXISTS (SELECT * FROM request WHERE enrollment_id = old.id)
                    AND NOT EXISTS (SELECT * FROM message WHERE enrollment_id = old.id)
                    AND NOT EXISTS (SELECT * FROM cancellation WHERE enrollment_id = old.id)
                ORDER BY ended_at LIMIT ?2)
            RETURNING seq, id, version, seal, state
            """, [time, limit]
        ) { row -> (EnrollmentID, RowMark) in
            guard case .number(let version) = row[2], case .bytes(let seal) = row[3], case .text(let state) = row[4]
            else { throw EnrollmentColumn.table.unreadable(.seal) }
            return (try placedEnrollment(row).id, RowMark(state: state, version: version, seal: seal))
        }
        for (id, mark) in gone {
            noteRead(.enrollment(id), mark)
            try count(.enrollment(id), as: nil)
            try destroyDataKey(of: id)
        }
        return gone.count
    }
}
