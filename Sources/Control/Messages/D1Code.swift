/// The error numbers of Thales' D1 SDK, for scripts and apps that know them already.
package enum D1Code: Int, Codable, Sendable, CaseIterable {
    case cancelled = 10001
    case core = 20001
    case invalidArgument = 60002
    case authn = 70001
    case authnNotEnrolled = 70002
    case authnAccessDenied = 70003
    case authnBlocked = 70004
    case authnInvalidEnrollmentToken = 70005
    case authenticatorNotAvailable = 70006

    /// The number's name, as it stands in error JSON.
    package var name: String { "\(self)" }
}
