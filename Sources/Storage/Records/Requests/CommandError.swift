/// The reason why a command failed: a code for programs, a sentence for people.
package struct CommandError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Equatable, CaseIterable {
        case invalidArgument
        case notFound
        /// No request came in time, or none is pending.
        case noRequest
        /// The given name stands for several enrollments or requests.
        case ambiguous
        case expectationFailed
        case userNotVerified
        /// A PIN is required, and none was given; no try was counted.
        case pinRequired
        case blocked
        case noLongerDecidable
        /// The deadline had passed, or the client had left, before the decision.
        case notInTime
        case notEnrolled
        case invalidEnrollmentCode
        case alreadyEnrolled
        case issuerUnreachable
        case issuerRefused
        /// The key of the enrollment cannot be used now.
        case keyUnavailable
        case failed
    }

    package let code: Code
    /// A sentence: the fault, its place, and the allowed values.
    package let message: String
    /// The request of the command, in its present state.
    package let request: RequestRecord?

    /// The message without the request, so that a log has no merchant and no amount.
    package var description: String { message }

    package init(_ code: Code, _ message: String, request: RequestRecord? = nil) {
        self.code = code
        self.message = message
        self.request = request
    }
}
