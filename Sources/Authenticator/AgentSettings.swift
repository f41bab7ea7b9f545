package import ThreeDS

/// What an operator may set about the core.
package struct AgentSettings: Sendable {
    /// What happens to an exponent that is not ISO 4217's.
    package var exponentPolicy: ExponentPolicy
    /// The most undecided requests of one enrollment.
    package var maxUndecided: Int
    /// The most requests of one enrollment within 24 hours that are kept though they are never presented: refused, and
    /// answered so, or too late.
    package var maxRefused: Int
    /// Whether `test` authenticators are allowed at an issuer that is not on loopback.
    package var allowTestAuthenticators: Bool
    /// The zone in which times are shown.
    package var localTime: LocalTime
    /// The version that the agent tells issuers.
    package var version: String

    package init(
        exponentPolicy: ExponentPolicy = .refuse, maxUndecided: Int = 1_000, maxRefused: Int = 10_000,
        allowTestAuthenticators: Bool = false,
        localTime: LocalTime = .utc, version: String
    ) {
        self.exponentPolicy = exponentPolicy
        self.maxUndecided = maxUndecided
        self.maxRefused = maxRefused
        self.allowTestAuthenticators = allowTestAuthenticators
        self.localTime = localTime
        self.version = version
    }
}
