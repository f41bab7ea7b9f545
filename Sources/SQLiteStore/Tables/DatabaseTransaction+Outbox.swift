import Authenticator
import GRDB
import IssuerProtocol
import TableRows
import ThreeDS

/// The columns of a message that was seen.
enum MessageColumn: Int, TableColumn {
    static let table = TableLayout<Self>("message", naming: .snakeCase)

    case enrollmentId, jti, payloadDigest, requestId, seenAt, isReused
}

/// The columns of a decision that is to be delivered.
enum OutboxColumn: Int, TableColumn {
    static let table = TableLayout<Self>("outbox", naming: .snakeCase)

    case seq, enrollmentId, jti, requestId, signCount, body, exp, traceparent, lastError
}

extension DatabaseTransaction {
    func message(enrollment: EnrollmentID, jti: TokenID) throws -> SeenMessage? {
        let (condition, key): (String, StatementValues) = (
            "WHERE enrollment_id = ? AND jti = ?", [enrollment.text, jti.text]
        )
        return try database.row(of: MessageColumn.table, condition, key) { fields in
            SeenMessage(
                enrollmentId: enrollment, jti: jti, payloadDigest: try fields.bytes(.payloadDigest),
                requestId: try fields.optionalValue(.requestId, RequestID.init),
                seenAt: try fields.time(.seenAt), isReused: try fields.flag(.isReused))
        }
    }

    func messageCount(enrollment: EnrollmentID, since: Int64) throws -> Int {
        // Slots that are wholly within are added up; of the first one messages are counted.
        let slot = Schema.messageSlot
        let sql = """
            SELECT COUNT(*) + (
                SELECT IFNULL(SUM(messages), 0) FROM message_tally WHERE enrollment_id = ?1 AND slot > ?2 / \(slot)
            ) FROM message WHERE enrollment_id = ?1 AND seen_at >= ?2 AND seen_at < (?2 / \(slot) + 1) * \(slot)
            """
        return Int(try database.number(sql, [enrollment.text, since]) ?? 0)
    }

    func insert(_ message: SeenMessage) throws {
        try database.insert(
            into: MessageColumn.table,
            [
                .enrollmentId: message.enrollmentId.text,
                .jti: message.jti.text,
                .payloadDigest: message.payloadDigest.blob,
                .requestId: message.requestId?.text,
                .seenAt: message.seenAt,
            ])
    }

    func markReused(_ message: SeenMessage) throws {
        try database.cachedStatement(sql: "UPDATE message SET is_reused = 1 WHERE enrollment_id = ? AND jti = ?")
            .execute(arguments: [message.enrollmentId.text, message.jti.text])
    }

    func cancellation(enrollment: EnrollmentID, of jti: TokenID) throws -> RememberedCancellation? {
        let sql = "SELECT until FROM cancellation WHERE enrollment_id = ? AND cancels = ?"
        return try database.number(sql, [enrollment.text, jti.text]).map {
            RememberedCancellation(enrollmentId: enrollment, cancels: jti, until: BoundedTime.nearest($0))
        }
    }

    func cancellationCount(enrollment: EnrollmentID) throws -> Int {
        let statement = try database.cachedStatement(sql: "SELECT COUNT(*) FROM cancellation WHERE enrollment_id = ?")
        return try Int.fetchOne(statement, arguments: [enrollment.text]) ?? 0
    }

    func insert(_ cancellation: RememberedCancellation) throws {
        try database.run(
            """
            INSERT INTO cancellation (enrollment_id, cancels, until) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET until = MAX(until, excluded.until)
            """, [cancellation.enrollmentId.text, cancellation.cancels.text, cancellation.until])
    }

    func removeCancellations(until now: Int64) throws {
        try database.run("DELETE FROM cancellation WHERE until <= ?", [now])
    }

    func outboxHead(enrollment: EnrollmentID, queue: OutboxQueue) throws -> OutboxEntry? {
        let condition =
            switch queue {
            case .approvals: "sign_count IS NOT NULL ORDER BY sign_count"
            case .denials: "sign_count IS NULL ORDER BY seq"
            }
        return try outbox("WHERE enrollment_id = ? AND \(condition) LIMIT 1", [enrollment.text]).first
    }

    func outboxCount(enrollment: EnrollmentID?) throws -> Int {
        let all = "SELECT COUNT(*) FROM outbox"
        guard let enrollment else { return try Int.fetchOne(try database.cachedStatement(sql: all)) ?? 0 }
        let ofOne = try database.cachedStatement(sql: all + " WHERE enrollment_id = ?")
        return try Int.fetchOne(ofOne, arguments: [enrollment.text]) ?? 0
    }

    func oldestQueuedDecision() throws -> Int64? {
        let statement = try database.cachedStatement(
            sql: "SELECT MIN(decided_at) FROM outbox JOIN request ON request.id = outbox.request_id")
        return try Int64?.fetchOne(statement) ?? nil
    }

    func outboxEnrollments() throws -> [EnrollmentID] {
        try database.enrollmentIDs(in: OutboxColumn.table, .enrollmentId, "SELECT DISTINCT enrollment_id FROM outbox")
    }

    func outbox(enrollment: EnrollmentID) throws -> [OutboxEntry] {
        try outbox("WHERE enrollment_id = ? ORDER BY seq", [enrollment.text])
    }

    func insert(_ entry: OutboxEntry) throws {
        try database.insert(
            into: OutboxColumn.table,
            [
                .enrollmentId: entry.enrollmentId.text,
                .jti: entry.jti.text,
                .requestId: entry.requestId?.text,
                .signCount: entry.signCount,
                .body: entry.body.blob,
                .exp: entry.exp,
                .traceparent: entry.traceparent,
            ])
    }

    func note(_ error: String, ofOutbox sequence: Int64) throws {
        try database.run("UPDATE outbox SET last_error = ? WHERE seq = ?", [error, sequence])
    }

    func removeOutbox(sequence: Int64) throws {
        try database.run("DELETE FROM outbox WHERE seq = ?", [sequence])
    }

    private func outbox(_ condition: String, _ arguments: StatementValues) throws -> [OutboxEntry] {
        try database.rows(of: OutboxColumn.table, condition, arguments, as: entry)
    }

    private func entry(_ fields: Fields<OutboxColumn>) throws -> OutboxEntry {
        OutboxEntry(
            sequence: try fields.number(.seq), enrollmentId: try fields.value(.enrollmentId, EnrollmentID.init),
            jti: try fields.value(.jti, TokenID.init),
            requestId: try fields.optionalValue(.requestId, RequestID.init),
            signCount: try fields.optionalNumber(.signCount),
            body: try fields.bytes(.body), exp: BoundedTime.nearest(try fields.number(.exp)),
            traceparent: try fields.optionalText(.traceparent), lastError: try fields.optionalText(.lastError))
    }
}
