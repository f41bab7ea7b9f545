import Records
import TextAndTime
package import ThreeDS

/// What must hold of a request for a script's decision to count; nothing is decided unless all hold.
package struct Expectations: Sendable {
    package let amount: ExpectedAmount?
    /// The merchant's name, byte for byte.
    package let merchantName: String?
    package let acsTransId: ACSTransactionID?
    /// The digest of the request's text, base64url.
    ///
    /// For a client that has shown it to a person, and decides about no other.
    package let textDigest: String?

    package init(
        amount: ExpectedAmount? = nil, merchantName: String? = nil, acsTransId: ACSTransactionID? = nil,
        textDigest: String? = nil
    ) {
        self.amount = amount
        self.merchantName = merchantName
        self.acsTransId = acsTransId
        self.textDigest = textDigest
    }

    /// The first expectation that does not hold, as a sentence; nil if all hold.
    func firstBroken(by request: RequestRecord) -> String? {
        guard let transaction = request.presented?.transaction else { return "the request shows no transaction" }
        if let amount, !amount.holds(for: transaction.purchase) {
            return "the amount is \(transaction.purchase?.display ?? "none"), not \(amount)"
        }
        if let merchantName, !merchantName.utf8.elementsEqual(transaction.merchantName.utf8) {
            let actual = DisplayText(transaction.merchantName).text
            guard !Self.isSpelledOtherwise(merchantName, transaction.merchantName) else {
                return "the merchant is \(actual) in another Unicode form of the same letters: copy it from the request"
            }
            return "the merchant is \(actual), not \(DisplayText(merchantName).text)"
        }
        if let acsTransId, acsTransId != transaction.acsTransId {
            return "the acsTransId is \(transaction.acsTransId.text), not \(acsTransId.text)"
        }
        return nil
    }

    /// Whether two names are the same in Unicode's normalization form C: no screen shows a difference between such.
    private static func isSpelledOtherwise(_ expected: String, _ actual: String) -> Bool {
        TypedText.composed(expected).utf8.elementsEqual(TypedText.composed(actual).utf8)
    }
}
