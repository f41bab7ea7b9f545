/// Enrolls the authenticator, and lets the payer decide authn requests.
public final class D1Authn: Sendable {
    private let core: Core
    let asker: Asker

    init(_ core: Core, _ delegate: any AuthnDelegate) {
        self.core = core
        asker = Asker(delegate)
    }

    /// The enrolled method of user verification, or `nil` without an enrollment, or before `configure`.
    public func enrolledAuthnType() -> AuthnType? { core.enrolledAuthnType }

    /// Makes a key and enrolls it at the issuer, with a code and a PIN from the task's components.
    ///
    /// - Parameter preferredAuthnType: `nil` means `.platform`.
    /// - Throws: `.cancelled` for `.biometric`, and if the payer gave no PIN; `.authnInvalidEnrollmentToken`;
    ///   `.authenticatorNotAvailable` if the components have no `pin`; `.authn` for other failures, also if the
    ///   authenticator is already enrolled.
    public func enrollAuthnCredentials(_ preferredAuthnType: AuthnType?) async throws(D1Error) {
        try await core.call { [self] host in try await Enrolling(host: host, authn: self).enroll(preferredAuthnType) }
    }

    /// Enrolls as the async form does.
    ///
    /// - Parameters:
    ///   - preferredAuthnType: `nil` means `.platform`.
    ///   - completion: called once, on the main actor, with `nil` on success.
    public func enrollAuthnCredentials(
        _ preferredAuthnType: AuthnType?, completion: @escaping @MainActor (D1Error?) -> Void
    ) {
        core.call(
            { [self] host in try await Enrolling(host: host, authn: self).enroll(preferredAuthnType) },
            then: { completion($0.error) })
    }

    /// Ends the enrollment here and at the issuer.
    ///
    /// Succeeds if there is none.
    ///
    /// - Throws: `.authn` if the issuer could not be reached. Then the enrollment is unchanged.
    public func unenrollAuthnCredentials() async throws(D1Error) {
        try await core.call { host in try await host.unenroll() }
    }

    /// Unenrolls as the async form does.
    ///
    /// - Parameter completion: called once, on the main actor, with `nil` on success.
    public func unenrollAuthnCredentials(_ completion: @escaping @MainActor (D1Error?) -> Void) {
        core.call({ host in try await host.unenroll() }, then: { completion($0.error) })
    }

    /// Fetches, lets the delegate ask about the oldest pending request, and delivers the payer's decision.
    ///
    /// It returns once the payer has approved and the issuer has accepted the approval (transStatus Y).
    ///
    /// - Throws: `.cancelled`, `.authnNotEnrolled`, `.authnAccessDenied`, `.authnBlocked`, and `.authn`, among
    ///   others if no request is pending (cause `noRequest`).
    public func fetchAuthnRequest() async throws(D1Error) {
        try await core.call { [self, core] host in try await Fetching(core: core, host: host, authn: self).fetch() }
    }

    /// Fetches as the async form does.
    ///
    /// - Parameter completion: called once, on the main actor, with `nil` if the issuer has accepted an approval.
    public func fetchAuthnRequest(_ completion: @escaping @MainActor (D1Error?) -> Void) {
        core.call(
            { [self, core] host in try await Fetching(core: core, host: host, authn: self).fetch() },
            then: { completion($0.error) })
    }
}

/// A method of user verification.
public enum AuthnType: String, Sendable, CaseIterable {
    /// Fingerprint or face.
    ///
    /// A Linux machine has neither, so an enrollment fails with `D1Error.Code.cancelled`.
    case biometric
    /// The platform's own method: here a PIN, which every approval requires.
    case platform
}
