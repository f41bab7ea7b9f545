package import Records
import TableRows

/// Estimates of the bytes that an issuer's data takes in the database, with indexes and journal entries.
enum StoredSize {
    /// The size of a message of which only the digest is stored.
    static let ofMessage = 1_024
    /// The size of a request's row.
    private static let ofRow = 2_048

    /// The size of a request besides its message.
    ///
    /// The decision may repeat the message's contents.
    ///
    /// - Parameter text: `nil` if its length is not known yet. Then the longest possible text counts, ``longestText``
    ///   times the message.
    static func of(_ request: RequestRecord, text: String?) -> Int {
        let message = request.message.utf8.count
        guard request.presented != nil else { return ofRow + message }
        return ofRow + 2 * message + (text?.utf8.count ?? longestText * message)
    }

    /// The size of a request whose personal data is erased.
    static let ofErased = ofRow

    private static let longestText = 3
}

extension StoreReading {
    /// The size of the database, in bytes.
    ///
    /// For a file, without its write-ahead log.
    package func databaseBytes() throws -> Int64 { try database.number(database.dialect.databaseBytes) ?? 0 }

    /// The number of an enrollment's messages, and the stored bytes of the enrollment and of its issuer.
    ///
    /// Messages are counted from `since` to `until`, in seconds since 1970, in slots of five minutes of the clock. The
    /// first and the last slot count as a whole. A repeated message does not count.
    package func storedTally(of enrollment: EnrollmentID, since: Int64, until: Int64) throws -> StoredTally {
        try lock(enrollment)
        let sql = """
            SELECT CAST(COALESCE(SUM(messages), 0) AS BIGINT),
                (SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM stored_bytes WHERE owner = ?1),
                (SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM stored_bytes
                    WHERE owner = (SELECT issuer FROM enrollment WHERE id = ?1))
            FROM message_tally WHERE enrollment_id = ?1 AND slot >= ?2 AND slot <= ?3
            """
        let slot = Int64(Self.messageSlot)
        let rows = try database.rows(sql, [enrollment.text, since / slot, until / slot]) { [$0[0], $0[1], $0[2]] }
        guard case .number(let messages)? = rows.first?[0], case .number(let bytes)? = rows.first?[1],
            case .number(let ofIssuer)? = rows.first?[2]
        else { throw TallyColumn.table.unreadable(.count) }
        return StoredTally(messages: Int(messages), bytes: Int(bytes), bytesOfIssuer: Int(ofIssuer))
    }
}
