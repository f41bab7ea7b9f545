import GRDB
import IssuerProtocol
import StrictJSON
import TableRows
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
    /// As it was ordered; the profile follows from it and the transaction.
    let emvOrder: JSONObject
    let emv: EMVProfile
    let threeDSServerTransID: String
    let dsTransID: String
    let sdkTransID: String
    /// Seconds since 1970.
    let createdAt: Int64
    let expiresAt: Int64
    /// When the call that started it came; nil in purchases of earlier versions.
    let startedMilliseconds: Int64?

    /// What is asked of the assertion.
    var requirement: UserVerificationRequirement {
        UserVerificationRequirement(rawValue: userVerification) ?? .required
    }

    func member(_ name: String) -> String? { members.first { $0.name == name }?.value }

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

/// The columns of a purchase.
enum PurchaseColumn: Int, TableColumn {
    static let table = TableLayout<Self>("purchase", naming: .asWritten)

    case id, acsTransId, authenticatorId, transactionDigest, members, payment, traceparent, push, userVerification,
        emv, isDecoupled, threeDSServerTransID, dsTransID, sdkTransID, createdAt, expiresAt,
        startedMilliseconds
}

extension PurchaseRecord {
    init(_ fields: Fields<PurchaseColumn>) throws {
        id = try fields.number(.id)
        acsTransId = try fields.text(.acsTransId)
        authenticatorId = try fields.text(.authenticatorId)
        transactionDigest = try fields.bytes(.transactionDigest)
        members = try fields.object(.members).members.compactMap { member in
            guard case .string(let value) = member.value else { return nil }
            return TransactionMember(name: member.name, value: value)
        }
        payment = try fields.optionalObject(.payment).map { object in
            try fields.made(of: object, .payment) { try PaymentExtension(json: $0) }
        }
        traceparent = try fields.optionalText(.traceparent)
        push = try fields.value(.push, PushMode.init(rawValue:))
        userVerification = try fields.text(.userVerification)
        emvOrder = try fields.optionalObject(.emv) ?? [:]
        emv = try Self.profile(emvOrder, members, fields)
        threeDSServerTransID = try fields.text(.threeDSServerTransID)
        dsTransID = try fields.text(.dsTransID)
        sdkTransID = try fields.text(.sdkTransID)
        createdAt = try fields.number(.createdAt)
        expiresAt = try fields.number(.expiresAt)
        startedMilliseconds = try fields.optionalNumber(.startedMilliseconds)
    }

    /// What was checked when the purchase was ordered; most order nothing.
    private static func profile(
        _ order: JSONObject, _ members: [TransactionMember], _ fields: Fields<PurchaseColumn>
    ) throws -> EMVProfile {
        guard order.members.isEmpty else {
            return try fields.made(of: order, .emv) { order in
                try EMVProfile(order, transaction: Transaction(members: members))
            }
        }
        var profile = EMVProfile()
        if !members.contains(where: { $0.name == "purchaseAmount" }) { profile.category = .nonPayment }
        return profile
    }
}

/// How a purchase ended.
struct CompletionRecord: Sendable {
    enum Status: String, Sendable { case authenticated, notAuthenticated, expired, cancelled }

    let status: Status
    /// Why not, as the authenticator said it.
    let reason: String?
    /// The request whose decision completed the purchase; nil if none did.
    let jti: String?
    let at: Int64
    /// `at` in milliseconds, if a decision completed it.
    var decidedMilliseconds: Int64?

    /// Of the RReq, and of the final CRes if there is one; U, after an invalid CReq, has none.
    var transStatus: String {
        if status == .authenticated { return "Y" }
        return reason == Self.invalidCReq ? "U" : "N"
    }
}

/// The columns of how a purchase ended.
enum CompletionColumn: Int, TableColumn {
    static let table = TableLayout<Self>("completion", naming: .asWritten)

    case purchaseId, status, transStatus, reason, jti, at, decidedMilliseconds
}

extension CompletionRecord {
    init(_ fields: Fields<CompletionColumn>) throws {
        status = try fields.value(.status, Status.init(rawValue:))
        reason = try fields.optionalText(.reason)
        jti = try fields.optionalText(.jti)
        at = try fields.number(.at)
        decidedMilliseconds = try fields.optionalNumber(.decidedMilliseconds)
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

/// The columns of an authn request.
enum RequestColumn: Int, TableColumn {
    static let table = TableLayout<Self>("authnRequest", naming: .asWritten)

    case jti, purchaseId, authenticatorId, origin, nonce, challenge, jws, iat, exp, cancelledAt
}

extension RequestRecord {
    init(_ fields: Fields<RequestColumn>) throws {
        jti = try fields.text(.jti)
        purchaseId = try fields.number(.purchaseId)
        authenticatorId = try fields.text(.authenticatorId)
        origin = try fields.text(.origin)
        nonce = try fields.bytes(.nonce)
        challenge = try fields.bytes(.challenge)
        jws = try fields.text(.jws)
        iat = try fields.number(.iat)
        exp = try fields.number(.exp)
        cancelledAt = try fields.optionalNumber(.cancelledAt)
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

/// The columns of a decision.
enum DecisionColumn: Int, TableColumn {
    static let table = TableLayout<Self>("decision", naming: .asWritten)

    case jti, digest, body, transStatus, at, storedSignCount, verdict, traceparent, repeats, conflicts
}

extension DecisionRecord {
    init(_ fields: Fields<DecisionColumn>) throws {
        jti = try fields.text(.jti)
        digest = try fields.bytes(.digest)
        body = try fields.object(.body)
        transStatus = try fields.text(.transStatus)
        at = try fields.number(.at)
        storedSignCount = try fields.number(.storedSignCount)
        verdict = try fields.json(.verdict)
        traceparent = try fields.optionalText(.traceparent)
        repeats = try fields.number(.repeats)
        conflicts = try fields.number(.conflicts)
    }
}
