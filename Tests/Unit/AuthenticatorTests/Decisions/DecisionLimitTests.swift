import IssuerProtocol
import Testing

@testable import Authenticator
@testable import Records

/// Nothing is decided after a decision's deadline, nor once whoever asked for it is gone.
@Suite(.timeLimit(.minutes(20)))
struct DecisionLimitTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func pending(_ card: SampleEnrollment) async throws -> RequestID {
        try await sample.receive(SampleRequest(), for: card)
        return try await sample.onlyRequest().id
    }

    private func wanted(_ seconds: Double = 30, before: Int64? = nil) -> DecisionLimit {
        sample.agent.wanted(for: seconds, before: before)
    }

    private func expectUndecided(_ id: RequestID, of card: SampleEnrollment) async throws {
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty)
        #expect(try await sample.enrollment(card.id).signCount == 0)
    }

    @Test
    func `a client that leaves while its key is at work has decided nothing, and its key is waited for no longer`()
        async throws
    {
        let card = try await sample.enrolled()
        let (id, wanted, isAtWork) = (try await pending(card), wanted(), Channel<Void>())
        sample.custody.beforeSigning {
            isAtWork.send(())
            _ = try await Channel<Void>().next()
        }
        async let code = failureCode { try await sample.decide(.approve, id, while: wanted) }
        try await isAtWork.next()
        wanted.withdraw()
        #expect(try await code == .notInTime)
        sample.custody.beforeSigning(nil)
        try await expectUndecided(id, of: card)
        try await sample.approve(id)
    }

    @Test func `a client that left before the key is opened opens none`() async throws {
        let card = try await sample.enrolled()
        let (id, opened) = (try await pending(card), Box(0))
        sample.custody.beforeOpening { _ = opened.next() }
        let wanted = wanted()
        wanted.withdraw()
        #expect(try await failureCode { try await sample.decide(.approve, id, while: wanted) } == .notInTime)
        #expect(opened.value == 0)
        try await expectUndecided(id, of: card)
    }

    @Test(arguments: [RequestLife.Decision.approve, .deny(.userDenied)])
    func `once the deadline has passed the database transaction decides nothing`(decision: RequestLife.Decision)
        async throws
    {
        let card = try await sample.enrolled()
        let id = try await pending(card)
        let wanted = wanted(before: sample.now + 20)
        // Each write begins later than the last look before it.
        sample.store.beforeWriting { [sample] in sample.clock.advance(by: 20) }
        let failure = try await #require(throws: CommandError.self) {
            try await sample.decide(decision, id, while: wanted)
        }
        sample.store.beforeWriting(nil)
        #expect(failure.code == .notInTime && failure.message.hasPrefix("nothing was decided"))
        try await expectUndecided(id, of: card)
    }

    @Test func `a key that is slower than the deadline signs, and what it signed does not leave`() async throws {
        let card = try await sample.enrolled()
        let id = try await pending(card)
        sample.custody.beforeSigning { [sample] in sample.clock.advance(by: 30) }
        #expect(try await failureCode { try await sample.approve(id) } == .notInTime)
        sample.custody.beforeSigning(nil)
        try await expectUndecided(id, of: card)
        try await sample.approve(id)
    }

    @Test func `a wall clock that is set back prolongs no deadline`() async throws {
        let clock = SetClock()
        let wanted = DecisionLimit(for: 30, before: 1_030, on: clock)
        #expect(wanted.overBecause == nil)
        clock.set(now: 500, steady: 29)
        #expect(wanted.overBecause == nil)
        clock.set(now: 500, steady: 30)
        #expect(wanted.overBecause != nil)
        clock.set(now: 1_030, steady: 1)
        #expect(wanted.overBecause != nil)
        clock.set(now: 1_000, steady: 0)
        #expect(DecisionLimit(for: 30, before: 999, on: clock).overBecause != nil, "the call came too late")
        #expect(DecisionLimit(for: 30, before: .max, on: clock).overBecause == nil)
        clock.set(now: 1_000, steady: 30)
        #expect(DecisionLimit(for: 30, before: .min, on: clock).overBecause != nil)
    }

    @Test func `a time on the wall clock that is farther away prolongs no deadline`() async throws {
        let clock = SetClock()
        let wanted = DecisionLimit(for: 30, before: 1_600, on: clock)
        clock.set(now: 1_029, steady: 29)
        #expect(wanted.overBecause == nil)
        clock.set(now: 1_030, steady: 30)
        #expect(wanted.overBecause != nil)
    }

    @Test func `whoever waits behind another's slow key is told in time, and the slow one goes on`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        let (isAtWork, mayGoOn) = (Channel<Void>(), Channel<Void>())
        sample.custody.beforeSigning {
            isAtWork.send(())
            try await mayGoOn.next()
        }
        async let first = sample.decide(.approve, ids[0], while: wanted(600))
        try await isAtWork.next()
        async let second = failureCode { try await sample.decide(.approve, ids[1], while: wanted(5)) }
        while sample.agent.decider.queues.waiterCount(for: card.id) < 1, !Task.isCancelled { await Task.yield() }
        try await sample.clock.sleepers(2)
        sample.clock.advance(by: 5)
        #expect(try await second == .notInTime)
        mayGoOn.send(())
        #expect(try await first.life.state == .approved)
        #expect(try await sample.request(ids[1]).life == .pending)
    }

    @Test func `a discovery that hangs after a restart is waited for 5 s, though another has asked for it`()
        async throws
    {
        let card = try await sample.enrolled()
        let id = try await pending(card)
        let later = try sample.restarted()
        let asked = Channel<Void>()
        await sample.issuer.onDiscovery { () throws(IssuerError) in
            asked.send(())
            throw await .waitingWasCancelled
        }
        try await later.running([later.agent.fetcher.run]) {
            try await asked.next()
            async let approved = later.approve(id)
            while later.agent.fetcher.directory.discoveryWaiterCount(try SampleAgent.target) < 1, !Task.isCancelled {
                await Task.yield()
            }
            try await later.clock.sleepers(2)
            later.clock.advance(by: 5)
            #expect(try await approved.life.state == .approved)
        }
    }

    @Test func `if that is longer than the deadline, nothing is decided`() async throws {
        let card = try await sample.enrolled()
        let id = try await pending(card)
        let (later, asked) = (try sample.restarted(), Channel<Void>())
        await sample.issuer.onDiscovery { () throws(IssuerError) in
            asked.send(())
            throw await .waitingWasCancelled
        }
        async let code = failureCode { try await later.decide(.approve, id, while: wanted(3)) }
        try await asked.next()
        try await sample.clock.sleepers(2)
        sample.clock.advance(by: 3)
        #expect(try await code == .notInTime)
        try await expectUndecided(id, of: card)
    }

    @Test func `a right PIN costs no try if the client leaves while the key signs`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        let (wanted, isAtWork) = (wanted(), Channel<Void>())
        sample.custody.beforeSigning {
            isAtWork.send(())
            _ = try await Channel<Void>().next()
        }
        async let code = failureCode { try await sample.decide(.approve, request, pin: .right, while: wanted) }
        try await isAtWork.next()
        wanted.withdraw()
        #expect(try await code == .notInTime)
        #expect(try await sample.tries(of: card) == .fresh)
        try await expectUndecided(request, of: card)
    }

    @Test func `a PIN whose try was cut off stays counted: nobody knows what came of it`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        let (wanted, isAtWork) = (wanted(), Channel<Void>())
        sample.custody.beforeOpening {
            isAtWork.send(())
            _ = try await Channel<Void>().next()
        }
        async let code = failureCode { try await sample.decide(.approve, request, pin: .wrong, while: wanted) }
        try await isAtWork.next()
        wanted.withdraw()
        #expect(try await code == .notInTime)
        #expect(try await sample.tries(of: card).failures == 1)
        try await expectUndecided(request, of: card)
    }
}

/// A clock whose two hands are set.
private final class SetClock: AgentClock {
    private let hands = Box((now: Int64(1_000), steady: 0.0))

    var now: Int64 { hands.value.now }
    var steady: Double { hands.value.steady }

    func set(now: Int64, steady: Double) { hands.set((now, steady)) }

    func sleep(seconds: Double) async throws { _ = try await Channel<Void>().next() }
}
