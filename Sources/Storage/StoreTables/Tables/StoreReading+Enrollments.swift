import IssuerProtocol
import Keys
package import Records
import TableRows

extension StoreReading {
    fileprivate static let enrollments = """
        SELECT \(EnrollmentColumn.table.columns), \(KeyTriesColumn.table.columns), \(dataKey(of: "enrollment.id"))
        FROM enrollment LEFT JOIN key_tries ON identity = key_identity
        """

    private static let enrollmentByID = "\(enrollments) WHERE id = ?"

    package func enrollment(_ id: EnrollmentID) throws -> Enrollment? {
        if let read = written?.state.enrollments[id] { return read }
        try hold(id)
        let found = try database.row(of: EnrollmentColumn.table, sql: Self.enrollmentByID, [id.text], as: enrollment)
        if let found { keep(found) }
        return found
    }

    /// Keeps an enrollment for the rest of this database transaction, which holds it.
    ///
    /// A key of an external one has wrong PINs that another row counts.
    private func keep(_ enrollment: Enrollment) {
        guard enrollment.key.external == nil else { return }
        written?.state.enrollments[enrollment.id] = enrollment
    }

    private static let requestWithEnrollment = """
        SELECT \(RequestColumn.table.qualifiedColumns), \(EnrollmentColumn.table.qualifiedColumns),
            \(KeyTriesColumn.table.qualifiedColumns),
            \(PieceColumn.message), \(PieceColumn.text), \(dataKey(of: "request.enrollment_id"))
        FROM request JOIN enrollment ON enrollment.id = request.enrollment_id
        LEFT JOIN key_tries ON key_tries.identity = enrollment.key_identity WHERE request.id = ?
        """

    /// A request that is held, and in the same round trip what is asked for next: its enrollment, and its text.
    func requestWithEnrollment(_ id: RequestID) throws -> RequestRecord? {
        try database.row(of: RequestColumn.table, sql: Self.requestWithEnrollment, [id.text]) { fields in
            let ofEnrollment = fields.joined(EnrollmentColumn.table)
            let message = ofEnrollment.joined(KeyTriesColumn.table).joined(PieceColumn.table)
            let text = message.joined(PieceColumn.table)
            let dataKey = text.joined(DataKeyColumn.table)
            keep(try enrollment(ofEnrollment, dataKey))
            let request = try record(fields, message, dataKey: dataKey)
            written?.state.pieces[id] = try pieces(of: request, fields, text, dataKey)
            return request
        }
    }

    /// The enrollments of these ids that are not over.
    package func enrollments(among ids: Set<EnrollmentID>) throws -> [Enrollment] {
        try enrollments(
            "WHERE state <> 'ended' AND id IN (\(database.dialect.elements("?")))", [Self.json(ids)])
    }

    func enrollments(
        _ condition: String, _ arguments: StatementValues = [], order: String = "ORDER BY seq"
    ) throws -> [Enrollment] {
        try database.rows(
            of: EnrollmentColumn.table, sql: "\(Self.enrollments) \(condition) \(order)", arguments, as: enrollment)
    }

    fileprivate func closed(
        _ columns: ColumnValues<EnrollmentColumn>, of id: EnrollmentID
    ) throws -> ColumnValues<EnrollmentColumn> {
        try columns.converting(EnrollmentColumn.personal) { value, column in
            value == .null ? value : try cipher(EnrollmentColumn.table, row: id.text, of: id).closed(value, column)
        }
    }

    /// What may change of an enrollment, without what vouches for it.
    fileprivate static func content(_ enrollment: Enrollment) -> ColumnValues<EnrollmentColumn> {
        let state = StateColumns(enrollment.state)
        let raise = enrollment.signCountRaise
        return [
            .signCount: enrollment.signCount,
            .state: state.name,
            .body: state.body,
            .authenticatorId: state.authenticatorId,
            .sealedToken: state.sealedToken,
            .enrolledAt: state.enrolledAt,
            .signCountRaisedFrom: raise?.from,
            .signCountRaisedTo: raise?.to,
            .signCountRaisedAt: raise?.at,
            .signCountRaisedElsewhere: raise?.isElsewhere ?? false,
            .endReason: enrollment.endReason,
            .endedAt: enrollment.endedAt,
            .credentialKey: enrollment.credentialKey?.subjectPublicKeyInfo,
            .sealedKey: enrollment.sealedKey,
            .pinFailures: enrollment.ownPINTries.failures,
            .pinBlockedUntil: enrollment.ownPINTries.blockedUntil,
            .pinGuessable: enrollment.isPINGuessable,
            .keyIdentity: enrollment.key.external?.identity?.bytes,
            .refusedSignCount: enrollment.refusedSignCount,
        ]
    }

