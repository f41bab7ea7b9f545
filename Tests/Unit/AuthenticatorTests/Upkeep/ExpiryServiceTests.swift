import IssuerProtocol
import StoreTables
import Testing

@testable import Authenticator
@testable import Records

/// What is due is closed when its time comes.
@Suite(.timeLimit(.minutes(20)))
struct ExpiryServiceTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    @Test func `a pending request expires at its exp, without an answer`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(exp: 30), for: card)
        let id = try await sample.onlyRequest().id
        try await sample.running([sample.agent.expiryService.run]) {
            #expect(try await sample.clock.naps.next() == 30)
            sample.clock.advance(by: 29)
            #expect(try await sample.request(id).life == .pending)
            sample.clock.advance(by: 1)
            try await sample.eventually { try $0.request(id)?.life == .expired ? true : nil }
        }
        #expect(try await sample.outbox(of: card).isEmpty)
    }

    @Test func `a request with an earlier exp brings the clock forward`() async throws {
        let card = try await sample.enrolled()
        try await sample.running([sample.agent.expiryService.run]) {
            #expect(try await sample.clock.naps.next() == 60)
            try await sample.receive(SampleRequest(exp: 20), for: card)
            #expect(try await sample.clock.naps.next() == 20)
        }
    }

    @Test func `a newer message with an earlier exp brings the clock forward too`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(exp: 50), for: card)
        try await sample.running([sample.agent.expiryService.run]) {
            #expect(try await sample.clock.naps.next() == 50)
            try await sample.receive(SampleRequest(jti: "newer", iat: 1, exp: 20), for: card)
            #expect(try await sample.clock.naps.next() == 20)
        }
    }

    @Test func `the deadline of a request that was decided meanwhile is followed by that of another enrollment's`()
        async throws
    {
        let (card, other) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        try await sample.receive(SampleRequest(jti: "late", exp: 50), for: card)
        try await sample.running([sample.agent.expiryService.run]) {
            #expect(try await sample.clock.naps.next() == 50)
            try await sample.receive(SampleRequest(jti: "soon", exp: 20), for: other)
            #expect(try await sample.clock.naps.next() == 20)
            let soon = try #require(try await sample.requests().first { $0.jti.text == "soon" })
            try await sample.approve(soon.id)
            sample.clock.advance(by: 20)
            #expect(try await sample.clock.naps.next() == 30)
        }
    }

    @Test func `what expired while nothing ran is closed at start, more than one batch of it`() async throws {
        let card = try await sample.enrolled()
        for start in [0, 100, 200] {
            let messages = try (start..<start + 100).map { try sample.message(.numbered($0), for: card) }
            try await sample.receive(messages: messages, for: card)
        }
        sample.clock.advance(by: 600)
        let later = try sample.restarted()
        try await later.running([later.agent.expiryService.run]) {
            try await later.eventually { try $0.pendingCount(enrollment: nil) == 0 ? true : nil }
        }
        #expect(try await later.requests().allSatisfy { $0.life == .expired })
    }

    @Test func `a decided request does not expire`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        try await sample.approve(ids[0])
        sample.clock.advance(by: 600)
        try await sample.running([sample.agent.expiryService.run]) {
            try await sample.eventually { try $0.request(ids[1])?.life == .expired ? true : nil }
        }
        #expect(try await sample.request(ids[0]).life == RequestLife(state: .approved, delivery: .queued))
    }

    @Test func `if the store fails it is tried again`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        sample.clock.advance(by: 600)
        sample.store.breakWrites()
        try await sample.running([sample.agent.expiryService.run]) {
            try await sample.storeRecovered()
            try await sample.eventually { try $0.request(id)?.life == .expired ? true : nil }
        }
    }
}
