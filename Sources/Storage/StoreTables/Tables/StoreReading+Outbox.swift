import IssuerProtocol
package import Records
import TableRows
import TextAndTime

/// The columns of a request whose decision waits for delivery.
///
/// The bytes are in its evidence.
private enum QueuedColumn: Int, TableColumn {
    static let table = TableLayout<Self>("request", naming: .snakeCase)

    case id, enrollmentId, jti, receivedAt, exp, state, queuePlace, traceparent, deliveryError
}

/// The outbox: decisions that wait for delivery, and messages that wait to be denied as `duplicate`.
///
/// Conditions name `delivery` and `state` like the index `request_open`. Otherwise a query would scan all of history.
extension StoreReading {
    private static let approved = "state = 'approved' AND delivery = 'queued'"
    private static let denied = "state IN ('denied', 'refused') AND delivery = 'queued'"
    fileprivate static let queued = "state IN ('approved', 'denied', 'refused') AND delivery = 'queued'"
    fileprivate static let toAnswer = "answer_until IS NOT NULL"

    /// The next entry of a queue.
    package func outboxHead(enrollment: EnrollmentID, queue: OutboxQueue) throws -> OutboxEntry? {
        try lock(enrollment)
        switch queue {
        case .approvals:
            return try decisions(
                "WHERE \(Self.approved) AND enrollment_id = ? ORDER BY queue_place LIMIT 1", [enrollment.text]
            ).first?.entry
        case .denials:
            let denial = try decisions(
                "WHERE \(Self.denied) AND enrollment_id = ? ORDER BY queue_place LIMIT 1", [enrollment.text]
            )
            let answer = try answers(
                "WHERE \(Self.toAnswer) AND enrollment_id = ? ORDER BY answer_place LIMIT 1", [enrollment.text])
            return (denial + answer).min { $0.place < $1.place }?.entry
        }
    }

    package func outboxCount(enrollment: EnrollmentID?) throws -> Int {
        let (decisions, answers) = (
            "SELECT COUNT(*) FROM request WHERE \(Self.queued)", "SELECT COUNT(*) FROM message WHERE \(Self.toAnswer)"
        )
        guard let enrollment else { return try database.count(decisions) + database.count(answers) }
        let ofOne = " AND enrollment_id = ?"
        return try database.count(decisions + ofOne, [enrollment.text])
            + database.count(answers + ofOne, [enrollment.text])
    }

    /// The time of the oldest decision that waits for the issuer's answer, in seconds since 1970.
    package func oldestQueuedDecision() throws -> Int64? {
        try database.number("SELECT MIN(decided_at) FROM request WHERE \(Self.queued)")
    }

    /// The enrollments with entries in their outbox.
    package func outboxEnrollments() throws -> [EnrollmentID] {
        try database.enrollmentIDs(
            in: MessageColumn.table, .enrollmentId,
            """
            SELECT enrollment_id FROM request WHERE \(Self.queued)
            UNION SELECT enrollment_id FROM message WHERE \(Self.toAnswer)
            """)
    }

    /// The enrollments after `id` with entries in a queue of their outbox, in the order of their ids, at most `limit`.
    package func outboxEnrollments(in queue: OutboxQueue, after id: EnrollmentID?, limit: Int) throws -> [EnrollmentID]
    {
        let after = "AND enrollment_id > ?1"
        let ids =
            switch queue {
            case .approvals: "SELECT enrollment_id FROM request WHERE \(Self.approved) \(after)"
            case .denials:
                """
                SELECT enrollment_id FROM request WHERE state = 'denied' AND delivery = 'queued' \(after)
                UNION SELECT enrollment_id FROM request WHERE state = 'refused' AND delivery = 'queued' \(after)
                UNION SELECT enrollment_id FROM message WHERE \(Self.toAnswer) \(after)
                """
            }
        return try database.enrollmentIDs(
            in: MessageColumn.table, .enrollmentId,
            "SELECT DISTINCT enrollment_id FROM (\(ids)) AS waiting ORDER BY enrollment_id LIMIT ?2",
            [id?.text ?? "", limit])
    }

    package func outbox(enrollment: EnrollmentID) throws -> [OutboxEntry] {
        try lock(enrollment)
        let waiting =
            try decisions("WHERE \(Self.queued) AND enrollment_id = ?", [enrollment.text])
            + answers("WHERE \(Self.toAnswer) AND enrollment_id = ?", [enrollment.text])
        return waiting.sorted { $0.place < $1.place }.map(\.entry)
    }

    /// The place after all waiting denials and answers of an enrollment.
    func nextPlace(of enrollment: EnrollmentID) throws -> Int64 {
        let sql = """
            SELECT MAX(place) FROM (
                SELECT MAX(queue_place) AS place FROM request WHERE \(Self.denied) AND enrollment_id = ?1
                UNION ALL SELECT MAX(answer_place) FROM message WHERE \(Self.toAnswer) AND enrollment_id = ?1
            ) AS waiting
            """
        return (try database.number(sql, [enrollment.text]) ?? 0).later(by: 1)
    }

