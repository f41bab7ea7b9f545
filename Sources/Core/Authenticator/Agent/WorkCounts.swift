import IssuerProtocol
import Records
import TextAndTime
import ThreeDS

/// What became of requests and decisions since the agent started, counted from the journal.
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

    /// - Parameter request: the one that the entry is about, if its times matter.
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
        ProblemCode.allCases.filter(\.endsDelivery).map(\.rawValue) + [
            DeliveryState.unenrolled, DeliveryState.decidedLate, DeliveryState.damaged,
        ]

    private mutating func end(as outcome: Outcome) { outcomes[outcome, default: 0] += 1 }
}

/// How often each of some words came; bounded, whoever makes up the words.
package struct WordCounts: Sendable, Equatable {
    /// The most words besides the known ones that are counted apart.
    static let limit = 64
    /// What further ones count as.
    static let other = "other"

    package private(set) var counts: [String: Int]
    private let room: Int

    /// - Parameter known: are there with 0 before they have come: who watches a number has to see it grow from there.
    init(known: some Sequence<String> = []) {
        counts = Dictionary(known.map { ($0, 0) }, uniquingKeysWith: +)
        room = counts.count + Self.limit
    }

    mutating func note(_ word: String) {
        counts[counts[word] != nil || counts.count < room ? word : Self.other, default: 0] += 1
    }
}

/// How often something took how long: whole seconds, in buckets with fixed bounds.
package struct DurationHistogram: Sendable, Equatable {
    /// The most seconds of each bucket but the last, which has no bound.
    package static let bounds: [Int64] = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600]

    /// How many are in each bucket and in no lower one.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// All seconds together.
    package private(set) var sum: Int64 = 0

    /// A time that a clock set back made negative counts as none.
    mutating func note(_ seconds: Int64) {
        let seconds = max(seconds, 0)
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }
}
