import IssuerProtocol
import StoreTables
import TestStores
import Testing

@testable import Authenticator
@testable import Records

/// Nothing is deleted because a clock says so alone: age counts by the time that is proven to have passed.
@Suite(.timeLimit(.minutes(20)))
struct ProvenTimeTests {
    private static let day: Double = 86_400
    private static let settings = AgentSettings(retention: 60 * 86_400, auditRetention: 60 * 86_400, version: "1.2.3")
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent(Self.settings) }

    /// An agent that has decided a request, and was told so by its issuer.
    private func decided() async throws -> SampleEnrollment {
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        try await decide(for: card)
        try await sample.agent.provenTimeKeeper.look()
        return card
    }

    private func decide(for card: SampleEnrollment) async throws {
        try await sample.receive(.numbered(1), for: card)
        await sample.agent.signCountWatch.ensureChecked(card.id)
        try await sample.approve(try await sample.onlyRequest().id)
        try await sample.deliverAll()
    }

    /// Lets everything that deletes work once.
    private func deleteWhatIsOver(_ agent: SampleAgent) async throws {
        while try await agent.agent.journalPruner.step() {}
        try await agent.agent.expiryService.work()
        try await agent.running([agent.agent.dataRetention.run]) { try await agent.clock.sleepers() }
    }

    private func restarted() async throws -> SampleAgent {
        let agent = try sample.restarted()
        try await agent.agent.prepare()
        return agent
    }

    private func isClockAhead(_ agent: SampleAgent) async throws -> Bool {
        let (figures, reasons) = (await agent.agent.figures(), try await agent.agent.troubles())
        let isFound = await agent.agent.checkup.findings().contains { $0.weakness == .clockAhead }
        let isAhead = figures.notReady[.clockAhead] == 1
        #expect(isFound == isAhead && reasons.contains { $0.hasPrefix("clockAhead: ") } == isAhead)
        if isAhead { #expect(!figures.isReady) }
        return isAhead
    }

    /// A message that the issuer signs now, as its own clock says.
    private func speak(
        _ number: Int, to agent: SampleAgent, for card: SampleEnrollment, at seconds: Double
    ) async throws {
        var request = SampleRequest.numbered(number)
        (request.iat, request.exp) = (Int64(seconds), Int64(seconds) + 600)
        try await agent.receive(request, for: card)
        try await agent.agent.provenTimeKeeper.look()
    }

    /// The request that was decided is listed again, once the clock is right: it is known.
    private func expectNothingLost(for card: SampleEnrollment) async throws {
        let agent = try await restarted()
        #expect(try await agent.requests().count == 1)
        try await agent.receive(.numbered(1), for: card)
        #expect(try await agent.onlyRequest().life.state == .approved)
        let journal = try await agent.journal()
        #expect(journal.first?.kind == .auditKeyMade && journal.count { $0.kind == .presented } == 1)
    }

    // MARK: Ahead

    @Test(arguments: [0, 10]) func `a start with a clock 800 days ahead deletes nothing, however long it runs`(
        days: Int
    ) async throws {
        let card = try await decided()
        try await sample.agent.conclude()
        sample.clock.set(ahead: 800 * Self.day)
        let wrong = try await restarted()
        for _ in 0...days {
            try await deleteWhatIsOver(wrong)
            #expect(try await isClockAhead(wrong))
            wrong.clock.advance(by: days == 0 ? 3_600 : Self.day)
        }
        sample.clock.set(ahead: 0)
        #expect(try await !isClockAhead(wrong))
        try await wrong.agent.conclude()
        try await expectNothingLost(for: card)
    }

    @Test func `a clock that jumps ahead while the agent runs deletes nothing, and is said at once`() async throws {
        let card = try await decided()
        #expect(try await !isClockAhead(sample))
        sample.clock.set(ahead: 800 * Self.day)
        #expect(try await isClockAhead(sample))
        try await deleteWhatIsOver(sample)
        sample.clock.set(ahead: 0)
        #expect(try await !isClockAhead(sample))
        try await expectNothingLost(for: card)
    }

    @Test func `a request that was taken back is not presented after a time with the clock ahead`() async throws {
        let card = try await decided()
        try await sample.receive(SampleCancellation(cancels: "request-2"), for: card)
        sample.clock.set(ahead: 800 * Self.day)
        try await deleteWhatIsOver(sample)
        var late = SampleRequest.numbered(3)
        (late.iat, late.exp) = (800 * 86_400, 800 * 86_400 + 600)
        try await sample.receive(late, for: card)
        // What is remembered of cancellations is looked through with what has expired.
        sample.clock.set(ahead: 800 * Self.day + 601)
        try await sample.agent.expiryService.work()
        sample.clock.set(ahead: 0)
        try await sample.receive(.numbered(2), for: card)
        #expect(try await sample.requests().map(\.life.state) == [.approved, .expired, .cancelled])
    }

    @Test func `what came while the clock was ahead does not count against a day's messages later`() async throws {
        let few = AgentSettings(
            bounds: AgentBounds {
                $0.messagesADay = 2
                $0.refusedADay = 2
            }, version: "1.2.3")
        let sample = try SampleAgent(few)
        let card = try await sample.enrolled()
        sample.clock.set(ahead: 800 * Self.day)
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        #expect(try await sample.requests().map(\.life.state) == [.expired, .expired])
        sample.clock.set(ahead: 0)
        try await sample.receive(.numbered(3), for: card)
        #expect(try await sample.requests().last?.life.state == .pending)
    }

    @Test func `a machine that slept for 800 days, as its clock says, deletes nothing by that`() async throws {
        let card = try await decided()
        sample.clock.suspend(for: 800 * Self.day)
        try await deleteWhatIsOver(sample)
        #expect(try await isClockAhead(sample))
        try await sample.agent.conclude()
        sample.clock.suspend(for: -800 * Self.day)
        try await expectNothingLost(for: card)
    }

    // MARK: Proof

    @Test func `after 60 days off it starts, and the only issuer's iat ends it`() async throws {
        let card = try await decided()
        try await sample.agent.conclude()
        sample.clock.advance(by: 60 * Self.day)
        let later = try await restarted()
        #expect(try await isClockAhead(later))
        try await deleteWhatIsOver(later)
        #expect(try await later.requests().count == 1)
        try await speak(2, to: later, for: card, at: 60 * Self.day)
        #expect(try await !isClockAhead(later))
        // It is decided as ever, and what is over now goes.
        try await later.approve(try #require(try await later.requests().last).id)
        later.clock.advance(by: 3_600)
        try await deleteWhatIsOver(later)
        #expect(try await later.requests().map(\.jti.text) == ["request-2"])
    }

    @Test func `of two issuers both must have signed such a time`() async throws {
        let card = try await decided()
        let other = try await otherCard()
        try await sample.agent.conclude()
        sample.clock.advance(by: 60 * Self.day)
        let later = try await restarted()
        try await speak(2, to: later, for: card, at: 60 * Self.day)
        #expect(try await isClockAhead(later))
        try await speak(3, to: later, for: other, at: 60 * Self.day - 60)
        #expect(try await !isClockAhead(later))
    }

    @Test func `an issuer whose enrollments have ended or are suspended is not waited for`() async throws {
        let (card, other) = (try await decided(), try await otherCard())
        try await sample.change(other.id, .suspended)
        sample.clock.suspend(for: 60 * Self.day)
        try await speak(2, to: sample, for: card, at: 60 * Self.day)
        #expect(try await !isClockAhead(sample))
    }

    @Test func `one of two issuers that signs the wrong time moves nothing`() async throws {
        let (card, other) = (try await decided(), try await otherCard())
        sample.clock.set(ahead: 800 * Self.day)
        // Two messages of one issuer are no two issuers.
        try await speak(2, to: sample, for: other, at: 800 * Self.day)
        try await speak(4, to: sample, for: other, at: 800 * Self.day - 5)
        try await deleteWhatIsOver(sample)
        #expect(try await isClockAhead(sample))
        #expect(sample.agent.ports.provenTime.now < SampleAgent.start + 86_400)
        // The other one is heard, and says how late it is.
        try await speak(3, to: sample, for: card, at: 3 * Self.day)
        try await deleteWhatIsOver(sample)
        #expect(try await isClockAhead(sample))
        #expect(sample.agent.ports.provenTime.now == SampleAgent.start + 3 * 86_400)
        #expect(try await sample.requests().contains { $0.life.state == .approved })
    }

    @Test func `what an issuer signs ahead of the clock proves nothing`() async throws {
        let card = try await decided()
        let before = sample.agent.ports.provenTime.now
        try await speak(2, to: sample, for: card, at: 800 * Self.day)
        #expect(sample.agent.ports.provenTime.now == before)
    }

    private func otherCard() async throws -> SampleEnrollment {
        try await sample.enrolled(
            "other", target: IssuerTarget(issuer: try IssuerURL("https://other.example"), rootsPEM: nil))
    }

    // MARK: A person

    @Test func `a person takes the clock as it is, ahead and back, and that is journaled`() async throws {
        _ = try await decided()
        #expect(try await sample.restarted().agent.acceptClock() == nil)
        for days in [800, 0] {
            sample.clock.set(ahead: Double(days) * Self.day)
            let taken = try await sample.restarted().agent.acceptClock()
            #expect(taken?.contains("this machine's clock says") == true)
            #expect(try await sample.restarted().agent.acceptClock() == nil)
            let later = try await restarted()
            #expect(try await !isClockAhead(later))
            #expect(later.agent.ports.provenTime.now == later.now)
        }
        let entries = try await sample.journal().filter { $0.kind == .clockAccepted }
        #expect(entries.map { $0.text("proven") } == ["2023-11-14T22:13:20Z", "2026-01-22T22:13:20Z"])
    }

    // MARK: Behind

    @Test func `what comes while the clock is a year behind is kept as long as all else`() async throws {
        let card = try await decided()
        sample.clock.set(ahead: -365 * Self.day)
        var request = SampleRequest.numbered(2)
        (request.iat, request.exp) = (-365 * 86_400, -365 * 86_400 + 600)
        try await sample.receive(request, for: card)
        sample.clock.advance(by: 2 * Self.day)
        try await sample.agent.expiryService.work()
        sample.clock.set(ahead: 0)
        try await deleteWhatIsOver(sample)
        #expect(try await sample.requests().map(\.jti.text) == ["request-1", "request-2"])
        try await expectSecondIsGone(after: 59 * Self.day)
    }

    private func expectSecondIsGone(after seconds: Double) async throws {
        sample.clock.advance(by: seconds)
        try await deleteWhatIsOver(sample)
        #expect(try await sample.requests().isEmpty)
    }

    @Test func `entries from when the clock was behind, however many, take none with them`() async throws {
        try await sample.agent.prepare()
        try await sample.write(entries: 10)
        sample.clock.set(ahead: -800 * Self.day)
        try await sample.write(entries: 300)
        sample.clock.set(ahead: 0)
        let count = try await sample.journal().count
        try await deleteWhatIsOver(sample)
        #expect(try await sample.journal().count == count)
    }

    // MARK: The first start

    @Test(arguments: [800.0, -800.0]) func `before the first enrollment it follows a clock that is set right`(
        days: Double
    ) async throws {
        sample.clock.set(ahead: days * Self.day)
        // One that takes the clock's time for the first one when it is made.
        let agent = try await restarted()
        agent.clock.set(ahead: 0)
        #expect(try await !isClockAhead(agent))
        try await agent.agent.provenTimeKeeper.look()
        let card = try await agent.enrolled()
        try await agent.receive(.numbered(1), for: card)
        await agent.agent.signCountWatch.ensureChecked(card.id)
        try await agent.approve(try await agent.onlyRequest().id)
        try await agent.agent.provenTimeKeeper.look()
        #expect(agent.agent.ports.provenTime.now == SampleAgent.start)
        #expect(try await agent.onlyRequest().receivedAt == SampleAgent.start)
    }

    @Test func `an agent that was killed right after the enrollment knows the time of it`() async throws {
        try await sample.agent.prepare()
        _ = try await sample.enrolled()
        sample.clock.set(ahead: 800 * Self.day)
        let later = try await restarted()
        #expect(later.agent.ports.provenTime.now == SampleAgent.start)
        #expect(try await isClockAhead(later))
    }

    // MARK: Keeping

    @Test func `it is written once an hour, so a crash costs no more`() async throws {
        _ = try await decided()
        let naps = sample.clock.naps
        try await sample.running([sample.agent.provenTimeKeeper.run]) {
            for _ in 0..<90 {
                while try await naps.next() != ProvenTimeKeeper.pause {}
                sample.clock.advance(by: ProvenTimeKeeper.pause)
            }
            while try await naps.next() != ProvenTimeKeeper.pause {}
        }
        let kept = try #require(try await sample.store.real.read { try $0.provenTime() })
        #expect(kept.at == SampleAgent.start + 3_600)
        #expect(try await restarted().agent.ports.provenTime.now == kept.at)
    }

    @Test func `of two moments the store keeps the later, and above all the one that a person has set`() async throws {
        let moments = [(5, 0), (4, 0), (6, 0), (1, 1), (9, 0), (2, 1)]
        var kept: [Int64] = []
        for (at, acceptances) in moments {
            kept.append(
                try await sample.store.real.write { store in
                    try store.raise(ProvenMoment(at: Int64(at), acceptances: Int64(acceptances)))
                    return try store.provenTime()?.at ?? -1
                })
        }
        #expect(kept == [5, 5, 6, 1, 1, 2])
    }

    #if PostgreSQL
    @Test func `what a person has set on one host counts on the others`() async throws {
        let (alpha, beta) = try await SampleAgent.twoHostsThatHaveMet()
        _ = try await alpha.enrolled()
        for host in [alpha, beta] { try await host.agent.provenTimeKeeper.look() }
        alpha.clock.set(ahead: 800 * Self.day)
        #expect(try await isClockAhead(beta))
        #expect(try await accepted(alpha) != nil)
        try await beta.agent.provenTimeKeeper.look()
        #expect(try await !isClockAhead(beta))
        alpha.clock.set(ahead: 0)
        #expect(try await accepted(alpha) != nil)
        for host in [beta, alpha] { try await host.agent.provenTimeKeeper.look() }
        for host in [beta, alpha] {
            #expect(host.agent.ports.provenTime.now == SampleAgent.start)
        }
    }

    private func accepted(_ host: SampleAgent) async throws -> String? {
        try await StoreKind.$current.withValue(.postgres) { try host.restarted() }.agent.acceptClock()
    }
    #endif
}
