import IssuerProtocol
import Records
import ThreeDS

extension EnrollmentFacts {
    /// The facts that a request for an enrollment is read by; nil while it has no authenticator id.
    init?(_ enrollment: Enrollment, _ policy: ExponentPolicy) {
        guard let membership = enrollment.membership else { return nil }
        self.init(
            issuer: enrollment.target.issuer, authenticatorId: membership.authenticatorId, rpId: enrollment.rpId,
            credentialId: enrollment.credentialId, canVerifyUser: enrollment.canVerifyUser, exponentPolicy: policy)
    }
}
