package import IssuerProtocol
package import TextAndTime
package import ThreeDS

/// What an operator may set about the core.
package struct AgentSettings: Sendable {
    /// What happens to an exponent that is not ISO 4217's.
    package var exponentPolicy: ExponentPolicy
    package var bounds: AgentBounds
    /// The seconds for which closed requests and ended enrollments are kept.
    ///
    /// Less than ``leastRetention`` counts as that.
    package var retention: Int64
    /// For how many seconds the journal's entries are kept.
    package var auditRetention: Int64
    /// From how many of the journal's newest entries events are replayed.
    package var eventsKept: Int
    /// Whether `test` authenticators are allowed at an issuer that is not on loopback.
    package var allowTestAuthenticators: Bool
    /// The issuers that a new enrollment may name.
    package var allowedIssuers: AllowedIssuers
    /// The zone in which times are shown.
    package var localTime: LocalTime
    /// The version that the agent tells issuers.
    package var version: String
    /// Whether this build has personas, which sign what nobody approved: such a build is for tests.
    package var hasPersonas: Bool
    /// Nil: the agent is not pushed to.
    package var push: PushSettings?
    /// The polls that issuers may hold at a time; there must be more connections, for those that are not held.
    package var longPolls = Int.max
    /// Reads the names that no relying party may have; `nil` if they are not known.
    ///
    /// It is asked for each enrollment.
    package var publicSuffixes: @Sendable () -> PublicSuffixList? = { nil }

    /// The seconds between two looks for work that waits, which nobody may have told of.
    package static let lookPause: Double = 5
    /// The shortest retention: as long as a message can come again.
    ///
    /// A message lives for 24 hours at most. One day more is for clocks that differ.
    package static let leastRetention: Int64 = 2 * 86_400
    /// 13 months are 397 days at most.
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
