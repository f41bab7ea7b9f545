import Keys
package import Records
import TableRows

/// The columns for the location of an enrollment's key.
struct KeyColumns {
    let uri: String?
    let kind: String?
    let publicKey: [UInt8]?
    let isExportable: Bool?

    init(_ place: KeyPlace) {
        let external = place.external
        uri = external?.uri.text
        kind = external?.facts.kind.rawValue
        publicKey = external?.facts.publicKey.subjectPublicKeyInfo
        isExportable = external?.facts.isExportable
    }

    static func place(_ fields: Fields<EnrollmentColumn>, uri: String?) throws -> KeyPlace {
        guard let uri = try uri.map({ try fields.made(of: $0, .keyURI) { try KeyURI($0) } }) else { return .own }
        let facts = ExternalKeyFacts(
            kind: try fields.value(.keyKind, ExternalKeyFacts.Kind.init(rawValue:)),
            publicKey: try fields.publicKey(.keyPublic),
            isExportable: try fields.optionalFlag(.keyExportable))
        return .external(ExternalKey(uri: uri, facts: facts, identity: try identity(fields)))
    }

    static func identity(_ fields: Fields<EnrollmentColumn>) throws -> KeyIdentity? {
        try fields.optionalBytes(.keyIdentity).map { try fields.made(of: $0, .keyIdentity, KeyIdentity.init(bytes:)) }
    }
}

extension Fields {
    /// A SubjectPublicKeyInfo, which was verified before it was written.
    func publicKey(_ column: Column) throws -> PublicKey {
        try made(of: bytes(column), column) { try PublicKey(kept: $0) }
    }

    func optionalPublicKey(_ column: Column) throws -> PublicKey? {
        try optionalBytes(column) == nil ? nil : publicKey(column)
    }
}

/// The columns of the PIN tries of an external key.
enum KeyTriesColumn: Int, TableColumn {
    static let table = TableLayout<Self>("key_tries", naming: .snakeCase)

    case identity, failures, blockedUntil, underWay, triesVersion, triesEpoch, triesSeal
}

/// A row of `key_tries`.
private struct KeptTries {
    let tries: PINTries
    let version: RowVersion
    let seal: [UInt8]

    var mark: RowMark { RowMark(version: version.number, seal: seal) }

    init(_ fields: Fields<KeyTriesColumn>) throws {
        tries = PINTries(
            failures: Int(try fields.count(.failures)), blockedUntil: try fields.optionalTime(.blockedUntil),
            underWay: try fields.optionalText(.underWay))
        version = RowVersion(
            number: try fields.count(.triesVersion), pinEpoch: try fields.count(.triesEpoch), failures: tries.failures)
        seal = try fields.bytes(.triesSeal)
    }
}

extension PINTries {
    fileprivate func sealedBytes(of key: KeyIdentity, _ version: RowVersion) -> [UInt8] {
        sealedBytes(of: key, version: version.number, epoch: version.pinEpoch)
    }
}

extension StoreReading {
    /// The PIN tries of an external key, counted over all enrollments that use it.
    ///
    /// Tries without an enrollment (`enroll`) are counted too.
    ///
    /// ``PINTries/unknown`` if the row is not as the agent wrote it.
    package func pinTries(of key: KeyIdentity) throws -> PINTries {
        try lock(.keyTries(key))
        let tries = try database.row(of: KeyTriesColumn.table, Self.ofKey, [key.bytes]) { try self.tries($0, of: key) }
        return tries ?? triesWithoutRow(of: key)
    }

    /// Returns the tries of every key whose PIN was tried.
    package func keyTries() throws -> [KeyIdentity: PINTries] {
        let tries = try database.rows(of: KeyTriesColumn.table, "") { fields in
            let key = try fields.made(of: fields.bytes(.identity), .identity, KeyIdentity.init(bytes:))
            return (key, try self.tries(fields, of: key))
        }
        return Dictionary(tries) { $1 }
    }

    /// Whether a key's wrong PINs can be counted.
    ///
    /// True if the key has a row, or if fewer than ``PINTries/keysWithoutEnrollment`` keys without an enrollment have
    /// one.
    package func hasRoomForTries(of key: KeyIdentity) throws -> Bool {
        let row: Bool? = try database.row(of: KeyTriesColumn.table, Self.ofKey, [key.bytes]) { _ in true }
        return try row ?? ((database.numbers(Self.keysWithoutEnrollment).first ?? 0) < PINTries.keysWithoutEnrollment)
    }

