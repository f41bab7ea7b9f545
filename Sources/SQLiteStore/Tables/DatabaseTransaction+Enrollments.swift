import Authenticator
import GRDB
import IssuerProtocol
import Keys

extension DatabaseTransaction {
    private static let enrollments = """
        SELECT *,
            (SELECT failures FROM key_tries WHERE identity = key_identity) AS key_failures,
            (SELECT blocked_until FROM key_tries WHERE identity = key_identity) AS key_blocked_until
        FROM enrollment
        """

    func enrollment(_ id: EnrollmentID) throws -> Enrollment? {
        let statement = try database.cachedStatement(sql: "\(Self.enrollments) WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id.text]).map { try enrollment($0) }
    }

    func enrollments(includingEnded ended: Bool) throws -> [Enrollment] {
        let statement = try database.cachedStatement(
            sql: "\(Self.enrollments) WHERE ? OR state <> 'ended' ORDER BY seq")
        return try Row.fetchAll(statement, arguments: [ended]).map { try enrollment($0) }
    }

    func enrollmentNames() throws -> Set<String> {
        try String.fetchSet(database, sql: "SELECT name FROM enrollment WHERE state <> 'ended'")
    }

    func enrollmentCount() throws -> Int {
        let statement = try database.cachedStatement(sql: "SELECT count(*) FROM enrollment WHERE state <> 'ended'")
        return try Int.fetchOne(statement) ?? 0
    }

    func insert(_ enrollment: Enrollment) throws {
        let key = KeyColumns(enrollment.key)
        try database.cachedStatement(
            sql: """
                INSERT INTO enrollment (id, issuer, roots_pem, name, authn_type, algorithm, rp_id, credential_id,
                    user_handle, started_at, key_uri, key_kind, key_public, key_exportable, takes_push, sign_count, state)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 'keyless')
                """
        ).execute(arguments: [
            enrollment.id.text, enrollment.target.issuer.text, enrollment.target.rootsPEM, enrollment.name,
            enrollment.authnType.rawValue, enrollment.algorithm, enrollment.rpId, enrollment.credentialId.blob,
            enrollment.userHandle.blob, enrollment.startedAt, key.uri, key.kind, key.publicKey?.blob, key.isExportable,
            enrollment.takesPush,
        ])
        try write(enrollment)
    }

    func change(_ id: EnrollmentID, _ transition: EnrollmentTransition) throws -> Enrollment? {
        guard let changed = try enrollment(id).flatMap(transition.applied(to:)) else { return nil }
        try write(changed)
        return changed
    }

    func sealUnsealedRows() throws -> Int {
        let unsealed = try Row.fetchAll(database, sql: "SELECT * FROM enrollment WHERE seal IS NULL ORDER BY seq")
            .map { try enrollment($0) }
        for enrollment in unsealed { try write(enrollment) }
        return unsealed.count
    }

    /// Writes what may change of an enrollment; nothing else writes these columns, but for an erasure, which comes when it
    /// is over and no seal is looked at any more.
    private func write(_ changed: Enrollment) throws {
        var enrollment = changed
        enrollment.journalSequence = try journalMark(.head)?.point.sequence ?? 0
        let seal = try sealing.seals.seal(enrollment.sealedBytes)
        written?.seals[enrollment.id] = seal
        let state = StateColumns(enrollment.state)
        try database.cachedStatement(
            sql: """
                UPDATE enrollment SET sign_count = ?, state = ?, body = ?, authenticator_id = ?, sealed_token = ?,
                    enrolled_at = ?, key_removed = ?, sign_count_raised_from = ?, sign_count_raised_to = ?,
                    sign_count_raised_at = ?, sign_count_raised_elsewhere = ?, end_reason = ?, ended_at = ?,
                    credential_key = ?, pin_failures = ?, pin_blocked_until = ?, pin_guessable = ?, key_identity = ?,
                    refused_sign_count = ?, journal_seq = ?, seal = ?
                WHERE id = ?
                """
        ).execute(arguments: [
            enrollment.signCount, state.name, state.body?.blob, state.authenticatorId, state.sealedToken?.blob,
            state.enrolledAt, state.keyRemoved, enrollment.signCountRaise?.from, enrollment.signCountRaise?.to,
            enrollment.signCountRaise?.at, enrollment.signCountRaise?.isElsewhere ?? false, enrollment.endReason,
            enrollment.endedAt, enrollment.credentialKey?.subjectPublicKeyInfo.blob, enrollment.pinTries.failures,
            enrollment.pinTries.blockedUntil, enrollment.isPINGuessable,
            enrollment.key.external?.identity?.bytes.blob, enrollment.refusedSignCount, enrollment.journalSequence,
            seal.blob, enrollment.id.text,
        ])
    }

    /// One row; a row that is not as it was written is one that is damaged.
    private func enrollment(_ row: Row) throws -> Enrollment {
        let fields = Fields(table: "enrollment", row: row)
        var enrollment = try content(fields)
        enrollment.journalSequence = try fields.count("journal_seq")
        enrollment.isDamaged = try !enrollment.isOver && !isWhole(enrollment, seal: fields.optionalBytes("seal"))
        return enrollment
    }

    private func isWhole(_ enrollment: Enrollment, seal: [UInt8]?) throws -> Bool {
        guard let seal, try sealing.seals.isSeal(seal, of: enrollment.sealedBytes) else { return false }
        // Whoever reads may see what was there before the newest commit; whoever writes sees that.
        guard let written, let newest = written.seals[enrollment.id] ?? sealing.committed[enrollment.id] else {
            return true
        }
        return seal == newest
    }

    private func content(_ fields: Fields) throws -> Enrollment {
        Enrollment(
            id: try fields.value("id", EnrollmentID.init),
            target: IssuerTarget(
                issuer: try fields.value("issuer") { try IssuerURL($0) }, rootsPEM: fields.optionalText("roots_pem")),
            name: try fields.text("name"), authnType: try fields.value("authn_type", AuthnType.init(rawValue:)),
            algorithm: Int(try fields.integer("algorithm")), rpId: try fields.text("rp_id"),
            credentialId: try fields.bytes("credential_id"), userHandle: try fields.bytes("user_handle"),
            startedAt: try fields.time("started_at"), key: try KeyColumns.place(fields),
            takesPush: try fields.flag("takes_push"),
            credentialKey: try KeyColumns.credentialKey(fields),
            signCount: try count("sign_count", fields), state: try state(fields),
            pinTries: PINTries(
                failures: Int(try fields.count("pin_failures")),
                blockedUntil: try fields.optionalTime("pin_blocked_until")),
            keyTries: try KeyColumns.tries(fields), isPINGuessable: try fields.flag("pin_guessable"),
            signCountRaise: try signCountRaise(fields),
            refusedSignCount: try optionalCount("refused_sign_count", fields),
            endReason: fields.optionalText("end_reason"), endedAt: try fields.optionalTime("ended_at"))
    }

    private func count(_ column: String, _ fields: Fields) throws -> UInt32 {
        guard let count = UInt32(exactly: try fields.integer(column)) else { throw fields.unreadable(column) }
        return count
    }

    private func optionalCount(_ column: String, _ fields: Fields) throws -> UInt32? {
        fields.optionalInteger(column) == nil ? nil : try count(column, fields)
    }

    private func signCountRaise(_ fields: Fields) throws -> SignCountRaise? {
        guard let at = try fields.optionalTime("sign_count_raised_at") else { return nil }
        return SignCountRaise(
            from: try count("sign_count_raised_from", fields), to: try count("sign_count_raised_to", fields), at: at,
            isElsewhere: try fields.flag("sign_count_raised_elsewhere"))
    }

    private func state(_ fields: Fields) throws -> EnrollmentState {
        switch try fields.text("state") {
        case "keyless": .keyless
        case "enrolling": .enrolling(body: try fields.bytes("body"))
        case "active": .active(try membership(fields))
        case "suspended": .suspended(try membership(fields))
        case "ended":
            .ended(
                authenticatorId: try fields.optionalValue("authenticator_id", TokenID.init),
                keyRemoved: try fields.flag("key_removed"))
        default: throw fields.unreadable("state")
        }
    }

    private func membership(_ fields: Fields) throws -> Membership {
        Membership(
            authenticatorId: try fields.value("authenticator_id", TokenID.init),
            sealedToken: try fields.bytes("sealed_token"), enrolledAt: try fields.time("enrolled_at"))
    }
}

/// An enrollment's state, as columns.
private struct StateColumns {
    let name: String
    var body: [UInt8]?
    var authenticatorId: String?
    var sealedToken: [UInt8]?
    var enrolledAt: Int64?
    var keyRemoved = false

    init(_ state: EnrollmentState) {
        switch state {
        case .keyless: name = "keyless"
        case .enrolling(let body):
            name = "enrolling"
            self.body = body
        case .active(let membership):
            name = "active"
            fill(membership)
        case .suspended(let membership):
            name = "suspended"
            fill(membership)
        case .ended(let authenticatorId, let keyRemoved):
            name = "ended"
            self.authenticatorId = authenticatorId?.text
            self.keyRemoved = keyRemoved
        }
    }

    private mutating func fill(_ membership: Membership) {
        authenticatorId = membership.authenticatorId.text
        sealedToken = membership.sealedToken
        enrolledAt = membership.enrolledAt
    }
}
