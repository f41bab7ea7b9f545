import IssuerProtocol
import Keys
import StoreTables
import Testing

@testable import Authenticator
@testable import Records

/// A push goes the way of a polled message, or is a reason to fetch, and nothing more.
@Suite(.timeLimit(.minutes(20)))
struct PushReceptionTests {
    private let push: SamplePush

    init() throws { push = try SamplePush() }

    private func known(_ sample: SampleAgent, _ card: SampleEnrollment) -> PushFacts? {
        sample.agent.pushFacts(of: card.enrollment)
    }

    @Test func `a pushed request is in the store when the push is answered`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, subscription) = try await sample.subscribed(push)
        sample.clock.advance(by: 2)
        let message = try sample.message(.numbered(1), for: card)
        let location = try await sample.push(Array(message.utf8), to: subscription, by: push)
        #expect(location.hasPrefix(SamplePush.url + "/message/"))
        #expect(try await sample.requests().map(\.jti.text) == ["request-1"])
        let facts = try #require(known(sample, card))
        #expect(facts.firstByPush == 1 && facts.works && facts.latency == 2 && facts.lastPush == sample.now)
    }

    @Test func `what comes again by push is counted and presented once`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, subscription) = try await sample.subscribed(push)
        let message = try sample.message(.numbered(1), for: card)
        for _ in 0..<3 { _ = try await sample.push(Array(message.utf8), to: subscription, by: push) }
        #expect(try await sample.requests().count == 1)
        #expect(known(sample, card)?.duplicates == 2)
    }

    @Test func `a request that another signed is taken from the sender and dropped`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, subscription) = try await sample.subscribed(push)
        let forged = try SampleRequest.numbered(1).message(for: card.enrollment, signedBy: .generate(.es256))
        _ = try await sample.push(Array(forged.utf8), to: subscription, by: push)
        #expect(try await sample.requests().isEmpty)
    }

    @Test func `anything else is a reason to fetch once`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, subscription) = try await sample.subscribed(push)
        let message = try sample.message(.numbered(1), for: card)
        await sample.issuer.onFetch { (_) throws(IssuerError) in RequestList(requests: [message], cursor: "c1") }
        try await sample.running([sample.agent.fetcher.runPushed]) {
            _ = try await sample.push(Array("hint".utf8), to: subscription, by: push)
            #expect(try await sample.issuer.fetched.next().wait == 0)
            try await sample.eventually { try $0.requests(pendingOnly: true, enrollment: card.id, limit: 9).first }
        }
        #expect(known(sample, card)?.firstByPush == 1 && known(sample, card)?.lastPoll == nil)
    }

    @Test func `a store that cannot be written has the push come again`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, subscription) = try await sample.subscribed(push)
        let message = try sample.message(.numbered(1), for: card)
        sample.store.breakWrites()
        await #expect(throws: PushAnswer.unavailable) {
            _ = try await sample.push(Array(message.utf8), to: subscription, by: push)
        }
        #expect(PushAnswer.unavailable.status == 503 && PushAnswer.unavailable.retryAfter != nil)
    }

    @Test func `keys that cannot be had have the push come again`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, subscription) = try await sample.subscribed(push)
        await sample.issuer.onKeys { () throws(IssuerError) in throw .down }
        let message = try sample.message(.numbered(1), for: card)
        await #expect(throws: PushAnswer.unavailable) {
            _ = try await sample.push(Array(message.utf8), to: subscription, by: push)
        }
    }

    @Test func `another sender's push is refused and counted, and no reason to believe that push works`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, subscription) = try await sample.subscribed(push)
        let other = try SamplePush()
        let reception = try #require(sample.agent.pushReception)
        let answer = await #expect(throws: PushAnswer.self) {
            _ = try await sample.push([], to: subscription, by: other)
        }
        reception.recordRejection(
            try #require(answer), from: "192.0.2.1", at: try await reception.target(subscription.path))
        let facts = try #require(known(sample, card))
        #expect(facts.refused == 1 && !facts.works && facts.lastPush == nil)
    }

    @Test(arguments: [
        "", "/", "/push", "/push/", "/push/abc", "/message/1", "/push/" + String(repeating: "A", count: 43),
        "/push/" + String(repeating: "A", count: 44), "/push/" + String(repeating: "=", count: 43),
    ])
    func `a path that is no endpoint is unknown`(_ path: String) async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let reception = try #require(sample.agent.pushReception)
        await #expect(throws: PushAnswer.unknownEndpoint) { _ = try await reception.target(path) }
    }

    @Test func `an endpoint takes so many in a minute and then again`() async throws {
        let sample = try SampleAgent(SamplePush.settings(ofEndpoint: 3))
        let (_, subscription) = try await sample.subscribed(push)
        for _ in 0..<3 { _ = try await sample.push([], to: subscription, by: push) }
        await #expect(throws: PushAnswer.tooMany(retryAfter: 20)) {
            _ = try await sample.push([], to: subscription, by: push)
        }
        sample.clock.advance(by: 19)
        await #expect(throws: PushAnswer.tooMany(retryAfter: 1)) {
            _ = try await sample.push([], to: subscription, by: push)
        }
        sample.clock.advance(by: 1)
        _ = try await sample.push([], to: subscription, by: push)
    }

    @Test func `while pushes come polls are short and rest, until one brings what was not pushed`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, subscription) = try await sample.subscribed(push)
        let answers = Channel<Result<RequestList, IssuerError>>()
        await sample.issuer.onFetch { (_) throws(IssuerError) in try await answers.answer().get() }
        try await sample.running([sample.agent.fetcher.run]) {
            #expect(try await sample.issuer.fetched.next().wait == 50)
            _ = try await sample.push([], to: subscription, by: push)
            answers.send(.success(RequestList(requests: [try sample.message(.numbered(1), for: card)], cursor: "c1")))
            // It came at once, so a push may have been on its way.
            #expect(try await sample.issuer.fetched.next().wait == 0)
            answers.send(.success(RequestList(requests: [], cursor: "c1")))
            while try await sample.clock.wakeNext() != 60 {}
            #expect(try await sample.issuer.fetched.next().wait == 0)
            answers.send(.success(RequestList(requests: [try sample.message(.numbered(2), for: card)], cursor: "c2")))
            #expect(try await sample.issuer.fetched.next().wait == 50)
        }
        #expect(known(sample, card)?.works == false)
        #expect(known(sample, card)?.firstByPoll == 2)
    }

    @Test func `a polled request that may still be pushed is no sign that pushes do not come`() throws {
        let (tally, card) = (PushTally(), try #require(EnrollmentID("0123456789abcdef0123")))
        _ = tally.notePush(card, at: 100)
        #expect(!tally.noteNew(card, by: .poll, iat: 100, at: 100 + PushTally.grace))
        #expect(tally.works(card))
        #expect(tally.noteNew(card, by: .poll, iat: 100, at: 101 + PushTally.grace))
        #expect(!tally.works(card))
    }
}
