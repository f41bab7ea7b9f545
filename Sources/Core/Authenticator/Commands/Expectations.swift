import Records
import TextAndTime
package import ThreeDS

/// The conditions of a script's decision about a request, which is not decided unless all hold.
package struct Expectations: Sendable {
    package let amount: ExpectedAmount?
    /// The merchant's name, byte for byte.
    package let merchantName: String?
    package let acsTransId: ACSTransactionID?
    /// The digest of the request's text, base64url.
    ///
    /// For a client that has shown the text to a person, and decides about that text only.
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

    /// Returns the first expectation that does not hold, as a sentence, or `nil` if all hold.
    ///
    /// Does not check ``textDigest``, which needs the enrollment.
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

    /// Returns whether two names are equal in Unicode's normalization form C.
    ///
    /// No screen shows a difference between such names.
    private static func isSpelledOtherwise(_ expected: String, _ actual: String) -> Bool {
        TypedText.composed(expected).utf8.elementsEqual(TypedText.composed(actual).utf8)
    }
}
