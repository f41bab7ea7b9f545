/// What an authenticator verifies its user with.
public enum AuthnType: String, Sendable, CaseIterable {
    /// Fingerprint or face; a Linux machine has neither, so enrolling one is answered with `D1Error.Code.cancelled`.
    case biometric
    /// The platform's own means: here a PIN, which every approval takes.
    case platform
}
