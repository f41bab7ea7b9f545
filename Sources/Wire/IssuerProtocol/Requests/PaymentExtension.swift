import Keys
package import StrictJSON
package import ThreeDS
package import WebAuthn

/// Asks for an assertion in the form of W3C Secure Payment Confirmation: `publicKey.extensions.payment`.
///
/// Only what the transaction does not have is taken from it. What it may have besides, such as a payee's name or a
/// total, is ignored: those are the transaction's, as they were presented.
package struct PaymentExtension: Sendable {
    /// An https origin, in the spelling of `IssuerURL`; nil if none came.
    package let payeeOrigin: String?
    /// 1 to 64 Unicode scalars, which a person is shown.
    package let displayName: String
    /// A URL of at most 2,048 bytes that is signed as it came and never fetched.
    package let icon: String

    package init(json: JSONObject) throws(JSONMemberError) {
        guard try json.bool("isPayment") else { throw JSONMemberError(path: "/isPayment", problem: "must be true") }
        payeeOrigin = try Self.payeeOrigin(json)
        let instrument = try json.object("instrument")
        do {
            displayName = try Self.displayName(instrument)
            icon = try Self.icon(instrument)
        } catch {
            throw error.inside("instrument")
        }
    }

    /// What a person is shown of the icon, which is signed but never fetched.
    ///
    /// The host that its URL names; for a data URL the digest of all of it, as `printf %s URL | sha256sum` prints it.
    package var shownIcon: String {
        if let host = IconURL.origin(of: icon) { return host }
        // Without a digest all of it is shown.
        guard let digest = try? SHA256Digest.of(Array(icon.utf8)) else { return icon }
        let digits = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return icon.prefix { $0 != ";" && $0 != "," } + ", SHA-256 " + digits
    }

    /// In this member order, and nothing else.
    package var json: JSONObject {
        var json: JSONObject = ["isPayment": true]
        json["payeeOrigin"] = payeeOrigin.map(JSONValue.string)
        json["instrument"] = ["displayName": .string(displayName), "icon": .string(icon)]
        return json
    }

    private static func payeeOrigin(_ json: JSONObject) throws(JSONMemberError) -> String? {
        guard json["payeeOrigin"] != nil else { return nil }
        let text = try json.string("payeeOrigin", bytes: 1...256)
        guard text.utf8.starts(with: "https://".utf8), (try? IssuerURL(text)) != nil else {
            throw JSONMemberError(
                path: "/payeeOrigin",
                problem: "must be an https origin: scheme, lower-case host, port if it is not 443, and no slash")
        }
        return text
    }

    private static func displayName(_ instrument: JSONObject) throws(JSONMemberError) -> String {
        let text = try instrument.string("displayName")
        guard (1...64).contains(text.unicodeScalars.count) else {
            throw JSONMemberError(path: "/displayName", problem: "must have 1 to 64 characters")
        }
        return text
    }

    private static func icon(_ instrument: JSONObject) throws(JSONMemberError) -> String {
        let text = try instrument.string("icon", bytes: 1...2_048)
        guard IconURL.isValid(text) else {
            throw JSONMemberError(
                path: "/icon", problem: "must be an https or data:image URL, or http on loopback, in plain ASCII")
        }
        return text
    }
}

extension PaymentExtension {
    /// What an assertion in this form says of the transaction: its merchant as the payee, its amount in major units.
    ///
    /// - Parameter origin: the issuer's, for it is the issuer who asks.
    /// - Throws: a refusal if the transaction is no payment, and so has no total.
    package func clientData(
        for transaction: Transaction, rpId: String, origin: String
    ) throws(RequestRefusal) -> PaymentClientData {
        guard let purchase = transaction.purchase else {
            throw .invalid(
                .paymentExtension, "publicKey.extensions.payment needs a transaction with the purchase members")
        }
        return PaymentClientData(
            rpId: rpId, topOrigin: origin, payeeName: transaction.merchantName, payeeOrigin: payeeOrigin,
            total: PaymentClientData.Total(value: purchase.majorUnits, currency: purchase.currency.alphabetic),
            instrument: PaymentClientData.Instrument(icon: icon, displayName: displayName))
    }
}
