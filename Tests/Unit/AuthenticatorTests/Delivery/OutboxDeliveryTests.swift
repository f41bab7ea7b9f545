import IssuerProtocol
import ScratchDirectories
import StoreTables
import StrictJSON
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// A decision goes out until the issuer has answered.
@Suite(.timeLimit(.minutes(20)))
struct OutboxDeliveryTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    /// Requests that were decided before the outbox delivery runs.
    private func decided(_ numbers: ClosedRange<Int>, _ decision: RequestLife.Decision, for card: SampleEnrollment)
        async throws -> [RequestID]
    {
        var ids: [RequestID] = []
        for number in numbers {
            try await sample.receive(.numbered(number), for: card)
            guard let id = try await sample.requests().last?.id else { throw SampleError("no request") }
            ids.append(try await sample.decide(decision, id).id)
        }
        return ids
    }

    /// Waits for the end of the delivery.
    private func expect(
        _ id: RequestID, ends end: DeliveryState, in agent: SampleAgent? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let delivery = try await (agent ?? sample).eventually { store in
            let delivery = try store.request(id)?.life.delivery
            return delivery == .queued ? nil : delivery
        }
        #expect(delivery == end, sourceLocation: sourceLocation)
    }

    @Test(.ofSQLite) func `the issuer's answer ends it, and nothing is sent again`() async throws {
        let card = try await sample.enrolled()
        let approved = try await decided(1...1, .approve, for: card)[0]
        let denied = try await decided(2...2, .deny(.userDenied), for: card)[0]
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await expect(approved, ends: .delivered(.authenticated))
            try await expect(denied, ends: .delivered(.notAuthenticated))
        }
        let later = try sample.restarted()
        try await later.running([later.agent.outboxDelivery.run]) {
            let third = try await decided(3...3, .approve, for: card)[0]
            later.agent.hub.publish(.journaled(.decided, of: card.id))
            try await expect(third, ends: .delivered(.authenticated), in: later)
        }
        #expect(await sample.issuer.decisions.map(\.jti).sorted() == ["request-1", "request-2", "request-3"])
        #expect(try await sample.outbox(of: card).isEmpty)
    }

    @Test func `what was decided while the courier runs goes out at once, with the token and traceparent`() async throws
    {
        let card = try await sample.enrolled()
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        try await sample.receive(SampleRequest(claims: ["traceparent": .string(trace)]), for: card)
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.approve(sample.onlyRequest().id)
            let decision = try await sample.issuer.decided.next()
            #expect(decision.traceparent == trace && decision.token == card.token && decision.jti == "request-1")
        }
    }

    @Test func `what nobody decided goes out at once too: the answer to a duplicate, and a refusal`() async throws {
        let card = try await sample.enrolled()
        let acsTransId = SampleRequest.numbered(1).acsTransId
        try await sample.receive(.numbered(1), for: card)
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.decide(.deny(.userDenied), sample.onlyRequest().id)
            #expect(try await sample.issuer.decided.next().jti == "request-1")
            try await sample.receive(SampleRequest(jti: "again", iat: 1, acsTransId: acsTransId), for: card)
            #expect(try await sample.issuer.decided.next().jti == "again")
            var other = SampleRequest(jti: "other", iat: 2, acsTransId: acsTransId)
            other.purchaseAmount = "200"
            try await sample.receive(other, for: card)
            #expect(try await sample.issuer.decided.next().jti == "other")
        }
    }

    @Test func `the same bytes are sent again after transient failures, ever later, up to half a minute`() async throws
    {
        let card = try await sample.enrolled()
        let id = try await decided(1...1, .approve, for: card)[0]
        let body = try #require(try await sample.outbox(of: card)[0].body)
        let tries = Box(0)
        await sample.issuer.onDecision { (_) throws(IssuerError) in
            guard tries.next() > 8 else { throw .down }
            return .authenticated
        }
        var pauses: [Double] = []
        try await sample.running([sample.agent.outboxDelivery.run]) {
            for _ in 1...8 { pauses.append(try await sample.clock.wakeNext()) }
            try await expect(id, ends: .delivered(.authenticated))
        }
        for (pause, ceiling) in zip(pauses, [1, 2, 4, 8, 16, 30, 30, 30]) { #expect(pause < Double(ceiling)) }
        #expect(Set(pauses).count > 1)
        #expect(await sample.issuer.decisions.map(\.body) == Array(repeating: body, count: 9))
    }

    @Test func `what the server asked for is waited for`() async throws {
        let card = try await sample.enrolled()
        let id = try await decided(1...1, .deny(.userDenied), for: card)[0]
        let tries = Box(0)
        await sample.issuer.onDecision { (_) throws(IssuerError) in
            guard tries.next() > 1 else { throw .transient(reason: "busy", retryAfter: 77) }
            return .notAuthenticated
        }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            #expect(try await sample.clock.wakeNext() == 77)
            try await expect(id, ends: .delivered(.notAuthenticated))
        }
    }

    @Test(
        arguments: [
            .unknownRequest, .alreadyDecided, .expired, .cancelled, .invalidAssertion, .invalidToken,
        ] as [ProblemCode])
    func `a listed problem ends it`(code: ProblemCode) async throws {
        let card = try await sample.enrolled()
        let id = try await decided(1...1, .approve, for: card)[0]
        await sample.issuer.onDecision { (_) throws(IssuerError) in throw .problem(code) }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await expect(id, ends: .failed(token: code.rawValue))
        }
        #expect(try await sample.request(id).life.state == .approved)
        #expect(try await sample.outbox(of: card).isEmpty)
        #expect(await sample.issuer.decisions.count == 1)
    }

    @Test(
        arguments: [
            .invalidRequest, .invalidEnrollmentCode, .invalidRegistration, .ceremonyExpired, .unknownCursor,
            .unknownAuthenticator,
        ] as [ProblemCode])
    func `a problem of another call is repeated like a broken connection`(code: ProblemCode) async throws {
        let card = try await sample.enrolled()
        let id = try await decided(1...1, .approve, for: card)[0]
        let tries = Box(0)
        await sample.issuer.onDecision { (_) throws(IssuerError) in
            guard tries.next() > 1 else { throw .problem(code) }
            return .authenticated
        }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.clock.wakeNext()
            try await expect(id, ends: .delivered(.authenticated))
        }
    }

    @Test func `a delivery that expired says what the last try met, also after a restart`() async throws {
        let card = try await sample.enrolled()
        let id = try await decided(1...1, .approve, for: card)[0]
        await sample.issuer.onDecision { (_) throws(IssuerError) in
            throw .transient(reason: "the issuer answered 503", retryAfter: nil)
        }
        try await sample.running([sample.agent.outboxDelivery.run]) { try await sample.clock.sleepers() }
        sample.clock.advance(by: 600)
        let later = try sample.restarted()
        try await later.running([later.agent.outboxDelivery.run]) {
            try await expect(id, ends: .failed(token: "expired"), in: later)
        }
        #expect(try await later.request(id).deliveryError == "the issuer answered 503")
    }

    @Test func `one that was never sent says nothing of a try, and a listed problem what the issuer answered`()
        async throws
    {
        let card = try await sample.enrolled()
        let ids = try await decided(1...2, .approve, for: card)
        await sample.issuer.onDecision { [sample] (_) throws(IssuerError) in
            sample.clock.advance(by: 600)
            throw .problem(.alreadyDecided)
        }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await expect(ids[0], ends: .failed(token: "already_decided"))
            try await expect(ids[1], ends: .failed(token: "expired"))
        }
        #expect(try await sample.request(ids[0]).deliveryError == "the issuer answered already_decided")
        #expect(try await sample.request(ids[1]).deliveryError == nil)
    }

    @Test func `back-off and tries start afresh for the next entry`() async throws {
        let card = try await sample.enrolled()
        let ids = try await decided(1...2, .approve, for: card)
        let tries = Box(0)
        await sample.issuer.onDecision { (_) throws(IssuerError) in
            // The first decision is taken at its seventh try, the second at its second.
            guard [7, 9].contains(tries.next()) else { throw .down }
            return .authenticated
        }
        var last = 0.0
        try await sample.running([sample.agent.outboxDelivery.run]) {
            for _ in 1...6 { try await sample.clock.wakeNext() }
            try await expect(ids[0], ends: .delivered(.authenticated))
            last = try await sample.clock.wakeNext()
            try await expect(ids[1], ends: .delivered(.authenticated))
        }
        #expect(last < 1, "the ceiling of a first pause")
        let entries = try await sample.journal()
        let answers = entries.filter { $0.kind == .answered }
        #expect(answers.map { $0.json["times"] } == [7, 2])
        #expect(entries.count { $0.kind == .sent } == 2)
    }

    @Test func `an unknown token suspends the enrollment, and its key stays`() async throws {
        let card = try await sample.enrolled()
        let id = try await decided(1...1, .approve, for: card)[0]
        await sample.issuer.onDecision { (_) throws(IssuerError) in throw .problem(.invalidToken) }
        let events = try await sample.events {
            try await sample.running([sample.agent.outboxDelivery.run]) {
                try await expect(id, ends: .failed(token: "invalid_token"))
            }
        }
        #expect(events.contains { $0.tells(.suspended, of: card.id) })
        guard case .suspended = try await sample.enrollment(card.id).state else { throw SampleError("not suspended") }
        #expect(try await sample.enrollment(card.id).sealedKey != nil)
    }

    @Test func `nothing is sent from the second of its exp on`() async throws {
        let card = try await sample.enrolled()
        let id = try await decided(1...1, .approve, for: card)[0]
        sample.clock.advance(by: 600)
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await expect(id, ends: .failed(token: "expired"))
        }
        #expect(await sample.issuer.decisions.isEmpty)
    }

    @Test func `no pause goes beyond the exp`() async throws {
        let card = try await sample.enrolled()
        let id = try await decided(1...1, .approve, for: card)[0]
        await sample.issuer.onDecision { (_) throws(IssuerError) in
            throw .transient(reason: "busy", retryAfter: 3_600)
        }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            #expect(try await sample.clock.wakeNext() == 600)
            try await expect(id, ends: .failed(token: "expired"))
        }
        #expect(await sample.issuer.decisions.count == 1)
    }

    @Test func `it resumes after a restart with the same bytes`() async throws {
        let card = try await sample.enrolled()
        let id = try await decided(1...1, .approve, for: card)[0]
        await sample.issuer.onDecision { (_) throws(IssuerError) in throw .down }
        try await sample.running([sample.agent.outboxDelivery.run]) { try await sample.clock.sleepers() }
        await sample.issuer.onDecision { (_) throws(IssuerError) in .authenticated }
        let later = try sample.restarted()
        try await later.running([later.agent.outboxDelivery.run]) {
            try await expect(id, ends: .delivered(.authenticated), in: later)
        }
        let bodies = await sample.issuer.decisions.map(\.body)
        #expect(bodies.count == 2 && bodies[0] == bodies[1])
    }

    @Test func `if the store fails after the answer, it is written as soon as that can be`() async throws {
        let card = try await sample.enrolled()
        let id = try await decided(1...1, .approve, for: card)[0]
        await sample.issuer.onDecision { [sample] (_) throws(IssuerError) in
            sample.store.breakWrites()
            return .authenticated
        }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.storeRecovered()
            try await expect(id, ends: .delivered(.authenticated))
        }
        #expect(await sample.issuer.decisions.count == 1)
    }
}
