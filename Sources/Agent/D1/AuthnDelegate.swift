/// Interface for the issuer's app to ask the payer.
///
/// Always called on the main actor.
///
/// The reference to a delegate is weak: the app keeps the delegate alive as long as questions may come.
@MainActor
public protocol AuthnDelegate: AnyObject {
    /// Asks the payer to confirm one transaction.
    ///
    /// Of all calls of the two handlers the first counts. Later calls have no effect, from any thread and at any
    /// time. If the delegate releases both handlers without a call, there is no decision and the request stays
    /// pending.
    ///
    /// - Parameters:
    ///   - authn: the object whose fetch brought the request.
    ///   - transactionData: the members of the transaction as the issuer sent them, by name: `merchantName`,
    ///     `purchaseAmount`, `purchaseCurrency`, `purchaseExponent`, `purchaseDate`, `acsTransId`,
    ///     `threeDSRequestorAppURL` and any others. The values may contain any characters.
    ///   - proceedHandler: to be called if the payer approves.
    ///   - cancelHandler: to be called if the payer does not approve. The agent then reports a denial to the
    ///     issuer, except if an earlier question about the same request was still open when this question came.
    func authn(
        _ authn: D1Authn, shouldConfirmTransactionData transactionData: [String: String],
        proceedHandler: @escaping @Sendable () -> Void, cancelHandler: @escaping @Sendable () -> Void)

    /// Returns the sentence shown to the payer when the PIN is requested; the default is "Your PIN".
    func authnTouchIDOperationPrompt(_ authn: D1Authn) -> String
}

extension AuthnDelegate {
    /// Returns "Your PIN", the default for a delegate without a sentence of its own.
    public func authnTouchIDOperationPrompt(_ authn: D1Authn) -> String { "Your PIN" }
}
