import GRDB
import IssuerProtocol
import StrictJSON
import ThreeDS
import WebAuthn

/// One authentication of one cardholder, which completes once.
struct PurchaseRecord: StoredRecord {
    static let databaseTableName = "purchase"

    let id: Int64
    /// Lower case.
    let acsTransId: String
    let authenticatorId: String
    @Blob var transactionDigest: [UInt8]
    /// In the order in which they are sent.
    let transaction: JSONObject
    /// Nil: the assertion is to have the plain form.
    let payment: PaymentExtension?
    /// As each request of it claims.
    let traceparent: String?
    let push: PushMode
    let userVerification: UserVerificationRequirement
    /// As it was ordered; the profile follows from it and the transaction.
    let emvOrder: JSONObject
    let emv: EMVProfile
    /// For the requests that are renewed.
    let isDecoupled: Bool
    let threeDSServerTransID: String
    let dsTransID: String
    let sdkTransID: String
    /// Seconds since 1970.
    let createdAt: Int64
    let expiresAt: Int64
    /// When the call that started it came.
    let startedMilliseconds: Int64

    var members: [TransactionMember] {
        transaction.members.compactMap { member in
            guard case .string(let value) = member.value else { return nil }
            return TransactionMember(name: member.name, value: value)
        }
    }

    func member(_ name: String) -> String? { members.first { $0.name == name }?.value }

    /// As it was given, in EMV's spelling of the name.
    var acsTransID: String { member("acsTransId") ?? acsTransId }

    /// What the assertion has to be, for a relying party of that origin.
    func form(rpId: String, origin: String) throws -> AssertionForm {
        guard let payment else { return .get }
        return .payment(
            try payment.clientData(for: Transaction(members: members), rpId: rpId, origin: origin))
    }
}

/// How a purchase ended.
struct CompletionRecord: StoredRecord {
    enum Status: String, Codable { case authenticated, notAuthenticated, expired, cancelled }

    static let databaseTableName = "completion"

    let purchaseId: Int64
    let status: Status
    /// Why not, as the authenticator said it.
    var reason: String?
    /// The request whose decision completed the purchase; nil if none did.
    var jti: String?
    let at: Int64
    /// `at` in milliseconds, if a decision completed it.
    var decidedMilliseconds: Int64?

    /// Of the RReq, and of the final CRes if there is one; U, after an invalid CReq, has none.
    var transStatus: String {
        if status == .authenticated { return "Y" }
        return reason == Self.invalidCReq ? "U" : "N"
    }
}

/// One authn request, as it was signed.
struct RequestRecord: StoredRecord {
    static let databaseTableName = "authnRequest"

    let jti: String
    let purchaseId: Int64
    let authenticatorId: String
    /// What the assertion must name as its origin.
    let origin: String
    @Blob var nonce: [UInt8]
    @Blob var challenge: [UInt8]
    let jws: String
    let iat: Int64
    let exp: Int64
    var cancelledAt: Int64?
}

/// A decision that was taken.
struct DecisionRecord: StoredRecord {
    static let databaseTableName = "decision"

    let jti: String
    @Blob var digest: [UInt8]
    let body: JSONObject
    let transStatus: String
    let at: Int64
    /// The number that the assertion's had to exceed.
    let storedSignCount: UInt32
    let verdict: JSONValue?
    /// The `traceparent` field that it came with.
    let traceparent: String?
    /// How often the same bytes came again.
    var repeats: Int64 = 0
    /// How often other bytes came.
    var conflicts: Int64 = 0
}
