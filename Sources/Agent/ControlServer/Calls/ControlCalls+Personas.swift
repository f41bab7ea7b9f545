import Authenticator
import Control
import Journal
import Records

/// Calls about the personas, which play the cardholders of `test` enrollments.
extension ControlCalls {
    /// - Throws: `CommandError` if this build has no personas.
    func cardholderControl() throws(CommandError) -> any CardholderControl {
        guard let cardholders else {
            throw CommandError(
                .invalidArgument,
                "this agent was built without personas, as for production: for tests, build one with `make build`")
        }
        return cardholders
    }

    func personas() async throws -> Answer {
        let cardholders = try cardholderControl()
        return try .json(
            PersonasView(
                known: cardholders.known.map {
                    PersonaChoiceView(name: $0.name, group: $0.group, summary: $0.summary)
                }, set: try await cardholders.personas().map(PersonaView.init)))
    }

    func setPersona(_ name: String, _ command: PersonaCommand, by peer: ControlPeer) async throws -> Answer {
        let cardholders = try cardholderControl()
        let enrollment = try await agent.enrollment(named: name)
        try cardholders.expectAllowed(PersonaOrder(command), for: enrollment.authnType)
        return try await quota.counting(.setPersona, by: peer.uid, countsAlways: true) {
            try await agent.recordCommand(.setPersona, by: peer, about: enrollment.id)
            return try .json(PersonaView(try await cardholders.set(PersonaOrder(command), of: enrollment)))
        }
    }

    func clearPersona(_ name: String, by peer: ControlPeer) async throws -> Answer {
        let cardholders = try cardholderControl()
        let enrollment = try await agent.enrollment(named: name)
        return try await quota.counting(.clearPersona, by: peer.uid, countsAlways: true) {
            try await agent.recordCommand(.clearPersona, by: peer, about: enrollment.id)
            let wasSet = try await cardholders.clear(enrollment.id)
            return try .json(PersonaClearedView(enrollment: enrollment.id.text, wasSet: wasSet))
        }
    }

    func reloadRules(by peer: ControlPeer) async throws -> Answer {
        let cardholders = try cardholderControl()
        return try await quota.counting(.reloadRules, by: peer.uid, countsAlways: true) {
            try await agent.recordCommand(.reloadRules, by: peer)
            return try .json(RulesView(rules: try await cardholders.reloadRules()))
        }
    }

    func explanation(_ name: String, _ query: RequestQuery) async throws -> Answer {
        let cardholders = try cardholderControl()
        let record = try await agent.request(
            try selector(name), enrollment: try await id(of: query.enrollment), wait: 0)
        return try .json(ExplanationView(try await cardholders.explanation(of: record), of: record))
    }

    func explanations(_ query: RequestQuery) async throws -> Answer {
        let cardholders = try cardholderControl()
        let enrollment = try await id(of: query.enrollment)
        // Load one row more than the answer has, to see whether there is a next page.
        var records = try await agent.requests(
            pendingOnly: !query.all, enrollment: enrollment, page: query.page, limit: query.limit + 1)
        let next = query.takeNext(from: &records)
        var views: [ExplanationView] = []
        for record in records {
            views.append(ExplanationView(try await cardholders.explanation(of: record), of: record))
        }
        var answer = try Answer.json(views)
        answer.next = next.map { query.target(of: $0, in: .explanations, enrollment: enrollment) }
        return answer
    }
}

extension PersonaOrder {
    init(_ command: PersonaCommand) {
        self.init(
            name: command.persona, delay: command.delay, times: command.times, odds: command.odds, seed: command.seed)
    }
}

extension PersonaView {
    fileprivate init(_ facts: PersonaFacts) {
        self.init(
            enrollment: facts.enrollment.text, persona: facts.order.name, delay: facts.order.delay,
            times: facts.order.times, odds: facts.order.odds, seed: facts.order.seed, seen: facts.seen,
            played: facts.played)
    }
}

extension ExplanationView {
    fileprivate init(_ explanation: Explanation, of record: RequestRecord) {
        self.init(
            request: explanation.request.text, acsTransId: record.acsTransId, settled: explanation.isSettled,
            by: explanation.by, persona: explanation.persona, rule: explanation.rule, reason: explanation.reason)
    }
}
