import Testing

@testable import FairSharing

@Suite struct RateLimitTests {
    /// So many in a minute, as many at once.
    private static func limit(aMinute: Int) -> RateLimit<String> {
        RateLimit(burst: aMinute, every: .seconds(60) / aMinute, maxKeys: 2)
    }

    @Test func `as many as in a minute may come at once, and one more waits`() {
        var limit = Self.limit(aMinute: 7)
        #expect((0..<7).allSatisfy { _ in limit.spend("a", now: .seconds(100)) == nil })
        #expect(limit.spend("a", now: .seconds(100)) == 9)
        #expect(limit.spend("a", now: .seconds(108)) == 1)
        #expect(limit.spend("a", now: .seconds(109)) == nil)
    }

    @Test func `it never holds more than a minute's worth`() {
        var limit = Self.limit(aMinute: 2)
        _ = limit.spend("a", now: .zero)
        #expect(
            (0..<3).map { _ in limit.spend("a", now: .seconds(Int64.max / 2)) == nil } == [true, true, false])
    }

    @Test func `a clock that was set back neither fills nor blocks`() {
        var limit = Self.limit(aMinute: 60)
        #expect((0..<60).allSatisfy { _ in limit.spend("a", now: .seconds(1_000)) == nil })
        #expect(limit.spend("a", now: .zero) == 1)
        #expect(limit.spend("a", now: .seconds(1)) == nil)
    }

    @Test func `a call takes as many as it costs, or nothing`() {
        var limit = RateLimit<String>(burst: 10, every: .seconds(1), maxKeys: 2)
        #expect(limit.spend("a", cost: 7, now: .zero) == nil)
        #expect(limit.spend("a", cost: 5, now: .zero) == 2)
        #expect(limit.spend("a", cost: 3, now: .zero) == nil)
        limit.giveBack("a", cost: 2)
        #expect(limit.spend("a", cost: 2, now: .zero) == nil)
        #expect(limit.spend("a", now: .zero) == 1)
    }

    @Test func `a call that costs more than the bucket holds takes a full one, and leaves a debt`() {
        var limit = RateLimit<String>(burst: 10, every: .seconds(1), maxKeys: 2)
        #expect(limit.spend("a", now: .zero) == nil)
        #expect(limit.spend("a", cost: 50, now: .zero) == 1)
        #expect(limit.spend("a", cost: 50, now: .seconds(1)) == nil)
        #expect(limit.spend("a", now: .seconds(1)) == 41)
        #expect(limit.spend("a", now: .seconds(42)) == nil)
    }

    @Test func `so many keys have a bucket of their own, all others share one, and a full one makes room`() {
        var limit = RateLimit<String>(burst: 2, every: .seconds(1), maxKeys: 2)
        for key in ["a", "b", "c"] { #expect(limit.spend(key, cost: 2, now: .zero) == nil) }
        for key in ["d", "e"] { #expect(limit.spend(key, now: .zero) == 1, "they share one with c") }
        let taken = (0..<1_000).count { limit.spend("key \($0)", now: .seconds(2)) == nil }
        #expect(taken == 4, "two of their own, and the one that is shared: it holds two")
        #expect(limit.spend("key 0", cost: 2, now: .seconds(4)) == nil)
    }

    @Test func `a bucket that is full again is forgotten, also if there is room for more`() {
        var limit = RateLimit<String>(burst: 10, every: .seconds(1), maxKeys: 1_000)
        for key in 0..<100 { #expect(limit.spend("\(key)", now: .zero) == nil) }
        #expect(limit.count == 100)
        #expect(limit.spend("slow", cost: 10, now: .seconds(9)) == nil)
        #expect(limit.count == 101, "it is looked for them once in the time in which a bucket fills")
        #expect(limit.spend("last", now: .seconds(10)) == nil)
        #expect(limit.count == 2)
        #expect(limit.spend("slow", cost: 2, now: .seconds(10)) == 1, "one that is not full is known still")
    }
}
