import GRDB
import IssuerProtocol
import StrictJSON
import ThreeDS
import WebAuthn

/// An authentication of one cardholder, which completes once.
struct PurchaseRecord: StoredRecord {
    static let databaseTableName = "purchase"

    let id: Int64
    /// The acsTransId in lower case.
    let acsTransId: String
    let authenticatorId: String
    @Blob var transactionDigest: [UInt8]
    /// The transaction's members, in the order in which they are sent.
    let transaction: JSONObject
    /// The payment extension, or `nil` for an assertion in the plain form.
    let payment: PaymentExtension?
    /// The `traceparent` claim of each request.
    let traceparent: String?
    let push: PushMode
    let userVerification: UserVerificationRequirement
    /// The EMV members of the order; the profile follows from them and from the transaction.
    let emvOrder: JSONObject
    let emv: EMVProfile
    /// Whether this is a decoupled authentication, whose expired requests are renewed.
    let isDecoupled: Bool
    let threeDSServerTransID: String
    let dsTransID: String
    let sdkTransID: String
    /// The time of the start, in seconds since 1970.
    let createdAt: Int64
    let expiresAt: Int64
    /// The time when the call that started the purchase came.
    let startedMilliseconds: Int64

    var members: [TransactionMember] {
        transaction.members.compactMap { member in
            guard case .string(let value) = member.value else { return nil }
            return TransactionMember(name: member.name, value: value)
        }
    }

    func member(_ name: String) -> String? { members.first { $0.name == name }?.value }

    /// The acsTransId in its original case, under EMV's spelling of the name.
    var acsTransID: String { member("acsTransId") ?? acsTransId }

    /// Returns the form that the assertion must have, for a relying party with that origin.
    func form(rpId: String, origin: String) throws -> AssertionForm {
        guard let payment else { return .get }
        return .payment(
            try payment.clientData(for: Transaction(members: members), rpId: rpId, origin: origin))
    }
}

/// The completion of a purchase.
struct CompletionRecord: StoredRecord {
    enum Status: String, Codable { case authenticated, notAuthenticated, expired, cancelled }

    static let databaseTableName = "completion"

    let purchaseId: Int64
    let status: Status
    /// The reason for a failure: the authenticator's, or the sandbox's own.
    var reason: String?
    /// The request whose decision completed the purchase, or `nil` if no decision did.
    var jti: String?
    let at: Int64
    /// The value of `at` in milliseconds, if a decision completed the purchase.
    var decidedMilliseconds: Int64?

    /// The transStatus of the RReq, and of the final CRes if there is one; U, after an invalid CReq, has no CRes.
    var transStatus: String {
        if status == .authenticated { return "Y" }
        return reason == Self.invalidCReq ? "U" : "N"
    }
}

/// A signed authn request.
struct RequestRecord: StoredRecord {
    static let databaseTableName = "authnRequest"

    let jti: String
    let purchaseId: Int64
    let authenticatorId: String
    /// The origin that the assertion must name.
    let origin: String
    @Blob var nonce: [UInt8]
    @Blob var challenge: [UInt8]
    let jws: String
    let iat: Int64
    let exp: Int64
    var cancelledAt: Int64?
}

/// An accepted decision.
struct DecisionRecord: StoredRecord {
    static let databaseTableName = "decision"

    let jti: String
    @Blob var digest: [UInt8]
    let body: JSONObject
    let transStatus: String
    let at: Int64
    /// The stored signCount, which the assertion's had to exceed.
    let storedSignCount: UInt32
    let verdict: JSONValue?
    /// The `traceparent` field of the decision's call.
    let traceparent: String?
    /// The number of times that the same bytes came again.
    var repeats: Int64 = 0
    /// The number of times that other bytes came.
    var conflicts: Int64 = 0
}