    /// Reads a row, with its tries and its data key; one that is not as it was written is damaged.
    fileprivate func enrollment(_ fields: Fields<EnrollmentColumn>) throws -> Enrollment {
        try enrollment(fields, fields.joined(KeyTriesColumn.table).joined(DataKeyColumn.table))
    }

    fileprivate func enrollment(
        _ fields: Fields<EnrollmentColumn>, _ dataKey: Fields<DataKeyColumn>
    ) throws -> Enrollment {
        let personal = try PersonalValues(fields, cipher(fields, dataKey))
        var enrollment = try content(fields, personal)
        enrollment.journalSequence = try fields.count(.journalSeq)
        enrollment.journalHost = try fields.optionalText(.journalHost)
        enrollment.version = try fields.count(.version)
        enrollment.pinEpoch = try fields.count(.pinEpoch)
        let seal = try fields.bytes(.seal)
        let state = try fields.text(.state)
        noteRead(.enrollment(enrollment.id), RowMark(state: state, version: enrollment.version, seal: seal))
        enrollment.isDamaged = try !enrollment.isOver && !(personal.isWhole && isWhole(enrollment, seal: seal))
        sealing.damaged.note(enrollment.id, isDamaged: enrollment.isDamaged)
        return enrollment
    }

    private func cipher(
        _ fields: Fields<EnrollmentColumn>, _ dataKey: Fields<DataKeyColumn>
    ) throws -> RowCipher {
        let id = try fields.value(.id, EnrollmentID.init)
        return try cipher(EnrollmentColumn.table, row: id.text, of: id, dataKey)
    }

    private func isWhole(_ enrollment: Enrollment, seal: [UInt8]) throws -> Bool {
        guard try sealing.seals.isSeal(seal, of: enrollment.sealedBytes) else { return false }
        guard let seen = leastVersion(of: .enrollment(enrollment.id)) else {
            // Whoever reads may see what was there before the survey.
            return written == nil
                || !sealing.seen.hasSurveyed(
                    enrollment.journalHost, through: enrollment.journalSequence, isShared: host != nil)
        }
        return enrollment.rowVersion.sealed(by: seal).isAtLeast(seen)
    }

    fileprivate func content(_ fields: Fields<EnrollmentColumn>, _ personal: PersonalValues) throws -> Enrollment {
        Enrollment(
            id: try fields.value(.id, EnrollmentID.init),
            target: IssuerTarget(
                issuer: try fields.value(.issuer) { try IssuerURL($0) }, rootsPEM: personal.rootsPEM),
            name: personal.name, authnType: try fields.value(.authnType, AuthnType.init(rawValue:)),
            algorithm: try fields.number(.algorithm), rpId: try fields.text(.rpId),
            credentialId: try fields.bytes(.credentialId), userHandle: personal.userHandle,
            startedAt: try fields.time(.startedAt), key: try KeyColumns.place(fields, uri: personal.keyURI),
            takesPush: try fields.flag(.takesPush),
            credentialKey: try fields.optionalPublicKey(.credentialKey),
            sealedKey: try fields.optionalBytes(.sealedKey),
            signCount: try fields.number(.signCount), state: try state(fields, personal),
            ownPINTries: PINTries(
                failures: Int(try fields.count(.pinFailures)),
                blockedUntil: try fields.optionalTime(.pinBlockedUntil)),
            keyTries: try keyTries(fields), isPINGuessable: try fields.flag(.pinGuessable),
            signCountRaise: try signCountRaise(fields),
            refusedSignCount: try fields.optionalNumber(.refusedSignCount),
            endReason: try fields.optionalText(.endReason), endedAt: try fields.optionalTime(.endedAt))
    }

    private func signCountRaise(_ fields: Fields<EnrollmentColumn>) throws -> SignCountRaise? {
        guard let at = try fields.optionalTime(.signCountRaisedAt) else { return nil }
        return SignCountRaise(
            from: try fields.number(.signCountRaisedFrom), to: try fields.number(.signCountRaisedTo), at: at,
            isElsewhere: try fields.flag(.signCountRaisedElsewhere))
    }

