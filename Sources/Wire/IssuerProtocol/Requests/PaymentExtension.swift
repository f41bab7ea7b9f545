import Keys
package import StrictJSON
package import ThreeDS
package import WebAuthn

/// The extension `publicKey.extensions.payment`, which asks for a W3C Secure Payment Confirmation assertion.
///
/// Only members that the transaction lacks are read from it. Others, such as a payee's name or a total, are ignored:
/// these come from the transaction, as presented.
package struct PaymentExtension: Sendable {
    /// An https origin, in the spelling of `IssuerURL`.
    ///
    /// `nil` if it is absent.
    package let payeeOrigin: String?
    /// The instrument's name as shown to a person: 1 to 64 Unicode scalars.
    package let displayName: String
    /// A URL of at most 2,048 bytes, which is signed unchanged and never fetched.
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

    /// The text that a person sees for the icon, which is signed but never fetched.
    ///
    /// It is the host of the URL. For a data URL it is the digest of the whole URL, as `printf %s URL | sha256sum`
    /// prints it.
    package var shownIcon: String {
        if let host = IconURL.origin(of: icon) { return host }
        // If no digest can be computed, show the whole URL.
        guard let digest = try? SHA256Digest.of(Array(icon.utf8)) else { return icon }
        let digits = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return icon.prefix { $0 != ";" && $0 != "," } + ", SHA-256 " + digits
    }

    /// The extension in this order of members, without any others.
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
    /// Returns an assertion's data about the transaction: its merchant as the payee, its amount in major units.
    ///
    /// - Parameter origin: the issuer's, because the issuer asks for the assertion.
    /// - Throws: a refusal if the transaction is not a payment, and so has no total.
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
