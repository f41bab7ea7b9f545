package import IssuerProtocol
package import TextAndTime
package import ThreeDS

/// The core's settings.
package struct AgentSettings: Sendable {
    /// The policy for an exponent that differs from ISO 4217.
    package var exponentPolicy: ExponentPolicy
    package var bounds: AgentBounds
    /// The seconds for which closed requests and ended enrollments are kept.
    ///
    /// Less than ``leastRetention`` counts as ``leastRetention``.
    package var retention: Int64
    /// The seconds for which the journal's entries are kept.
    package var auditRetention: Int64
    /// The number of the journal's newest entries from which events are replayed.
    package var eventsKept: Int
    /// Whether `test` authenticators are allowed at an issuer that is not on loopback.
    package var allowTestAuthenticators: Bool
    /// The issuers that a new enrollment may name.
    package var allowedIssuers: AllowedIssuers
    /// The zone in which times are shown.
    package var localTime: LocalTime
    /// The version that the agent tells issuers.
    package var version: String
    /// Whether this build has personas, which sign without an approval.
    ///
    /// Such a build is for tests.
    package var hasPersonas: Bool
    /// The settings of push.
    ///
    /// `nil` if the agent receives no pushes.
    package var push: PushSettings?
    /// The most long polls at a time.
    ///
    /// The bound on connections must be higher, for all other calls.
    package var longPolls = Int.max
    /// Loads the public suffix list, whose names no relying party may have.
    ///
    /// `nil` if there is none. It is called for each enrollment.
    package var publicSuffixes: @Sendable () -> PublicSuffixList? = { nil }

    /// The seconds between two periodic looks for waiting work, which an event may not have announced.
    package static let lookPause: Double = 5
    /// The shortest retention, in seconds: the time in which a message can come again.
    ///
    /// A message lives for 24 hours at most. One day more is for clocks that differ.
    package static let leastRetention: Int64 = 2 * 86_400
    /// The default retention, in seconds: more than 13 months, which are 397 days at most.
    package static let usualRetention: Int64 = 400 * 86_400

    package init(
        exponentPolicy: ExponentPolicy = .refuse, bounds: AgentBounds = .standard,
        retention: Int64 = Self.usualRetention, auditRetention: Int64 = 400 * 86_400, eventsKept: Int = 100_000,
        allowTestAuthenticators: Bool = false, allowedIssuers: AllowedIssuers = AllowedIssuers(),
        localTime: LocalTime = .utc, version: String, hasPersonas: Bool = false,
        push: PushSettings? = nil
    ) {
        self.exponentPolicy = exponentPolicy
        self.bounds = bounds
        self.retention = retention
        self.auditRetention = auditRetention
        self.eventsKept = eventsKept
        self.allowTestAuthenticators = allowTestAuthenticators
        self.allowedIssuers = allowedIssuers
        self.localTime = localTime
        self.version = version
        self.hasPersonas = hasPersonas
        self.push = push
    }
}
