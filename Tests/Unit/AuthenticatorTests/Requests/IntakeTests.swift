import IssuerProtocol
import Keys
import StoreTables
import StrictJSON
import TableRows
import Testing

@testable import Authenticator
@testable import Records

/// What becomes of messages that cannot be entered into the store.
@Suite(.timeLimit(.minutes(20)))
struct IntakeTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    @Test func `an early request is held and read again when its time has come`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(iat: 100), for: card)
        #expect(try await sample.requests().isEmpty)
        try await sample.running([sample.agent.deferredReader.run]) {
            #expect(try await sample.clock.wakeNext() == 40)
            let presented = try await sample.eventually { try $0.oldestPending(enrollment: nil) }
            #expect(presented.jti.text == "request-1" && sample.now == SampleAgent.start + 40)
        }
    }

    @Test func `an early request that comes while another is waited for is noticed`() async throws {
        let card = try await sample.enrolled()
        try await sample.running([sample.agent.deferredReader.run]) {
            try await sample.receive(SampleRequest.numbered(2).early(90), for: card)
            #expect(try await sample.clock.naps.next() == 30)
            try await sample.receive(SampleRequest(iat: 61), for: card)
            #expect(try await sample.clock.naps.next() == 1)
            sample.clock.advance(by: 1)
            try await sample.eventually { try $0.oldestPending(enrollment: nil) }
        }
        #expect(try await sample.onlyRequest().life == .pending)
    }

    @Test func `of an enrollment whose row is damaged nothing is taken in, so that it comes again`() async throws {
        let card = try await sample.enrolled()
        let whole = card.enrollment
        let signCount = Int64(whole.signCount)
        try sample.tamper("UPDATE enrollment SET sign_count = ? WHERE id = ?", [signCount + 1, card.id.text])
        let damaged = try await sample.enrollment(card.id)
        #expect(damaged.isDamaged)
        for read in [whole, damaged] {
            let message = try sample.message(SampleRequest(), for: card)
            let code = try await failureCode { _ = try await sample.agent.fetcher.intake.receive([message], for: read) }
            #expect(code == .keyUnavailable)
        }
        try sample.tamper("UPDATE enrollment SET sign_count = ? WHERE id = ?", [signCount, card.id.text])
        try await sample.receive(SampleRequest(), for: card)
        #expect(try await sample.onlyRequest().life == .pending)
    }

    @Test func `a request from further ahead is dropped and nothing of it is kept`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(iat: 601, exp: 700), for: card)
        #expect(try await sample.requests().isEmpty && sample.agent.deferredReader.deferred.count == 0)
        sample.clock.advance(by: 541)
        try await sample.receive(SampleRequest(iat: 601, exp: 700), for: card)
        #expect(try await sample.onlyRequest().life == .pending)
    }

    @Test func `what is not authentic or cannot be answered leaves nothing behind, and the others untouched`()
        async throws
    {
        let card = try await sample.enrolled()
        let other = try SigningKey.generate(.es256)
        let good = SampleRequest()
        try await sample.receive(
            messages: [
                "", "a.b.c", try good.message(for: card.enrollment, signedBy: other),
                try sample.message(SampleRequest(claims: ["jti": "no jti"]), for: card),
                String(repeating: "x", count: 16_385), try sample.message(good, for: card),
            ], for: card)
        #expect(try await sample.onlyRequest().life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty && sample.agent.deferredReader.deferred.count == 0)
    }

    @Test func `if the store fails nothing of the answer was taken in, and it can come again`() async throws {
        let card = try await sample.enrolled()
        sample.store.breakWrites()
        let events = try await sample.events {
            await #expect(throws: StoreError.self) {
                try await sample.receive(.numbered(1), .numbered(2), for: card)
            }
        }
        #expect(events.isEmpty)
        sample.store.breakWrites(false)
        #expect(try await sample.requests().isEmpty)
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        #expect(try await sample.requests().count == 2)
    }

    @Test func `an answer that comes after the enrollment's end is not taken in`() async throws {
        let card = try await sample.enrolled()
        let stale = try await sample.enrollment(card.id)
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
        try await sample.agent.fetcher.intake.receive(
            [sample.message(SampleRequest(), for: card)], for: stale)
        #expect(try await sample.requests().isEmpty)
    }
}
