import Authenticator
import GRDB
import IssuerProtocol
import ThreeDS

extension DatabaseTransaction {
    func message(enrollment: EnrollmentID, jti: TokenID) throws -> SeenMessage? {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM message WHERE enrollment_id = ? AND jti = ?")
        return try Row.fetchOne(statement, arguments: [enrollment.text, jti.text]).map { row in
            let fields = Fields(table: "message", row: row)
            return SeenMessage(
                enrollmentId: enrollment, jti: jti, payloadDigest: try fields.bytes("payload_digest"),
                requestId: try fields.optionalValue("request_id", RequestID.init),
                seenAt: try fields.time("seen_at"), isReused: try fields.flag("is_reused"))
        }
    }

    func messageCount(enrollment: EnrollmentID, since: Int64) throws -> Int {
        let statement = try database.cachedStatement(
            sql: "SELECT COUNT(*) FROM message WHERE enrollment_id = ? AND seen_at >= ?")
        return try Int.fetchOne(statement, arguments: [enrollment.text, since]) ?? 0
    }

    func insert(_ message: SeenMessage) throws {
        try database.insert(
            into: "message",
            [
                "enrollment_id": message.enrollmentId.text,
                "jti": message.jti.text,
                "payload_digest": message.payloadDigest.blob,
                "request_id": message.requestId?.text,
                "seen_at": message.seenAt,
            ])
    }

    func markReused(_ message: SeenMessage) throws {
        try database.cachedStatement(sql: "UPDATE message SET is_reused = 1 WHERE enrollment_id = ? AND jti = ?")
            .execute(arguments: [message.enrollmentId.text, message.jti.text])
    }

    func cancellation(enrollment: EnrollmentID, of jti: TokenID) throws -> RememberedCancellation? {
        let statement = try database.cachedStatement(
            sql: "SELECT until FROM cancellation WHERE enrollment_id = ? AND cancels = ?")
        return try Int64.fetchOne(statement, arguments: [enrollment.text, jti.text]).map {
            RememberedCancellation(enrollmentId: enrollment, cancels: jti, until: BoundedTime.nearest($0))
        }
    }

    func cancellationCount(enrollment: EnrollmentID) throws -> Int {
        let statement = try database.cachedStatement(sql: "SELECT COUNT(*) FROM cancellation WHERE enrollment_id = ?")
        return try Int.fetchOne(statement, arguments: [enrollment.text]) ?? 0
    }

    func insert(_ cancellation: RememberedCancellation) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO cancellation (enrollment_id, cancels, until) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET until = MAX(until, excluded.until)
                """
        ).execute(arguments: [cancellation.enrollmentId.text, cancellation.cancels.text, cancellation.until])
    }

    func removeCancellations(until now: Int64) throws {
        try database.cachedStatement(sql: "DELETE FROM cancellation WHERE until <= ?").execute(arguments: [now])
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
        let statement = try database.cachedStatement(sql: "SELECT DISTINCT enrollment_id FROM outbox")
        return try Row.fetchAll(statement).map { row in
            try Fields(table: "outbox", row: row).value("enrollment_id", EnrollmentID.init)
        }
    }

    func outbox(enrollment: EnrollmentID) throws -> [OutboxEntry] {
        try outbox("WHERE enrollment_id = ? ORDER BY seq", [enrollment.text])
    }

    func insert(_ entry: OutboxEntry) throws {
        try database.insert(
            into: "outbox",
            [
                "enrollment_id": entry.enrollmentId.text,
                "jti": entry.jti.text,
                "request_id": entry.requestId?.text,
                "sign_count": entry.signCount,
                "body": entry.body.blob,
                "exp": entry.exp,
                "traceparent": entry.traceparent,
            ])
    }

    func note(_ error: String, ofOutbox sequence: Int64) throws {
        try database.cachedStatement(sql: "UPDATE outbox SET last_error = ? WHERE seq = ?")
            .execute(arguments: [error, sequence])
    }

    func removeOutbox(sequence: Int64) throws {
        try database.cachedStatement(sql: "DELETE FROM outbox WHERE seq = ?").execute(arguments: [sequence])
    }

    private func outbox(_ tail: String, _ arguments: StatementArguments) throws -> [OutboxEntry] {
        let statement = try database.cachedStatement(sql: "SELECT * FROM outbox \(tail)")
        return try Row.fetchAll(statement, arguments: arguments).map { row in
            try entry(Fields(table: "outbox", row: row))
        }
    }

    private func entry(_ fields: Fields) throws -> OutboxEntry {
        OutboxEntry(
            sequence: try fields.integer("seq"), enrollmentId: try fields.value("enrollment_id", EnrollmentID.init),
            jti: try fields.value("jti", TokenID.init),
            requestId: try fields.optionalValue("request_id", RequestID.init), signCount: try signCount(fields),
            body: try fields.bytes("body"), exp: BoundedTime.nearest(try fields.integer("exp")),
            traceparent: fields.optionalText("traceparent"), lastError: fields.optionalText("last_error"))
    }

    private func signCount(_ fields: Fields) throws -> UInt32? {
        guard let value = fields.optionalInteger("sign_count") else { return nil }
        guard let count = UInt32(exactly: value) else { throw fields.unreadable("sign_count") }
        return count
    }
}
