import Testing

@testable import Authenticator

@Suite struct TokenBucketTests {
    @Test func `as many as in a minute may come at once, and one more waits`() {
        var bucket = TokenBucket(aMinute: 7, now: 100)
        #expect((0..<7).allSatisfy { _ in bucket.take(now: 100) == nil })
        #expect(bucket.take(now: 100) == 9)
        #expect(bucket.take(now: 108) == 1)
        #expect(bucket.take(now: 109) == nil)
    }

    @Test func `it never holds more than a minute's worth`() {
        var bucket = TokenBucket(aMinute: 2, now: 0)
        #expect((0..<3).map { _ in bucket.take(now: .max / 2) == nil } == [true, true, false])
    }

    @Test func `a clock that was set back neither fills nor blocks`() {
        var bucket = TokenBucket(aMinute: 60, now: 1_000)
        #expect((0..<60).allSatisfy { _ in bucket.take(now: 1_000) == nil })
        #expect(bucket.take(now: 0) == 1)
        #expect(bucket.take(now: 1) == nil)
    }
}
