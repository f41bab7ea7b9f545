import D1
import Foundation

#if canImport(UIKit)
import UIKit
#else
import UIKitStub
#endif

/// A screen that asks the payer by an alert, and opens the merchant's app after the payment.
class PaymentViewController: UIViewController {
    /// Called when a fetch has ended.
    var onEnd: (D1Error?) -> Void = { _ in }
    private var isFetching = false
    /// The transaction of the alert, until its fetch has ended.
    private var transaction: [String: String]?

    /// Fetches and asks, for a push and when the app comes to the front.
    ///
    /// If a fetch is under way, that one asks.
    func confirmPayment(with task: D1Task) {
        guard !isFetching, let authn = task.d1Authn(self) else { return }
        isFetching = true
        authn.fetchAuthnRequest { [self] error in
            if error == nil { openMerchantApp() }
            (isFetching, transaction) = (false, nil)
            onEnd(error)
        }
    }

    private func openMerchantApp() {
        guard let text = transaction?["threeDSRequestorAppURL"], let url = URL(string: text) else { return }
        UIApplication.shared.open(url)
    }
}

extension PaymentViewController: AuthnDelegate {
    func authn(
        _ authn: D1Authn, shouldConfirmTransactionData transactionData: [String: String],
        proceedHandler: @escaping () -> Void, cancelHandler: @escaping () -> Void
    ) {
        transaction = transactionData
        let amount = transactionData["purchaseAmount"] ?? "?"
        let currency = transactionData["purchaseCurrency"] ?? "?"
        let alert = UIAlertController(
            title: transactionData["merchantName"], message: "\(amount) minor units of currency \(currency)",
            preferredStyle: .alert)
        alert.addAction(UIAlertAction(title: "Pay", style: .default) { _ in proceedHandler() })
        alert.addAction(UIAlertAction(title: "Cancel", style: .cancel) { _ in cancelHandler() })
        present(alert, animated: true)
    }
}
