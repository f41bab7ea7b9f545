import D1
import Foundation

/// A screen of an issuer's app, written the way the documentation of the D1 SDK for iOS shows it.
///
/// Its handlers are just `() -> Void`, and the last transaction is kept for a while. As UIKit's screens, it is on the
/// main actor.
@MainActor
class ConfirmationScreen {
    private(set) var lastTransaction: [String: String]?
    private(set) var title = ""
    private(set) var message = ""
    private(set) var opened: [URL] = []
    private var proceed: (() -> Void)?
    private var cancel: (() -> Void)?
    var authn: D1Authn?
    /// Called when something is shown.
    var onShow: () -> Void = {}

    func pay() { proceed?() }
    func refuse() { cancel?() }

    /// What the app does for a push, and when it comes to the front.
    func fetch(then completion: @escaping @MainActor (D1Error?) -> Void) {
        authn?.fetchAuthnRequest { [self] error in
            if let error {
                show("Not paid", error.errorDescription ?? "")
            } else {
                launchMerchantApp()
            }
            completion(error)
        }
    }

    fileprivate func show(_ title: String, _ message: String) {
        self.title = title
        self.message = message
        onShow()
    }
}

extension ConfirmationScreen: AuthnDelegate {
    func authn(
        _ authn: D1Authn,
        shouldConfirmTransactionData transactionData: [String: String],
        proceedHandler: (@escaping () -> Void), cancelHandler: (@escaping () -> Void)
    ) {
        if let last = lastTransaction, last["acsTransId"] == transactionData["acsTransId"] {
            // The same one again, by a push and by a fetch, while it is on the screen.
            cancelHandler()
            return
        }
        lastTransaction = transactionData
        proceed = proceedHandler
        cancel = cancelHandler
        let amount = transactionData["purchaseAmount"] ?? "?"
        show("Pay?", "\(amount) to \(transactionData["merchantName"] ?? "?")")
    }

    func authnTouchIDOperationPrompt(_ authn: D1Authn) -> String { "Confirm with your PIN" }
}

extension ConfirmationScreen {
    /// Brings the payer back to the merchant.
    fileprivate func launchMerchantApp() {
        // From here on the same transaction would be a new one.
        defer { lastTransaction = nil }
        guard let transaction = lastTransaction, let text = transaction["threeDSRequestorAppURL"],
            let url = URL(string: text)
        else { return }
        opened.append(url)
    }
}

/// The same in fewer words.
@MainActor
final class SmallScreen: AuthnDelegate {
    private(set) var lastTransaction: [String: String] = [:]
    private let answer: (_ transaction: [String: String]) -> Bool

    init(answer: @escaping (_ transaction: [String: String]) -> Bool) { self.answer = answer }

    func authn(
        _ authn: D1Authn, shouldConfirmTransactionData transactionData: [String: String],
        proceedHandler: @escaping () -> Void, cancelHandler: @escaping () -> Void
    ) {
        lastTransaction = transactionData
        if answer(transactionData) { proceedHandler() } else { cancelHandler() }
    }

    func authnTouchIDOperationPrompt(_ authn: D1Authn) -> String { "PIN" }
}
