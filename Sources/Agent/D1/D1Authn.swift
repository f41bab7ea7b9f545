/// Enrolls the authenticator, and has the payer decide authn requests.
public final class D1Authn: Sendable {
    private let core: Core
    let asker: Asker

    init(_ core: Core, _ delegate: any AuthnDelegate) {
        self.core = core
        asker = Asker(delegate)
    }

    /// What the payer is verified with; nil if nothing is enrolled, or `configure` has not been called.
    public func enrolledAuthnType() -> AuthnType? { core.enrolledAuthnType }

    /// Makes a key and enrolls it at the issuer, with a code and a PIN that the task's components provide.
    ///
    /// - Parameter preferredAuthnType: nil is `.platform`.
    /// - Throws: `.cancelled` for `.biometric`, and if the payer gave no PIN; `.authnInvalidEnrollmentToken`;
    ///   `.authenticatorNotAvailable` if nobody can be asked for a PIN; `.authn`, also if it is enrolled already.
    public func enrollAuthnCredentials(_ preferredAuthnType: AuthnType?) async throws(D1Error) {
        try await core.call { [self] host in try await Enrolling(host: host, authn: self).run(preferredAuthnType) }
    }

    /// As the async form.
    ///
    /// - Parameters:
    ///   - preferredAuthnType: nil is `.platform`.
    ///   - completion: called once, on the main actor; nil if nothing went wrong.
    public func enrollAuthnCredentials(
        _ preferredAuthnType: AuthnType?, completion: @escaping @MainActor (D1Error?) -> Void
    ) {
        core.call(
            { [self] host in try await Enrolling(host: host, authn: self).run(preferredAuthnType) },
            then: { completion($0.error) })
    }

    /// Ends the enrollment here and at the issuer; if there is none that is no error.
    ///
    /// - Throws: `.authn` if the issuer could not be told; then it goes on as it was.
    public func unenrollAuthnCredentials() async throws(D1Error) {
        try await core.call { host in try await host.unenroll() }
    }

    /// As the async form.
    ///
    /// - Parameter completion: called once, on the main actor; nil if nothing went wrong.
    public func unenrollAuthnCredentials(_ completion: @escaping @MainActor (D1Error?) -> Void) {
        core.call({ host in try await host.unenroll() }, then: { completion($0.error) })
    }

    /// Fetches, has the delegate ask about the oldest pending request, and delivers what the payer decided.
    ///
    /// It returns once the payer has approved and the issuer has taken that (transStatus Y).
    ///
    /// - Throws: `.cancelled`, `.authnNotEnrolled`, `.authnAccessDenied`, `.authnBlocked`, and `.authn`, among others
    ///   if nothing is pending (cause `noRequest`).
    public func fetchAuthnRequest() async throws(D1Error) {
        try await core.call { [self, core] host in try await Fetching(core: core, host: host, authn: self).run() }
    }

    /// As the async form.
    ///
    /// - Parameter completion: called once, on the main actor; nil if the issuer has taken an approval.
    public func fetchAuthnRequest(_ completion: @escaping @MainActor (D1Error?) -> Void) {
        core.call(
            { [self, core] host in try await Fetching(core: core, host: host, authn: self).run() },
            then: { completion($0.error) })
    }
}

/// What an authenticator verifies its user with.
public enum AuthnType: String, Sendable, CaseIterable {
    /// Fingerprint or face; a Linux machine has neither, so enrolling one is answered with `D1Error.Code.cancelled`.
    case biometric
    /// The platform's own means: here a PIN, which every approval takes.
    case platform
}
