import GRDB
import IssuerProtocol
import SQLiteRows
import StrictJSON
import TableRows

/// An enrolled authenticator.
struct AuthenticatorRecord: Sendable {
    let id: String
    let credentialId: [UInt8]
    let userId: [UInt8]
    /// SubjectPublicKeyInfo (RFC 5480).
    let publicKey: [UInt8]
    let signCount: UInt32
    let aaguid: [UInt8]
    let format: String
    let authnType: String
    let name: String
    let version: String
    let registration: JSONObject
    let challenge: [UInt8]
    let origin: String
    let enrolledAt: Int64
    let endedAt: Int64?
    /// `revoked` or `unenrolled`.
    let ending: String?
    let subscription: PushSubscription?
    let pushSince: Int64?

    /// `active`, `revoked` or `unenrolled`.
    var state: String { ending ?? "active" }
}

/// The columns of an authenticator.
enum AuthenticatorColumn: Int, TableColumn {
    static let table = TableLayout<Self>("authenticator", naming: .asWritten)

    case id, tokenDigest, credentialId, userId, publicKey, signCount, aaguid, format, authnType, name, version,
        registration,
        challenge, origin, enrolledAt, endedAt, ending, pushSubscription, pushSince
}

extension AuthenticatorRecord {
    init(_ fields: Fields<AuthenticatorColumn>) throws {
        id = try fields.text(.id)
        credentialId = try fields.bytes(.credentialId)
        userId = try fields.bytes(.userId)
        publicKey = try fields.bytes(.publicKey)
        signCount = try fields.number(.signCount)
        aaguid = try fields.bytes(.aaguid)
        format = try fields.text(.format)
        authnType = try fields.text(.authnType)
        name = try fields.text(.name)
        version = try fields.text(.version)
        registration = try fields.object(.registration)
        challenge = try fields.bytes(.challenge)
        origin = try fields.text(.origin)
        enrolledAt = try fields.number(.enrolledAt)
        endedAt = try fields.optionalNumber(.endedAt)
        ending = try fields.optionalText(.ending)
        subscription = try fields.optionalObject(.pushSubscription).map { object in
            try fields.made(of: object, .pushSubscription) { try PushSubscription(json: $0) }
        }
        pushSince = try fields.optionalNumber(.pushSince)
    }
}

extension AuthenticatorRecord {
    /// The authenticator of a request.
    static func byID(_ id: String, _ db: Database) throws -> AuthenticatorRecord {
        guard let record = try find(id, db) else { throw RequestColumn.table.unreadable(.authenticatorId) }
        return record
    }

    static func find(_ id: String, _ db: Database) throws -> AuthenticatorRecord? {
        try db.row(of: AuthenticatorColumn.table, "WHERE id = ?", [id], as: AuthenticatorRecord.init)
    }
}
