import IssuerProtocol
import Synchronization

@testable import Authenticator
@testable import Journal
@testable import Records

// What each step is for the agent and for the model.

extension Rehearsal {
    /// One step on both, also one within another.
    func perform(_ step: Step) async throws {
        try await takingTurn { try await performAlone(step) }
        try await compare()
    }

    private func performAlone(_ step: Step) async throws {
        switch step {
        case .list(let card, let messages, let crash): try await list(messages, for: card, crash: crash)
        case .approve(let card, let jti, let meanwhile, let crash):
            try await approve(jti, of: card, meanwhile: meanwhile, crash: crash)
        case .deny(let card, let jti, let crash): try await deny(jti, of: card, crash: crash)
        case .deliver(let card, let queue, let fate, let meanwhile):
            try await deliver(card, queue: queue, fate: fate, meanwhile: meanwhile)
        case .pass(let seconds):
            clock.pass(seconds)
            model.pass(seconds)
        case .tick: try await tick()
        case .restart: try await restart()
        case .unenroll(let card): try await unenroll(card)
        }
    }

    func list(_ messages: [Message], for card: Int, crash: Crash?) async throws {
        listed[card, default: []] += messages
        let texts = try messages.map { try text($0, for: card) }
        gateway.list(texts, for: issuer.cards[card].token)
        store.arm(crash)
        let id = issuer.cards[card].id
        try await living { agent in
            let failures = try await agent.fetch(id)
            if let reason = failures.first?.reason { throw Finding("a fetch failed: \(reason)") }
        }
        store.arm(nil)
        try await apply(crash) { model in
            let isResumed = model.cards[card].isSuspended
            model.cards[card].isSuspended = false
            // That the token is known again is a write of its own, and the process died at it.
            if isResumed, crash != nil, crash != .signing { return }
            for message in messages { model.cards[card].take(message, at: model.now) }
        }
    }

    /// The same message is the same bytes each time that it comes.
    private func text(_ message: Message, for card: Int) throws -> String {
        if let text = texts[card]?[message] { return text }
        let text = try issuer.text(message, for: card)
        texts[card, default: [:]][message] = text
        return text
    }

    private func deny(_ jti: Int, of card: Int, crash: Crash?) async throws {
        let row = model.cards[card].decidable(jti, at: model.now)
        store.arm(crash)
        let isDone = try await decide(.deny(.userDenied), jti: jti, of: card)
        store.arm(nil)
        try expect("whether a deny of jti \(jti) is taken", isDone || store.hasDied, is: row != nil)
        try await apply(crash) { model in
            if let row { model.cards[card].decide(row, .deny(.userDenied)) }
        }
    }

    private func approve(_ jti: Int, of card: Int, meanwhile: [Step], crash: Crash?) async throws {
        let row = model.cards[card].decidable(jti, at: model.now)
        let end = model.now + CardModel.longestDecision
        let isAtWork = Mutex(false)
        custody.whileSigning { [self] in
            isAtWork.withLock { $0 = true }
            for step in meanwhile { try await perform(step) }
            if crash == .signing { throw Died() }
            await store.arm(crash)
        }
        let isDone = try await decide(.approve, jti: jti, of: card)
        custody.whileSigning(nil)
        store.arm(nil)
        try expect("whether the key is used for jti \(jti)", isAtWork.withLock { $0 }, is: row != nil)
        // Time may have passed while the key was at work.
        let stillDecidable = row.flatMap { row in
            model.now < end ? model.cards[card].decidable(model.cards[card].rows[row].jti, at: model.now) : nil
        }
        if crash == .signing, row != nil { return try await restart() }
        try expect("whether an approval of jti \(jti) is taken", isDone || store.hasDied, is: stillDecidable != nil)
        try await apply(crash) { model in
            if let stillDecidable { model.cards[card].decide(stillDecidable, .approve) }
        }
    }

    /// Whoever decides.
    private static let peer = ControlPeer(uid: 1_000, gid: 1_000, pid: 4_242, process: "oobctl")

    /// False if nothing was decided, or the process died.
    private func decide(_ decision: RequestLife.Decision, jti: Int, of card: Int) async throws -> Bool {
        let id = issuer.cards[card].id
        return try await living { agent in
            do {
                let request = try await agent.request(.named(SampleIssuer.name(jti)), enrollment: id, wait: 0)
                _ = try await agent.decide(
                    decision, on: request.id, expecting: Expectations(),
                    by: .command(Self.peer, shownTextDigest: nil))
                return true
            } catch is CommandError {
                return false
            }
        } ?? false
    }

    /// Nil if the process died.
    @discardableResult
    private func living<T: Sendable>(_ body: @Sendable (Agent) async throws -> T) async throws -> T? {
        do {
            return try await body(agent)
        } catch is Died {
            return nil
        }
    }

    /// What the step means for the model, unless the process died before it was durable; then a new process begins.
    private func apply(_ crash: Crash?, _ meaning: (inout Model) -> Void) async throws {
        let hasDied = store.hasDied
        if !hasDied || crash == .afterCommit { meaning(&model) }
        if hasDied { try await restart() }
    }

    private func unenroll(_ card: Int) async throws {
        let id = issuer.cards[card].id
        try await living { agent in _ = try await agent.unenroll(id, locally: true, forced: true) }
        model.cards[card].end()
    }

    /// The expiry service works until it sleeps; then what was held until now is read again.
    func tick() async throws {
        let before = clock.naps
        try await living { [clock, notifier] agent in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await agent.expiryService.run() }
                defer { group.cancelAll() }
                try await notifier.until { clock.naps > before }
            }
        }
        // What was held is held by the host that was listed it.
        for host in hosts {
            let reader = host.agent.deferredReader
            for issuer in reader.deferred.issuers { await reader.readDue(of: issuer) }
        }
        model.tick()
    }
}
