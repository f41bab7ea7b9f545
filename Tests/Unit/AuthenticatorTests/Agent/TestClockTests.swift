import AgentHost
import Logging
import Testing
import TextAndTime

@testable import Authenticator
@testable import Journal
@testable import Records

/// A clock that a test sets forward: what is due comes at once, and whoever is waited for has their time.
@Suite(.timeLimit(.minutes(20)))
struct TestClockTests {
    private let clock = TestClock()

    @Test func `an advance moves both times, and never back`() {
        let (now, steady) = (clock.now, clock.steady)
        clock.advance(to: 600)
        clock.advance(to: 60)
        #expect(clock.offset == 600)
        #expect(clock.now >= now + 600 && clock.steady >= steady + 600)
    }

    @Test func `a sleep since a moment before an advance ends at once`() async throws {
        let begun = clock.steady
        clock.advance(to: 86_400)
        try await clock.sleep(seconds: 86_400, since: begun)
    }

    @Test func `a request expires by an advance, which is kept and journaled`() async throws {
        let sample = try SampleAgent()
        let agent = sample.agent(with: clock)
        try await agent.prepare()
        let peer = ControlPeer(uid: 1, gid: 2, pid: 3, process: "test")
        let facts = try await agent.advanceClock(by: try .init(seconds: 600), for: peer)
        #expect(facts.offset == 600)
        let entry = try await sample.newest(.clockAdvanced)
        #expect(entry.number("seconds") == 600 && entry.number("offset") == 600)
        // As after a restart.
        let again = TestClock()
        try await sample.agent(with: again).prepare()
        #expect(again.offset == 600)
        await #expect(throws: ClockError.self) { try await sample.agent(with: nil).prepare() }
    }

    @Test func `advances that come together are all kept, and no more than the bound`() async throws {
        let sample = try SampleAgent()
        let agent = sample.agent(with: clock)
        try await agent.prepare()
        let peer = ControlPeer(uid: 1, gid: 2, pid: 3, process: "test")
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask { _ = try await agent.advanceClock(by: try .init(seconds: 86_400), for: peer) }
            }
            try await group.waitForAll()
        }
        #expect(clock.offset == 50 * 86_400)
        await #expect(throws: CommandError.self) {
            try await agent.advanceClock(by: try .init(seconds: 351 * 86_400), for: peer)
        }
        #expect(clock.offset == 50 * 86_400)
    }

    @Test func `who waits for a request, or has one decided, waits by the machine's clock`() async throws {
        let sample = try SampleAgent()
        let agent = sample.agent(with: clock)
        let wanted = agent.wanted(for: 30, before: nil)
        let until = agent.wanted(for: 30, before: clock.now + 30)
        clock.advance(to: 86_400)
        #expect(wanted.overBecause == nil && until.overBecause == nil)
    }
}

extension SampleAgent {
    /// Another agent on the same state, with the machine's clock, and a test's in its place.
    fileprivate func agent(with clock: TestClock?) -> Agent {
        let ports = Ports(
            store: store, custody: custody, sealing: ports.sealing, auditKeys: ports.auditKeys, gateway: issuer,
            clock: SystemClock(), testClock: clock, entropy: SystemEntropy())
        return Agent(ports: ports, settings: settings, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
}
