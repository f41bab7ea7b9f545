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

    /// Warnings may reveal what was bought, and where.
    static let personal: [RequestColumn] = [.warnings]
}

/// The columns of a request that a look-up by name needs.
private enum NamedColumn: Int, TableColumn {
    static let table = TableLayout<Self>("request", naming: .snakeCase)

    case id, enrollmentId, acsTransId, state
}

extension StoreReading {
    /// The enrollment of a request, which never changes, or `nil` if the request is unknown.
    package func owner(of request: RequestID) throws -> EnrollmentID? {
        try database.text("SELECT enrollment_id FROM request WHERE id = ?", [request.text]).flatMap(EnrollmentID.init)
    }

    package func request(_ id: RequestID) throws -> RequestRecord? {
        try lock(.enrollmentOfRequest(id))
        if sealing.isShared, written != nil { return try requestWithEnrollment(id) }
        return try requests("WHERE id = ?", [id.text]).first
    }

    /// Returns a page of requests, oldest first.
    ///
    /// - Parameter page: the bounds of the page. Without a bound, the page has the oldest `limit` pending requests, or
    ///   the newest `limit` of all. It is empty if a bound names an unknown request.
    package func requests(
        pendingOnly: Bool, enrollment: EnrollmentID?, page: RequestPage = RequestPage(), limit: Int
    ) throws -> [RequestRecord] {
        var condition = pendingOnly ? "state = 'pending'" : "TRUE"
        var arguments: StatementValues = []
        // For the "+", see `oldestPending`.
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

    /// The oldest pending request.
    package func oldestPending(enrollment: EnrollmentID?) throws -> RequestRecord? {
        if let enrollment {
            return try requests(
                "WHERE state = 'pending' AND enrollment_id = ? ORDER BY seq LIMIT 1", [enrollment.text]
            ).first
        }
        // "+" keeps SQLite from scanning all of history in the order of seq. It sorts the pending requests instead.
        return try requests("WHERE state = 'pending' ORDER BY +seq LIMIT 1", []).first
    }

    /// Requests with this id or jti, or with this acsTransId in lower case: pending first, then newest first.
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

    /// Requests whose id or jti begins with `prefix`, or whose acsTransId begins with it in lower case.
    ///
    /// Exact matches come first. Within both groups, pending requests come first, then the newest. If very many
    /// requests match, only as many are read as show that the prefix is ambiguous.
    package func requests(prefix: String, enrollment: EnrollmentID?, limit: Int) throws -> [NamedRequest] {
        let arguments: StatementValues = [prefix, prefix.lowercased(), enrollment?.text, limit]
        let candidates =
            if enrollment != nil, try beginMany(with: prefix) {
                // With so many matches, few may belong to the enrollment, so its own requests are searched.
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
        // An exact match is the first row of each range, except that several requests may share an acsTransId.
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

    /// The most prefix matches that are read, for ids, jtis and acsTransIds each.
    static let maxCandidates = 64

    // Ids contain no character above "z", so "~" is the upper bound of the prefix's range.

    private static let beginnings = [
        "(id >= ?1 AND id < ?1 || '~')", "(jti >= ?1 AND jti < ?1 || '~')",
        "(acs_trans_id >= ?2 AND acs_trans_id < ?2 || '~')",
    ]

    /// Whether more requests match the prefix than are read.
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

    /// The presented request with the greatest `iat` under this acsTransId.
    ///
    /// Includes a request that was cancelled before it came, but no request that was refused or came too late.
    package func newestPresented(enrollment: EnrollmentID, acsTransId: String) throws -> RequestRecord? {
        try lock(enrollment)
        return try requests(
            """
            WHERE acs_trans_id = ? AND enrollment_id = ? AND is_presented = 1
            ORDER BY iat DESC, seq DESC LIMIT 1
            """, [acsTransId, enrollment.text]
        ).first
    }

    package func pendingCount(enrollment: EnrollmentID?) throws -> Int {
        if let enrollment { try lock(enrollment) }
        let all = "SELECT COUNT(*) FROM request WHERE state = 'pending'"
        guard let enrollment else { return Int(try database.number(all) ?? 0) }
        return Int(try database.number(all + " AND enrollment_id = ?", [enrollment.text]) ?? 0)
    }

    /// The number of an enrollment's requests, received from `since` to `until`, that were refused or too late.
    ///
    /// Times are seconds since 1970.
    package func unpresentedCount(enrollment: EnrollmentID, since: Int64, until: Int64) throws -> Int {
        try lock(enrollment)
        let sql = """
            SELECT COUNT(*) FROM request
            WHERE is_presented = 0 AND enrollment_id = ? AND received_at >= ? AND received_at <= ?
            """
        return Int(try database.number(sql, [enrollment.text, since, until]) ?? 0)
    }

    /// The pending requests whose `exp` is at or before `now`.
    package func duePending(now: Int64, limit: Int) throws -> [RequestRecord] {
        try requests("WHERE state = 'pending' AND exp <= ? ORDER BY exp LIMIT ?", [now, limit])
    }

    /// The earliest `exp` of a pending request.
    ///
    /// Reads all pending requests.
    package func nextDeadline() throws -> Int64? {
        try database.number("SELECT MIN(exp) FROM request WHERE state = 'pending'").map(BoundedTime.nearest)
    }

    /// The earliest `exp` of a pending request of an enrollment.
    package func nextDeadline(of enrollment: EnrollmentID) throws -> Int64? {
        try database.number(
            "SELECT MIN(exp) FROM request WHERE state = 'pending' AND enrollment_id = ?", [enrollment.text]
        ).map(BoundedTime.nearest)
    }

    /// The time at which the newest request or enrollment in the store began, in seconds since 1970.
    package func newestTime() throws -> Int64? {
        let time = try database.number(
            """
            SELECT MAX(time) FROM (
                SELECT (SELECT received_at FROM request ORDER BY seq DESC LIMIT 1) AS time
                UNION ALL SELECT (SELECT started_at FROM enrollment ORDER BY seq DESC LIMIT 1)) AS newest
            """)
        return time.flatMap { $0 > 0 ? $0 : nil }
    }

    /// The place of a queued decision.
    ///
    /// A new denial goes after the waiting ones. `nil` if no decision is queued.
    fileprivate func queuePlace(of request: RequestRecord) throws -> Int64? {
        guard request.life.delivery == .queued else { return nil }
        return try request.queuePlace ?? nextPlace(of: request.enrollmentId)
    }
}

extension StoreTransaction {
    /// Inserts a request with its evidence.
    package func insert(_ request: RequestRecord, _ evidence: KeptEvidence) throws {
        try lock(request.enrollmentId)
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

    /// Updates a request: the message to answer, the life, the last delivery error and the conflict flag.
    package func update(_ request: RequestRecord) throws {
        try lock(request.enrollmentId)
        let cipher = try cipher(RequestColumn.table, row: request.id.text, of: request.enrollmentId)
        let size: ColumnValues<RequestColumn> = [.countedBytes: StoredSize.of(request, text: nil)]
        let columns = try Self.messageColumns(request, cipher) + lifeColumns(request) + size
        try database.update(RequestColumn.table, set: columns, where: [.id: request.id.text])
        try updateMessage(of: request)
    }

    /// Updates a request, except for the message to answer.
    package func updateLife(of request: RequestRecord) throws {
        try lock(request.enrollmentId)
        try database.update(RequestColumn.table, set: lifeColumns(request), where: [.id: request.id.text])
    }

    /// The columns of the message to answer, which a newer message may replace.
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

    /// The columns of a request's state and delivery.
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
