/// The enrollments that have one weakness.
package struct WeakEnrollments: Sendable, Equatable {
    package let mark: EnrollmentMark
    /// How many there are.
    package let count: Int
    /// The first of them, oldest first.
    package let first: [EnrollmentID]

    package init(_ mark: EnrollmentMark, count: Int, first: [EnrollmentID]) {
        self.mark = mark
        self.count = count
        self.first = first
    }
}

/// A weakness that an enrollment's row says, so that a store can count the rows that say it.
///
/// Each is a finding of ``Enrollment/findings``, and the raw value is its place among the marks of a row.
package enum EnrollmentMark: Int, Sendable, CaseIterable {
    case signedElsewhere, signCountRaised, test, guessablePIN
    /// A key that the agent did not make and that may be copied from where it is, or of which that cannot be told.
    case copyableKey, perhapsCopyableKey
    case ownOrFileKey, plainHTTP

    /// What it is called among the findings.
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
