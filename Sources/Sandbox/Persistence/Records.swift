import GRDB
import IssuerProtocol
import StrictJSON
import ThreeDS
import WebAuthn

/// One authentication of one cardholder, which completes once.
struct PurchaseRecord: Sendable {
    let id: Int64
    /// Lower case.
    let acsTransId: String
    let authenticatorId: String
    let transactionDigest: [UInt8]
    /// In the order in which they are sent.
    let members: [TransactionMember]
    /// Nil: the assertion is to have the plain form.
    let payment: PaymentExtension?
    /// As each request of it claims.
    let traceparent: String?
    let push: PushMode
    let userVerification: String
    let threeDSServerTransID: String
    let dsTransID: String
    let sdkTransID: String
    /// Seconds since 1970.
    let createdAt: Int64
    let expiresAt: Int64

    func member(_ name: String) -> String? { members.first { $0.name == name }?.value }

    var isPayment: Bool { member("purchaseAmount") != nil }
    /// As it was given, in EMV's spelling of the name.
    var acsTransID: String { member("acsTransId") ?? acsTransId }

    var transaction: JSONObject {
        JSONObject(members.map { JSONObject.Member(name: $0.name, value: .string($0.value)) })
    }

    /// What the assertion has to be, for a relying party of that origin.
    func form(rpId: String, origin: String) throws -> AssertionForm {
        guard let payment else { return .get }
        return .payment(
            try payment.clientData(for: Transaction(members: members), rpId: rpId, origin: origin))
    }
}

extension PurchaseRecord: FetchableRecord {
    init(row: Row) throws {
        id = row["id"]
        acsTransId = row["acsTransId"]
        authenticatorId = row["authenticatorId"]
        transactionDigest = row.bytes("transactionDigest")
        members = try row.object("members").members.compactMap { member in
            guard case .string(let value) = member.value else { return nil }
            return TransactionMember(name: member.name, value: value)
        }
        payment = try row.value("payment") == nil ? nil : PaymentExtension(json: row.object("payment"))
        traceparent = row["traceparent"]
        guard let push = PushMode(rawValue: row["push"]) else { throw RecordError(what: "purchase.push") }
        self.push = push
        userVerification = row["userVerification"]
        threeDSServerTransID = row["threeDSServerTransID"]
        dsTransID = row["dsTransID"]
        sdkTransID = row["sdkTransID"]
        createdAt = row["createdAt"]
        expiresAt = row["expiresAt"]
    }
}

/// How a purchase ended.
struct CompletionRecord: Sendable {
    enum Status: String, Sendable { case authenticated, notAuthenticated, expired, cancelled }

    let status: Status
    /// Why not, as the authenticator said it.
    let reason: String?
    /// The request whose decision completed the purchase; nil where none did.
    let jti: String?
    let at: Int64

    /// Of the RReq, and of the final CRes if there is one; the sandbox has no third value.
    var transStatus: String { status == .authenticated ? "Y" : "N" }
}

extension CompletionRecord: FetchableRecord {
    init(row: Row) throws {
        guard let status = Status(rawValue: row["status"]) else { throw RecordError(what: "completion.status") }
        self.status = status
        reason = row["reason"]
        jti = row["jti"]
        at = row["at"]
    }
}

/// One authn request, as it was signed.
struct RequestRecord: Sendable {
    let jti: String
    let purchaseId: Int64
    let authenticatorId: String
    /// What the assertion must name as its origin.
    let origin: String
    let nonce: [UInt8]
    let challenge: [UInt8]
    let jws: String
    let iat: Int64
    let exp: Int64
    let cancelledAt: Int64?
}

extension RequestRecord: FetchableRecord {
    init(row: Row) throws {
        jti = row["jti"]
        purchaseId = row["purchaseId"]
        authenticatorId = row["authenticatorId"]
        origin = row["origin"]
        nonce = row.bytes("nonce")
        challenge = row.bytes("challenge")
        jws = row["jws"]
        iat = row["iat"]
        exp = row["exp"]
        cancelledAt = row["cancelledAt"]
    }
}

/// A decision that was taken.
struct DecisionRecord: Sendable {
    let jti: String
    let digest: [UInt8]
    let body: JSONObject
    let transStatus: String
    let at: Int64
    /// The number that the assertion's had to exceed.
    let storedSignCount: Int64
    let verdict: JSONValue?
    /// The `traceparent` field that it came with.
    let traceparent: String?
    /// How often the same bytes came again.
    let repeats: Int64
    /// How often other bytes came.
    let conflicts: Int64
}

extension DecisionRecord: FetchableRecord {
    init(row: Row) throws {
        jti = row["jti"]
        digest = row.bytes("digest")
        body = try row.object("body")
        transStatus = row["transStatus"]
        at = row["at"]
        storedSignCount = row["storedSignCount"]
        verdict = try row.value("verdict")
        traceparent = row["traceparent"]
        repeats = row["repeats"]
        conflicts = row["conflicts"]
    }
}
