/// What `oobctl` exits with; scripts depend on it.
///
/// 64, 69 and 75 are those of `sysexits.h`.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Done; for a decision: delivered, and taken by the issuer.
    case done = 0
    case failed = 1
    /// No request came in time, or none is known by this ID.
    case noRequest = 3
    /// An expectation did not hold; nothing was decided.
    case expectationFailed = 4
    case userNotVerified = 5
    case blocked = 6
    /// The request has expired, or was cancelled, refused or decided before.
    case noLongerDecidable = 7
    case notEnrolled = 8
    case invalidEnrollmentCode = 9
    /// The decision was sent, but the issuer did not take it.
    case notTaken = 10
    /// The agent's answer was lost or its disk failed, so it is not known whether it was decided.
    case unknown = 11
    case usage = 64
    case unreachable = 69
    /// Decided and durable, not delivered yet; the agent goes on trying.
    case queued = 75
}

/// What a payer can decide.
package enum Decision: String, Sendable, CaseIterable {
    case approve, deny

    /// EMV 3-D Secure's transStatus that says the issuer took this decision.
    private var takenStatus: String { self == .approve ? "Y" : "N" }

    /// The exit status that an answered decision stands for.
    package func exitStatus(for answer: RequestView) -> ExitStatus {
        switch answer.delivery {
        case .delivered: answer.transStatus == takenStatus ? .done : .notTaken
        case .failed: .notTaken
        case .queued: .queued
        case .none: .failed
        }
    }
}
