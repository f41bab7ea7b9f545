/// The body of `POST /v1/enrollments/{id}/persona`, and the persona in an ``EnrollCommand``.
package struct PersonaCommand: Encodable, Sendable, Equatable {
    /// A name that `GET /v1/personas` lists.
    package var persona: String
    /// The seconds from the arrival of a request to the answer.
    package var delay: Int?
    /// The number of requests to answer.
    ///
    /// All if absent.
    package var times: Int?
    /// The probability of an answer to a request, above 0 and at most 1.
    ///
    /// Always if absent.
    package var odds: Double?
    /// The seed of the random draws.
    ///
    /// The same seed gives the same draws.
    package var seed: Int?

    package init(persona: String, delay: Int? = nil, times: Int? = nil, odds: Double? = nil, seed: Int? = nil) {
        self.persona = persona
        self.delay = delay
        self.times = times
        self.odds = odds
        self.seed = seed
    }
}

/// A persona that is set for an enrollment.
///
/// A member without a value is left out.
package struct PersonaView: Codable, Sendable, Equatable {
    package var enrollment: String
    package var persona: String
    package var delay: Int?
    package var times: Int?
    package var odds: Double?
    package var seed: Int?
    /// The number of requests that it could have answered, and the number that it was to answer.
    package var seen: Int
    package var played: Int

    package init(
        enrollment: String, persona: String, delay: Int?, times: Int?, odds: Double?, seed: Int?, seen: Int,
        played: Int
    ) {
        self.enrollment = enrollment
        self.persona = persona
        self.delay = delay
        self.times = times
        self.odds = odds
        self.seed = seed
        self.seen = seen
        self.played = played
    }
}

/// A persona that can be set.
package struct PersonaChoiceView: Codable, Sendable, Equatable {
    package var name: String
    /// `honest`, `wrong` or `timing`.
    package var group: String
    /// The behavior of the persona, as a sentence.
    package var summary: String

    package init(name: String, group: String, summary: String) {
        self.name = name
        self.group = group
        self.summary = summary
    }
}

/// The answer of `GET /v1/personas`.
package struct PersonasView: Codable, Sendable, Equatable {
    package var known: [PersonaChoiceView]
    /// At most 1,000.
    package var set: [PersonaView]

    package init(known: [PersonaChoiceView], set: [PersonaView]) {
        self.known = known
        self.set = set
    }
}

/// The answer of `DELETE /v1/enrollments/{id}/persona`.
package struct PersonaClearedView: Codable, Sendable, Equatable {
    package var enrollment: String
    /// Whether a persona was set.
    package var wasSet: Bool

    package init(enrollment: String, wasSet: Bool) {
        self.enrollment = enrollment
        self.wasSet = wasSet
    }
}

/// The explanation of which persona answers a request, if any, and why.
///
/// A member without a value is left out.
package struct ExplanationView: Codable, Sendable, Equatable {
    package var request: String
    package var acsTransId: String?
    /// Whether it was settled when the request arrived.
    ///
    /// If not, this is the result as of now.
    package var settled: Bool
    /// `persona`, `tag`, `rule` or `nobody`.
    package var by: String
    package var persona: String?
    /// The name of the rule.
    package var rule: String?
    /// The reason as one sentence.
    package var reason: String

    package init(
        request: String, acsTransId: String?, settled: Bool, by: String, persona: String?, rule: String?, reason: String
    ) {
        self.request = request
        self.acsTransId = acsTransId
        self.settled = settled
        self.by = by
        self.persona = persona
        self.rule = rule
        self.reason = reason
    }
}

/// The answer of `POST /v1/rules/reload`.
package struct RulesView: Codable, Sendable, Equatable {
    /// The number of rules.
    package var rules: Int

    package init(rules: Int) { self.rules = rules }
}
