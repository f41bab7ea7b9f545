import IssuerProtocol
import Testing

@testable import Authenticator
@testable import Records

/// How a command names a request.
@Suite(.timeLimit(.minutes(20)))
struct SelectionTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func find(_ name: String, of card: SampleEnrollment? = nil) async throws -> String {
        guard let selector = RequestSelector(name) else { throw SampleError("no selector: \(name)") }
        return try await sample.agent.request(selector, enrollment: card?.id, wait: 0).jti.text
    }

    @Test(arguments: ["", String(repeating: "a", count: 65), "a b", "a%", "a*", "a/b", "é", "a\n"])
    func `a name that no request can have is no selector`(name: String) {
        #expect(RequestSelector(name) == nil)
    }

    @Test func `next is the pending one that came first`() async throws {
        let card = try await sample.enrolled("card")
        let other = try await sample.enrolled("other")
        #expect(try await failureCode { _ = try await find("next") } == .noRequest)
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try await sample.receive(.numbered(3), for: other)
        #expect(try await find("next") == "request-1")
        #expect(try await find("next", of: other) == "request-3")
        try await sample.decide(.deny(.userDenied), sample.requests()[0].id)
        #expect(try await find("next") == "request-2")
    }

    @Test func `id, jti and acsTransId find it, whole or by a prefix that only it has`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(
            SampleRequest(jti: "abc-1", acsTransId: "1f37539c-d82e-4929-88db-2f9e72c7fa62"),
            SampleRequest(jti: "abd-2", acsTransId: "2F37539C-D82E-4929-88DB-2F9E72C7FA62"), for: card)
        let ids = try await sample.requests().map(\.id.text)
        for name in [ids[1], "abd-2", "abd", "2f37539c-d82e", "2F37539C-D82E-4929-88DB-2F9E72C7FA62"] {
            #expect(try await find(name) == "abd-2", "\(name)")
        }
        #expect(try await failureCode { _ = try await find("abe") } == .notFound)
        #expect(try await failureCode { _ = try await find("ABD-2") } == .notFound, "a jti has a case")
    }

    @Test func `a prefix that several have is ambiguous, and they are named`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let failure = try await #require(throws: CommandError.self) { _ = try await find("request-") }
        #expect(failure.code == .ambiguous)
        for request in try await sample.requests() { #expect(failure.message.contains(request.id.text)) }
    }

    @Test func `a whole jti means itself, however many begin with it`() async throws {
        let card = try await sample.enrolled()
        for start in [1, 101] {
            try await sample.receive(
                messages: try (start..<start + 100).map { try sample.message(.numbered($0), for: card) }, for: card)
        }
        #expect(try await find("request-1") == "request-1")
        #expect(try await failureCode { _ = try await find("request-19") } == nil)
    }

    @Test func `what is waited for under its whole jti is not another whose jti goes on`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(
            SampleRequest(jti: "pay-10", acsTransId: "1f37539c-d82e-4929-88db-2f9e72c7fa62"), for: card)
        #expect(try await find("pay-1") == "pay-10")
        guard let selector = RequestSelector("pay-1") else { throw SampleError("no selector") }
        async let waiting = sample.agent.request(selector, enrollment: nil, wait: 10)
        try await sample.clock.sleepers()
        try await sample.receive(SampleRequest(jti: "pay-1"), for: card)
        #expect(try await waiting.jti.text == "pay-1")
        for name in ["1f37", String(try await sample.requests()[0].id.text.prefix(8))] {
            guard let selector = RequestSelector(name) else { throw SampleError("no selector") }
            #expect(try await sample.agent.request(selector, enrollment: nil, wait: 10).jti.text == "pay-10")
        }
    }

    @Test func `a whole acsTransId means the pending one of those that it stands for`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(jti: "first", iat: 1), for: card)
        try await sample.receive(SampleCancellation(cancels: "first"), for: card)
        try await sample.receive(SampleRequest(jti: "second", iat: 2), for: card)
        #expect(try await find(SampleRequest().acsTransId) == "second")
        try await sample.receive(SampleCancellation(jti: "cancellation-2", cancels: "second"), for: card)
        #expect(try await failureCode { _ = try await find(SampleRequest().acsTransId) } == .ambiguous)
    }

    @Test(arguments: [SampleRequest().acsTransId, "request-1"])
    func `what another issuer gave the same name never takes the place of what was shown`(decoyJTI: String) async throws
    {
        let (card, hostile) = (try await sample.enrolled("card"), try await sample.enrolled("hostile"))
        let name = SampleRequest().acsTransId
        let isNamedByJTI = decoyJTI == name
        let decoy = SampleRequest(
            jti: decoyJTI, acsTransId: isNamedByJTI ? "1f37539c-d82e-4929-88db-2f9e72c7fa62" : name)
        try await sample.receive(decoy, for: hostile)
        #expect(try await find(name) == decoyJTI, "it is alone, and shown")
        try await sample.receive(SampleCancellation(cancels: decoyJTI), for: hostile)
        try await sample.receive(SampleRequest(jti: "victim", iat: 1), for: card)
        #expect(try await failureCode { _ = try await find(name) } == .ambiguous)
        #expect(try await find(name, of: card) == "victim")
    }

    @Test func `an enrollment narrows it down`() async throws {
        let card = try await sample.enrolled("card")
        let other = try await sample.enrolled("other")
        try await sample.receive(SampleRequest(), for: card)
        try await sample.receive(SampleRequest(), for: other)
        #expect(try await failureCode { _ = try await find("request-1") } == .ambiguous)
        #expect(try await find("request-1", of: other) == "request-1")
    }

    @Test func `who waits for a request is told when it comes, or when the time is over`() async throws {
        let card = try await sample.enrolled()
        async let waiting = sample.agent.request(.next, enrollment: card.id, wait: 10)
        try await sample.clock.sleepers()
        try await sample.receive(SampleRequest(), for: card)
        let found = try await waiting
        #expect(found.jti.text == SampleRequest().jti)
        try await sample.decide(.deny(.userDenied), found.id)

        async let late = failureCode { _ = try await sample.agent.request(.next, enrollment: card.id, wait: 10) }
        try await sample.clock.sleepers()
        sample.clock.advance(by: 10)
        #expect(try await late == .noRequest)
    }

    @Test func `who decides waits for the delivery, and no longer than asked`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let gate = Channel<Void>()
        await sample.issuer.onDecision { (_) throws(IssuerError) in
            try await gate.answer()
            return .authenticated
        }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            let ids = try await sample.requests().map(\.id)
            let first = try await sample.decide(.approve, ids[0])
            async let prompt = sample.agent.delivered(first, seconds: 10)
            _ = try await sample.issuer.decided.next()
            gate.send(())
            #expect(try await prompt.life.delivery == .delivered(.authenticated))

            let second = try await sample.decide(.approve, ids[1])
            async let slow = sample.agent.delivered(second, seconds: 10)
            _ = try await sample.issuer.decided.next()
            try await sample.clock.sleepers()
            sample.clock.advance(by: 10)
            #expect(try await slow.life == RequestLife(state: .approved, delivery: .queued))
        }
    }
}
