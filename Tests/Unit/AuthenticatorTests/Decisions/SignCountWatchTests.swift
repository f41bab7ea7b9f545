import IssuerProtocol
import Logging
import StoreTables
import TestStores
import Testing
import ThreeDS

@testable import Authenticator
@testable import Records

/// A restored copy of the state goes above what the issuer has accepted.
@Suite(.timeLimit(.minutes(20)))
struct SignCountWatchTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    @Test func `an old copy signs above the issuer's signCount, and says so`() async throws {
        let card = try await sample.enrolled()
        await sample.issuer.onStatus { (_) throws(IssuerError) in 41 }
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        try await sample.approve(ids[0])
        try await sample.approve(ids[1])
        #expect(try await sample.outbox(of: card).map(\.signCount) == [42, 43])
        let enrollment = try await sample.enrollment(card.id)
        #expect(enrollment.signCountRaise == SignCountRaise(from: 0, to: 41, at: SampleAgent.start))
        #expect(enrollment.warnings.map(\.id).contains("signCountRaised"))
        #expect(await sample.issuer.statusCalls == 1)
    }

    @Test func `an issuer that knows less changes nothing`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        try await sample.approve(sample.onlyRequest().id)
        let later = try sample.restarted()
        try await later.receive(.numbered(2), for: card)
        try await later.approve(later.requests()[1].id)
        #expect(try await later.outbox(of: card).map(\.signCount) == [1, 2])
        #expect(try await later.enrollment(card.id).signCountRaise == nil)
    }

    @Test func `an issuer that cannot be asked, or does not answer in time, holds no approval up`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), .numbered(3), for: card)
        let ids = try await sample.requests().map(\.id)
        await sample.issuer.onStatus { (_) throws(IssuerError) in throw .down }
        try await sample.approve(ids[0])
        sample.clock.advance(by: 60)
        let asked = Channel<Void>()
        await sample.issuer.onStatus { (_) throws(IssuerError) in
            asked.send(())
            throw await .waitingWasCancelled
        }
        async let second = sample.approve(ids[1])
        try await asked.next()
        try await sample.clock.sleepers()
        sample.clock.advance(by: 5)
        #expect(try await second.life.state == .approved)
        // It is not asked again within a minute, so this one does not wait at all.
        #expect(try await sample.approve(ids[2]).life.state == .approved)
        #expect(await sample.issuer.statusCalls == 2)
    }

    @Test func `an issuer that is down gets one line of the log a minute, however many enrollments it has`()
        async throws
    {
        let log = WrittenLog()
        let many = try sample.restarted(log: log.logger)
        for number in 1...20 { _ = try await many.enrolled("\(number)") }
        await many.issuer.onStatus { (_) throws(IssuerError) in throw .down }
        try await many.running([many.agent.signCountWatch.run]) {
            // Each answer is waited for; after the last one it rests for a day.
            while try await many.clock.naps.next() != 86_400 {}
        }
        #expect(await many.issuer.statusCalls == 20)
        #expect(log.lines(.info).filter { $0 == "the issuer's signCount is not known" }.count == 1)
    }

    @Test func `an agent that stops asks for no more enrollments`() async throws {
        for number in 1...30 { _ = try await sample.enrolled("\(number)") }
        let asked = Channel<Void>()
        await sample.issuer.onStatus { (_) throws(IssuerError) in
            asked.send(())
            throw await .waitingWasCancelled
        }
        let before = sample.seals.looks.value
        try await sample.running([sample.agent.signCountWatch.run]) {
            for _ in 1...8 { try await asked.next() }
        }
        #expect(await sample.issuer.statusCalls == 8)
        #expect(sample.seals.looks.value - before == 8)
    }

    @Test(arguments: [false, true])
    func `of an enrollment that has ended nothing is remembered after the next look, of any other all`(
        isSuspended: Bool
    ) async throws {
        let (ended, stays) = (try await sample.enrolled("ended"), try await sample.enrolled("stays"))
        let (watch, status) = (sample.agent.signCountWatch, Box(0))
        // The first one's issuer answers once, and then no more: all that can be remembered of one is.
        await sample.issuer.onStatus { (_) throws(IssuerError) in
            guard status.next() <= 2 else { throw .down }
            return 0
        }
        for id in [ended.id, stays.id, ended.id] { await watch.ensureChecked(id, mustKnow: true) }
        #expect(watch.remembered == [ended.id, stays.id])
        try await sample.change(ended.id, .ended(at: sample.now))
        if isSuspended { try await sample.change(stays.id, .suspended) }
        try await sample.running([watch.run]) {
            while try await sample.clock.naps.next() != 86_400 {}
        }
        #expect(watch.remembered == [stays.id])
    }

    @Test func `after an assertion that was refused the issuer is asked again`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        try await sample.approve(ids[0])
        await sample.issuer.onDecision { (_) throws(IssuerError) in throw .problem(.invalidAssertion) }
        await sample.issuer.onStatus { (_) throws(IssuerError) in 41 }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.eventually { try $0.enrollment(card.id)?.signCount == 41 ? true : nil }
        }
        try await sample.approve(ids[1])
        #expect(try await sample.outbox(of: card).map(\.signCount) == [42])
    }

    @Test(.ofSQLite) func `after a refusal nothing is signed until the issuer has said which signCount it accepted`()
        async throws
    {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        await sample.issuer.onStatus { (_) throws(IssuerError) in throw .down }
        try await sample.approve(ids[0])
        await sample.issuer.onDecision { (_) throws(IssuerError) in throw .problem(.invalidAssertion) }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.eventually { try $0.enrollment(card.id)?.refusedSignCount == 1 ? true : nil }
        }
        for agent in [sample, try sample.restarted()] {
            let calls = await sample.issuer.statusCalls
            for _ in 1...2 {
                let failure = try await #require(throws: CommandError.self) { try await agent.approve(ids[1]) }
                #expect(failure.code == .issuerUnreachable && failure.message.hasPrefix("nothing was decided"))
                #expect(failure.message.contains("no connection"))
            }
            #expect(await sample.issuer.statusCalls == calls + 2, "each approval asks again")
        }
        #expect(try await sample.request(ids[1]).life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty)
        await sample.issuer.onStatus { (_) throws(IssuerError) in 41 }
        try await sample.approve(ids[1])
        #expect(try await sample.outbox(of: card).map(\.signCount) == [42])
        #expect(try await sample.enrollment(card.id).refusedSignCount == nil)
    }

    @Test func `what is refused while the key signs keeps its number from being taken`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        let id = try await sample.onlyRequest().id
        sample.custody.beforeSigning { [sample] in
            try await sample.store.write { _ = try $0.change(card.id, .signCountRefused(7)) }
        }
        #expect(try await failureCode { try await sample.approve(id) } == .issuerUnreachable)
        sample.custody.beforeSigning(nil)
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty)
        try await sample.approve(id)
    }

    @Test func `an answer from before a refusal does not make up for it`() async throws {
        let card = try await sample.enrolled()
        try await sample.store.write { _ = try $0.change(card.id, .signCountRefused(3)) }
        await sample.issuer.onStatus { [sample] (_) throws(IssuerError) in
            try? await sample.store.write { _ = try $0.change(card.id, .signCountRefused(5)) }
            return 9
        }
        await sample.agent.signCountWatch.ensureChecked(card.id)
        #expect(try await sample.enrollment(card.id).refusedSignCount == 5)
    }

    @Test func `the issuer's count, raised to the number that is just being taken, is not taken again`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        let id = try await sample.onlyRequest().id
        let signatures = Box(0)
        sample.custody.beforeSigning { [sample] in
            guard signatures.next() == 1 else { return }
            // Number 1 is being signed: the issuer says that it has accepted that one.
            await sample.issuer.onStatus { (_) throws(IssuerError) in 1 }
            await sample.agent.signCountWatch.recheck(card.id)
        }
        try await sample.approve(id)
        #expect(signatures.value == 2)
        #expect(try await sample.outbox(of: card).map(\.signCount) == [2])
    }

    @Test func `a count that rises while the agent runs is someone else's, and stays so after a restart`() async throws
    {
        let card = try await sample.enrolled()
        try await sample.running([sample.agent.signCountWatch.run]) {
            #expect(try await sample.clock.naps.next() == 5)
            // It asks once a day, also if nothing is approved.
            #expect(try await sample.clock.naps.next() == 86_400)
            await sample.issuer.onStatus { (_) throws(IssuerError) in 7 }
            sample.clock.advance(by: 86_400)
            try await sample.eventually { try $0.enrollment(card.id)?.signCount == 7 ? true : nil }
        }
        let raise = try #require(try await sample.enrollment(card.id).signCountRaise)
        #expect(raise == SignCountRaise(from: 0, to: 7, at: SampleAgent.start + 86_400, isElsewhere: true))
        let later = try sample.restarted()
        await sample.issuer.onStatus { (_) throws(IssuerError) in 9 }
        await later.agent.signCountWatch.recheck(card.id)
        let enrollment = try await later.enrollment(card.id)
        #expect(enrollment.signCountRaise?.to == 9)
        let warning = try #require(enrollment.warnings.first { $0.id == "signedElsewhere" })
        #expect(warning.severity == .high && warning.message.contains("someone else signs with this key"))
        #expect(!enrollment.warnings.contains { $0.id == "signCountRaised" })
        #expect(await later.agent.figures().holdings?.signedElsewhere == 1)
    }

    @Test func `a count that is greater at the first answer after start is that of an old copy, however late`()
        async throws
    {
        let card = try await sample.enrolled()
        await sample.issuer.onStatus { (_) throws(IssuerError) in throw .down }
        await sample.agent.signCountWatch.recheck(card.id)
        await sample.issuer.onStatus { (_) throws(IssuerError) in 7 }
        await sample.agent.signCountWatch.recheck(card.id)
        let enrollment = try await sample.enrollment(card.id)
        #expect(enrollment.signCountRaise?.isElsewhere == false)
        #expect(await sample.agent.figures().holdings?.signedElsewhere == 0)
        #expect(enrollment.warnings.map(\.id).contains("signCountRaised"))
    }
}
