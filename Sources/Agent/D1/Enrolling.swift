import Authenticator
import IssuerProtocol
import Keys
import Records
import TextAndTime

/// An enrollment, from the app's call to the issuer's answer.
struct Enrolling: Sendable {
    /// The limit for the issuer's answer, in seconds.
    private static let patience: Double = 60

    let host: Host
    let authn: D1Authn

    func enroll(_ preferred: AuthnType?) async throws {
        guard preferred != .biometric else {
            throw D1Error(.cancelled, "cancelled", "this machine has no fingerprint reader and no camera for faces")
        }
        try await expectNothingEnrolled()
        // The PIN comes first: a payer who cancels here has not used up a code.
        let pin = try await host.pin(authn)
        guard let giveCode = host.setup.components.enrollmentCode else {
            throw D1Error(
                .authnInvalidEnrollmentToken, "invalidEnrollmentCode", "no component gives an enrollment code")
        }
        guard let code = EnrollmentCode(typed: try await giveCode()) else {
            throw D1Error(
                .authnInvalidEnrollmentToken, "invalidEnrollmentCode", "an enrollment code has 1 to 256 bytes")
        }
        let setup = host.setup
        let parameters = EnrollmentParameters(
            target: setup.target, code: code, authnType: .pin, name: setup.name, pin: pin)
        let enrollment = try await host.agent.enroll(parameters, patience: Self.patience)
        guard case .active = enrollment.state else {
            throw D1Error(.authn, "issuerUnreachable", "the issuer has not answered yet; the enrollment goes on")
        }
        // The enrollment is made, also if this read fails; the event that follows it causes another.
        try? await host.agent.update(host.enrolledType, at: setup.target.issuer)
    }

    private func expectNothingEnrolled() async throws {
        guard let known = try await host.agent.enrollments(at: host.setup.target.issuer).first else { return }
        throw D1Error(
            .authn, "alreadyEnrolled", "this D1Task has the enrollment \(known.id) already: unenroll that first")
    }
}

extension Host {
    /// Asks for the PIN, in Unicode's normalization form C as over the control socket.
    func pin(_ authn: D1Authn) async throws -> PIN {
        guard let ask = setup.components.pin else {
            throw D1Error(
                .authenticatorNotAvailable, "pinRequired", "an approval takes a PIN, and no component gives one")
        }
        let prompt = try await authn.asker.prompt(authn)
        guard let text = try await ask(prompt) else {
            throw D1Error(.cancelled, "cancelled", "nothing was decided: no PIN was given")
        }
        return try PIN(Secret(Array(TypedText.composed(text).utf8)))
    }

    /// Ends each enrollment at the issuer.
    func unenroll() async throws {
        for enrollment in try await agent.enrollments(at: setup.target.issuer) {
            _ = try await agent.unenroll(enrollment.id, locally: false, forced: false)
        }
        // The same for what has ended.
        try? await agent.update(enrolledType, at: setup.target.issuer)
    }
}
