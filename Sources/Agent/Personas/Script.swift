#if Personas
import Authenticator
import Journal
import Records
import StrictJSON

/// The choice of who answers a request; it is made once, when the request comes.
struct Script: Sendable, Equatable {
    enum Source: String, Sendable, CaseIterable { case persona, tag, rule, nobody }

    let source: Source
    /// `ask` if no persona answers.
    let persona: Persona
    let delay: Int
    /// The name of the rule.
    let rule: String?
    let reason: String
    /// Whether this script has ended the agent's process already.
    var hasCrashed = false

    init(_ source: Source, _ persona: Persona, delay: Int = 0, rule: String? = nil, because reason: String) {
        self.source = source
        self.persona = persona
        self.delay = delay
        self.rule = rule
        self.reason = reason
    }

    func explanation(of request: RequestRecord, isSettled: Bool) -> Explanation {
        Explanation(
            request: request.id, isSettled: isSettled, by: source.rawValue,
            persona: source == .nobody ? nil : persona.rawValue, rule: rule, reason: reason)
    }

    var approver: Approver { .script(persona: persona.rawValue, rule: rule) }

    // MARK: As it is kept

    var document: String {
        var object: JSONObject = [
            "source": .string(source.rawValue), "persona": .string(persona.rawValue), "delay": .integer(Int64(delay)),
            "reason": .string(reason), "hasCrashed": .bool(hasCrashed),
        ]
        object["rule"] = rule.map { .string($0) }
        return String(decoding: object.serialized(), as: UTF8.self)
    }

    /// Returns `nil` for a document that this version cannot have written.
    init?(document: String) {
        guard let object = try? JSONReader.object(Array(document.utf8), limits: PersonaSetting.limits),
            let source = (try? object.string("source")).flatMap(Source.init(rawValue:)),
            let persona = (try? object.string("persona")).flatMap(Persona.init(rawValue:)),
            let delay = try? object.integer("delay", in: 0...86_400), let reason = try? object.string("reason"),
            let hasCrashed = try? object.bool("hasCrashed")
        else { return nil }
        self.init(source, persona, delay: Int(delay), rule: try? object.optionalString("rule"), because: reason)
        self.hasCrashed = hasCrashed
    }
}
#endif