    /// Whether an entry still waits: the issuer's answer is unknown, and the delivery was not given up.
    package func isQueued(_ entry: OutboxEntry) throws -> Bool {
        try lock(entry.enrollmentId)
        guard let id = entry.requestId else {
            return try database.number(
                "SELECT 1 FROM message WHERE \(Self.toAnswer) AND enrollment_id = ? AND jti = ?",
                [entry.enrollmentId.text, entry.jti.text]) != nil
        }
        return try database.number("SELECT 1 FROM request WHERE id = ? AND delivery = 'queued'", [id.text]) != nil
    }

    /// Whether a term of this host is still current.
    ///
    /// It then stays so until this database transaction ends.
    package func isCurrent(_ term: WorkTerm) throws -> Bool {
        guard let host else { return true }
        // The row lock: another host that takes over the share waits for it.
        let rows = try database.rows(
            "SELECT epoch FROM lease WHERE bucket = ? AND host = ? FOR SHARE", [term.share, host.text]
        ) { $0[0] }
        return rows == [.number(term.epoch)]
    }

    /// An entry with its place in its queue.
    private typealias Waiting = (place: Int64, entry: OutboxEntry)

    private static let decisions = """
        SELECT \(QueuedColumn.table.columns), \(PieceColumn.decision), \(dataKey(of: "request.enrollment_id")) FROM request
        """

    /// The requests that match a condition, each with its decision's bytes.
    private func decisions(_ condition: String, _ arguments: StatementValues) throws -> [Waiting] {
        try database.rows(of: QueuedColumn.table, sql: "\(Self.decisions) \(condition)", arguments) { fields in
            let (id, decision) = (try fields.value(.id, RequestID.init), fields.joined(PieceColumn.table))
            let owner = try fields.value(.enrollmentId, EnrollmentID.init)
            let cipher = try cipher(.decision, of: id, owner, decision.joined(DataKeyColumn.table))
            let entry = OutboxEntry(
                enrollmentId: owner, jti: try fields.value(.jti, TokenID.init), requestId: id,
                signCount: try fields.text(.state) == "approved" ? fields.number(.queuePlace) : nil,
                // An unreadable decision must not block the other entries of the queue.
                body: try writtenBytes(cipher, decision), exp: try Self.exp(fields),
                traceparent: try fields.optionalText(.traceparent), lastError: try fields.optionalText(.deliveryError))
            return (try fields.number(.queuePlace), entry)
        }
    }

    /// The time until which an answer is sent.
    ///
    /// At most a day for a refusal: its `exp` may be missing or far off.
    private static func exp(_ fields: Fields<QueuedColumn>) throws -> Int64 {
        let (exp, day): (Int64?, Int64) = (try fields.optionalNumber(.exp), 86_400)
        guard try fields.text(.state) == "refused" else { return BoundedTime.nearest(exp ?? 0) }
        return min(BoundedTime.nearest(exp ?? .max), try fields.time(.receivedAt).later(by: day))
    }

    private func answers(_ condition: String, _ arguments: StatementValues) throws -> [Waiting] {
        try database.rows(of: MessageColumn.table, condition, arguments) { fields in
            let entry = OutboxEntry(
                enrollmentId: try fields.value(.enrollmentId, EnrollmentID.init),
                jti: try fields.value(.jti, TokenID.init), requestId: nil, signCount: nil,
                body: DecisionBody.deny(.duplicate), exp: BoundedTime.nearest(try fields.number(.answerUntil)),
                traceparent: try fields.optionalText(.traceparent), lastError: try fields.optionalText(.lastError))
            return (try fields.number(.answerPlace), entry)
        }
    }
}

extension StoreTransaction {
    /// Records why an entry could not be delivered for now.
    package func recordError(_ error: String, of entry: OutboxEntry) throws {
        guard let id = entry.requestId else {
            return try database.execute(
                "UPDATE message SET last_error = ? WHERE enrollment_id = ? AND jti = ? AND \(Self.toAnswer)",
                [error, entry.enrollmentId.text, entry.jti.text])
        }
        try database.execute(
            "UPDATE request SET delivery_error = ? WHERE id = ? AND delivery = 'queued'", [error, id.text])
    }

    /// Removes an entry from the outbox, and records on its request, if there is one, how the delivery ended.
    ///
    /// Changes no row if the entry no longer waits.
    ///
    /// - Parameter error: why the issuer refused the entry or was not reached. `nil` if it accepted the entry.
    package func endDelivery(of entry: OutboxEntry, as end: DeliveryState, error: String?) throws {
        try lock(entry.enrollmentId)
        guard let id = entry.requestId else {
            return try database.execute(
                """
                UPDATE message SET answer_until = NULL, answer_place = NULL, traceparent = NULL, last_error = NULL
                WHERE enrollment_id = ? AND jti = ? AND \(Self.toAnswer)
                """, [entry.enrollmentId.text, entry.jti.text])
        }
        let columns = DeliveryColumns(end)
        try database.execute(
            """
            UPDATE request SET queue_place = NULL, delivery = ?, trans_status = ?, delivery_failure = ?, delivery_error = ?
            WHERE id = ? AND delivery = 'queued'
            """, [columns.delivery, columns.transStatus, columns.deliveryFailure, error, id.text])
    }
}
