import Keys
import StrictJSON
import WebAuthn

/// The issuer's checks of an assertion (WebAuthn Level 3 §7.2), and their results.
struct AssertionVerdict: Sendable {
    /// The signCount to store, or `nil` if the assertion is not valid.
    let signCount: UInt32?
    /// The reason why the assertion is not valid.
    let failure: String?
    private let failed: VerificationError.Code?
    private let userVerificationRequired: Bool
    private let isPayment: Bool

    init(
        on response: AuthenticationResponse, of visit: DecisionVisit, by authenticator: AuthenticatorRecord
    ) throws {
        let publicKey = try visit.publicKeys.key(authenticator.publicKey)
        userVerificationRequired = visit.purchase.userVerification == .required
        isPayment = visit.purchase.payment != nil
        let form = try visit.purchase.form(rpId: visit.site.rpId, origin: visit.request.origin)
        do throws(VerificationError) {
            signCount = try AssertionVerifier.verify(
                response, form: form, publicKey: publicKey, credentialId: authenticator.credentialId,
                userHandle: authenticator.userId, challenge: visit.request.challenge, origin: visit.request.origin,
                rpId: visit.site.rpId, userVerificationRequired: userVerificationRequired,
                signCount: .mustRise(above: authenticator.signCount))
            failure = nil
            failed = nil
        } catch {
            signCount = nil
            failure = error.description
            failed = error.code
        }
    }

    /// The checks as JSON: `[{"check", "result": "passed | failed | notRequired | notReached"}]`.
    var json: JSONValue {
        var isOver = false
        return .array(
            AssertionVerifier.checks(ofPayment: isPayment).map { check in
                let result: String
                if isOver {
                    result = "notReached"
                } else if check == failed {
                    result = "failed"
                    isOver = true
                } else {
                    result = check == .userVerification && !userVerificationRequired ? "notRequired" : "passed"
                }
                return ["check": .string(check.rawValue), "result": .string(result)]
            })
    }
}
