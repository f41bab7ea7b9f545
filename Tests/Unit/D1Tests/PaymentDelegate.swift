import D1

/// A delegate that is an object of its own: a `D1Authn` does not keep it, so the app does.
@MainActor
final class PaymentDelegate: AuthnDelegate {
    /// Called with each transaction that the payer is to see.
    private let show: (_ transaction: [String: String]) -> Void
    private var proceed: (() -> Void)?
    private var cancel: (() -> Void)?

    init(show: @escaping (_ transaction: [String: String]) -> Void) { self.show = show }

    func authn(
        _ authn: D1Authn, shouldConfirmTransactionData transactionData: [String: String],
        proceedHandler: @escaping () -> Void, cancelHandler: @escaping () -> Void
    ) {
        (proceed, cancel) = (proceedHandler, cancelHandler)
        show(transactionData)
    }

    func authnTouchIDOperationPrompt(_ authn: D1Authn) -> String { "Pay with your PIN" }

    /// Answers the open question, for the screen's two buttons.
    func answer(approves: Bool) {
        let handler = approves ? proceed : cancel
        (proceed, cancel) = (nil, nil)
        handler?()
    }
}
