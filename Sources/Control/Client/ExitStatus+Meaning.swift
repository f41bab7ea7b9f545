extension ExitStatus {
    /// What it says to a script, in a few words.
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
        case .queued: "done here and durable, not yet at the issuer; the agent goes on trying"
        }
    }

    /// A line for each, as a program's help has it.
    package static var help: String {
        allCases.map { status in
            let number = String(status.rawValue)
            return String(repeating: " ", count: 4 - number.count) + number + "  " + status.meaning
        }.joined(separator: "\n")
    }
}
