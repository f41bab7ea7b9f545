import Authenticator
import IssuerProtocol
import Records
import StoreTables

extension Rehearsal {
    /// Everything that can be seen of the agent is as the model has it.
    func compare() async throws {
        if let id = presented.twice { throw Finding("the request \(id) was presented twice") }
        for card in issuer.cards.indices { try await compare(card) }
    }

    private func compare(_ card: Int) async throws {
        let id = issuer.cards[card].id
        let agent = agent
        let (requests, outbox, enrollment) = try await store.read { store in
            (
                try store.requests(pendingOnly: false, enrollment: id, limit: 10_000),
                try store.outbox(enrollment: id), try store.enrollment(id)
            )
        }
        let model = model.cards[card]
        try expect("the requests of card \(card)", requests.map(seen), is: model.rows.map(seen))
        try compare(outbox, of: card)
        guard let enrollment else { throw Finding("the enrollment of card \(card) is gone") }
        var isSuspended = false
        if case .suspended = enrollment.state { isSuspended = true }
        try expect("whether card \(card) is suspended", isSuspended, is: model.isSuspended)
        guard enrollment.signCount >= record.lastSignCount(of: card) else {
            throw Finding("the signCount of card \(card) fell to \(enrollment.signCount)")
        }
        let pending = try await agent.requests(pendingOnly: true, enrollment: id, limit: 10_000)
        let now = clock.now
        try expect(
            "what is presented for card \(card)", pending.filter { ($0.exp ?? 0) > now }.map(\.jti.text),
            is: model.rows.filter { $0.isLive(at: self.model.now) }.map { SampleIssuer.name($0.jti) })
    }

    /// What waits in each queue is what was decided, in that order, and says what was decided on that very request.
    private func compare(_ outbox: [OutboxEntry], of card: Int) throws {
        let queues: [Queue] = [.approvals, .denials]
        let expected = queues.flatMap { queue in model.cards[card].outbox.filter { $0.queue == queue } }
        let waiting = outbox.filter { $0.signCount != nil } + outbox.filter { $0.signCount == nil }
        try expect(
            "the outbox of card \(card)", waiting.map(\.jti.text), is: expected.map { SampleIssuer.name($0.jti) })
        for (entry, planned) in zip(waiting, expected) {
            let call = Model.Call(card: card, jti: planned.jti)
            guard let body = entry.body else { throw Finding("what was decided on jti \(planned.jti) does not open") }
            guard try record.isNew(call, body) else { continue }
            switch planned.answer {
            case .deny(let reason):
                try expect("the answer to jti \(planned.jti)", body, is: DecisionBody.deny(reason))
            case .approve: try record.note(try signCount(in: body, call), of: call)
            }
        }
    }

    private func signCount(in body: [UInt8], _ call: Model.Call) throws -> UInt32 {
        guard let request = model.cards[call.card].request(call.jti) else {
            throw Finding("jti \(call.jti) is approved, and was never seen")
        }
        do {
            return try issuer.verify(body, answers: request, of: call.card)
        } catch {
            throw Finding("the approval of jti \(call.jti) does not hold: \(error)")
        }
    }

    private func seen(_ request: RequestRecord) -> Sight {
        let isOver = (request.exp ?? 0) <= clock.now
        return Sight(
            jti: request.jti.text, state: Self.state(request.life.state), isOver: isOver,
            delivery: Self.delivery(request.life.delivery), hasConflict: request.hasConflict)
    }

    private func seen(_ row: CardModel.Row) -> Sight {
        Sight(
            jti: SampleIssuer.name(row.jti), state: row.state, isOver: row.exp <= model.now, delivery: row.delivery,
            hasConflict: row.hasConflict)
    }

    private static func state(_ state: RequestState) -> CardModel.State {
        switch state {
        case .pending: .pending
        case .approved: .approved
        case .denied: .denied
        case .expired: .expired
        case .cancelled: .cancelled
        case .refused(_, let reason): .refused(reason)
        }
    }

    private static func delivery(_ delivery: DeliveryState) -> CardModel.Delivery {
        switch delivery {
        case .none: .none
        case .queued: .queued
        case .delivered: .delivered
        case .failed: .failed
        }
    }
}

/// What a person sees of a request.
private struct Sight: Equatable, CustomStringConvertible {
    let description: String

    /// An undecided one that is past its time has ended, whoever has noticed that, and however.
    init(jti: String, state: CardModel.State, isOver: Bool, delivery: CardModel.Delivery, hasConflict: Bool) {
        let isUndecided = [.pending, .expired, .cancelled].contains(state)
        let ending = isOver && isUndecided ? "over" : "\(state)"
        description = "\(jti) \(ending) \(delivery)\(hasConflict && state == .pending && !isOver ? " conflict" : "")"
    }
}
