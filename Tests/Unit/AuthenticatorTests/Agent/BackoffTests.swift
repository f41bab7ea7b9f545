import Testing

@testable import Authenticator

struct BackoffTests {
    private let least = ConstantEntropy(byte: 0x00)
    private let greatest = ConstantEntropy(byte: 0xFF)

    @Test func `ceilings double from the first to the most`() throws {
        var backoff = Backoff(first: 1, limit: 30)
        let drawn = try (0..<7).map { _ in try backoff.next(retryAfter: nil, entropy: greatest) }
        for (seconds, ceiling) in zip(drawn, [1, 2, 4, 8, 16, 30, 30]) {
            #expect(seconds < Double(ceiling) && seconds > Double(ceiling) - 0.001)
        }
    }

    @Test func `the jitter is full, down to zero`() throws {
        var backoff = Backoff(first: 1, limit: 30)
        for _ in 0..<7 { #expect(try backoff.next(retryAfter: nil, entropy: least) == 0) }
    }

    @Test func `waits are drawn evenly`() throws {
        var half = Backoff(first: 8, limit: 300)
        let drawn = try half.next(retryAfter: nil, entropy: ConstantEntropy(byte: 0x80))
        #expect(drawn > 4 && drawn < 4.1)
    }

    @Test func `what the server asked for is the least, and no more than an hour`() throws {
        var backoff = Backoff(first: 1, limit: 30)
        #expect(try backoff.next(retryAfter: 120, entropy: least) == 120)
        #expect(try backoff.next(retryAfter: 3_601, entropy: least) == 3_600)
        #expect(try backoff.next(retryAfter: .max, entropy: least) == 3_600)
        #expect(try backoff.next(retryAfter: -5, entropy: least) == 0)
        #expect(try backoff.next(retryAfter: 2, entropy: greatest) > 15)
    }

    @Test func `a reset begins anew`() throws {
        var backoff = Backoff(first: 1, limit: 30)
        for _ in 0..<7 { _ = try backoff.next(retryAfter: nil, entropy: greatest) }
        backoff.reset()
        #expect(try backoff.next(retryAfter: nil, entropy: greatest) < 1)
    }
}
