import IssuerProtocol
import StoreTables
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// An issuer takes a request back.
@Suite(.timeLimit(.minutes(20)))
struct CancellationTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    @Test func `a pending request is cancelled, and can no longer be decided`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        let events = try await sample.events { try await sample.receive(SampleCancellation(), for: card) }
        #expect(events.contains { $0.kind == .cancelled && $0.request == id })
        #expect(try await sample.request(id).life == .cancelled)
        #expect(try await sample.outbox(of: card).isEmpty)
        #expect(try await failureCode { try await sample.approve(id) } == .noLongerDecidable)
    }

    @Test func `a decided request stays as it is`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let decided = try await sample.approve(sample.onlyRequest().id)
        try await sample.receive(SampleCancellation(), for: card)
        #expect(try await sample.request(decided.id).life == decided.life)
        #expect(try await sample.outbox(of: card).count == 1)
    }

    @Test func `one that has not come yet is cancelled when it comes, also after a restart`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleCancellation(), for: card)
        let later = try sample.restarted()
        let events = try await later.events { try await later.receive(SampleRequest(), for: card) }
        #expect(!events.contains { $0.kind == .presented })
        #expect(try await later.onlyRequest().life == .cancelled)
    }

    @Test func `a request and its cancellation may come in one answer`() async throws {
        let card = try await sample.enrolled()
        let messages = [
            try sample.message(SampleRequest(), for: card), try sample.message(SampleCancellation(), for: card),
        ]
        try await sample.receive(messages: messages, for: card)
        #expect(try await sample.onlyRequest().life == .cancelled)
    }

    @Test func `it is remembered until its own exp and no longer`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleCancellation(exp: 100), for: card)
        sample.clock.advance(by: 100)
        try await sample.receive(SampleRequest(), for: card)
        #expect(try await sample.onlyRequest().life == .pending)
    }

    @Test func `one that comes after its own exp does nothing`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        sample.clock.advance(by: 100)
        try await sample.receive(SampleCancellation(exp: 100), for: card)
        #expect(try await sample.onlyRequest().life == .pending)
    }

    @Test func `it acts on the jti that it names, not on the newer message of the same transaction`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(
            SampleRequest(jti: "first", iat: 1), SampleRequest(jti: "newest", iat: 2), for: card)
        try await sample.receive(SampleCancellation(cancels: "first"), for: card)
        #expect(try await sample.onlyRequest().life == .pending)
        try await sample.receive(SampleCancellation(jti: "cancellation-2", cancels: "newest"), for: card)
        #expect(try await sample.onlyRequest().life == .cancelled)
    }

    @Test func `a newest message that was cancelled before it came cancels the request`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(jti: "first", iat: 1), for: card)
        try await sample.receive(SampleCancellation(cancels: "newest"), for: card)
        try await sample.receive(SampleRequest(jti: "newest", iat: 2), for: card)
        #expect(try await sample.onlyRequest().life == .cancelled)
    }

    @Test func `another enrollment's cancellation does nothing`() async throws {
        let card = try await sample.enrolled("card")
        let other = try await sample.enrolled("other")
        try await sample.receive(SampleRequest(), for: card)
        try await sample.receive(SampleCancellation(), for: other)
        // Neither does one for this enrollment that comes by the other's way.
        try await sample.receive(messages: [sample.message(SampleCancellation(), for: card)], for: other)
        #expect(try await sample.onlyRequest().life == .pending)
    }

    @Test func `a cancellation with a request's jti is a conflict`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let events = try await sample.events {
            try await sample.receive(SampleCancellation(jti: "request-1"), for: card)
        }
        #expect(events.contains { $0.tells(.conflict, of: card.id) })
        #expect(try await sample.onlyRequest().life == .pending)
    }

    @Test func `one that is early is held, and acts when its time has come`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        try await sample.receive(SampleCancellation(iat: 100), for: card)
        let request = try await sample.onlyRequest()
        #expect(request.life == .pending)
        try await sample.running([sample.agent.deferredReader.run]) {
            #expect(try await sample.clock.wakeNext() == 40)
            try await sample.eventually { try $0.request(request.id)?.life == .cancelled ? true : nil }
        }
        #expect(sample.now == SampleAgent.start + 40)
    }

    @Test func `one from further ahead is dropped, and nothing of it is remembered`() async throws {
        let card = try await sample.enrolled()
        let year: Int64 = 365 * 86_400
        try await sample.receive(SampleRequest(), for: card)
        try await sample.receive(SampleCancellation(iat: year, exp: year + 600), for: card)
        #expect(try await sample.onlyRequest().life == .pending)
        #expect(try await sample.store.real.read { try $0.cancellationCount(enrollment: card.id, after: 0) } == 0)
        #expect(sample.agent.deferredReader.deferred.count == 0)
    }
}
