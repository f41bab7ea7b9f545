import IssuerProtocol
import Logging
import StrictJSON
import TestStores
import Testing
import ThreeDS

@testable import Authenticator
@testable import Journal
@testable import Records

/// What an enrollment was asked once is presented once, whatever arrives how often.
@Suite(.timeLimit(.minutes(20)))
struct RequestAdmissionTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    @Test(.ofSQLite) func `a request in order is presented once, however often it comes`() async throws {
        let card = try await sample.enrolled()
        let message = try sample.message(SampleRequest(), for: card)
        let events = try await sample.events {
            try await sample.receive(messages: [message, message], for: card)
            try await sample.receive(messages: [message], for: card)
            try await sample.restarted().receive(messages: [message], for: card)
            // The same bytes may be signed once more.
            try await sample.receive(SampleRequest(), for: card)
        }
        #expect(events.count { $0.kind == .presented } == 1)
        let record = try await sample.onlyRequest()
        #expect(record.life == .pending && record.jti.text == "request-1")
        #expect(record.iat == SampleAgent.start && record.exp == SampleAgent.start + 600)
        #expect(record.receivedAt == SampleAgent.start && record.decidedAt == nil)
        #expect(record.message == message)
    }

    @Test func `a jti with other bytes is a conflict and never answered`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let events = try await sample.events {
            try await sample.receive(SampleRequest(claims: ["x": 1]), for: card)
            try await sample.receive(SampleRequest(purchaseAmount: "200"), for: card)
        }
        #expect(sample.agent.drops.all[.reusedID] == 2)
        #expect(events.count { $0.tells(.conflict, of: card.id) } == 1)
        let record = try await sample.onlyRequest()
        #expect(record.life == .pending && !record.hasConflict)
        #expect(try await sample.outbox(of: card).isEmpty)
    }

    @Test func `a jti with other bytes is a conflict after a restart and a decision too`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        try await sample.decide(.deny(.userDenied), sample.onlyRequest().id)
        let later = try sample.restarted()
        try await later.receive(SampleRequest(nonce: Array(1...16)), for: card)
        #expect(try await later.outbox(of: card).map(\.jti.text) == ["request-1"])
        #expect(try await later.requests().count == 1)
    }

    @Test func `two enrollments may be sent the same jti and acsTransId`() async throws {
        let one = try await sample.enrolled("one")
        let other = try await sample.enrolled("other")
        try await sample.receive(SampleRequest(), for: one)
        try await sample.receive(SampleRequest(purchaseAmount: "200"), for: other)
        #expect(try await sample.requests().map(\.life) == [.pending, .pending])
    }

    @Test func `another transaction under an acsTransId is refused, and marks the first while it is pending`()
        async throws
    {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let events = try await sample.events {
            try await sample.receive(SampleRequest(jti: "request-2", iat: 1, purchaseAmount: "200"), for: card)
        }
        let records = try await sample.requests()
        #expect(records.map(\.life) == [.pending, .refused(token: "conflict", reason: .invalidRequest)])
        #expect(records.map(\.hasConflict) == [true, false])
        #expect(records[0].warnings(for: card.enrollment).map(\.id).contains("conflict"))
        let outbox = try await sample.outbox(of: card)
        #expect(outbox.map(\.jti.text) == ["request-2"])
        #expect(try outbox.map { try $0.decision } == [.deny(.invalidRequest)])
        #expect(events.contains { $0.tells(.conflict, of: card.id) })
        try await sample.approve(records[0].id)
    }

    @Test func `another transaction under a decided acsTransId is refused and leaves the decision alone`() async throws
    {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        try await sample.approve(id)
        try await sample.restarted().receive(
            SampleRequest(jti: "request-2", merchantName: "Other"), for: card)
        let first = try await sample.request(id)
        #expect(first.life == RequestLife(state: .approved, delivery: .queued) && !first.hasConflict)
        #expect(try await sample.outbox(of: card).map(\.jti.text) == ["request-1", "request-2"])
    }

    @Test func `texts that are only canonically equivalent are different transactions`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(merchantName: "Caf\u{E9}"), for: card)
        try await sample.receive(SampleRequest(jti: "request-2", iat: 1, merchantName: "Cafe\u{301}"), for: card)
        #expect(try await sample.requests().map(\.hasConflict) == [true, false])
    }

    @Test func `another userVerification makes it another transaction`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        try await sample.receive(SampleRequest(jti: "request-2", iat: 1, userVerification: "discouraged"), for: card)
        #expect(try await sample.requests().map(\.hasConflict) == [true, false])
    }

    @Test func `up to the bound requests are pending, and the one past it is refused as policy`() async throws {
        let sample = try SampleAgent(AgentSettings(bounds: AgentBounds { $0.undecided = 3 }, version: "1"))
        let card = try await sample.enrolled("card")
        let other = try await sample.enrolled("other")
        for number in 1...4 { try await sample.receive(.numbered(number), for: card) }
        try await sample.receive(.numbered(5), for: other)
        #expect(
            try await sample.requests().map(\.life) == [
                .pending, .pending, .pending, .refused(token: "tooManyUndecided", reason: .policy), .pending,
            ])
        #expect(try await sample.outbox(of: card).map { try $0.decision } == [.deny(.policy)])
        try await sample.decide(.deny(.userDenied), sample.requests()[0].id)
        try await sample.receive(.numbered(6), for: card)
        #expect(try await sample.requests().last?.life == .pending)
    }

    @Test func `the bound counts requests that come in one answer`() async throws {
        let sample = try SampleAgent(AgentSettings(bounds: AgentBounds { $0.undecided = 2 }, version: "1"))
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), .numbered(3), for: card)
        #expect(try await sample.requests().count { $0.life == .pending } == 2)
    }

    @Test func `a request that comes after its time is closed as expired without an answer`() async throws {
        let card = try await sample.enrolled()
        sample.clock.advance(by: 600)
        try await sample.receive(SampleRequest(), for: card)
        let record = try await sample.onlyRequest()
        #expect(record.life == .expired && record.presented == nil)
        #expect(try await sample.outbox(of: card).isEmpty)
        #expect(try await failureCode { try await sample.approve(record.id) } == .noLongerDecidable)
    }

    @Test func `what an issuer lists after its time says that a clock is wrong, once a minute`() async throws {
        let log = WrittenLog()
        let sample = try sample.restarted(log: log.logger)
        let card = try await sample.enrolled()
        sample.clock.advance(by: 600)
        for number in 1...3 {
            let late = try sample.message(
                SampleRequest(jti: "late-\(number)", claims: ["exp": .integer(.min)]), for: card)
            try await sample.agent.fetcher.intake.receive(
                [late], for: try await sample.enrollment(card.id), by: number < 3 ? .poll : .push)
        }
        #expect(
            log.lines(.warning) == ["a request arrived already expired; check this machine's clock"])
    }

    @Test func `a refused request is denied at once, and never presented`() async throws {
        let card = try await sample.enrolled()
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let events = try await sample.events {
            try await sample.receive(
                SampleRequest(rpId: "other.example", claims: ["traceparent": .string(trace)]), for: card)
        }
        let record = try await sample.onlyRequest()
        #expect(record.life == .refused(token: "rpId", reason: .invalidRequest) && record.presented == nil)
        let entry = try #require(try await sample.outbox(of: card).first)
        #expect(entry.body == DecisionBody.deny(.invalidRequest))
        #expect(entry.requestId == record.id && entry.signCount == nil && entry.traceparent == trace)
        #expect(entry.exp == SampleAgent.start + 600)
        #expect(!events.contains { $0.kind == .presented })
        #expect(try await failureCode { try await sample.approve(record.id) } == .noLongerDecidable)
    }

    @Test func `a refused request without a usable exp is answered for a day at most`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(
            SampleRequest(jti: "request-1", claims: ["exp": nil]),
            SampleRequest(jti: "request-2", claims: ["exp": .integer(.max)]), for: card)
        let day = SampleAgent.start + 86_400
        #expect(try await sample.outbox(of: card).map(\.exp) == [day, day])
    }

    @Test func `user verification that a presence enrollment cannot give is refused as policy`() async throws {
        let presence = try await sample.enrolled("presence")
        let test = try await sample.enrolled("test", authnType: .test)
        try await sample.receive(SampleRequest(userVerification: "required"), for: presence)
        try await sample.receive(SampleRequest(userVerification: "required"), for: test)
        #expect(
            try await sample.requests().map(\.life) == [.refused(token: "userVerification", reason: .policy), .pending])
    }
}
