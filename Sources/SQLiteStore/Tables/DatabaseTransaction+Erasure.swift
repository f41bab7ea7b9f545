import Authenticator
import GRDB

extension DatabaseTransaction {
    func enrollmentsToErase() throws -> [EnrollmentID] {
        try database.enrollmentIDs(
            in: EnrollmentColumn.table, .id,
            "SELECT id FROM enrollment WHERE erasure = 'wanted' AND state = 'ended' ORDER BY seq")
    }

    func isErased(_ id: EnrollmentID) throws -> Bool {
        let statement = try database.cachedStatement(sql: "SELECT erasure IS 'done' FROM enrollment WHERE id = ?")
        return try Bool.fetchOne(statement, arguments: [id.text]) ?? false
    }

    func wantErasure(of id: EnrollmentID) throws {
        try database.cachedStatement(sql: "UPDATE enrollment SET erasure = 'wanted' WHERE id = ? AND erasure IS NULL")
            .execute(arguments: [id.text])
    }

    func eraseRequests(of id: EnrollmentID, after place: Int64?, limit: Int) throws -> Int64? {
        sealing.transactions.forget()
        let next = "SELECT seq FROM request WHERE enrollment_id = ? AND seq > ? ORDER BY seq LIMIT ?"
        let arguments: StatementArguments = [id.text, place ?? 0, limit]
        try database.cachedStatement(
            sql: """
                UPDATE request SET members = NULL, nonce = NULL, warnings = NULL, payment = NULL, traceparent = NULL,
                    message = ''
                WHERE seq IN (\(next))
                """
        ).execute(arguments: arguments)
        for table in ["evidence", "past_request"] {
            try database.cachedStatement(sql: "DELETE FROM \(table) WHERE request_seq IN (\(next))")
                .execute(arguments: arguments)
        }
        return try Int64.fetchOne(
            try database.cachedStatement(sql: "SELECT MAX(seq) FROM (\(next))"), arguments: arguments)
    }

    func eraseNames(of id: EnrollmentID) throws {
        try database.cachedStatement(
            sql: """
                UPDATE enrollment SET name = '', user_handle = x'', roots_pem = NULL, key_uri = NULL, key_kind = NULL,
                    key_public = NULL, key_exportable = NULL, credential_key = NULL, pin_guessable = 0,
                    key_identity = NULL
                WHERE id = ?
                """
        ).execute(arguments: [id.text])
    }

    func concludeErasure(of id: EnrollmentID) throws {
        try database.cachedStatement(sql: "UPDATE enrollment SET erasure = 'done' WHERE id = ?")
            .execute(arguments: [id.text])
    }
}
