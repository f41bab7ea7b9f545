import IssuerProtocol
import Keys
package import Records
import TableRows
import TextAndTime

/// The columns of a request.
package enum RequestColumn: Int, TableColumn {
    static let table = TableLayout<Self>("request", naming: .snakeCase)

    case id, enrollmentId, acsTransId, transactionDigest, isPresented, receivedAt, issuerKey, jti, iat, exp, warnings,
        traceparent, messagePiece, textPiece, decisionPiece, decidedAt, countedBytes, queuePlace, state, reason,
        refusal,
        delivery,
        transStatus, deliveryFailure, deliveryError, hasConflict

    /// Warnings may say what was bought, and where.
    static let personal: [RequestColumn] = [.warnings]
}

/// The columns of a request that tell whether a name means it.
private enum NamedColumn: Int, TableColumn {
    static let table = TableLayout<Self>("request", naming: .snakeCase)

    case id, enrollmentId, acsTransId, state
}

extension StoreReading {
    /// The enrollment of a request, which never changes; nil if there is no such request.
    package func owner(of request: RequestID) throws -> EnrollmentID? {
        try database.text("SELECT enrollment_id FROM request WHERE id = ?", [request.text]).flatMap(EnrollmentID.init)
    }

    package func request(_ id: RequestID) throws -> RequestRecord? {
        try hold(.enrollmentOfRequest(id))
        if sealing.isShared, written != nil { return try requestWithEnrollment(id) }
        return try requests("WHERE id = ?", [id.text]).first
    }

    /// Oldest first; of more than `limit`, the newest `limit`, and of pending ones the oldest: those are next.
    ///
    /// - Parameter page: between which; without a bound it is of the pending ones those that came first, of all the
    ///   newest. Empty beyond a request that does not exist.
    package func requests(
        pendingOnly: Bool, enrollment: EnrollmentID?, page: RequestPage = RequestPage(), limit: Int
    ) throws -> [RequestRecord] {
        var condition = pendingOnly ? "state = 'pending'" : "TRUE"
        var arguments: StatementValues = []
        // "+" as in `oldestPending`.
        let seq = pendingOnly && enrollment == nil ? "+seq" : "seq"
        if let enrollment {
            condition += " AND enrollment_id = ?"
            arguments += [enrollment.text]
        }
        for (bound, relation) in [(page.after, ">"), (page.before, "<")] {
            guard let bound else { continue }
            condition += " AND \(seq) \(relation) (SELECT seq FROM request WHERE id = ?)"
            arguments += [bound.text]
        }
        let isFromTheEnd = page.isFromTheEnd(pendingOnly: pendingOnly)
        let order = isFromTheEnd ? "\(seq) DESC" : seq
        let found = try requests("WHERE \(condition) ORDER BY \(order) LIMIT ?", arguments + [limit])
        return isFromTheEnd ? found.reversed() : found
    }

    /// The pending request that came first.
    package func oldestPending(enrollment: EnrollmentID?) throws -> RequestRecord? {
        if let enrollment {
            return try requests(
                "WHERE state = 'pending' AND enrollment_id = ? ORDER BY seq LIMIT 1", [enrollment.text]
            ).first
        }
        // "+" keeps SQLite from walking all of history in the order of seq: it sorts what is pending instead.
        return try requests("WHERE state = 'pending' ORDER BY +seq LIMIT 1", []).first
    }

    /// Requests of this id or jti, or of this acsTransId in lower case: first the pending ones, then the newest.
    package func requests(named name: String, enrollment: EnrollmentID?, limit: Int) throws -> [NamedRequest] {
        try names(
            """
            WHERE seq IN (
                SELECT seq FROM request WHERE id = ?1 UNION ALL SELECT seq FROM request WHERE jti = ?1
                UNION ALL SELECT seq FROM request WHERE acs_trans_id = ?2
            ) AND (CAST(?3 AS TEXT) IS NULL OR enrollment_id = ?3)
            ORDER BY state = 'pending' DESC, seq DESC LIMIT ?4
            """, [name, name.lowercased(), enrollment?.text, limit])
    }

