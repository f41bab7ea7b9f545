/// The reason for a failed call: a stable token, with its HTTP status, exit status and D1 number.
package enum ErrorToken: String, Codable, Sendable, CaseIterable {
    case invalidArgument = "invalid_argument"
    /// No request or enrollment has this id.
    case notFound = "not_found"
    /// No request arrived within the wait, or no request is pending.
    case noRequest = "no_request"
    /// The id matches several requests or enrollments.
    ///
    /// The message names them.
    case ambiguous
    case expectationFailed = "expectation_failed"
    case userNotVerified = "user_not_verified"
    /// The approval requires a PIN, and none was given.
    ///
    /// No attempt was counted.
    case pinRequired = "pin_required"
    case blocked
    case noLongerDecidable = "no_longer_decidable"
    /// The deadline passed before the decision.
    ///
    /// The client can repeat the call.
    case notInTime = "not_in_time"
    case notEnrolled = "not_enrolled"
    case invalidEnrollmentCode = "invalid_enrollment_code"
    case issuerUnreachable = "issuer_unreachable"
    case issuerRefused = "issuer_refused"
    case alreadyEnrolled = "already_enrolled"
    /// The key of an enrollment cannot be used now: its token is missing, or its file was replaced.
    case keyUnavailable = "key_unavailable"
    /// The database failed, and no data was changed.
    case storage
    /// The database failed, and it is not known whether data was changed.
    case storageInDoubt = "storage_in_doubt"
    /// The peer lacks the right to look or to decide, which the call requires.
    case accessDenied = "access_denied"
    /// The path has calls, but none with this method.
    ///
    /// The field `Allow` of the answer lists the methods.
    case methodNotAllowed = "method_not_allowed"
    /// The client accepts none of the available media types.
    case notAcceptable = "not_acceptable"
    case bodyTooLarge = "body_too_large"
    case notJSON = "not_json"
    case headerTooLarge = "header_too_large"
    /// Too many such calls of this user wait, are in progress, or arrived too fast.
    ///
    /// The field `Retry-After` of the answer says when to retry.
    case tooManyRequests = "too_many_requests"
    /// A backup cannot be made now.
    ///
    /// The field `Retry-After` of the answer says when to retry.
    case tryLater = "try_later"
    case failed

    package var httpStatus: Int { traits.httpStatus }
    package var exitStatus: ExitStatus { traits.exitStatus }
    package var d1Code: D1Code { traits.d1Code }
    /// RFC 9457's title: the same for every error of this token.
    package var title: String { traits.title }

    private typealias Traits = (httpStatus: Int, exitStatus: ExitStatus, d1Code: D1Code, title: String)

    private var traits: Traits {
        switch self {
        case .invalidArgument: (400, .usage, .invalidArgument, "Invalid argument")
        case .notFound: (404, .noRequest, .invalidArgument, "Not found")
        case .noRequest: (404, .noRequest, .authn, "No request")
        case .ambiguous: (409, .usage, .invalidArgument, "Ambiguous")
        case .expectationFailed: (412, .expectationFailed, .authn, "Expectation failed")
        case .userNotVerified: (403, .userNotVerified, .authnAccessDenied, "User not verified")
        case .pinRequired: (403, .userNotVerified, .authnAccessDenied, "PIN required")
        case .blocked: (423, .blocked, .authnBlocked, "Blocked")
        case .noLongerDecidable: (409, .noLongerDecidable, .authn, "No longer decidable")
        case .notInTime: (409, .failed, .authn, "Not in time")
        case .notEnrolled: (409, .notEnrolled, .authnNotEnrolled, "Not enrolled")
        case .invalidEnrollmentCode:
            (403, .invalidEnrollmentCode, .authnInvalidEnrollmentToken, "Enrollment code not valid")
        case .issuerUnreachable: (502, .failed, .authn, "Issuer unreachable")
        case .issuerRefused: (502, .failed, .authn, "Issuer refused")
        case .alreadyEnrolled: (409, .failed, .authn, "Already enrolled")
        case .keyUnavailable: (503, .failed, .authenticatorNotAvailable, "Key unavailable")
        case .storage: (500, .failed, .core, "Storage failed")
        case .storageInDoubt: (500, .unknown, .core, "Storage failed, result not known")
        case .accessDenied: (403, .failed, .authnAccessDenied, "Access denied")
        case .methodNotAllowed: (405, .usage, .invalidArgument, "Method not allowed")
        case .notAcceptable: (406, .usage, .invalidArgument, "Not acceptable")
        case .bodyTooLarge: (413, .usage, .invalidArgument, "Body too large")
        case .notJSON: (415, .usage, .invalidArgument, "Not JSON")
        case .headerTooLarge: (431, .usage, .invalidArgument, "Header too large")
        case .tooManyRequests: (429, .failed, .core, "Too many requests")
        case .tryLater: (429, .queued, .core, "Try later")
        case .failed: (500, .failed, .core, "Failed")
        }
    }
}
