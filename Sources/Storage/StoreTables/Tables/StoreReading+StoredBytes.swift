package import Records
import TableRows

/// About how many bytes what an issuer sends takes in the database, with indexes and entries of the journal.
enum StoredSize {
    /// Of a message of which the digest is kept alone.
    static let ofMessage = 1_024
    /// Of a request's row.
    private static let ofRow = 2_048

    /// Of a request besides its message: the decision may repeat what the message says.
    ///
    /// - Parameter text: `nil` if it is not known yet how long it is; then it is at most this often as long as the message.
    static func of(_ request: RequestRecord, text: String?) -> Int {
        let message = request.message.utf8.count
        guard request.presented != nil else { return ofRow + message }
        return ofRow + 2 * message + (text?.utf8.count ?? longestText * message)
    }

    /// Of one whose personal data is erased.
    static let ofErased = ofRow

    private static let longestText = 3
}

extension StoreReading {
    /// The bytes of the whole database; in a file, without its log.
    package func databaseBytes() throws -> Int64 { try database.number(database.dialect.databaseBytes) ?? 0 }

    /// The messages of an enrollment in the store, and the bytes of them and of its issuer's.
    ///
    /// Messages are counted between two times, seconds since 1970, and up to five minutes around them: by slots of five
    /// minutes of the clock, of which the first and last are counted whole. The same message again does not count.
    package func storedTally(of enrollment: EnrollmentID, since: Int64, until: Int64) throws -> StoredTally {
        try hold(enrollment)
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
