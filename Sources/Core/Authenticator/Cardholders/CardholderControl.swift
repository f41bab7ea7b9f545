package import IssuerProtocol
package import Records

/// The control API's interface to the personas, which act as the cardholders of `test` enrollments.
///
/// `Personas` implements it. A production build has no implementation.
package protocol CardholderControl: Sendable {
    /// Throws `CommandError` `.invalidArgument` unless the persona can be set for enrollments of this type.
    func expectAllowed(_ order: PersonaOrder, for authnType: AuthnType) throws(CommandError)
    /// Returns the persona of a new enrollment in the form of ``EnrollmentParameters/persona``.
    ///
    /// - Throws: the errors of ``expectAllowed(_:for:)``.
    func document(of order: PersonaOrder, for authnType: AuthnType) throws(CommandError) -> String
    /// Sets the persona of an enrollment from now on; requests that already have a persona keep it.
    ///
    /// - Throws: `CommandError`, and the store's errors.
    func set(_ order: PersonaOrder, of enrollment: Enrollment) async throws -> PersonaFacts
    /// Removes the persona of an enrollment.
    ///
    /// - Returns: whether it had one.
    func clear(_ id: EnrollmentID) async throws -> Bool
    /// All personas that can be chosen.
    var known: [PersonaSummary] { get }
    /// Returns the personas that are set, in the order of their enrollments' ids, at most ``mostPersonas``.
    func personas() async throws -> [PersonaFacts]
    /// Explains which persona or rule answered a request, or would answer it now.
    func explanation(of request: RequestRecord) async throws -> Explanation
    /// Returns the outcomes by persona of the requests that came at or after `time`, in seconds since 1970.
    func fleet(since time: Int64) async throws -> FleetReport
    /// Reads the rules again.
    ///
    /// - Returns: the number of rules.
    /// - Throws: `CommandError` `.invalidArgument`, which names the file, the line, and the values that are allowed.
    ///   Then the old rules stay.
    func reloadRules() async throws -> Int
}

/// The limit for personas that are listed.
package let mostPersonas = 1_000

/// A client's order to set a persona.
package struct PersonaOrder: Sendable, Equatable {
    package var name: String
    /// Seconds from a request's arrival to the persona's answer.
    package var delay: Int?
    /// The number of requests that it answers.
    package var times: Int?
    /// The probability that it answers a request.
    package var odds: Double?
    /// The seed of the random draw for the odds.
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
    /// A sentence that says what it does.
    package let summary: String

    package init(name: String, group: String, summary: String) {
        self.name = name
        self.group = group
        self.summary = summary
    }
}

/// A persona that is set for an enrollment.
package struct PersonaFacts: Sendable, Equatable {
    package let enrollment: EnrollmentID
    package let order: PersonaOrder
    /// The number of requests that it could have answered; ``played`` counts the requests that it was to answer.
    package let seen: Int
    package let played: Int

    package init(enrollment: EnrollmentID, order: PersonaOrder, seen: Int, played: Int) {
        self.enrollment = enrollment
        self.order = order
        self.seen = seen
        self.played = played
    }
}

/// The persona that answers a request, and the reason.
package struct Explanation: Sendable, Equatable {
    package let request: RequestID
    /// Whether it was settled when the request came; if not, it is the answer that would be given now.
    package let isSettled: Bool
    /// `persona`, `tag`, `rule` or `nobody`.
    package let by: String
    /// The persona that answers, or `nil` if none does.
    package let persona: String?
    /// The name of the rule.
    package let rule: String?
    /// The reason, as a sentence.
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
