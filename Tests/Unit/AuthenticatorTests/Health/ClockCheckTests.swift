import StoreTables
import Testing
import ThreeDS

@testable import Authenticator
@testable import Records

/// A clock that cannot be right is warned of.
struct ClockCheckTests {
    private let floor = ClockCheck.floor

    @Test func `a clock before the first release, or well before what the store has seen, cannot be right`() throws {
        #expect(ClockCheck.finding(now: floor, newest: nil) == nil)
        #expect(ClockCheck.finding(now: floor - 1, newest: nil)?.weakness == .clockBehind)
        #expect(ClockCheck.finding(now: floor + 1_000, newest: floor + 1_300) == nil)
        let finding = try #require(ClockCheck.finding(now: floor + 1_000, newest: floor + 1_301))
        #expect(finding.severity == .high)
        #expect(finding.message.contains("says 2026-01-01T00:16:40Z, which cannot be: it was 2026-01-01T00:21:41Z"))
    }

    @Test func `the store's newest request or enrollment counts`() async throws {
        let sample = try SampleAgent()
        #expect(try await sample.store.read { try $0.newestTime() } == nil)
        let card = try await sample.enrolled()
        #expect(try await sample.store.read { try $0.newestTime() } == SampleAgent.start)
        sample.clock.advance(by: 100)
        try await sample.receive(.numbered(1), for: card)
        #expect(try await sample.store.read { try $0.newestTime() } == SampleAgent.start + 100)
        // The test's time is long past, and the agent says so.
        #expect(await sample.agent.checkup.findings().first?.weakness == .clockBehind)
    }
}
