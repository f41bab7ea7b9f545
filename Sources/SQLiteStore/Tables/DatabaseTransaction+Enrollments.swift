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
        try database.insert(into: "enrollment", Self.fixedColumns(enrollment) + changingColumns(enrollment))
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

    /// Nothing else writes these columns, except an erasure, which comes when the enrollment is over and nobody checks
    /// its seal any more.
    private func write(_ changed: Enrollment) throws {
        try database.update("enrollment", set: changingColumns(changed), where: ["id": changed.id.text])
    }

    /// What never changes of an enrollment.
    private static func fixedColumns(_ enrollment: Enrollment) -> ColumnValues {
        let key = KeyColumns(enrollment.key)
        return [
            "id": enrollment.id.text,
            "issuer": enrollment.target.issuer.text,
            "roots_pem": enrollment.target.rootsPEM,
            "name": enrollment.name,
            "authn_type": enrollment.authnType.rawValue,
            "algorithm": enrollment.algorithm,
            "rp_id": enrollment.rpId,
            "credential_id": enrollment.credentialId.blob,
            "user_handle": enrollment.userHandle.blob,
            "started_at": enrollment.startedAt,
            "key_uri": key.uri,
            "key_kind": key.kind,
            "key_public": key.publicKey?.blob,
            "key_exportable": key.isExportable,
            "takes_push": enrollment.takesPush,
        ]
    }

    /// What may change of an enrollment, and a new seal over all of it.
    private func changingColumns(_ changed: Enrollment) throws -> ColumnValues {
        var enrollment = changed
        enrollment.journalSequence = try journalMark(.head)?.point.sequence ?? 0
        let seal = try sealing.seals.seal(enrollment.sealedBytes)
        written?.seals[enrollment.id] = seal
        let state = StateColumns(enrollment.state)
        let raise = enrollment.signCountRaise
        return [
            "sign_count": enrollment.signCount,
            "state": state.name,
            "body": state.body?.blob,
            "authenticator_id": state.authenticatorId,
            "sealed_token": state.sealedToken?.blob,
            "enrolled_at": state.enrolledAt,
            "key_removed": state.keyRemoved,
            "sign_count_raised_from": raise?.from,
            "sign_count_raised_to": raise?.to,
            "sign_count_raised_at": raise?.at,
            "sign_count_raised_elsewhere": raise?.isElsewhere ?? false,
            "end_reason": enrollment.endReason,
            "ended_at": enrollment.endedAt,
            "credential_key": enrollment.credentialKey?.subjectPublicKeyInfo.blob,
            "pin_failures": enrollment.pinTries.failures,
            "pin_blocked_until": enrollment.pinTries.blockedUntil,
            "pin_guessable": enrollment.isPINGuessable,
            "key_identity": enrollment.key.external?.identity?.bytes.blob,
            "refused_sign_count": enrollment.refusedSignCount,
            "journal_seq": enrollment.journalSequence,
            "seal": seal.blob,
        ]
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
