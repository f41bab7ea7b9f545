import IssuerProtocol
import Records
import TextAndTime
import ThreeDS

/// The outcomes of requests and decisions since the agent started, counted from the journal.
package struct WorkCounts: Sendable, Equatable {
    package enum Outcome: String, Sendable, CaseIterable {
        case approved, denied, refused, expired, cancelled
    }

    package private(set) var presented = 0
    package private(set) var outcomes: [Outcome: Int] = [:]
    /// Refused requests by the rule that they broke.
    package private(set) var refusals = WordCounts(known: refusalTokens)
    /// Answers of issuers by their transStatus.
    package private(set) var answers = WordCounts(known: TransStatus.allCases.map(\.rawValue))
    /// Failed deliveries by the reason that ended them.
    package private(set) var failures = WordCounts(known: failureTokens)
    /// Times from a request's arrival to the decision of a person or program.
    package internal(set) var timeToDecision = DurationHistogram()
    /// Times from the decision, or the agent's own refusal, to the issuer's answer.
    package internal(set) var timeToDelivery = DurationHistogram()

    /// - Parameter request: the request of the entry, if its times are counted.
    mutating func count(_ entry: JournalEntry, about request: RequestRecord?) {
        switch entry.kind {
        case .presented: presented += 1
        case .decided:
            count(as: entry.text("decision") == "approve" ? .approved : .denied)
            if let request, let at = request.decidedAt { timeToDecision.count(at.seconds(since: request.receivedAt)) }
        case .refused:
            count(as: .refused)
            refusals.count(entry.text("refusal") ?? "unknown")
        case .expired: count(as: .expired)
        case .cancelled: count(as: .cancelled)
        case .answered:
            answers.count(entry.text("transStatus") ?? "unknown")
            guard let request, let answeredAt = UTCTime.seconds(entry.at) else { return }
            timeToDelivery.count(answeredAt.seconds(since: request.decidedAt ?? request.receivedAt))
        case .deliveryFailed: failures.count(entry.text("failure") ?? "unknown")
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

    private mutating func count(as outcome: Outcome) { outcomes[outcome, default: 0] += 1 }
}

/// Counts of words, with a bound on their number even if a peer makes up the words.
package struct WordCounts: Sendable, Equatable {
    /// The limit for words with a count of their own, besides the known words.
    static let limit = 64
    /// The word under which all further words count.
    static let other = "other"

    package private(set) var counts: [String: Int]
    private let room: Int

    /// - Parameter known: words that start with the count 0, because monitoring must see a count grow from 0.
    init(known: some Sequence<String> = []) {
        counts = Dictionary(known.map { ($0, 0) }, uniquingKeysWith: +)
        room = counts.count + Self.limit
    }

    mutating func count(_ word: String) {
        counts[counts[word] != nil || counts.count < room ? word : Self.other, default: 0] += 1
    }
}

/// A histogram of durations in whole seconds, in buckets with fixed bounds.
package struct DurationHistogram: Sendable, Equatable {
    /// Upper bounds of the buckets, in seconds; the last bucket has no bound.
    package static let bounds: [Int64] = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600]

    /// The number of durations in each bucket, without those of the lower buckets.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// The sum of all durations, in seconds.
    package private(set) var sum: Int64 = 0

    /// Counts a duration; a negative one, from a clock that was set back, counts as 0.
    mutating func count(_ seconds: Int64) {
        let seconds = max(seconds, 0)
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }
}
