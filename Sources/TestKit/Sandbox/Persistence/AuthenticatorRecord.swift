import GRDB
import IssuerProtocol
import StrictJSON

/// An enrolled authenticator.
struct AuthenticatorRecord: StoredRecord {
    static let databaseTableName = "authenticator"

    let id: String
    @Blob var tokenDigest: [UInt8]
    @Blob var credentialId: [UInt8]
    @Blob var userId: [UInt8]
    /// SubjectPublicKeyInfo (RFC 5480).
    @Blob var publicKey: [UInt8]
    let signCount: UInt32
    @Blob var aaguid: [UInt8]
    let format: String
    let authnType: String
    let name: String
    let version: String
    let registration: JSONObject
    @Blob var challenge: [UInt8]
    let origin: String
    let enrolledAt: Int64
    var endedAt: Int64?
    /// `revoked` or `unenrolled`.
    var ending: String?
    var subscription: PushSubscription?
    var pushSince: Int64?

    /// `active`, `revoked` or `unenrolled`.
    var state: String { ending ?? "active" }

    static func find(_ id: String, _ db: Database) throws -> AuthenticatorRecord? { try row(db, "WHERE id = ?", [id]) }
}
