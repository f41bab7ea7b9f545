package import IssuerProtocol
package import Records

/// Who plays the cardholders of `test` enrollments, as the control API asks for it.
///
/// Personas implement it; a build for production has none.
package protocol CardholderControl: Sendable {
    /// Throws `CommandError` `.invalidArgument` unless the persona can be set for enrollments of this type.
    func check(_ order: PersonaOrder, for authnType: AuthnType) throws(CommandError)
    /// What ``EnrollmentParameters`` take of a persona that an enrollment is to have from its beginning.
    ///
    /// - Throws: as ``check(_:for:)`` does.
    func document(of order: PersonaOrder, for authnType: AuthnType) throws(CommandError) -> String
    /// Sets who plays an enrollment's cardholder from now on; requests that something plays already keep that.
    ///
    /// - Throws: `CommandError`; what the store throws.
    func set(_ order: PersonaOrder, of enrollment: Enrollment) async throws -> PersonaFacts
    /// Nobody plays it any more.
    ///
    /// - Returns: whether somebody did.
    func clear(_ id: EnrollmentID) async throws -> Bool
    /// All that there are to choose from.
    var known: [PersonaSummary] { get }
    /// Those that are set, by their enrollments' ids: at most ``mostPersonas``.
    func personas() async throws -> [PersonaFacts]
    /// What answered a request, or what would answer it now.
    func explanation(of request: RequestRecord) async throws -> Explanation
    /// What became of the requests that came at or after a time, seconds since 1970, by persona.
    func fleet(since time: Int64) async throws -> FleetReport
    /// Reads the rules again.
    ///
    /// - Returns: how many there are.
    /// - Throws: `CommandError` `.invalidArgument` that says file, line and what is allowed; then the old ones stay.
    func reloadRules() async throws -> Int
}

/// The most personas that are listed.
package let mostPersonas = 1_000

/// Which persona is to be set, as a client named it.
package struct PersonaOrder: Sendable, Equatable {
    package var name: String
    /// The seconds after which it answers a request; counted from when that came.
    package var delay: Int?
    /// How many requests it answers.
    package var times: Int?
    /// How likely it answers one.
    package var odds: Double?
    /// What the odds are drawn with.
    package var seed: Int?

    package init(name: String, delay: Int? = nil, times: Int? = nil, odds: Double? = nil, seed: Int? = nil) {
        self.name = name
        self.delay = delay
        self.times = times
        self.odds = odds
        self.seed = seed
    }
}

/// A persona that can be chosen.
package struct PersonaSummary: Sendable, Equatable {
    package let name: String
    /// `honest`, `wrong` or `timing`.
    package let group: String
    /// What it does, as a sentence.
    package let summary: String

    package init(name: String, group: String, summary: String) {
        self.name = name
        self.group = group
        self.summary = summary
    }
}

/// A persona that is set.
package struct PersonaFacts: Sendable, Equatable {
    package let enrollment: EnrollmentID
    package let order: PersonaOrder
    /// How many requests it could have answered, and how many it was to answer.
    package let seen: Int
    package let played: Int

    package init(enrollment: EnrollmentID, order: PersonaOrder, seen: Int, played: Int) {
        self.enrollment = enrollment
        self.order = order
        self.seen = seen
        self.played = played
    }
}

/// What answers a request, and why.
package struct Explanation: Sendable, Equatable {
    package let request: RequestID
    /// Whether it was settled when the request came; else it is what would answer it now.
    package let isSettled: Bool
    /// `persona`, `tag`, `rule` or `nobody`.
    package let by: String
    /// The persona that answers; nil for nobody.
    package let persona: String?
    /// The name of the rule.
    package let rule: String?
    /// One sentence.
    package let reason: String

    package init(request: RequestID, isSettled: Bool, by: String, persona: String?, rule: String?, reason: String) {
        self.request = request
        self.isSettled = isSettled
        self.by = by
        self.persona = persona
        self.rule = rule
        self.reason = reason
    }
}
