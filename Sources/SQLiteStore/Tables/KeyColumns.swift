import Authenticator
import GRDB
import Keys

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

    static func place(_ fields: Fields) throws -> KeyPlace {
        guard let uri = try fields.optionalValue("key_uri", { try KeyURI($0) }) else { return .own }
        let facts = ExternalKeyFacts(
            kind: try fields.value("key_kind", ExternalKeyFacts.Kind.init(rawValue:)),
            publicKey: try publicKey("key_public", fields),
            isExportable: fields.optionalInteger("key_exportable").map { $0 != 0 })
        return .external(ExternalKey(uri: uri, facts: facts, identity: try identity(fields)))
    }

    private static func identity(_ fields: Fields) throws -> KeyIdentity? {
        guard let bytes = fields.optionalBytes("key_identity") else { return nil }
        guard let identity = KeyIdentity(bytes: bytes) else { throw fields.unreadable("key_identity") }
        return identity
    }

    /// The tries of the key's PIN, which several enrollments may share; nil if they are the enrollment's own.
    static func tries(_ fields: Fields) throws -> PINTries? {
        guard try identity(fields) != nil else { return nil }
        guard fields.optionalInteger("key_failures") != nil else { return .fresh }
        return PINTries(
            failures: Int(try fields.count("key_failures")), blockedUntil: try fields.optionalTime("key_blocked_until"))
    }

    /// Nil if it is not known.
    static func credentialKey(_ fields: Fields) throws -> PublicKey? {
        fields.optionalBytes("credential_key") == nil ? nil : try publicKey("credential_key", fields)
    }

    private static func publicKey(_ column: String, _ fields: Fields) throws -> PublicKey {
        guard let key = try? PublicKey(subjectPublicKeyInfo: try fields.bytes(column)) else {
            throw fields.unreadable(column)
        }
        return key
    }
}

extension DatabaseTransaction {
    func pinTries(of key: KeyIdentity) throws -> PINTries {
        let statement = try database.cachedStatement(sql: "SELECT * FROM key_tries WHERE identity = ?")
        guard let row = try Row.fetchOne(statement, arguments: [key.bytes.blob]) else { return .fresh }
        let fields = Fields(table: "key_tries", row: row)
        return PINTries(
            failures: Int(try fields.count("failures")), blockedUntil: try fields.optionalTime("blocked_until"))
    }

    /// A key without a row has had no wrong one.
    func setPINTries(of key: KeyIdentity, from old: PINTries, to new: PINTries) throws -> Bool {
        guard try pinTries(of: key) == old else { return false }
        if new == .fresh {
            try database.cachedStatement(sql: "DELETE FROM key_tries WHERE identity = ?")
                .execute(arguments: [key.bytes.blob])
        } else {
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO key_tries (identity, failures, blocked_until) VALUES (?, ?, ?)"
            ).execute(arguments: [key.bytes.blob, new.failures, new.blockedUntil])
        }
        return true
    }
}
