#if Personas
import Authenticator
import IssuerProtocol
import Records
import Signing
import StoreTables
import Synchronization
import TextAndTime
import ThreeDS

/// The choice of a script: a tag in the request, else the enrollment's persona, else the first rule that matches.
extension Cardholders {
    /// The member of a transaction that names a persona, if tags are on.
    static let tagMember = "oobPersona"

    /// Returns the script of a request, and chooses and stores it first if it has none.
    ///
    /// `nil` if the request needs no script.
    func settled(_ id: RequestID) async throws -> (script: Script, request: RequestRecord)? {
        let settings = settings.withLock(\.self)
        // Most agents have no personas. Then no row is written for a request.
        let isPlayed = try await agent.store.read { store in
            guard let request = try store.request(id), request.life.state == .pending, !request.isDamaged,
                let enrollment = try store.enrollment(request.enrollmentId), enrollment.isPlayable
            else { return false }
            if try store.script(of: id) != nil { return true }
            if try store.persona(of: enrollment.id) != nil { return true }
            return !settings.rules.isEmpty || settings.takesTags
        }
        guard isPlayed else { return nil }
        // Since the read the request may have been decided, or its enrollment may have ended or got another persona.
        return try await agent.store.write { store in
            guard let request = try store.request(id), request.life.state == .pending,
                let enrollment = try store.enrollment(request.enrollmentId), enrollment.isPlayable
            else { return nil }
            if let kept = try store.script(of: id).flatMap(Script.init(document:)) { return (kept, request) }
            let (script, setting) = try Self.choice(for: request, of: enrollment, settings, in: store)
            if var setting {
                setting.use(isPlayed: script.source == .persona)
                try store.setPersona(setting.document, of: enrollment.id)
            }
            try store.setScript(script.document, rule: script.rule, of: id)
            return (script, request)
        }
    }

    /// Chooses the script that would answer a request now.
    ///
    /// Returns also the enrollment's persona, if one is set.
    static func choice(
        for request: RequestRecord, of enrollment: Enrollment, _ settings: Settings, in store: StoreReading
    ) throws -> (Script, PersonaSetting?) {
        guard enrollment.isPlayable else {
            let type = enrollment.authnType.rawValue
            return (
                Script(.nobody, .ask, because: "only enrollments of authnType test are played; this is \(type)"), nil
            )
        }
        if settings.takesTags, let tag = tag(of: request) {
            guard let persona = Persona(rawValue: tag) else {
                let advice = NearestName.advice(for: tag, among: Persona.allCases.map(\.rawValue))
                let reason = "the transaction names a persona that there is not; \(advice)"
                return (Script(.nobody, .ask, because: reason), nil)
            }
            return (Script(.tag, persona, because: "the transaction names the persona \(tag)"), nil)
        }
        var reason = "no persona is set"
        let setting = try store.persona(of: enrollment.id).flatMap(PersonaSetting.init(document:))
        if let setting {
            guard let refusal = setting.nextRefusal else {
                let script = Script(
                    .persona, setting.persona, delay: setting.delay,
                    because: "the enrollment's persona is \(setting.persona.rawValue)")
                return (script, setting)
            }
            reason = refusal
        }
        for rule in settings.rules {
            if let mismatch = rule.mismatch(request, of: enrollment) {
                reason += "; \(rule.name): \(mismatch)"
            } else if let times = rule.times,
                try store.scriptCount(ofRule: rule.name, upTo: times) == times
            {
                reason += "; \(rule.name): has decided \(times) requests"
            } else {
                let script = Script(
                    .rule, rule.persona, rule: rule.name, because: "\(reason); \(rule.name): all its conditions hold")
                return (script.bounded, setting)
            }
        }
        return (
            Script(.nobody, .ask, because: settings.rules.isEmpty ? "\(reason), and there are no rules" : reason)
                .bounded, setting
        )
    }

    /// The name in `oobPersona` of the transaction, or in `[persona:NAME]` at the end of the merchant's name.
    private static func tag(of request: RequestRecord) -> String? {
        guard let transaction = request.presented?.transaction else { return nil }
        if let member = transaction.members.first(where: { $0.name == tagMember }) { return member.value }
        let parts = transaction.merchantName.split(separator: "[persona:", omittingEmptySubsequences: false)
        guard parts.count > 1, let name = parts.last, name.hasSuffix("]") else { return nil }
        return String(name.dropLast())
    }
}

extension Script {
    /// A copy with a reason that fits its row; with 256 rules the text would be too long to read.
    fileprivate var bounded: Script {
        guard reason.utf8.count > 2_048 else { return self }
        return Script(
            source, persona, delay: delay, rule: rule,
            because: String(decoding: reason.utf8.prefix(2_000), as: UTF8.self) + " …")
    }
}
#endif
