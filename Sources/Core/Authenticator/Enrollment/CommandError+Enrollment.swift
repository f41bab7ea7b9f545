import IssuerProtocol
import Keys
import Records

/// The errors of commands about enrollments.
extension CommandError {
    init(enrolling failure: IssuerError, at target: IssuerTarget) {
        switch failure {
        case .problem(let problem) where problem.code == .invalidEnrollmentCode:
            self.init(
                .invalidEnrollmentCode,
                """
                the issuer \(target.issuer.text) does not accept the enrollment code: it is mistyped, was used before (a \
                code is good for one enrollment), or is too old. Ask the issuer for a new one, and enroll again with it
                """)
        case .problem:
            self.init(.issuerRefused, "the issuer \(target.issuer.text) refused the enrollment: \(failure.reason)")
        case .transient:
            self.init(.issuerUnreachable, "the issuer \(target.issuer.text) cannot be used: \(failure.reason)")
        }
    }

    init(_ uri: KeyURI, usedBy other: Enrollment) {
        self.init(.alreadyEnrolled, "enrollment \(other.id) uses the key \(uri.text): unenroll that enrollment first")
    }

    /// Makes the error of an enrollment that was given up.
    ///
    /// If the issuer refuses the code at the registration, this is the same error as for a code that it refuses when
    /// asked for options.
    init(ended enrollment: Enrollment) {
        let refusedCode = IssuerError.problem(Problem(.invalidEnrollmentCode))
        guard enrollment.endReason != refusedCode.reason else {
            self.init(enrolling: refusedCode, at: enrollment.target)
            return
        }
        self.init(.issuerRefused, "the enrollment was given up: \(enrollment.endReason ?? "it has ended")")
    }
}
