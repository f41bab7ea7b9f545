/// The exit statuses of `oobctl`.
///
/// Scripts depend on them.
///
/// 64, 69, 71 and 75 are from `sysexits.h`.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    /// The command succeeded.
    ///
    /// For a decision: it was delivered, and the issuer accepted it.
    case done = 0
    case failed = 1
    /// No request came in time, or no request has this ID.
    case noRequest = 3
    /// An expectation did not hold, so the agent did not decide.
    case expectationFailed = 4
    case userNotVerified = 5
    case blocked = 6
    /// The request has expired, or was cancelled, refused or decided before.
    case noLongerDecidable = 7
    case notEnrolled = 8
    case invalidEnrollmentCode = 9
    /// The decision was sent, but the issuer did not accept it.
    case notTaken = 10
    /// The agent's answer was lost or its disk failed, so it is not known whether it decided.
    case unknown = 11
    case usage = 64
    case unreachable = 69
    /// The system allows too few open files.
    ///
    /// `FileLimit` of `LinuxProcess` ends the program with this status.
    case tooFewFiles = 71
    /// The decision is durable but not delivered yet.
    ///
    /// The agent keeps trying. For a backup: it can be made later.
    case queued = 75
}

/// A payer's decision.
package enum Decision: String, Sendable, CaseIterable {
    case approve, deny

    /// The transStatus of EMV 3-D Secure with which the issuer accepts this decision.
    private var takenStatus: String { self == .approve ? "Y" : "N" }

    /// Returns the exit status for the agent's answer to this decision.
    package func exitStatus(for answer: RequestView) -> ExitStatus {
        switch answer.delivery {
        case .delivered: answer.transStatus == takenStatus ? .done : .notTaken
        case .failed: .notTaken
        case .queued: .queued
        case .none: .failed
        }
    }
}

extension ExitStatus {
    /// The meaning for a script, in a few words.
    package var meaning: String {
        switch self {
        case .done: "done; of a decision: delivered, and taken by the issuer"
        case .failed: "failed"
        case .noRequest: "no request came in time, or there is none of that ID"
        case .expectationFailed: "an expectation did not hold; nothing was decided"
        case .userNotVerified: "the user was not verified: the PIN is wrong, or was not given"
        case .blocked: "blocked after five wrong PINs in a row"
        case .noLongerDecidable: "the request can no longer be decided"
        case .notEnrolled: "not enrolled"
        case .invalidEnrollmentCode: "the enrollment code is not valid"
        case .notTaken: "the decision was sent, but the issuer did not take it"
        case .unknown: "not known whether it was decided: answer lost, or disk failed"
        case .usage: "wrong usage"
        case .unreachable: "the agent cannot be reached"
        case .tooFewFiles: "the system allows too few open files"
        case .queued: "durable, not at the issuer yet; the agent goes on; of backup: try later"
        }
    }

    /// The exit statuses as text for a program's help, one line for each.
    package static var help: String {
        allCases.map { status in
            let number = String(status.rawValue)
            return String(repeating: " ", count: 4 - number.count) + number + "  " + status.meaning
        }.joined(separator: "\n")
    }
}
