/// A failure that a client gets in place of its answer.
package struct Fault: Sendable, Equatable {
    package enum Moment: String, Sendable, CaseIterable {
        /// The call has no effect.
        case before
        /// The call has its effect, and the answer is lost.
        case after
    }

    package enum Kind: Sendable, Equatable, CustomStringConvertible {
        /// An HTTP status with a body that is not a problem of the protocol; `retryAfter` is in seconds.
        case status(Int, retryAfter: Int64?)
        /// The connection is closed without an answer.
        case drop
        /// HTTP status 200, with a body that does not match its content type.
        case garbage([UInt8])
        /// The full Content-Length, and half of the body.
        case truncated
        /// The whole body, followed by white space without an end.
        case endless

        package var description: String {
            switch self {
            case .status(let status, nil): "\(status)"
            case .status(let status, _?): "\(status)-retry-after"
            case .drop: "drop"
            case .garbage: "garbage"
            case .truncated: "truncated"
            case .endless: "endless"
            }
        }
    }

    package let kind: Kind
    package let moment: Moment

    /// Returns the answer that is sent in place of `answer`.
    func answer(insteadOf answer: Answer) -> Answer {
        var answer = answer
        switch kind {
        // An answer such as a proxy's or a wrong deployment's.
        case .status(let status, let retryAfter):
            return Answer(
                status: status, contentType: "text/plain", body: Array("a failure on purpose\n".utf8),
                retryAfter: retryAfter)
        case .garbage(let bytes): return Answer(status: 200, contentType: "application/json", body: bytes)
        case .drop: answer.transmission = .nothing
        // Without a body there is none to cut or to continue.
        case .truncated: answer.transmission = answer.body.isEmpty ? .nothing : .half
        case .endless: answer.transmission = answer.body.isEmpty ? .nothing : .endless
        }
        return answer
    }
}

/// The calls of the issuer protocol that faults can be injected into.
package enum FaultPoint: String, Sendable, CaseIterable {
    case discovery, jwks, enrollmentOptions, enroll, authenticator, unenroll, pushSubscription, fetch, decision

    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
