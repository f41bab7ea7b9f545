#if Personas
package import Authenticator
package import IssuerProtocol
package import Records
import Signing
import StoreTables
import Synchronization

extension Cardholders: CardholderControl {
    package func expectAllowed(_ order: PersonaOrder, for authnType: AuthnType) throws(CommandError) {
        _ = try document(of: order, for: authnType)
    }

    package func document(of order: PersonaOrder, for authnType: AuthnType) throws(CommandError) -> String {
        let setting = try PersonaSetting(order)
        guard authnType == .test else {
            throw CommandError(
                .invalidArgument, "persona: goes with authnType test only; this enrollment is of authnType \(authnType)"
            )
        }
        return setting.document
    }

    package func set(_ order: PersonaOrder, of enrollment: Enrollment) async throws -> PersonaFacts {
        let setting = try PersonaSetting(order)
        try await agent.store.write { store in
            guard let current = try store.enrollment(enrollment.id), !current.isOver else {
                throw CommandError(.notEnrolled, "the enrollment \(enrollment.id) has ended")
            }
            guard current.isPlayable else { throw CommandError(playing: current) }
            try store.setPersona(setting.document, of: current.id)
        }
        return setting.facts(of: enrollment.id)
    }

    package func clear(_ id: EnrollmentID) async throws -> Bool {
        try await agent.store.write { store in
            guard try store.persona(of: id) != nil else { return false }
            try store.setPersona(nil, of: id)
            return true
        }
    }

    package var known: [PersonaSummary] {
        Persona.allCases.map {
            PersonaSummary(name: $0.rawValue, group: $0.group.rawValue, summary: $0.summary)
        }
    }

    package func personas() async throws -> [PersonaFacts] {
        try await agent.store.read { store in
            try store.personas(after: nil, limit: mostPersonas).compactMap { row in
                PersonaSetting(document: row.document)?.facts(of: row.enrollment)
            }
        }
    }

    package func explanation(of request: RequestRecord) async throws -> Explanation {
        let settings = settings.withLock(\.self)
        return try await agent.store.read { store in
            if let settled = try store.script(of: request.id).flatMap(Script.init(document:)) {
                return settled.explanation(of: request, isSettled: true)
            }
            guard let enrollment = try store.enrollment(request.enrollmentId) else {
                throw CommandError(.notFound, "the enrollment of the request \(request.id) is gone")
            }
            return try Self.choice(for: request, of: enrollment, settings, in: store).0
                .explanation(of: request, isSettled: false)
        }
    }

    package func reloadRules() throws(CommandError) -> Int {
        let new = try readSettings().get()
        use(new)
        return new.rules.count
    }
}

extension PersonaSetting {
    fileprivate func facts(of enrollment: EnrollmentID) -> PersonaFacts {
        PersonaFacts(enrollment: enrollment, order: order, seen: seen, played: played)
    }
}
#endif
