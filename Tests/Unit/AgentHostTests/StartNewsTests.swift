import Synchronization
import Testing

@testable import AgentHost

/// How far a long start has come is told where something was done, and not with everything.
@Suite struct StartNewsTests {
    /// What was told, by a clock that the test moves.
    private final class Manager: Sendable {
        private let state = Mutex<(now: ContinuousClock.Instant, told: [[ServiceManager.News]])>((.now, []))

        var now: ContinuousClock.Instant { state.withLock(\.now) }
        var told: [[ServiceManager.News]] { state.withLock(\.told) }

        func advance(by duration: Duration) { state.withLock { $0.now += duration } }
        func hear(_ news: [ServiceManager.News]) { state.withLock { $0.told.append(news) } }
    }

    private let manager = Manager()
    private let news: StartNews

    init() {
        news = StartNews(patience: .seconds(120), now: { [manager] in manager.now }) { [manager] told in
            manager.hear(told)
        }
    }

    /// What is told of steps that came so many seconds after each other.
    private func told(_ seconds: [Int]) throws -> [String] {
        for (number, seconds) in seconds.enumerated() {
            manager.advance(by: .seconds(seconds))
            try news.report("step \(number)", patience: .seconds(120))
        }
        return manager.told.map { $0.map(\.text).joined(separator: " ") }
    }

    @Test func `a start that is over soon tells nothing`() throws {
        #expect(try told([0, 1, 8]).isEmpty)
    }

    @Test func `of a long one every ten seconds, and none if nothing was done`() throws {
        let patience = "EXTEND_TIMEOUT_USEC=120000000 STATUS=step"
        #expect(try told([9, 1, 1, 9, 100]) == ["\(patience) 1", "\(patience) 3", "\(patience) 4"])
    }

    @Test func `what takes longer is told at once, and so is its end`() throws {
        try news.report("long", patience: .seconds(1_800))
        try news.report("over", patience: .seconds(120))
        #expect(
            manager.told == [
                [.working(.seconds(1_800)), .status("long")], [.working(.seconds(120)), .status("over")],
            ])
    }
}
