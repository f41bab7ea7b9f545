import IssuerProtocol
import Keys
import Logging
import StoreTables
import Testing

@testable import Authenticator
@testable import Records

/// Messages under keys that are not known yet.
@Suite(.timeLimit(.minutes(20)))
struct KeyRotationTests {
    private let sample: SampleAgent
    private let newKey: SigningKey
    private let target: IssuerTarget

    init() throws {
        target = try SampleAgent.target
        sample = try SampleAgent()
        newKey = try SigningKey.generate(.es256)
    }

    private var newKeys: JWKSet { JWKSet(keys: [("key-2", newKey.publicKey)]) }

    private func message(_ request: SampleRequest, for card: SampleEnrollment) throws -> String {
        var request = request
        request.kid = "key-2"
        return try request.message(for: card.enrollment, signedBy: newKey)
    }

    @Test func `keys are fetched for an unknown kid at once, and the message is taken in`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        await sample.issuer.onKeys { [newKeys] () throws(IssuerError) in newKeys }
        try await sample.receive(messages: [message(.numbered(2), for: card)], for: card)
        #expect(try await sample.requests().count == 2)
        #expect(await sample.issuer.keyFetches == 2)
    }

    @Test func `a message under an unknown kid is held, and taken in when the key is there`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(messages: [message(.numbered(1), for: card)], for: card)
        #expect(try await sample.requests().isEmpty)
        await sample.issuer.onKeys { [newKeys] () throws(IssuerError) in newKeys }
        try await sample.running([sample.agent.deferredReader.run]) {
            #expect(try await sample.clock.wakeNext() == 60)
            try await sample.eventually { try $0.oldestPending(enrollment: nil) }
        }
    }

    @Test func `a message under an unknown kid waits for the keys that are being fetched for another's`()
        async throws
    {
        let (card, other) = (try await sample.enrolled("card"), try await sample.enrolled("other"))
        try await sample.receive(.numbered(1), for: card)
        let (asked, answers) = (Channel<Void>(), Channel<JWKSet>())
        await sample.issuer.onKeys { () throws(IssuerError) in
            asked.send(())
            return try await answers.answer()
        }
        let messages = [try message(.numbered(2), for: card), try message(.numbered(3), for: other)]
        async let first: Void = sample.receive(messages: [messages[0]], for: card)
        try await asked.next()
        async let second: Void = sample.receive(messages: [messages[1]], for: other)
        // Ends also if it does not wait: judged by the old keys, it is held.
        let (directory, deferred) = (sample.agent.fetcher.directory, sample.agent.deferredReader.deferred)
        while directory.keyWaiterCount(target) < 1, deferred.count == 0, !Task.isCancelled { await Task.yield() }
        answers.send(newKeys)
        try await first
        try await second
        #expect(try await sample.requests().count == 3)
        #expect(await sample.issuer.keyFetches == 2)
    }

    @Test func `unknown kids make the keys be fetched once a minute at most`() async throws {
        let card = try await sample.enrolled()
        for number in 1...20 {
            try await sample.receive(messages: [message(.numbered(number), for: card)], for: card)
            sample.clock.advance(by: 2)
        }
        // At first, for the first unknown kid; the minute is not over.
        #expect(await sample.issuer.keyFetches == 2)
        sample.clock.advance(by: 20)
        try await sample.receive(messages: [message(.numbered(21), for: card)], for: card)
        #expect(await sample.issuer.keyFetches == 3)
    }

    @Test func `messages under unknown kids, which anybody can make, are one log line an enrollment and minute`()
        async throws
    {
        let log = WrittenLog()
        let sample = try sample.restarted(log: log.logger)
        let (card, other) = (try await sample.enrolled("card"), try await sample.enrolled("other"))
        func flood(_ numbers: ClosedRange<Int>, _ card: SampleEnrollment) async throws {
            let messages = try numbers.map { try message(.numbered($0), for: card) }
            try await sample.receive(messages: messages, for: card)
        }
        func said() -> Int { log.lines(.notice).count { $0 == "a request waits for an unknown key" } }
        try await flood(1...300, card)
        #expect(said() == 1)
        try await flood(301...301, other)
        #expect(said() == 2)
        sample.clock.advance(by: 60)
        try await flood(302...400, card)
        #expect(said() == 3)
    }

    @Test func `a message whose key never comes is dropped after 10 minutes`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(messages: [message(.numbered(1), for: card)], for: card)
        try await sample.running([sample.agent.deferredReader.run]) {
            for _ in 1...10 {
                let nap = try await sample.heldReaderNap()
                #expect(nap == 60)
                sample.clock.advance(by: 60)
            }
            while sample.agent.drops.all[.notHeld] == nil, !Task.isCancelled { await Task.yield() }
        }
        #expect(sample.agent.deferredReader.deferred.count == 0)
        #expect(await sample.issuer.keyFetches <= 12)
    }

    @Test func `after the clock was set back keys are fetched as ever`() async throws {
        let card = try await sample.enrolled()
        sample.clock.advance(by: 30_000)
        try await sample.receive(messages: [message(SampleRequest(exp: 40_000), for: card)], for: card)
        sample.clock.advance(by: -30_000)
        await sample.issuer.onKeys { [newKeys] () throws(IssuerError) in newKeys }
        try await sample.receive(messages: [message(.numbered(2), for: card)], for: card)
        #expect(try await sample.onlyRequest().jti.text == "request-2")
    }

    @Test func `a key that is gone is no longer trusted`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        await sample.issuer.onKeys { [newKeys] () throws(IssuerError) in newKeys }
        sample.clock.advance(by: 86_400)
        try await sample.receive(SampleRequest(jti: "request-2", iat: 86_400, exp: 86_500), for: card)
        #expect(try await sample.requests().map(\.jti.text) == ["request-1"])
        #expect(try await sample.requests()[0].acsTransId == SampleRequest.numbered(1).acsTransId)
        #expect(await sample.issuer.keyFetches > 1)
    }

    @Test func `if no keys can be had nothing is lost`() async throws {
        let card = try await sample.enrolled()
        await sample.issuer.onKeys { () throws(IssuerError) in throw .down }
        await #expect(throws: IssuerError.self) { try await sample.receive(SampleRequest(), for: card) }
        #expect(try await sample.requests().isEmpty)
    }

    @Test func `what was held is not lost if the store fails when it is read again`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        try await sample.receive(
            messages: [message(.numbered(2), for: card), message(.numbered(3), for: card)], for: card)
        await sample.issuer.onKeys { [newKeys] () throws(IssuerError) in newKeys }
        try await sample.running([sample.agent.deferredReader.run]) {
            #expect(try await sample.heldReaderNap() == 60)
            sample.store.breakWrites()
            sample.clock.advance(by: 60)
            #expect(try await sample.heldReaderNap() == 60)
            sample.store.breakWrites(false)
            sample.clock.advance(by: 60)
            try await sample.eventually { try $0.pendingCount(enrollment: nil) == 3 ? true : nil }
        }
    }

    @Test func `what is held is bounded`() async throws {
        let card = try await sample.enrolled()
        let deferred = DeferredMessages(
            AgentBounds {
                $0.heldOfEnrollment = 3
                $0.held = 5
            })
        for number in 1...3 { #expect(deferred.add(held("\(number)", card.id))) }
        #expect(!deferred.add(held("one too many of an enrollment", card.id)))
        #expect(deferred.add(held("1", card.id)), "the same message takes no room")
        let others = try (4...6).map { _ in try EnrollmentID(random: sample.ports.entropy) }
        for other in others.prefix(2) { #expect(deferred.add(held("another's", other))) }
        #expect(!deferred.add(held("one too many of all", others[2])))
        #expect(deferred.takeDue(of: target, by: ManualClock(now: 9)).isEmpty)
        #expect(deferred.takeDue(of: target, by: ManualClock(now: 10), limit: 4).count == 4)
        #expect(deferred.takeDue(of: target, by: ManualClock(now: 10)).count == 1)
        #expect(deferred.count == 0 && deferred.issuers.isEmpty)
    }

    @Test func `what is held is bounded in bytes as well, of an enrollment and in all`() async throws {
        let ids = try (1...3).map { _ in try EnrollmentID(random: sample.ports.entropy) }
        let deferred = DeferredMessages(
            AgentBounds {
                $0.heldBytesOfEnrollment = 10
                $0.heldBytes = 25
            })
        #expect(deferred.add(held("aaaaaa", ids[0])))
        #expect(!deferred.add(held("bbbbb", ids[0])))
        #expect(deferred.add(held("bbbb", ids[0])))
        #expect(deferred.add(held("cccccccccc", ids[1])))
        #expect(!deferred.add(held("dddddd", ids[2])))
        #expect(deferred.add(held("ddddd", ids[2])))
        #expect(!deferred.add(held("e", ids[2])))
        #expect(deferred.takeDue(of: target, by: ManualClock(now: 10), limit: 1).count == 1)
        #expect(deferred.add(held("e", ids[2])), "what was taken out takes no room")
    }

    @Test func `an issuer whose message is as long as can be has room for some, and not for all it may count`() {
        let bounds = AgentBounds.standard
        #expect(bounds.heldBytesOfEnrollment >= 10 * bounds.messageBytes)
        #expect(bounds.heldBytes <= 16 << 20)
    }

    @Test(arguments: [false, true])
    func `a message that was pushed first counts as listed once the issuer has listed it`(isListed: Bool) throws {
        let deferred = DeferredMessages(.standard)
        let id = try #require(EnrollmentID(String(repeating: "a", count: 20)))
        #expect(deferred.add(held("a", id, isListed: false)) && deferred.add(held("a", id, isListed: isListed)))
        #expect(deferred.takeDue(of: target, by: ManualClock(now: 10)).map(\.isListed) == [isListed])
    }

    private func held(_ message: String, _ id: EnrollmentID, isListed: Bool = true) -> DeferredMessages.Held {
        DeferredMessages.Held(
            message, for: id, of: target, isListed: isListed, readAgainIn: 10, by: ManualClock(now: 0))
    }
}
