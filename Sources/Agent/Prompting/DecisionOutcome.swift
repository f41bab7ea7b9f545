package import Control

/// The result of a decision that the agent has accepted, as a sentence and as an exit status.
package struct DecisionOutcome: Sendable, Equatable {
    private let decision: Decision
    package let request: RequestView
    package let status: ExitStatus

    package init(_ decision: Decision, _ request: RequestView) {
        self.decision = decision
        self.request = request
        status = decision.exitStatus(for: request)
    }

    /// Safe for a terminal once escaped.
    package var sentence: String {
        let amount = request.amountText.map { " \($0)" } ?? ""
        let merchant = request.merchantName.map { (amount.isEmpty ? " for " : " to ") + TerminalText.escaped($0) } ?? ""
        let decided = (decision == .approve ? "Approved" : "Denied") + amount + merchant + ": " + outcome
        return request.threeDSRequestorAppURL == nil ? decided + " The request has no return URL." : decided
    }

    private var outcome: String {
        switch status {
        case .done: "the issuer took it (transStatus \(request.transStatus ?? "unknown"))."
        case .queued: "it is not delivered yet; the agent goes on trying."
        case .notTaken where request.delivery == .failed: failure + "."
        case .notTaken: "the issuer did not take it (transStatus \(request.transStatus ?? "unknown"))."
        default: "it was not sent."
        }
    }

    /// The reason why the decision was not delivered.
    private var failure: String {
        let error = request.deliveryError
        switch request.deliveryFailure {
        case "expired":
            return error.map { "the request expired before it was delivered; the last try: \($0)" }
                ?? "the request expired before it was delivered"
        case "unenrolled":
            return error.map { "its enrollment ended before it was delivered; the last try: \($0)" }
                ?? "its enrollment ended before it was delivered"
        case "damaged": return "it was not in the agent's database as the agent wrote it, and was not sent"
        case let code?: return error ?? "the issuer answered \(code)"
        case nil: return "it was not delivered"
        }
    }
}
