package import Records
import TableRows

extension StoreReading {
    /// Returns the ended enrollments whose personal data is still to be erased.
    package func enrollmentsToErase() throws -> [EnrollmentID] {
        try database.enrollmentIDs(
            in: EnrollmentColumn.table, .id,
            "SELECT id FROM enrollment WHERE erasure = 'wanted' AND state = 'ended' ORDER BY seq")
    }

    /// Whether an enrollment's personal data was erased.
    package func isErased(_ id: EnrollmentID) throws -> Bool {
        try database.number("SELECT 1 FROM enrollment WHERE id = ? AND erasure = 'done'", [id.text]) != nil
    }
}

extension StoreTransaction {
    /// Records that an enrollment's personal data is to be erased once the enrollment has ended.
    package func wantErasure(of id: EnrollmentID) throws {
        try lock(id)
        try database.execute("UPDATE enrollment SET erasure = 'wanted' WHERE id = ? AND erasure IS NULL", [id.text])
    }

    /// Erases the personal data of the next `limit` requests after `place`.
    ///
    /// `nil` starts with the first one. Ids, digests, times and states stay.
    ///
    /// - Returns: the place of the last request. `nil` if there are no more.
    package func eraseRequests(of id: EnrollmentID, after place: Int64?, limit: Int) throws -> Int64? {
        try lock(id)
        let next = "SELECT seq FROM request WHERE enrollment_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"
        let values: StatementValues = [id.text, place ?? 0, limit]
        try removePieces(ofRequests: "seq IN (\(next))", values)
        try database.execute(
            """
            UPDATE request SET warnings = NULL, traceparent = NULL, issuer_key = NULL,
                message_piece = NULL, text_piece = NULL, decision_piece = NULL,
                counted_bytes = \(StoredSize.ofErased)
            WHERE seq IN (\(next))
            """, values)
        return try database.number("SELECT MAX(seq) FROM (\(next)) AS erased", values)
    }

    /// Erases an enrollment's own personal data: its name, user handle, roots and key columns, and its data key.
    ///
    /// Call it last: without the data key, requests that are not erased yet cannot be read.
    package func eraseNames(of id: EnrollmentID) throws {
        try lock(id)
        written?.state.enrollments[id] = nil
        try database.execute(
            """
            UPDATE enrollment SET name = ?1, name_bucket = -1, user_handle = ?1, roots_pem = NULL, key_uri = NULL,
                key_kind = NULL, key_public = NULL, key_exportable = NULL, credential_key = NULL, sealed_key = NULL,
                pin_guessable = 0, key_identity = NULL
            WHERE id = ?2
            """, [[UInt8](), id.text])
        try destroyDataKey(of: id)
    }

    /// Records that the erasure is complete.
    ///
    /// Returns false if that was recorded already.
    @discardableResult
    package func concludeErasure(of id: EnrollmentID) throws -> Bool {
        try lock(id)
        return try database.changes(
            "UPDATE enrollment SET erasure = 'done' WHERE id = ? AND erasure = 'wanted'", [id.text]) > 0
    }
}
