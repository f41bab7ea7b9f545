/// The enrollments that have one weakness.
package struct WeakEnrollments: Sendable, Equatable {
    package let mark: EnrollmentMark
    /// The number of all these enrollments.
    package let count: Int
    /// The first of them, oldest first.
    package let first: [EnrollmentID]

    package init(_ mark: EnrollmentMark, count: Int, first: [EnrollmentID]) {
        self.mark = mark
        self.count = count
        self.first = first
    }
}

/// A weakness that is visible in an enrollment's row, so that a store can count the rows that have it.
///
/// Each is a finding of ``Enrollment/findings``. The raw value is its place among the marks of a row.
package enum EnrollmentMark: Int, Sendable, CaseIterable {
    case signedElsewhere, signCountRaised, test, guessablePIN
    /// A key that the agent did not make, and that may be copied from its place, or of which that is unknown.
    case copyableKey, perhapsCopyableKey
    case ownOrFileKey, plainHTTP

    /// The weakness in the finding.
    package var weakness: Weakness {
        switch self {
        case .signedElsewhere: .signedElsewhere
        case .signCountRaised: .signCountRaised
        case .test: .testAuthenticator
        case .guessablePIN: .pinGuessable
        case .copyableKey, .perhapsCopyableKey: .tokenKeyExportable
        case .ownOrFileKey: .keyExportable
        case .plainHTTP: .plainHTTP
        }
    }

    package var isCertain: Bool { self != .perhapsCopyableKey }
}
