import IssuerProtocol
import NIOHTTP1
import Records
import Synchronization
import Testing

@testable import IssuerLink

@Suite(.timeLimit(.minutes(20)))
struct LifeTests {
    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n{\"transStatus\""])
    func `a call ends after 30 s, before or within its answer`(_ text: String) async throws {
        let clock = HeldClock()
        try await Link.run(clock: clock) { _ in
            Reply(text, then: .hang)
        } _: { link in
            async let ended = mustFail { try await link.decide() }
            for await case .replied in link.server.events { break }
            // The rest of a body that has begun has a limit too, which is not over on a clock that stands.
            for _ in 0..<10 { clock.letGo() }
            let failure = try await ended
            #expect(failure.reason == "the issuer did not answer within 30 s")
            await link.waitForClose()
            #expect(clock.waits.filter { $0 == 30 } == [30])
        }
    }

    @Test(arguments: [(0, 15.0), (50, 65)])
    func `a fetch may take 15 s more than it waits`(_ wait: Int, _ limit: Double) async throws {
        let clock = HeldClock()
        try await Link.run(clock: clock) { _ in
            .silence
        } _: { link in
            async let ended = mustFail {
                try await link.gateway.fetch(link.access, wait: wait, after: nil)
            }
            _ = try await link.firstRequest()
            clock.letGo()
            let failure = try await ended
            #expect(failure.isTransient)
            #expect(clock.waits == [limit])
        }
    }

    @Test(
        arguments: [(.polls, nil), (.calls, "the issuer did not answer within 30 s")]
            as [(IssuerCall.ConnectionPool, String?)], [false, true])
    func `once its body has begun a poll is not cut at the call's own limit any more, and another call is`(
        expected: (pool: IssuerCall.ConnectionPool, late: String?), beginsBeforeTheLimitIsSet: Bool
    ) throws {
        let clock = BellClock()
        var call = IssuerCall(.GET, "https://issuer.example/requests", maxBytes: 1_000)
        call.pool = expected.pool
        let deadline = AnswerDeadline(of: call, clock)
        let reader = AnswerReader(
            try IssuerURL("https://issuer.example"), in: AnswerRoom(.standard).queue(of: expected.pool),
            maxBytes: 1_000, clock: clock, onPace: { _ in })
        // Called when a body begins. This one has no bytes, so no limit of its rest is set.
        if beginsBeforeTheLimitIsSet { deadline.follow(reader) }
        deadline.start {}
        if !beginsBeforeTheLimitIsSet { deadline.follow(reader) }
        clock.ring()
        #expect(deadline.late == expected.late)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{\"requests\""])
    func `a cancelled fetch ends at once and hangs up`(_ text: String) async throws {
        try await Link.run { _ in
            Reply(text, then: .hang)
        } _: { link in
            try await withThrowingTaskGroup(of: IssuerError.self) { group in
                group.addTask {
                    try await mustFail {
                        try await link.gateway.fetch(link.access, wait: 60, after: nil)
                    }
                }
                for await case .replied in link.server.events { break }
                group.cancelAll()
                let failure = try await group.next()
                #expect(failure?.reason == "the call was cancelled")
            }
            await link.waitForClose()
        }
    }

    @Test func `a call in a cancelled task sends nothing`() async throws {
        try await Link.run { request in
            request.method == "DELETE" ? .answer(204, type: nil) : .authenticated
        } _: { link in
            await withTaskGroup(of: IssuerError?.self) { group in
                group.cancelAll()
                group.addTask { try? await mustFail { try await link.decide() } }
                let failure = await group.next()
                #expect(failure??.reason == "the call was cancelled")
            }
            try await link.gateway.unenroll(link.access)
            let first = try await link.firstRequest()
            #expect(first.method == "DELETE")
        }
    }

    @Test func `fetches that are held back do not hold a decision`() async throws {
        var limits = TransportLimits.patient
        limits.callConnections = 1
        let fetches = 20
        try await Link.run(limits: limits) {
            $0.method == "GET" ? .silence : .authenticated
        } _: { link in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<fetches {
                    group.addTask { _ = try? await link.gateway.fetch(link.access, wait: 60, after: nil) }
                }
                var held = 0
                for await case .replied in link.server.events {
                    held += 1
                    if held == fetches { break }
                }
                let status = try await link.decide()
                #expect(status == .authenticated)
                group.cancelAll()
            }
        }
    }

    @Test func `a connection that nothing uses any more is closed`() async throws {
        var limits = TransportLimits.patient
        limits.idleSeconds = 1
        try await Link.run(limits: limits) { _ in
            .authenticated
        } _: { link in
            _ = try await link.decide()
            await link.waitForClose()
        }
        #expect(TransportLimits.standard.idleSeconds < 10, "memory is given back after ten seconds")
    }

    @Test func `a shutdown ends what is under way and refuses what comes after`() async throws {
        try await Link.run { _ in
            .silence
        } _: { link in
            async let ended = mustFail {
                try await link.gateway.fetch(link.access, wait: 60, after: nil)
            }
            _ = try await link.firstRequest()
            await link.gateway.shutdown()
            let failure = try await ended
            #expect(failure.isTransient)
            let later = try await mustFail { try await link.decide() }
            #expect(later.reason == "the agent is stopping")
        }
    }
}

/// A clock that stands, and whose one alarm rings when the test says so, unless it was called off.
private final class BellClock: AgentClock {
    let now: Int64 = 1_697_522_198
    private let bell = Mutex<(@Sendable () -> Void)?>(nil)

    func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(86_400)) }

    func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm {
        bell.withLock { $0 = action }
        return Alarm { self.bell.withLock { $0 = nil } }
    }

    func ring() {
        let action = bell.withLock { $0 }
        action?()
    }
}
