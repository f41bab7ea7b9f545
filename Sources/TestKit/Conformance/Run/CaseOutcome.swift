/// The reason why a case ended early.
package enum CaseEnd: Error, Sendable {
    /// The tested side deviated from the protocol.
    case failed(String)
    /// The tested side lacks something that the case needs; the result is unknown.
    case notShown(String)
    /// A command of the tested side failed; the result is unknown, and the run has not passed.
    case broken(String)
    /// The time limit of the run ended before the case did.
    case notRun(String)
}

/// The outcome of one case.
package struct CaseOutcome: Sendable {
    package enum Verdict: String, Sendable, CaseIterable {
        case passed, failed, notShown, broken, notRun
    }

    /// The limit of a cause, in bytes.
    static let maxCause = 1_024

    package let header: CaseHeader
    package let verdict: Verdict
    /// The cause in one sentence, or `nil` for a case that passed.
    let cause: Excerpt?
    package let milliseconds: Int
    /// The exchanges; empty unless the case failed or could not be run.
    package internal(set) var exchanges: KeptExchanges

    init(
        header: CaseHeader, verdict: Verdict, cause: String?, milliseconds: Int,
        exchanges: KeptExchanges = KeptExchanges()
    ) {
        self.header = header
        self.verdict = verdict
        self.cause = cause.map { Excerpt($0, limit: Self.maxCause) }
        self.milliseconds = milliseconds
        self.exchanges = verdict == .failed || verdict == .broken ? exchanges : KeptExchanges()
    }

    /// Returns the outcome of a case that was not played.
    static func notRun(_ header: CaseHeader, because cause: String) -> CaseOutcome {
        CaseOutcome(header: header, verdict: .notRun, cause: cause, milliseconds: 0)
    }
}
