package import Authenticator
package import IssuerProtocol
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
    /// The seconds of a slot of time in which messages are counted, which the schema does.
    package static let messageSlot = 300

    package func message(enrollment: EnrollmentID, jti: TokenID) throws -> SeenMessage? {
        try hold(enrollment)
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

    package func messageCount(enrollment: EnrollmentID, since: Int64) throws -> Int {
        try hold(enrollment)
        // Slots that are wholly within are added up; of the first one messages are counted.
        let slot = Self.messageSlot
        let sql = """
            SELECT COUNT(*) + (
                SELECT CAST(COALESCE(SUM(messages), 0) AS BIGINT) FROM message_tally WHERE enrollment_id = ?1 AND slot > ?2 / \(slot)
            ) FROM message WHERE enrollment_id = ?1 AND seen_at >= ?2 AND seen_at < (?2 / \(slot) + 1) * \(slot)
            """
        return Int(try database.number(sql, [enrollment.text, since]) ?? 0)
    }

    package func insert(_ message: SeenMessage) throws {
        try hold(message.enrollmentId)
        try database.insert(
            into: MessageColumn.table,
            [
                .enrollmentId: message.enrollmentId.text,
                .jti: message.jti.text,
                .payloadDigest: message.payloadDigest,
                .requestId: message.requestId?.text,
                .seenAt: message.seenAt,
            ])
    }

    package func markReused(_ message: SeenMessage) throws {
        try database.run(
            "UPDATE message SET is_reused = 1 WHERE enrollment_id = ? AND jti = ?",
            [message.enrollmentId.text, message.jti.text])
    }

    package func cancellation(enrollment: EnrollmentID, of jti: TokenID) throws -> RememberedCancellation? {
        try hold(enrollment)
        let sql = "SELECT until FROM cancellation WHERE enrollment_id = ? AND cancels = ?"
        return try database.number(sql, [enrollment.text, jti.text]).map {
            RememberedCancellation(enrollmentId: enrollment, cancels: jti, until: BoundedTime.nearest($0))
        }
    }

    package func cancellationCount(enrollment: EnrollmentID) throws -> Int {
        try hold(enrollment)
        return try database.count("SELECT COUNT(*) FROM cancellation WHERE enrollment_id = ?", [enrollment.text])
    }

    package func insert(_ cancellation: RememberedCancellation) throws {
        try database.run(
            """
            INSERT INTO cancellation (enrollment_id, cancels, until) VALUES (?, ?, ?)
            ON CONFLICT (enrollment_id, cancels) DO UPDATE SET until = excluded.until
            WHERE excluded.until > cancellation.until
            """, [cancellation.enrollmentId.text, cancellation.cancels.text, cancellation.until])
    }

    package func removeCancellations(until now: Int64) throws {
        try database.run("DELETE FROM cancellation WHERE until <= ?", [now])
    }

    package func outboxHead(enrollment: EnrollmentID, queue: OutboxQueue) throws -> OutboxEntry? {
        try hold(enrollment)
        let condition =
            switch queue {
            case .approvals: "sign_count IS NOT NULL ORDER BY sign_count"
            case .denials: "sign_count IS NULL ORDER BY seq"
            }
        return try outbox("WHERE enrollment_id = ? AND \(condition) LIMIT 1", [enrollment.text]).first
    }

    package func outboxCount(enrollment: EnrollmentID?) throws -> Int {
        let all = "SELECT COUNT(*) FROM outbox"
        guard let enrollment else { return try database.count(all) }
        return try database.count(all + " WHERE enrollment_id = ?", [enrollment.text])
    }

    package func oldestQueuedDecision() throws -> Int64? {
        try database.number("SELECT MIN(decided_at) FROM outbox JOIN request ON request.id = outbox.request_id")
    }

    package func outboxEnrollments() throws -> [EnrollmentID] {
        try database.enrollmentIDs(in: OutboxColumn.table, .enrollmentId, "SELECT DISTINCT enrollment_id FROM outbox")
    }

    package func outboxEnrollments(in queue: OutboxQueue, after id: EnrollmentID?, limit: Int) throws -> [EnrollmentID]
    {
        let condition =
            switch queue {
            case .approvals: "sign_count IS NOT NULL"
            case .denials: "sign_count IS NULL"
            }
        return try database.enrollmentIDs(
            in: OutboxColumn.table, .enrollmentId,
            """
            SELECT DISTINCT enrollment_id FROM outbox WHERE enrollment_id > ? AND \(condition)
            ORDER BY enrollment_id LIMIT ?
            """, [id?.text ?? "", limit])
    }

    package func outbox(enrollment: EnrollmentID) throws -> [OutboxEntry] {
        try hold(enrollment)
        return try outbox("WHERE enrollment_id = ? ORDER BY seq", [enrollment.text])
    }

    package func insert(_ entry: OutboxEntry) throws {
        try hold(entry.enrollmentId)
        try database.insert(
            into: OutboxColumn.table,
            [
                .enrollmentId: entry.enrollmentId.text,
                .jti: entry.jti.text,
                .requestId: entry.requestId?.text,
                .signCount: entry.signCount,
                .body: try cipher(OutboxColumn.table, row: entry.jti.text, of: entry.enrollmentId)
                    .closed(entry.body, OutboxColumn.body),
                .exp: entry.exp,
                .traceparent: entry.traceparent,
            ])
    }

    package func note(_ error: String, ofOutbox sequence: Int64) throws {
        try database.run("UPDATE outbox SET last_error = ? WHERE seq = ?", [error, sequence])
    }

    package func removeOutbox(of id: EnrollmentID, sequence: Int64) throws -> Bool {
        try hold(id)
        return try database.changes("DELETE FROM outbox WHERE seq = ?", [sequence]) > 0
    }

    package func isCurrent(_ term: WorkTerm) throws -> Bool {
        guard let host else { return true }
        // A share that is taken over meanwhile waits for this row.
        let rows = try database.rows(
            "SELECT epoch FROM lease WHERE bucket = ? AND host = ? FOR SHARE", [term.share, host.text]
        ) { $0[0] }
        return rows == [.number(term.epoch)]
    }

    private func outbox(_ condition: String, _ arguments: StatementValues) throws -> [OutboxEntry] {
        let columns = OutboxColumn.table.columns + dataKeyColumn(of: "outbox.enrollment_id")
        return try database.rows(
            of: OutboxColumn.table, sql: "SELECT \(columns) FROM outbox \(condition)", arguments, as: entry)
    }

    private func entry(_ fields: Fields<OutboxColumn>) throws -> OutboxEntry {
        let (id, jti) = (
            try fields.value(.enrollmentId, EnrollmentID.init), try fields.value(.jti, TokenID.init)
        )
        let cipher = try cipher(OutboxColumn.table, row: jti.text, of: id, fields.joined(DataKeyColumn.table))
        return OutboxEntry(
            sequence: try fields.number(.seq), enrollmentId: id, jti: jti,
            requestId: try fields.optionalValue(.requestId, RequestID.init),
            signCount: try fields.optionalNumber(.signCount),
            body: try cipher.bytes(fields, .body), exp: BoundedTime.nearest(try fields.number(.exp)),
            traceparent: try fields.optionalText(.traceparent), lastError: try fields.optionalText(.lastError))
    }
}
