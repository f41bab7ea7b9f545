import Testing
import ThreeDS

@testable import Authenticator

/// A clock that cannot be right is warned of.
struct ClockCheckTests {
    private let floor = ClockCheck.floor

    @Test func `a clock before the first release, or well before what the book has seen, cannot be right`() throws {
        #expect(ClockCheck.warning(now: floor, newest: nil) == nil)
        #expect(ClockCheck.warning(now: floor - 1, newest: nil)?.id == "clockBehind")
        #expect(ClockCheck.warning(now: floor + 1_000, newest: floor + 1_300) == nil)
        let warning = try #require(ClockCheck.warning(now: floor + 1_000, newest: floor + 1_301))
        #expect(warning.severity == .high)
        #expect(warning.message.contains("says 2026-01-01T00:16:40Z, which cannot be: it was 2026-01-01T00:21:41Z"))
    }

    @Test func `the book's newest request or enrollment counts`() async throws {
        let sample = try SampleAgent()
        #expect(try await sample.book.read { try $0.newestTime() } == nil)
        let card = try await sample.enrolled()
        #expect(try await sample.book.read { try $0.newestTime() } == SampleAgent.start)
        sample.clock.advance(by: 100)
        try await sample.receive(.numbered(1), for: card)
        #expect(try await sample.book.read { try $0.newestTime() } == SampleAgent.start + 100)
        // The test's time is long past, and the agent says so.
        #expect(try await sample.agent.warnings(about: []).map(\.id) == ["clockBehind"])
    }
}
