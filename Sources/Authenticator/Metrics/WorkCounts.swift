import IssuerProtocol
import StrictJSON
import ThreeDS

/// What became of requests and decisions since the agent started, as the journal has it: numbers of nobody in particular.
package struct WorkCounts: Sendable, Equatable {
    package enum Outcome: String, Sendable, CaseIterable {
        case approved, denied, refused, expired, cancelled
    }

    package private(set) var presented = 0
    package private(set) var outcomes: [Outcome: Int] = [:]
    /// By the rule that did not hold.
    package private(set) var refusals = WordCounts(known: refusalTokens)
    /// By the issuer's transStatus.
    package private(set) var answers = WordCounts(known: TransStatus.allCases.map(\.rawValue))
    /// By what ended the delivery.
    package private(set) var failures = WordCounts(known: failureTokens)
    /// From a request's coming to the decision of a person or program.
    package internal(set) var timeToDecision = DurationHistogram()
    /// From the decision, or the agent's own refusal, to the issuer's answer.
    package internal(set) var timeToDelivery = DurationHistogram()

    /// - Parameter request: the one that the entry is about, where its times matter.
    mutating func note(_ entry: JournalEntry, about request: RequestRecord?) {
        switch entry.kind {
        case .presented: presented += 1
        case .decided:
            end(as: entry.text("decision") == "approve" ? .approved : .denied)
            if let request, let at = request.decidedAt { timeToDecision.note(at.seconds(since: request.receivedAt)) }
        case .refused:
            end(as: .refused)
            refusals.note(entry.text("refusal") ?? "unknown")
        case .expired: end(as: .expired)
        case .cancelled: end(as: .cancelled)
        case .answered:
            answers.note(entry.text("transStatus") ?? "unknown")
            guard let request, let answeredAt = UTCTime.seconds(entry.at) else { return }
            timeToDelivery.note(answeredAt.seconds(since: request.decidedAt ?? request.receivedAt))
        case .deliveryFailed: failures.note(entry.text("failure") ?? "unknown")
        default: break
        }
    }

    private static let refusalTokens =
        RequestRefusal.Rule.allCases.map(\.rawValue) + TransactionRefusal.Code.allCases.map(\.rawValue)
        + RequestAdmission.Refusal.allCases.map(\.rawValue)

    private static let failureTokens =
        ProblemCode.allCases.filter(\.endsDelivery).map(\.rawValue) + [DeliveryState.unenrolled]

    private mutating func end(as outcome: Outcome) { outcomes[outcome, default: 0] += 1 }
}
