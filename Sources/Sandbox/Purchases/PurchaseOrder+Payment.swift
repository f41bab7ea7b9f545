import IssuerProtocol
import StrictJSON

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

    /// Nil for the plain form; members of the instrument that are absent get a default, a payee's origin does not.
    static func payment(_ body: JSONObject) throws -> PaymentExtension? {
        guard try body.optionalChoice("assertion", as: Assertion.self) == .payment else {
            for name in ["payeeOrigin", "instrument"] where body[name] ?? .null != .null {
                throw SandboxRefusal.badRequest("\(name): only an assertion of type payment.get has it")
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
