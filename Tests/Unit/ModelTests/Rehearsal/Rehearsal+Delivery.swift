import IssuerProtocol
import Journal
import Records
import StoreTables

@testable import Authenticator

extension Rehearsal {
    /// Runs the outbox delivery until it offers all that it may, has one decision answered, and stops it.
    func deliver(_ card: Int, queue: Queue, fate: Fate, meanwhile: [Step]) async throws {
        model.giveUpExpired()
        try await withOutboxDelivery {
            guard let head = model.cards[card].head(queue) else { return }
            for step in meanwhile { try await perform(step) }
            try await untilOffered()
            try await answer(card, head, with: fate)
        }
    }

    /// Every decision that waits is taken, by outbox deliveries that run until nothing is left.
    func deliverAll() async throws {
        model.giveUpExpired()
        try await withOutboxDelivery {
            while let call = model.heads.min(by: { ($0.card, $0.jti) < ($1.card, $1.jti) }) {
                guard let entry = model.cards[call.card].outbox.first(where: { $0.jti == call.jti }) else { return }
                try await answer(call.card, entry, with: .taken)
            }
        }
    }

    private func withOutboxDelivery(_ body: () async throws -> Void) async throws {
        let (agent, notifier) = (agent, notifier)
        isDelivering = true
        defer { isDelivering = false }
        // A settled decision is told by an event; the calls and naps ring by themselves.
        let settled = agent.hub.notifier { _ in
            notifier.ring()
            return false
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await agent.outboxDelivery.run() }
            defer { group.cancelAll() }
            try await untilOffered()
            try await body()
        }
        withExtendedLifetime(settled) {}
    }

    /// Waits until the first of each queue is under way, and nothing else; checks the bytes of what is.
    private func untilOffered() async throws {
        try await notifier.until {
            let calls = gateway.underWay
            for call in calls { try check(call) }
            let waiting = try await waiting()
            return Set(calls.compactMap(place)) == model.heads && waiting == model.calls
        }
    }

    /// All that the outboxes hold.
    private func waiting() async throws -> Set<Model.Call> {
        let ids = issuer.cards.map(\.id)
        let jtis = try await store.read { store in
            try ids.map { id in try store.outbox(enrollment: id).map(\.jti.text) }
        }
        return Set(
            jtis.enumerated().flatMap { card, jtis in
                jtis.compactMap(SampleIssuer.number).map { Model.Call(card: card, jti: $0) }
            })
    }

    private func place(_ call: ScriptedGateway.Call) -> Model.Call? {
        guard let card = issuer.cards.firstIndex(where: { $0.token == call.token }),
            let jti = SampleIssuer.number(call.jti)
        else { return nil }
        return Model.Call(card: card, jti: jti)
    }

    /// What goes out was decided, may go out now, and is the same bytes as ever.
    private func check(_ call: ScriptedGateway.Call) throws {
        guard let place = place(call), model.heads.contains(place) else {
            throw Finding("jti \(call.jti) of \(call.token) is sent, which must not be")
        }
        try record.check(call.body, of: place)
    }

    private func answer(_ card: Int, _ entry: CardModel.Entry, with fate: Fate) async throws {
        switch fate {
        case .taken:
            try process(card, entry)
            let status = entry.answer == .approve ? TransStatus.authenticated : .notAuthenticated
            try await end(card, entry, with: .success(status), as: .delivered)
        case .code(let code):
            if code == .invalidToken { model.cards[card].isSuspended = true }
            try await end(card, entry, with: .failure(.problem(Problem(code))), as: .failed)
        case .again(let hadEffect):
            if hadEffect { try process(card, entry) }
            try await fail(card, entry)
        case .cut(let hadEffect):
            if hadEffect { try process(card, entry) }
        }
    }

    /// An answer that ends the repeating; what comes next in that queue may be past its time.
    private func end(
        _ card: Int, _ entry: CardModel.Entry, with answer: Result<TransStatus, IssuerError>,
        as end: CardModel.Delivery
    ) async throws {
        gateway.answer(issuer.cards[card].token, jti: SampleIssuer.name(entry.jti), with: answer)
        model.cards[card].settle(entry.jti, as: end)
        model.giveUpExpired()
        try await untilOffered()
    }

    /// No answer that counts: the delivery rests, and the decision waits as before.
    private func fail(_ card: Int, _ entry: CardModel.Entry) async throws {
        let naps = clock.naps
        gateway.answer(issuer.cards[card].token, jti: SampleIssuer.name(entry.jti), with: .failure(.down))
        try await notifier.until {
            guard try await waiting() == model.calls else {
                throw Finding("jti \(entry.jti) is no longer sent, though no answer counted")
            }
            return clock.naps > naps
        }
    }

    /// The issuer takes a decision as any WebAuthn server does: a counter that does not rise is refused.
    private func process(_ card: Int, _ entry: CardModel.Entry) throws {
        let place = Model.Call(card: card, jti: entry.jti)
        guard let signCount = record.signCount(of: place), record.isFirstEffect(of: place) else { return }
        let token = issuer.cards[card].token
        guard signCount > gateway.accepted(for: token) else {
            throw Finding("jti \(entry.jti) has signCount \(signCount), not above what the issuer accepted")
        }
        gateway.accept(signCount, for: token)
    }
}

extension Model {
    /// All that waits to be delivered.
    var calls: Set<Call> {
        Set(cards.enumerated().flatMap { card, model in model.outbox.map { Call(card: card, jti: $0.jti) } })
    }
}
