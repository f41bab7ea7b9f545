import IssuerProtocol
import StrictJSON
import TextAndTime
import ThreeDS
import WebAuthn

/// The body of `POST /sandbox/purchases`.
package struct PurchaseOrder: Sendable {
    /// The members that are not part of the transaction.
    private static let options: Set<String> = [
        "assertion", "payeeOrigin", "instrument", "expiresIn", "authenticatorId", "userVerification", "force", "repeat",
        "newJti", "traceparent", "push", "emv", "appendTransID",
    ]
    private static let transactionMembers = [
        "acsTransId", "merchantName", "purchaseAmount", "purchaseCurrency", "purchaseExponent", "purchaseDate",
        "threeDSRequestorAppURL",
    ]

    /// Bounds of a purchase's lifetime, in seconds; an authenticator would refuse an expiry of more than 24 hours.
    package static let lifetime: ClosedRange<Int64> = 1...86_400

    let transaction: Transaction
    /// The sdkTransID of a purchase that this order starts.
    let sdkTransID: String
    /// The payment extension, or `nil` to ask for an assertion of type `webauthn.get`.
    let payment: PaymentExtension?
    let emvOrder: JSONObject
    let emv: EMVProfile
    /// The lifetime in seconds.
    let expiresIn: Int64
    /// The authenticator, or `nil` for the newest enrollment.
    let authenticatorId: String?
    let userVerification: UserVerificationRequirement
    /// Whether to start a new purchase even if the acsTransId is known, for this or another transaction.
    let force: Bool
    /// The number of times to list the request, or `nil` if the order does not say.
    let times: Int?
    /// Whether each listing is a new request with a jti of its own.
    let newJTI: Bool
    /// The request's `traceparent` claim, valid or not.
    let traceparent: String?
    /// The push mode, or `nil` for the mode of the existing purchase, or for both ways.
    let push: PushMode?

    /// Reads an order: absent members get a default, `null` members are left out of the transaction.
    init(_ body: JSONObject, dependencies: SandboxDependencies) throws {
        payment = try Self.payment(body)
        authenticatorId = try body.optionalString("authenticatorId", bytes: 1...64)
        userVerification = try body.optionalChoice("userVerification") ?? .preferred
        force = try body.optionalBool("force") ?? false
        times = try body.optionalInteger("repeat", in: 1...1_000).map(Int.init)
        newJTI = try body.optionalBool("newJti") ?? false
        traceparent = try body.optionalString("traceparent", bytes: 0...256)
        push = try body.optionalChoice("push")
        sdkTransID = try dependencies.randomUUID()
        transaction = try Self.transaction(ReturnURL.complete(body, sdkTransID: sdkTransID), dependencies)
        emvOrder = try body.optionalObject("emv") ?? [:]
        emv = try EMVProfile(emvOrder, transaction: transaction)
        let expiresIn = try body.optionalInteger("expiresIn", in: Self.lifetime)
        if expiresIn != nil, emv.decoupled != nil {
            throw SandboxError.badRequest(
                "expiresIn: a decoupled authentication ends at its threeDSRequestorDecMaxTime")
        }
        self.expiresIn = expiresIn ?? emv.usualLifetime
        guard payment == nil || transaction.purchase != nil else {
            throw SandboxError.badRequest("assertion: payment.get needs the purchase members")
        }
    }

    private static func transaction(_ body: JSONObject, _ dependencies: SandboxDependencies) throws -> Transaction {
        var members: [TransactionMember] = []
        for name in transactionMembers {
            if let value = body[name] {
                try append(name, value, to: &members)
            } else if let value = try fallback(name, dependencies) {
                members.append(TransactionMember(name: name, value: value))
            }
        }
        for member in body.members where !options.contains(member.name) && !transactionMembers.contains(member.name) {
            try append(member.name, member.value, to: &members)
        }
        do throws(TransactionRefusal) {
            return try Transaction(members: members)
        } catch {
            throw SandboxError.badRequest(error.message)
        }
    }

    private static func append(
        _ name: String, _ value: JSONValue, to members: inout [TransactionMember]
    ) throws {
        switch value {
        case .null: break
        case .string(let text): members.append(TransactionMember(name: name, value: text))
        default: throw SandboxError.badRequest(TransactionRefusal.nonStringValue(member: name).message)
        }
    }

    private static func fallback(_ name: String, _ dependencies: SandboxDependencies) throws -> String? {
        switch name {
        case "acsTransId": try dependencies.randomUUID()
        case "merchantName": "Sandbox Shop"
        case "purchaseAmount": "100"
        case "purchaseCurrency": "840"
        case "purchaseExponent": "2"
        case "purchaseDate": PurchaseTime.text(dependencies.now())
        default: nil
        }
    }
}

/// The format of EMV 3DS's purchaseDate: YYYYMMDDHHMMSS, UTC.
enum PurchaseTime {
    static func text(_ secondsSince1970: Int64) -> String {
        UTCTime.text(secondsSince1970).filter(\.isWholeNumber)
    }
}

// The members that ask for an assertion in the form of W3C Secure Payment Confirmation.
extension PurchaseOrder {
    private enum Assertion: String, CaseIterable {
        case get = "webauthn.get"
        case payment = "payment.get"
    }

    private static let defaultInstrument: JSONObject = [
        "displayName": "Sandbox Card 4242",
        "icon": "data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E",
    ]

    /// Reads the payment extension, or returns `nil` if a plain assertion is asked for.
    ///
    /// Absent members of the instrument get a default; an absent `payeeOrigin` does not.
    static func payment(_ body: JSONObject) throws -> PaymentExtension? {
        guard try body.optionalChoice("assertion", as: Assertion.self) == .payment else {
            for name in ["payeeOrigin", "instrument"] where body[name] ?? .null != .null {
                throw SandboxError.badRequest("\(name): only an assertion of type payment.get has it")
            }
            return nil
        }
        var instrument = defaultInstrument
        for member in try body.optionalObject("instrument")?.members ?? [] { instrument[member.name] = member.value }
        var json: JSONObject = ["isPayment": true, "instrument": .object(instrument)]
        if let origin = body["payeeOrigin"], origin != .null { json["payeeOrigin"] = origin }
        return try PaymentExtension(json: json)
    }
}
