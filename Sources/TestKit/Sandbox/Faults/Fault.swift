/// What a client gets in place of the answer to its call.
package struct Fault: Sendable, Equatable {
    package enum Moment: String, Sendable, CaseIterable {
        /// The call has no effect.
        case before
        /// The call has its effect, and the answer is lost.
        case after
    }

    package enum Kind: Sendable, Equatable, CustomStringConvertible {
        /// An HTTP status with a body that is no problem of the protocol's; `retryAfter` is in seconds.
        case status(Int, retryAfter: Int64?)
        /// The connection is closed without an answer.
        case drop
        /// HTTP status 200, and a body that is not what its type says.
        case garbage([UInt8])
        /// The answer's own length, and half of its body.
        case truncated
        /// The answer's own body, and then more, without an end.
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

    /// What goes out where `answer` would have.
    func answer(insteadOf answer: Answer) -> Answer {
        var answer = answer
        switch kind {
        // What a proxy or a bad deployment would answer.
        case .status(let status, let retryAfter):
            return Answer(
                status: status, contentType: "text/plain", body: Array("a failure on purpose\n".utf8),
                retryAfter: retryAfter)
        case .garbage(let bytes): return Answer(status: 200, contentType: "application/json", body: bytes)
        case .drop: answer.transmission = .nothing
        // Without a body there is nothing to cut, nor to go on with.
        case .truncated: answer.transmission = answer.body.isEmpty ? .nothing : .half
        case .endless: answer.transmission = answer.body.isEmpty ? .nothing : .endless
        }
        return answer
    }
}

/// The calls of the issuer protocol that can be made to fail.
package enum FaultPoint: String, Sendable, CaseIterable {
    case discovery, jwks, enrollmentOptions, enroll, authenticator, unenroll, pushSubscription, fetch, decision

    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
