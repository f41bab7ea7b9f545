package import Control

/// What came of a decision that the agent took, as a sentence and as an exit status.
package struct DecisionOutcome: Sendable, Equatable {
    private let decision: Decision
    package let request: RequestView
    package let status: ExitStatus

    package init(_ decision: Decision, _ request: RequestView) {
        self.decision = decision
        self.request = request
        status = decision.exitStatus(for: request)
    }

    /// Fit for a terminal once escaped.
    package var sentence: String {
        let amount = request.amountText.map { " \($0)" } ?? ""
        let merchant = request.merchantName.map { (amount.isEmpty ? " for " : " to ") + $0 } ?? ""
        let decided = (decision == .approve ? "Approved" : "Denied") + amount + merchant + ": " + outcome
        return request.threeDSRequestorAppURL == nil ? decided + " The request has no return URL." : decided
    }

    private var outcome: String {
        switch status {
        case .done: "the issuer took it (transStatus \(request.transStatus ?? "unknown"))."
        case .queued: "it is not delivered yet; the agent goes on trying."
        case .notTaken where request.delivery == .failed: "the issuer ended it with an error."
        case .notTaken: "the issuer did not take it (transStatus \(request.transStatus ?? "unknown"))."
        default: "it was not sent."
        }
    }
}