    fileprivate static let ofKey = "WHERE identity = ?"

    private static let keysWithoutEnrollment = """
        SELECT count(*) FROM key_tries WHERE identity NOT IN (
            SELECT key_identity FROM enrollment
            WHERE key_uri IS NOT NULL AND state <> 'ended' AND key_identity IS NOT NULL)
        """

    /// The tries of the key's PIN, which several enrollments may share, or `nil` if the enrollment counts its own.
    func keyTries(_ fields: Fields<EnrollmentColumn>) throws -> PINTries? {
        guard let key = try KeyColumns.identity(fields) else { return nil }
        let joined = fields.joined(KeyTriesColumn.table)
        return try joined.optionalBytes(.identity) == nil ? triesWithoutRow(of: key) : tries(joined, of: key)
    }

    fileprivate func tries(_ fields: Fields<KeyTriesColumn>, of key: KeyIdentity) throws -> PINTries {
        let kept = try KeptTries(fields)
        let bytes = kept.tries.sealedBytes(of: key, kept.version)
        guard try sealing.seals.isSeal(kept.seal, of: bytes) else { return .unknown }
        let version = kept.version.sealed(by: kept.seal)
        guard let seen = leastVersion(of: .keyTries(key)), !version.isAtLeast(seen) else { return kept.tries }
        return .unknown
    }

    /// A key without a row has had no PIN tried, unless its row was removed: the agent never deletes one.
    private func triesWithoutRow(of key: KeyIdentity) -> PINTries {
        leastVersion(of: .keyTries(key)) == nil ? .fresh : .unknown
    }
}

extension StoreTransaction {
    /// Sets the tries of a key's PIN if they equal `old`.
    ///
    /// Returns false, and changes no row, if they do not.
    @discardableResult
    package func setPINTries(of key: KeyIdentity, from old: PINTries, to new: PINTries) throws -> Bool {
        guard try pinTries(of: key) == old else { return false }
        // A count that stays ``PINTries/fresh`` needs no row.
        guard old != new || old != .fresh else { return true }
        try write(new, of: key)
        return true
    }

    /// Seals the tries of the next `limit` keys anew.
    ///
    /// A row that is not as the agent wrote it stays unchanged.
    ///
    /// - Parameter last: the result of the previous call. `nil` for the first.
    /// - Returns: the last of these keys. `nil` if there are no more.
    package func resealPINTries(after last: KeyIdentity?, limit: Int) throws -> KeyIdentity? {
        let page = try database.rows(
            of: KeyTriesColumn.table, "WHERE identity > ? ORDER BY identity LIMIT ?", [last?.bytes ?? [], limit]
        ) { try $0.made(of: $0.bytes(.identity), .identity, KeyIdentity.init(bytes:)) }
        for key in page {
            // Read again under the lock, because another host may have counted a try since.
            let tries = try pinTries(of: key)
            if tries != .unknown { try write(tries, of: key) }
        }
        return page.last
    }

    private func write(_ tries: PINTries, of key: KeyIdentity) throws {
        let old = try database.row(of: KeyTriesColumn.table, Self.ofKey, [key.bytes]) { try KeptTries($0) }
        if let old { noteRead(.keyTries(key), old.mark) }
        let version = RowVersion.next(
            after: old?.version, seen: leastVersion(of: .keyTries(key)), failures: tries.failures)
        let seal = try sealing.seals.seal(tries.sealedBytes(of: key, version))
        written?.state.versions[.keyTries(key)] = version.sealed(by: seal)
        try count(.keyTries(key), as: RowMark(version: version.number, seal: seal))
        try database.insert(
            into: KeyTriesColumn.table,
            [
                .identity: key.bytes, .failures: tries.failures, .blockedUntil: tries.blockedUntil,
                .underWay: tries.underWay, .triesVersion: version.number, .triesEpoch: version.pinEpoch,
                .triesSeal: seal,
            ],
            onConflict: """
                (identity) DO UPDATE SET failures = excluded.failures, blocked_until = excluded.blocked_until,
                    under_way = excluded.under_way, tries_version = excluded.tries_version,
                    tries_epoch = excluded.tries_epoch, tries_seal = excluded.tries_seal
                """)
    }
}
