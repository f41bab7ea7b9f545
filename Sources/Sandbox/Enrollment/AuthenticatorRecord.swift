import GRDB
import IssuerProtocol
import StrictJSON

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
}

extension AuthenticatorRecord: FetchableRecord {
    init(row: Row) throws {
        id = row["id"]
        credentialId = row.bytes("credentialId")
        userId = row.bytes("userId")
        publicKey = row.bytes("publicKey")
        signCount = row["signCount"]
        aaguid = row.bytes("aaguid")
        format = row["format"]
        authnType = row["authnType"]
        name = row["name"]
        version = row["version"]
        registration = try row.object("registration")
        challenge = row.bytes("challenge")
        origin = row["origin"]
        enrolledAt = row["enrolledAt"]
        endedAt = row["endedAt"]
        ending = row["ending"]
        subscription =
            try row.value("pushSubscription") == nil ? nil : PushSubscription(json: row.object("pushSubscription"))
        pushSince = row["pushSince"]
    }
}

extension AuthenticatorRecord {
    static func byID(_ id: String, _ db: Database) throws -> AuthenticatorRecord {
        guard let record = try fetchOne(db, sql: "SELECT * FROM authenticator WHERE id = ?", arguments: [id]) else {
            throw RecordError(what: "a request without its authenticator")
        }
        return record
    }
}
