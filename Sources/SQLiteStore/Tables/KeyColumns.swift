import Authenticator
import GRDB
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

    private static func identity(_ fields: Fields<EnrollmentColumn>) throws -> KeyIdentity? {
        try fields.optionalBytes(.keyIdentity).map { try fields.made(of: $0, .keyIdentity, KeyIdentity.init(bytes:)) }
    }

    /// The tries of the key's PIN, which several enrollments may share; nil if they are the enrollment's own.
    static func tries(_ fields: Fields<EnrollmentColumn>) throws -> PINTries? {
        guard try identity(fields) != nil else { return nil }
        let tries = fields.joined(KeyTriesColumn.table)
        return try tries.optionalBytes(.identity) == nil ? .fresh : PINTries(tries)
    }
}

extension Fields {
    /// A SubjectPublicKeyInfo.
    func publicKey(_ column: Column) throws -> PublicKey {
        try made(of: bytes(column), column) { try PublicKey(subjectPublicKeyInfo: $0) }
    }

    func optionalPublicKey(_ column: Column) throws -> PublicKey? {
        try optionalBytes(column) == nil ? nil : publicKey(column)
    }
}

/// The columns of the wrong PINs of an external key.
enum KeyTriesColumn: Int, TableColumn {
    static let table = TableLayout<Self>("key_tries", naming: .snakeCase)

    case identity, failures, blockedUntil
}

extension PINTries {
    fileprivate init(_ fields: Fields<KeyTriesColumn>) throws {
        self.init(failures: Int(try fields.count(.failures)), blockedUntil: try fields.optionalTime(.blockedUntil))
    }
}

extension DatabaseTransaction {
    func pinTries(of key: KeyIdentity) throws -> PINTries {
        let condition = "WHERE identity = ?"
        return try database.row(of: KeyTriesColumn.table, condition, [key.bytes.blob], as: PINTries.init) ?? .fresh
    }

    /// A key without a row has had no wrong one.
    func setPINTries(of key: KeyIdentity, from old: PINTries, to new: PINTries) throws -> Bool {
        guard try pinTries(of: key) == old else { return false }
        if new == .fresh {
            try database.cachedStatement(sql: "DELETE FROM key_tries WHERE identity = ?")
                .execute(arguments: [key.bytes.blob])
        } else {
            try database.insert(
                into: KeyTriesColumn.table,
                [.identity: key.bytes.blob, .failures: new.failures, .blockedUntil: new.blockedUntil],
                onConflict: "UPDATE SET failures = excluded.failures, blocked_until = excluded.blocked_until")
        }
        return true
    }
}
