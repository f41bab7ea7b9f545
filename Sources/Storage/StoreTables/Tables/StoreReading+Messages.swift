package import IssuerProtocol
package import Records
import TableRows
import TextAndTime

/// The columns of a received message.
enum MessageColumn: Int, TableColumn {
    static let table = TableLayout<Self>("message", naming: .snakeCase)

    case enrollmentId, jti, payloadDigest, requestId, seenAt, isReused, answerUntil, answerPlace, traceparent, lastError
}

extension StoreReading {
    /// The length of a time slot in which the schema counts messages, in seconds.
    package static let messageSlot = 300

    package func message(enrollment: EnrollmentID, jti: TokenID) throws -> SeenMessage? {
        try lock(enrollment)
        let (condition, key): (String, StatementValues) = (
            "WHERE enrollment_id = ? AND jti = ?", [enrollment.text, jti.text]
        )
        return try database.row(of: MessageColumn.table, condition, key) { fields in
            SeenMessage(
                enrollmentId: enrollment, jti: jti, payloadDigest: try fields.bytes(.payloadDigest),
                requestId: try fields.optionalValue(.requestId, RequestID.init),
                seenAt: try fields.time(.seenAt), isReused: try fields.flag(.isReused),
                answer: try fields.answer())
        }
    }

    package func cancellation(enrollment: EnrollmentID, of jti: TokenID) throws -> RememberedCancellation? {
        try lock(enrollment)
        let sql = "SELECT until FROM cancellation WHERE enrollment_id = ? AND cancels = ?"
        return try database.number(sql, [enrollment.text, jti.text]).map {
            RememberedCancellation(enrollmentId: enrollment, cancels: jti, until: BoundedTime.nearest($0))
        }
    }

    /// The number of an enrollment's cancellations that are valid after `time`, in seconds since 1970.
    package func cancellationCount(enrollment: EnrollmentID, after time: Int64) throws -> Int {
        try lock(enrollment)
        return try database.count(
            "SELECT COUNT(*) FROM cancellation WHERE enrollment_id = ? AND until > ?", [enrollment.text, time])
    }
}

extension StoreTransaction {
    package func insert(_ message: SeenMessage) throws {
        try lock(message.enrollmentId)
        try database.insert(
            into: MessageColumn.table,
            [
                .enrollmentId: message.enrollmentId.text,
                .jti: message.jti.text,
                .payloadDigest: message.payloadDigest,
                .requestId: message.requestId?.text,
                .seenAt: message.seenAt,
                .answerUntil: message.answer?.exp,
                .answerPlace: message.answer == nil ? nil : try nextPlace(of: message.enrollmentId),
                .traceparent: message.answer?.traceparent,
            ])
    }

    /// Records that another payload arrived under the jti of a message.
    package func markReused(_ message: SeenMessage) throws {
        try database.execute(
            "UPDATE message SET is_reused = 1 WHERE enrollment_id = ? AND jti = ?",
            [message.enrollmentId.text, message.jti.text])
    }

    package func insert(_ cancellation: RememberedCancellation) throws {
        try database.execute(
            """
            INSERT INTO cancellation (enrollment_id, cancels, until) VALUES (?, ?, ?)
            ON CONFLICT (enrollment_id, cancels) DO UPDATE SET until = excluded.until
            WHERE excluded.until > cancellation.until
            """, [cancellation.enrollmentId.text, cancellation.cancels.text, cancellation.until])
    }

    package func removeCancellations(until now: Int64) throws {
        try database.execute("DELETE FROM cancellation WHERE until <= ?", [now])
    }
}

extension Fields<MessageColumn> {
    fileprivate func answer() throws -> DuplicateAnswer? {
        guard let exp: Int64 = try optionalNumber(.answerUntil) else { return nil }
        return DuplicateAnswer(exp: BoundedTime.nearest(exp), traceparent: try optionalText(.traceparent))
    }
}
