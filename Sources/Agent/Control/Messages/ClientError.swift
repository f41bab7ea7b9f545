/// A failure of a client's call.
package enum ClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The agent was not reached, or the listener is not trusted.
    ///
    /// The client sent no request.
    case unreachable(String)
    /// The agent was reached, but its answer did not arrive or could not be read.
    ///
    /// It may have carried out the call.
    case unclear(String)
    /// A backup was cut off, and a retry is worthwhile.
    case cutOff(String)
    /// The answer to a decision was lost, so it is not known whether the decision was made.
    case unknown(String)
    /// The agent answered with an error, or the arguments cannot be sent to it.
    case refused(ControlError)

    package var exitStatus: ExitStatus {
        switch self {
        case .unreachable: .unreachable
        case .unclear: .failed
        case .cutOff: .queued
        case .unknown: .unknown
        case .refused(let error): error.token.exitStatus
        }
    }

    package var d1Code: D1Code {
        switch self {
        case .unreachable: .authenticatorNotAvailable
        case .unclear, .cutOff, .unknown: .core
        case .refused(let error): error.code
        }
    }

    /// The message for a person: one sentence.
    ///
    /// Escape it before printing it to a terminal.
    package var description: String {
        switch self {
        case .unreachable(let message), .unclear(let message), .cutOff(let message), .unknown(let message): message
        case .refused(let error): error.message
        }
    }
}

/// An error as printed to standard error with `--json`.
///
/// `{"error": {"code": 70003, "name": "authnAccessDenied", "message": "…"}}`
package struct ErrorView: Codable, Sendable, Equatable {
    package struct Body: Codable, Sendable, Equatable {
        package var code: D1Code
        package var name: String
        package var message: String
    }

    package var error: Body

    package init(_ code: D1Code, _ message: String) {
        error = Body(code: code, name: code.name, message: message)
    }
}
