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
        try lock(id)
        let found = try database.row(of: EnrollmentColumn.table, sql: Self.enrollmentByID, [id.text], as: enrollment)
        if let found { keep(found) }
        return found
    }

    /// Caches an enrollment, whose row is locked, for the rest of this database transaction.
    ///
    /// An enrollment with an external key is not cached, because another row counts its wrong PINs.
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

    /// Reads a locked request together with its enrollment and its text, which are needed next, in one round trip.
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

    /// The enrollments with these ids that have not ended.
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

    /// The columns that may change, without the version and the seal.
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

    /// Reads a row with its PIN tries and its data key.
    ///
    /// A row that is not as the agent wrote it is marked as damaged.
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
        sealing.damaged.record(enrollment.id, isDamaged: enrollment.isDamaged)
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
            // A database transaction that only reads may see a snapshot from before the survey.
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
    /// Inserts an enrollment and its data key.
    package func insert(_ enrollment: Enrollment) throws {
        try insertDataKey(of: enrollment.id)
        let columns = try fixedColumns(enrollment) + changingColumns(enrollment)
        try database.insert(into: EnrollmentColumn.table, closed(columns, of: enrollment.id))
    }

    /// Changes an enrollment if it is in the state that the transition expects.
    ///
    /// - Returns: the changed enrollment. `nil` if the enrollment is missing or in another state; then no row is
    ///   written.
    @discardableResult
    package func change(_ id: EnrollmentID, _ transition: EnrollmentTransition) throws -> Enrollment? {
        guard let old = try enrollment(id), let changed = transition.applied(to: old) else { return nil }
        // The values that were read of a damaged enrollment may differ from its row, so all columns are written.
        try write(changed, over: old.isDamaged ? nil : old)
        return changed
    }

    /// Writes the columns that have changed, so that indexes on the others are not touched.
    ///
    /// Only an erasure writes these columns besides. It comes after the enrollment has ended, when nobody verifies its
    /// seal any more.
    ///
    /// - Parameter old: the contents of the row. `nil` writes all columns.
    private func write(_ changed: Enrollment, over old: Enrollment?) throws {
        self.written?.state.enrollments[changed.id] = nil
        let written = old.map { Self.content($0) }
        let columns = try changingColumns(changed, over: old)
        try database.update(
            EnrollmentColumn.table, set: closed(written.map(columns.without) ?? columns, of: changed.id),
            where: [.id: changed.id.text])
    }

    /// The columns that never change.
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

    /// The columns that may change, and a new seal over the whole row.
    ///
    /// - Parameter old: the contents of the row. `nil` for a new row or a damaged one.
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
