import IssuerProtocol
import Logging
import StrictJSON
import Synchronization
import Testing

@testable import Authenticator
@testable import Records

/// An issuer cannot fill the agent with what is never presented.
@Suite(.timeLimit(.minutes(20)))
struct QuotaTests {
    private let sample: SampleAgent

    init() throws {
        let bounds = AgentBounds {
            $0.refusedADay = 3
            $0.cancellations = 2
        }
        sample = try SampleAgent(AgentSettings(bounds: bounds, version: "1"))
    }

    /// Refused: its nonce is too short.
    private func refused(_ number: Int) -> SampleRequest {
        var request = SampleRequest.numbered(number)
        request.nonce = Array(0..<15)
        return request
    }

    @Test func `refused requests are answered up to the quota, and the one past it is dropped`() async throws {
        let card = try await sample.enrolled()
        for number in 1...4 { try await sample.receive(refused(number), for: card) }
        #expect(try await sample.requests().map(\.jti.text) == ["request-1", "request-2", "request-3"])
        #expect(try await sample.outbox(of: card).count == 3)
    }

    @Test func `the quota is of 24 hours, and of each enrollment`() async throws {
        let card = try await sample.enrolled("card")
        let other = try await sample.enrolled("other")
        for number in 1...3 { try await sample.receive(refused(number), for: card) }
        try await sample.receive(refused(1), for: other)
        #expect(try await sample.requests().count == 4)
        sample.clock.advance(by: 86_401)
        var later = refused(5)
        (later.iat, later.exp) = (86_401, 86_501)
        try await sample.receive(later, for: card)
        #expect(try await sample.requests().last?.jti.text == "request-5")
    }

