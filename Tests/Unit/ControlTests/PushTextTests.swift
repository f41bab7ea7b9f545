import Testing

@testable import Control

/// What a person reads about pushes.
struct PushTextTests {
    /// 2026-11-21T18:00:00Z.
    private static let now: Int64 = 1_795_284_000

    private func cell(_ heading: String, of view: PushView, now: Int64 = now) throws -> String {
        let column = try #require(PushView.heading.firstIndex(of: heading))
        let cells = view.cells(now: now)
        #expect(cells.count == PushView.heading.count)
        return cells[column]
    }

    @Test func `each cell stands under its heading`() throws {
        let view = PushView(
            works: true, lastPush: "2026-11-21T17:59:58Z", lastPoll: "2026-11-21T17:59:30Z", firstByPush: 12,
            firstByPoll: 1, duplicates: 11, refused: 3, latency: 4)
        let expected = [
            "POLLS": "slow", "PUSHED": "2s ago", "POLLED": "30s ago", "BY PUSH": "12", "BY POLL": "1", "TWICE": "11",
            "DELAY": "4s",
        ]
        for (heading, text) in expected { #expect(try cell(heading, of: view) == text) }
        #expect(Set(PushView.heading) == Set(expected.keys))
    }

    @Test func `polls are fast until a push came, slow while pushes come, and resumed when they stop`() throws {
        let time = "2026-11-21T17:00:00Z"
        #expect(try cell("POLLS", of: PushView(works: false)) == "fast")
        #expect(try cell("POLLS", of: PushView(works: true, lastPush: time)) == "slow")
        #expect(try cell("POLLS", of: PushView(works: false, lastPush: time)) == "resumed")
    }

    @Test(arguments: [
        (0, "0s ago"), (59, "59s ago"), (60, "1m ago"), (3_599, "59m ago"), (3_600, "1h ago"), (86_399, "23h ago"),
        (86_400, "1d ago"), (40_000_000, "462d ago"), (-5, "0s ago"),
    ])
    func `a time is told as how long ago it was`(_ seconds: Int64, _ text: String) throws {
        let view = PushView(works: true, lastPush: "2026-11-21T18:00:00Z")
        #expect(try cell("PUSHED", of: view, now: Self.now + seconds) == text)
    }

    @Test func `what has not been is never, and no delay`() throws {
        let view = PushView(works: false)
        #expect(try cell("PUSHED", of: view) == "never")
        #expect(try cell("POLLED", of: view) == "never")
        #expect(try cell("DELAY", of: view).isEmpty)
    }

    @Test func `what is no time is shown as it came`() throws {
        #expect(try cell("PUSHED", of: PushView(works: true, lastPush: "soon")) == "soon")
    }
}
