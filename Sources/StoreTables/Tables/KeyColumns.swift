package import Authenticator
import Keys
import TableRows

/// The columns that say where an enrollment's key is.
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

    static func place(_ fields: Fields<EnrollmentColumn>) throws -> KeyPlace {
        guard let uri = try fields.optionalValue(.keyURI, { try KeyURI($0) }) else { return .own }
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
    /// A SubjectPublicKeyInfo, which was checked before it was written.
    func publicKey(_ column: Column) throws -> PublicKey {
        try made(of: bytes(column), column) { try PublicKey(kept: $0) }
    }

    func optionalPublicKey(_ column: Column) throws -> PublicKey? {
        try optionalBytes(column) == nil ? nil : publicKey(column)
    }
}

/// The columns of the wrong PINs of an external key.
enum KeyTriesColumn: Int, TableColumn {
    static let table = TableLayout<Self>("key_tries", naming: .snakeCase)

    case identity, failures, blockedUntil, underWay, triesSeal
}

extension PINTries {
    fileprivate init(_ fields: Fields<KeyTriesColumn>) throws {
        self.init(
            failures: Int(try fields.count(.failures)), blockedUntil: try fields.optionalTime(.blockedUntil),
            underWay: try fields.optionalText(.underWay))
    }
}

extension DatabaseTransaction {
    package func pinTries(of key: KeyIdentity) throws -> PINTries {
        try hold(.keyTries(key))
        let condition = "WHERE identity = ?"
        let tries = try database.row(of: KeyTriesColumn.table, condition, [key.bytes]) {
            try self.tries($0, of: key)
        }
        return tries ?? triesWithoutRow(of: key)
    }

    package func keyTries() throws -> [KeyIdentity: PINTries] {
        let tries = try database.rows(of: KeyTriesColumn.table, "") { fields in
            let key = try fields.made(of: fields.bytes(.identity), .identity, KeyIdentity.init(bytes:))
            return (key, try self.tries(fields, of: key))
        }
        return Dictionary(tries) { $1 }
    }

    /// The tries of the key's PIN, which several enrollments may share; nil if they are the enrollment's own.
    func keyTries(_ fields: Fields<EnrollmentColumn>) throws -> PINTries? {
        guard let key = try KeyColumns.identity(fields) else { return nil }
        let joined = fields.joined(KeyTriesColumn.table)
        return try joined.optionalBytes(.identity) == nil ? triesWithoutRow(of: key) : tries(joined, of: key)
    }

    private func tries(_ fields: Fields<KeyTriesColumn>, of key: KeyIdentity) throws -> PINTries {
        let tries = try PINTries(fields)
        let seal = try fields.bytes(.triesSeal)
        guard try sealing.seals.isSeal(seal, of: tries.sealedBytes(of: key)), isNewest(seal, of: .keyTries(key))
        else { return .unknown }
        return tries
    }

    /// A key without a row has had no wrong one, unless its row was taken away.
    private func triesWithoutRow(of key: KeyIdentity) -> PINTries {
        isNewest([], of: .keyTries(key)) ? .fresh : .unknown
    }

    package func setPINTries(of key: KeyIdentity, from old: PINTries, to new: PINTries) throws -> Bool {
        guard try pinTries(of: key) == old else { return false }
        try write(new, of: key)
        return true
    }

    private func write(_ tries: PINTries, of key: KeyIdentity) throws {
        guard tries != .fresh else {
            try database.run("DELETE FROM key_tries WHERE identity = ?", [key.bytes])
            written?.state.seals[.keyTries(key)] = []
            return
        }
        let seal = try sealing.seals.seal(tries.sealedBytes(of: key))
        written?.state.seals[.keyTries(key)] = seal
        try database.insert(
            into: KeyTriesColumn.table,
            [
                .identity: key.bytes, .failures: tries.failures, .blockedUntil: tries.blockedUntil,
                .underWay: tries.underWay, .triesSeal: seal,
            ],
            onConflict: """
                (identity) DO UPDATE SET failures = excluded.failures, blocked_until = excluded.blocked_until,
                    under_way = excluded.under_way, tries_seal = excluded.tries_seal
                """)
    }
}
