/// Why a command was not carried out: a code for programs, a sentence for people.
package struct CommandError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Equatable, CaseIterable {
        case invalidArgument
        case notFound
        /// No request came in time, or none is pending.
        case noRequest
        /// What was named stands for several.
        case ambiguous
        case expectationFailed
        case userNotVerified
        /// It takes a PIN, and none was given; no try was counted.
        case pinRequired
        case blocked
        case noLongerDecidable
        /// Its deadline had passed, or whoever asked was gone, before it was decided.
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
    /// One sentence: what, where, and what is allowed.
    package let message: String
    /// The request that it is about, as it is now.
    package let request: RequestRecord?

    /// Without the request: what is logged has no merchant and no amount.
    package var description: String { message }

    package init(_ code: Code, _ message: String, request: RequestRecord? = nil) {
        self.code = code
        self.message = message
        self.request = request
    }
}
