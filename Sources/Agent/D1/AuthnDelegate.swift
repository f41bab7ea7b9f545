/// What an issuer's app has the payer asked by; always called on the main actor.
///
/// A delegate is held weakly: the app keeps it for as long as it is to be asked.
@MainActor
public protocol AuthnDelegate: AnyObject {
    /// Asks the payer to confirm one transaction.
    ///
    /// Of all calls of the two handlers the first counts and the others do nothing, from whichever thread and whenever
    /// they come. If both handlers are let go without a call, nothing is decided and the request stays pending.
    ///
    /// - Parameters:
    ///   - authn: the object whose fetch brought the request.
    ///   - transactionData: the members of the transaction as the issuer sent them, by name: `merchantName`,
    ///     `purchaseAmount`, `purchaseCurrency`, `purchaseExponent`, `purchaseDate`, `acsTransId`,
    ///     `threeDSRequestorAppURL` and any others. The values may hold any characters.
    ///   - proceedHandler: to be called if the payer approves.
    ///   - cancelHandler: to be called if the payer does not. The issuer is told that the payer denied it, except by a
    ///     question that came while an earlier one about the same request was still open.
    func authn(
        _ authn: D1Authn, shouldConfirmTransactionData transactionData: [String: String],
        proceedHandler: @escaping @Sendable () -> Void, cancelHandler: @escaping @Sendable () -> Void)

    /// Returns the sentence that the payer is shown when the PIN is asked for; "Your PIN" if the app has none.
    func authnTouchIDOperationPrompt(_ authn: D1Authn) -> String
}

extension AuthnDelegate {
    /// Returns "Your PIN", for a delegate that has no sentence of its own.
    public func authnTouchIDOperationPrompt(_ authn: D1Authn) -> String { "Your PIN" }
}
