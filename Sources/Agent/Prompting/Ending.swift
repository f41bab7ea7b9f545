package import Control

/// The reason why a request has left the screen, if it was not decided here.
enum Ending {
    static func line(_ request: RequestView) -> ScreenLine {
        let what =
            switch request.state {
            case .pending: "is pending"
            case .approved: "was approved elsewhere"
            case .denied: "was denied elsewhere"
            case .expired: "has expired"
            case .cancelled: "was cancelled by its issuer"
            case .refused: "was refused by the agent"
            }
        return ScreenLine("Request \(request.id) \(what). Nothing was decided here.", .warning)
    }

    static func expired(_ id: String) -> ScreenLine {
        ScreenLine("Request \(id) has expired. Nothing was decided here.", .warning)
    }
}

extension ClientError {
    /// The person, or an operator of the machine, has ended the prompt (D1: cancelled).
    static func ended(_ state: String) -> ClientError {
        .refused(ControlError(.failed, "The prompt was ended; \(state).", code: .cancelled))
    }

    /// As ``ended(_:)``, while a decision was being sent.
    static func endedUnsure(_ id: String) -> ClientError {
        .unknown("The prompt was ended; the decision may have been made: see oobctl show \(id).")
    }

    /// Whether a later call may reach the agent.
    package var isAbsence: Bool {
        if case .refused = self { false } else { true }
    }
}
