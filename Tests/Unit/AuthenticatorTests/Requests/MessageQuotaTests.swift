import IssuerProtocol
import Logging
import StoreTables
import Testing

@testable import Authenticator
@testable import Records

/// An issuer cannot fill the agent with what is in order either.
@Suite(.timeLimit(.minutes(20)))
struct MessageQuotaTests {
    private let log = WrittenLog()
    private let sample: SampleAgent

    init() throws {
        sample = try SampleAgent(AgentSettings(bounds: AgentBounds { $0.messagesADay = 3 }, version: "1"))
            .restarted(log: log.logger)
    }

    private var jtis: [String] { get async throws { try await sample.requests().map(\.jti.text) } }

    private func messages(of card: SampleEnrollment) async throws -> Int {
        try await sample.store.real.read { try $0.storedTally(of: card.id, since: 0, until: .max).messages }
    }

    @Test func `requests that are soon over are taken up to the bound, and the one past it is dropped`() async throws {
        let card = try await sample.enrolled()
        for number in 1...4 {
            var short = SampleRequest.numbered(number)
            short.exp = Int64(number) * 3
            try await sample.receive(short, for: card)
            sample.clock.advance(by: 3)
        }
        #expect(try await jtis == ["request-1", "request-2", "request-3"])
        let recorded = try await sample.recorded { try await sample.receive(.numbered(5), for: card) }
        #expect(recorded.isEmpty)
        #expect(await sample.agent.figures().drops == [.overQuota: 2])
        #expect(log.lines(.warning) == ["too many messages for one enrollment; one was dropped"])
    }

    @Test func `a decided transaction under ever new jtis is answered up to the bound`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        try await sample.decide(.deny(.userDenied), try await sample.onlyRequest().id)
        for number in 2...4 { try await sample.receive(SampleRequest(jti: "again-\(number)"), for: card) }
        #expect(try await sample.outbox(of: card).map(\.jti.text) == ["request-1", "again-2", "again-3"])
    }

    @Test func `a pending or expired transaction under ever new jtis is remembered up to the bound`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(iat: -5), for: card)
        try await sample.receive(SampleRequest(jti: "older", iat: -6), for: card)
        sample.clock.advance(by: 600)
        for number in 3...5 {
            try await sample.receive(SampleRequest(jti: "older-\(number)", iat: -7, exp: 700), for: card)
        }
        #expect(try await messages(of: card) == 3)
    }

    @Test func `too late and refused ones are dropped past it too, and so is one that would be held`() async throws {
        let card = try await sample.enrolled()
        for number in 1...3 { try await sample.receive(.numbered(number), for: card) }
        var late = SampleRequest.numbered(4)
        (late.iat, late.exp) = (-20, -10)
        var refused = SampleRequest.numbered(5)
        refused.nonce = Array(0..<15)
        var early = SampleRequest.numbered(6)
        early.iat = 300
        try await sample.receive(late, refused, early, for: card)
        #expect(try await jtis == ["request-1", "request-2", "request-3"])
        #expect(await sample.agent.figures().drops == [.overQuota: 3])
    }

    @Test func `it is of 24 hours and of each enrollment, and the same message again is none`() async throws {
        let card = try await sample.enrolled("card")
        let other = try await sample.enrolled("other")
        for _ in 1...4 { try await sample.receive(.numbered(1), for: card) }
        for number in 2...3 { try await sample.receive(.numbered(number), for: card) }
        try await sample.receive(.numbered(4), for: other)
        #expect(try await jtis == ["request-1", "request-2", "request-3", "request-4"])
        sample.clock.advance(by: 86_400 + 300)
        var later = SampleRequest.numbered(5)
        (later.iat, later.exp) = (86_700, 86_800)
        try await sample.receive(later, for: card)
        #expect(try await jtis.last == "request-5")
    }

    @Test func `past it a request can still be taken back`() async throws {
        let card = try await sample.enrolled()
        for number in 1...3 { try await sample.receive(.numbered(number), for: card) }
        try await sample.receive(SampleCancellation(), for: card)
        #expect(try await sample.requests().map(\.life) == [.cancelled, .pending, .pending])
    }

    @Test func `cancellations that are soon over are taken up to twice the bound`() async throws {
        let card = try await sample.enrolled()
        for number in 1...8 {
            try await sample.receive(
                SampleCancellation(jti: "short-\(number)", cancels: "none-\(number)", exp: Int64(number) * 3), for: card
            )
            sample.clock.advance(by: 3)
        }
        #expect(try await messages(of: card) == 6)
        #expect(await sample.agent.figures().drops == [.overQuota: 2])
    }
}
