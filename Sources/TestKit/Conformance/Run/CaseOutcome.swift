/// Why a case ended early.
package enum CaseEnd: Error, Sendable {
    /// The tested side did something else than the protocol says.
    case failed(String)
    /// The tested side has not what the case needs; nothing is known.
    case notShown(String)
    /// A command of the tested side did not do what it is for; nothing is known, and the run has not passed.
    case broken(String)
    /// The run's time was over before the case was.
    case notRun(String)
}

/// What came of one case.
package struct CaseOutcome: Sendable {
    package enum Verdict: String, Sendable, CaseIterable {
        case passed, failed, notShown, broken, notRun
    }

    /// The most bytes of a cause.
    static let maxCause = 1_024

    package let header: CaseHeader
    package let verdict: Verdict
    /// One sentence; nil if it passed.
    let cause: Excerpt?
    package let milliseconds: Int
    /// Empty unless it failed or could not be run.
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

    /// A case that was not played.
    static func notRun(_ header: CaseHeader, because cause: String) -> CaseOutcome {
        CaseOutcome(header: header, verdict: .notRun, cause: cause, milliseconds: 0)
    }
}