    fileprivate func state(_ fields: Fields<EnrollmentColumn>, _ personal: PersonalValues) throws -> EnrollmentState {
        switch try fields.text(.state) {
        case "enrolling":
            if let body = personal.body { .enrolling(body: body) } else { throw fields.unreadable(.body) }
        case "active": .active(try membership(fields))
        case "suspended": .suspended(try membership(fields))
        case "ended":
            .ended(authenticatorId: try fields.optionalValue(.authenticatorId, TokenID.init))
        default: throw fields.unreadable(.state)
        }
    }

    private func membership(_ fields: Fields<EnrollmentColumn>) throws -> Membership {
        Membership(
            authenticatorId: try fields.value(.authenticatorId, TokenID.init),
            sealedToken: try fields.bytes(.sealedToken), enrolledAt: try fields.time(.enrolledAt))
    }
}

extension StoreTransaction {
    /// Makes its data key as well, if the store has data keys.
    package func insert(_ enrollment: Enrollment) throws {
        try insertDataKey(of: enrollment.id)
        let columns = try fixedColumns(enrollment) + changingColumns(enrollment)
        try database.insert(into: EnrollmentColumn.table, closed(columns, of: enrollment.id))
    }

    /// Changes the row of an enrollment if it is as the transition expects; else nothing is written.
    ///
    /// - Returns: the enrollment as it is now; nil if it is not as expected, or not there.
    @discardableResult
    package func change(_ id: EnrollmentID, _ transition: EnrollmentTransition) throws -> Enrollment? {
        guard let old = try enrollment(id), let changed = transition.applied(to: old) else { return nil }
        // What was read of a damaged one may not be what is in its row.
        try write(changed, over: old.isDamaged ? nil : old)
        return changed
    }

    /// Nothing else writes these columns, except an erasure, which comes when the enrollment is over and nobody checks
    /// its seal any more.
    ///
    /// - Parameter old: what is in the row: what it has already is not written, so that no index of that is either.
    private func write(_ changed: Enrollment, over old: Enrollment?) throws {
        self.written?.state.enrollments[changed.id] = nil
        let written = old.map { Self.content($0) }
        let columns = try changingColumns(changed, over: old)
        try database.update(
            EnrollmentColumn.table, set: closed(written.map(columns.without) ?? columns, of: changed.id),
            where: [.id: changed.id.text])
    }

    /// What never changes of an enrollment.
    private func fixedColumns(_ enrollment: Enrollment) throws -> ColumnValues<EnrollmentColumn> {
        let key = KeyColumns(enrollment.key)
        return [
            .id: enrollment.id.text,
            .issuer: enrollment.target.issuer.text,
            .rootsPEM: enrollment.target.rootsPEM.map { Array($0.utf8) },
            .name: Array(enrollment.name.utf8),
            .nameBucket: try nameBucket(of: enrollment.name) ?? 0,
            .authnType: enrollment.authnType.rawValue,
            .algorithm: enrollment.algorithm,
            .rpId: enrollment.rpId,
            .credentialId: enrollment.credentialId,
            .userHandle: enrollment.userHandle,
            .startedAt: enrollment.startedAt,
            .keyURI: key.uri.map { Array($0.utf8) },
            .keyKind: key.kind,
            .keyPublic: key.publicKey,
            .keyExportable: key.isExportable,
            .takesPush: enrollment.takesPush,
        ]
    }

    /// What may change of an enrollment, and a new seal over all of it.
    ///
    /// - Parameter old: what is in the row; nil for a new one, and one that is damaged.
    private func changingColumns(
        _ changed: Enrollment, over old: Enrollment? = nil
    ) throws -> ColumnValues<EnrollmentColumn> {
        let row = SealedRow.enrollment(changed.id)
        let version = RowVersion.next(
            after: old?.rowVersion, seen: leastVersion(of: row), failures: changed.ownPINTries.failures)
        var enrollment = changed
        (enrollment.version, enrollment.pinEpoch) = (version.number, version.pinEpoch)
        enrollment.journalSequence = try journalMark(.head)?.point.sequence ?? 0
        enrollment.journalHost = host?.text
        let seal = try sealing.seals.seal(enrollment.sealedBytes)
        written?.state.versions[row] = version.sealed(by: seal)
        let state = StateColumns(changed.state).name
        try count(row, as: RowMark(state: state, version: version.number, seal: seal))
        return Self.content(changed) + [
            .journalSeq: enrollment.journalSequence, .journalHost: enrollment.journalHost,
            .version: version.number, .pinEpoch: version.pinEpoch, .seal: seal,
        ]
    }
}

extension Enrollment {
    fileprivate var rowVersion: RowVersion {
        RowVersion(number: version, pinEpoch: pinEpoch, failures: ownPINTries.failures)
    }
}