    /// Requests whose id or jti begins with `prefix`, or whose acsTransId does in lower case.
    ///
    /// First those that it names wholly; of these and of the rest, first the pending ones, then the newest. If very many
    /// begin so, some of them are looked at: as many as it takes to tell that it is no name of one.
    package func requests(prefix: String, enrollment: EnrollmentID?, limit: Int) throws -> [NamedRequest] {
        let arguments: StatementValues = [prefix, prefix.lowercased(), enrollment?.text, limit]
        let candidates =
            if enrollment != nil, try beginMany(with: prefix) {
                // Of so many that begin so, few may be of the enrollment; of its own some do soon.
                """
                SELECT * FROM (
                    SELECT seq FROM request
                    WHERE enrollment_id = ?3 AND (\(Self.beginnings.joined(separator: " OR ")))
                    ORDER BY seq DESC LIMIT \(Self.maxCandidates)) AS candidate
                """
            } else {
                Self.beginnings.map {
                    "SELECT * FROM (SELECT seq FROM request WHERE \($0) LIMIT \(Self.maxCandidates)) AS candidate"
                }.joined(separator: " UNION ALL ")
            }
        // What is named wholly is first in each range, except that one acsTransId may stand for many.
        return try names(
            """
            WHERE seq IN (
                SELECT seq FROM request WHERE id = ?1 UNION ALL SELECT seq FROM request WHERE jti = ?1
                UNION ALL SELECT seq FROM request WHERE acs_trans_id = ?2
                UNION ALL \(candidates)
            ) AND (CAST(?3 AS TEXT) IS NULL OR enrollment_id = ?3)
            ORDER BY id = ?1 OR jti = ?1 OR COALESCE(acs_trans_id = ?2, FALSE) DESC, state = 'pending' DESC, seq DESC LIMIT ?4
            """, arguments)
    }

    private func names(_ condition: String, _ arguments: StatementValues) throws -> [NamedRequest] {
        try database.rows(of: NamedColumn.table, condition, arguments) { fields in
            NamedRequest(
                id: try fields.value(.id, RequestID.init),
                enrollmentId: try fields.value(.enrollmentId, EnrollmentID.init),
                acsTransId: try fields.optionalText(.acsTransId), isPending: try fields.text(.state) == "pending")
        }
    }

    /// How many of those that begin alike are looked at, of ids, jtis and acsTransIds each.
    static let maxCandidates = 64

    // Ids hold nothing above "z", so "~" bounds the range that has the prefix.

    private static let beginnings = [
        "(id >= ?1 AND id < ?1 || '~')", "(jti >= ?1 AND jti < ?1 || '~')",
        "(acs_trans_id >= ?2 AND acs_trans_id < ?2 || '~')",
    ]

    /// Whether more begin so than are looked at.
    private func beginMany(with prefix: String) throws -> Bool {
        for beginning in Self.beginnings {
            let sql = """
                SELECT COUNT(*) FROM (
                    SELECT 1 FROM request WHERE \(beginning) LIMIT \(Self.maxCandidates + 1)) AS candidate
                WHERE CAST(?1 AS TEXT) IS NOT NULL AND CAST(?2 AS TEXT) IS NOT NULL
                """
            if try database.count(sql, [prefix, prefix.lowercased()]) > Self.maxCandidates { return true }
        }
        return false
    }

    /// The request with the greatest `iat` under this acsTransId that was presented.
    ///
    /// Or would have been except for its `exp` or a cancellation. Refused ones do not count.
    package func newestPresented(enrollment: EnrollmentID, acsTransId: String) throws -> RequestRecord? {
        try hold(enrollment)
        return try requests(
            """
            WHERE acs_trans_id = ? AND enrollment_id = ? AND is_presented = 1
            ORDER BY iat DESC, seq DESC LIMIT 1
            """, [acsTransId, enrollment.text]
        ).first
    }

    package func pendingCount(enrollment: EnrollmentID?) throws -> Int {
        if let enrollment { try hold(enrollment) }
        let all = "SELECT COUNT(*) FROM request WHERE state = 'pending'"
        guard let enrollment else { return Int(try database.number(all) ?? 0) }
        return Int(try database.number(all + " AND enrollment_id = ?", [enrollment.text]) ?? 0)
    }

    /// The number of requests of an enrollment that were refused or too late between two times, seconds since 1970.
    package func unpresentedCount(enrollment: EnrollmentID, since: Int64, until: Int64) throws -> Int {
        try hold(enrollment)
        let sql = """
            SELECT COUNT(*) FROM request
            WHERE is_presented = 0 AND enrollment_id = ? AND received_at >= ? AND received_at <= ?
            """
        return Int(try database.number(sql, [enrollment.text, since, until]) ?? 0)
    }

