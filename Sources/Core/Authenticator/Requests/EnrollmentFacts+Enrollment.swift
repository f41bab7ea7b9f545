import IssuerProtocol
import Records
import ThreeDS

extension EnrollmentFacts {
    /// Makes the facts that verify a request for an enrollment.
    ///
    /// `nil` while the enrollment has no authenticator id.
    init?(_ enrollment: Enrollment, _ policy: ExponentPolicy) {
        guard let membership = enrollment.membership else { return nil }
        self.init(
            issuer: enrollment.target.issuer, authenticatorId: membership.authenticatorId, rpId: enrollment.rpId,
            credentialId: enrollment.credentialId, canVerifyUser: enrollment.canVerifyUser, exponentPolicy: policy)
    }
}