    @Test func `requests that come too late and refused conflicts count, those in order are taken all the same`()
        async throws
    {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        var conflict = SampleRequest.numbered(1)
        (conflict.jti, conflict.purchaseAmount) = ("conflict", "200")
        try await sample.receive(conflict, refused(2), for: card)
        sample.clock.advance(by: 100)
        for number in 3...4 {
            var late = SampleRequest.numbered(number)
            late.exp = 100
            try await sample.receive(late, for: card)
        }
        try await sample.receive(.numbered(5), for: card)
        #expect(
            try await sample.requests().map(\.jti.text) == [
                "request-1", "conflict", "request-2", "request-3", "request-5",
            ])
    }

    @Test func `cancellations of requests that never came are remembered up to the quota`() async throws {
        let card = try await sample.enrolled()
        for number in 1...4 {
            try await sample.receive(
                SampleCancellation(jti: "cancellation-\(number)", cancels: "request-\(number)"), for: card)
        }
        for number in 1...4 { try await sample.receive(.numbered(number), for: card) }
        #expect(try await sample.requests().map(\.life) == [.cancelled, .cancelled, .pending, .pending])
    }

    @Test func `a message has at most as many bytes as are set`() async throws {
        let message = try SampleRequest().message(
            for: try await sample.enrolled().enrollment, signedBy: sample.issuerKey)
        for (bound, count) in [(message.utf8.count, 1), (message.utf8.count - 1, 0)] {
            let other = try SampleAgent(AgentSettings(bounds: AgentBounds { $0.messageBytes = bound }, version: "1"))
            let card = try await other.enrolled()
            try await other.receive(SampleRequest(), for: card)
            #expect(try await other.requests().count == count)
        }
    }

    @Test func `a bad peer gets one log line, and the next when the pause is over`() {
        let quota = LogQuota(pause: 60)
        #expect(quota.admit("bad", now: 0) == 0)
        #expect(quota.admit("bad", now: 1) == nil)
        #expect(quota.admit("other", now: 1) == 0)
        #expect(quota.admit("bad", now: 59) == nil)
        #expect(quota.admit("bad", now: 60) == 2, "those that were left out are counted")
        #expect(quota.admit("bad", now: 119) == nil)
        #expect(quota.admit("bad", now: 30) == 1, "nobody is silent because the clock was set back")
        #expect(quota.admit("bad", now: 31) == nil)
    }

    @Test func `each topic of a peer has a line of its own, up to a bound, past which the others are one`() {
        let quota = LogQuota(pause: 60)
        #expect(quota.admit("bad", about: "typ", now: 0) == 0)
        #expect(quota.admit("bad", about: "aud", now: 0) == 0)
        #expect(quota.admit("bad", about: "typ", now: 0) == nil)
        #expect(quota.admit("bad", about: "aud", now: 60) == 0)
        #expect(quota.admit("bad", about: "typ", now: 60) == 1)
        let lines = (0..<100).count { quota.admit("worse", about: "\($0)", now: 0) != nil }
        #expect(lines == 33)
    }

    @Test func `the lines about one issuer have a bound whatever its enrollments, and others are heard meanwhile`() {
        let quota = LogQuota(pause: 60)
        let lines = (0..<1_000).count { quota.admit("card \($0)", at: "bad", now: 0) != nil }
        #expect(lines == 60)
        #expect(quota.admit("card", at: "other", now: 0) == 0)
        #expect(quota.admit("card 999", at: "bad", now: 0) == nil)
        #expect(quota.admit("card 999", at: "bad", now: 1) == 2, "those that were left out are counted")
        #expect(quota.admit("card 998", at: "bad", now: 1) == nil)
    }

    @Test func `all lines together have a bound, also after the memory has started anew`() {
        let quota = LogQuota(pause: 60)
        let lines = (0..<50_000).count { quota.admit("\($0)", at: "issuer \($0)", now: 0) != nil }
        #expect(lines == 600)
        #expect(quota.admit("another", now: 0) == nil)
        #expect(quota.admit("another", now: 60) == 1)
    }

    @Test func `an issuer that gets several things wrong is told of each, and once a minute`() async throws {
        let log = WrittenLog()
        let sample = try sample.restarted(log: log.logger)
        let card = try await sample.enrolled()
        let claims: JSONObject = [
            "iss": "https://issuer.example", "aud": "authenticator-card", "jti": "typed",
        ]
        let messages = [
            try SampleRequest.signed(claims, typ: "jwt", kid: "key-1", by: sample.issuerKey),
            try sample.message(SampleRequest(claims: ["aud": "another"]), for: card),
            try sample.message(SampleRequest(claims: ["iss": "https://other.example"]), for: card),
            try sample.message(SampleRequest(claims: ["jti": 1]), for: card),
            try sample.message(SampleRequest(iat: 601, exp: 700), for: card),
        ]
        for _ in 1...3 { try await sample.receive(messages: messages, for: card) }
        #expect(log.lines(.warning).count { $0 == "a request is not authentic" } == 3)
        #expect(log.lines(.warning).count { $0 == "a request cannot be answered" } == 1)
        #expect(log.lines(.warning).count { $0.hasPrefix("a request is from the future") } == 1)
        #expect(log.lines(.warning).count == 5)
    }

    @Test func `so many bad peers as there is memory for are remembered, then the memory starts anew`() {
        let quota = LogQuota(pause: 60, bounds: .init(ofAll: 100_000))
        for number in 1...20_000 { _ = quota.admit("\(number)", now: 0) }
        #expect(quota.admit("1", now: 0) == nil)
        #expect(quota.admit("20001", now: 0) == 0)
        #expect(quota.admit("1", now: 0) == 0)
    }

    @Test func `calls for the same at the same time are one, and the next asks again`() async throws {
        let shared = SharedCall<Int, Int>()
        let calls = Calls()
        let gate = AsyncStream<Void>.makeStream()
        let first = AsyncStream<Void>.makeStream()
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...5 {
                group.addTask {
                    try await shared.value(for: 7) { () throws(IssuerError) in
                        first.continuation.yield()
                        for await _ in gate.stream { break }
                        return calls.next()
                    }
                }
            }
            for await _ in first.stream { break }
            while shared.waiterCount(for: 7) < 4, !Task.isCancelled { await Task.yield() }
            gate.continuation.yield()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == [1, 1, 1, 1, 1])
        gate.continuation.yield()
        let next = try await shared.value(for: 7) { () throws(IssuerError) in calls.next() }
        #expect(next == 2)
    }
}

/// Counts calls.
private final class Calls: Sendable {
    private let made = Mutex(0)

    func next() -> Int {
        made.withLock { made in
            made += 1
            return made
        }
    }
}