    /// Pending requests whose `exp` is at or before `now`.
    package func duePending(now: Int64, limit: Int) throws -> [RequestRecord] {
        try requests("WHERE state = 'pending' AND exp <= ? ORDER BY exp LIMIT ?", [now, limit])
    }

    /// The earliest `exp` of a pending request; it looks at all that are pending.
    package func nextDeadline() throws -> Int64? {
        try database.number("SELECT MIN(exp) FROM request WHERE state = 'pending'").map(BoundedTime.nearest)
    }

    /// The earliest `exp` of a pending request of an enrollment.
    package func nextDeadline(of enrollment: EnrollmentID) throws -> Int64? {
        try database.number(
            "SELECT MIN(exp) FROM request WHERE state = 'pending' AND enrollment_id = ?", [enrollment.text]
        ).map(BoundedTime.nearest)
    }

    /// When the request or enrollment that is the newest in the store came; seconds since 1970.
    package func newestTime() throws -> Int64? {
        let time = try database.number(
            """
            SELECT MAX(time) FROM (
                SELECT (SELECT received_at FROM request ORDER BY seq DESC LIMIT 1) AS time
                UNION ALL SELECT (SELECT started_at FROM enrollment ORDER BY seq DESC LIMIT 1)) AS newest
            """)
        return time.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Null once a decision no longer waits; a denial that begins to wait goes behind those that do.
    fileprivate func queuePlace(of request: RequestRecord) throws -> Int64? {
        guard request.life.delivery == .queued else { return nil }
        return try request.queuePlace ?? nextPlace(of: request.enrollmentId)
    }
}

extension StoreTransaction {
    /// Writes a new request, with what is kept of it for a dispute.
    package func insert(_ request: RequestRecord, _ evidence: KeptEvidence) throws {
        try hold(request.enrollmentId)
        let cipher = try cipher(RequestColumn.table, row: request.id.text, of: request.enrollmentId)
        let fixed: ColumnValues<RequestColumn> = [
            .id: request.id.text,
            .enrollmentId: request.enrollmentId.text,
            .acsTransId: request.acsTransId,
            .receivedAt: request.receivedAt,
            .issuerKey: evidence.issuerKey?.subjectPublicKeyInfo,
            .countedBytes: StoredSize.of(request, text: evidence.text),
        ]
        let columns = try Self.messageColumns(request, cipher) + lifeColumns(request)
        try database.insert(into: RequestColumn.table, fixed + columns)
        try insertPieces(of: request, evidence)
    }

    /// Writes what may change: the message that is answered, the life, why a delivery failed, the conflict mark.
    package func update(_ request: RequestRecord) throws {
        try hold(request.enrollmentId)
        let cipher = try cipher(RequestColumn.table, row: request.id.text, of: request.enrollmentId)
        let size: ColumnValues<RequestColumn> = [.countedBytes: StoredSize.of(request, text: nil)]
        let columns = try Self.messageColumns(request, cipher) + lifeColumns(request) + size
        try database.update(RequestColumn.table, set: columns, where: [.id: request.id.text])
        try updateMessage(of: request)
    }

    /// Writes the same, except the message that is answered.
    package func updateLife(of request: RequestRecord) throws {
        try hold(request.enrollmentId)
        try database.update(RequestColumn.table, set: lifeColumns(request), where: [.id: request.id.text])
    }

    /// The message that is answered, which a newer one may take the place of.
    private static func messageColumns(
        _ request: RequestRecord, _ cipher: RowCipher
    ) throws -> ColumnValues<RequestColumn> {
        [
            .jti: request.jti.text,
            .transactionDigest: request.presented?.transactionDigest,
            .isPresented: request.presented != nil,
            .iat: request.iat,
            .exp: request.exp,
            .warnings: try cipher.closed(
                (request.presented?.warnings).flatMap(WarningColumn.value), RequestColumn.warnings),
            .traceparent: request.traceparent,
        ]
    }

    /// What becomes of a request.
    private func lifeColumns(_ request: RequestRecord) throws -> ColumnValues<RequestColumn> {
        let life = LifeColumns(request.life)
        return [
            .decidedAt: request.decidedAt,
            .queuePlace: try queuePlace(of: request),
            .state: life.state,
            .reason: life.reason,
            .refusal: life.refusal,
            .delivery: life.delivery.delivery,
            .transStatus: life.delivery.transStatus,
            .deliveryFailure: life.delivery.deliveryFailure,
            .deliveryError: request.deliveryError,
            .hasConflict: request.hasConflict,
        ]
    }
}
