import Dispatch
import Keys
import Records
import StandingClocks
import Synchronization
import Testing

@testable import ExternalKeyCustody

@Suite struct TokenQueueTests {
    @Test func `files, the TPM and tokens each wait for their own alone`() throws {
        let ring = ExternalKeyRing(ExternalKeys(pkcs11Module: nil), clock: StandingClock())
        let queues = try ["file:/key.pem", "handle:0x81000001", "pkcs11:token=payments;object=card"].map { uri in
            ObjectIdentifier(ring.queue(of: try KeyURI(uri)))
        }
        #expect(Set(queues).count == 3)
    }

    @Test func `calls come one after the other, in their order`() async throws {
        let queue = TokenQueue(clock: StandingClock())
        let running = Count()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<TokenQueue.limit {
                group.addTask {
                    try await queue.call {
                        running.up()
                        running.down()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(running.limit == 1)
    }

    @Test func `what a call throws comes back`() async throws {
        let queue = TokenQueue(clock: StandingClock())
        await #expect(throws: Broken.self) { try await queue.call { throw Broken() } }
    }

    @Test func `a token that does not answer is waited for no longer, and a call that nobody waits for is not made`()
        async throws
    {
        let clock = ImpatientClock()
        let queue = TokenQueue(clock: clock)
        let stuck = DispatchSemaphore(value: 0)
        await #expect(throws: TokenQueueError.silent) {
            try await queue.call {
                clock.endPatience()
                stuck.wait()
            }
        }
        let calls = Count()
        await #expect(throws: TokenQueueError.silent) { try await queue.call { calls.up() } }
        clock.restorePatience()
        async let last = queue.call { 7 }
        stuck.signal()
        #expect(try await last == 7)
        #expect(calls.limit == 0)
    }

    @Test func `a token that was asked and did not answer is told from one that was not asked`() throws {
        let uri = try KeyURI("pkcs11:token=their;object=card")
        let silence = CustodyError(TokenQueueError.silent, at: uri)
        #expect(silence.code == .silent && silence.description.contains("a PIN that was given counts as tried"))
        #expect(CustodyError(TokenQueueError.busy, at: uri).code == .unavailable)
    }

    @Test func `a cancelled caller is let go`() async throws {
        let queue = TokenQueue(clock: StandingClock())
        let (stuck, started) = (DispatchSemaphore(value: 0), AsyncStream<Void>.makeStream())
        let task = Task {
            try await queue.call {
                started.continuation.yield()
                stuck.wait()
            }
        }
        var starts = started.stream.makeAsyncIterator()
        await starts.next()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        stuck.signal()
    }

    @Test func `callers that leave before their call begins give their places back`() async throws {
        let queue = TokenQueue(clock: StandingClock())
        for _ in 0..<2 {
            let (stuck, started) = (DispatchSemaphore(value: 0), AsyncStream<Void>.makeStream())
            async let first: Void = queue.call {
                started.continuation.finish()
                stuck.wait()
            }
            for await _ in started.stream {}
            for _ in 1..<TokenQueue.limit {
                let task = Task { try await queue.call {} }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            stuck.signal()
            try await first
            // Behind all of them, so their places are free.
            try await queue.call {}
        }
    }

    @Test func `more calls than the queue has places are refused at once, and there is place when they are over`()
        async throws
    {
        let queue = TokenQueue(clock: StandingClock())
        let (stuck, started) = (DispatchSemaphore(value: 0), AsyncStream<Void>.makeStream())
        await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<TokenQueue.limit + 1 {
                group.addTask {
                    try await queue.call {
                        started.continuation.yield()
                        stuck.wait()
                    }
                }
            }
            // The one that finds no place is the only one that can end now.
            await #expect(throws: TokenQueueError.busy) { try await group.next() }
            for _ in 0..<TokenQueue.limit { stuck.signal() }
            await #expect(throws: Never.self) { try await group.waitForAll() }
        }
        #expect(try await queue.call { 7 } == 7)
    }
}

private struct Broken: Error {}

/// Patience ends when the test says so.
private final class ImpatientClock: AgentClock {
    private let end = AsyncStream<Void>.makeStream()
    private let isEndless = Mutex(false)
    var now: Int64 { 0 }

    func endPatience() { end.continuation.finish() }

    func restorePatience() { isEndless.withLock { $0 = true } }

    func sleep(seconds: Double) async throws {
        if isEndless.withLock({ $0 }) { try await Task.sleep(for: .seconds(3_600)) }
        for await _ in end.stream {}
        try Task.checkCancellation()
    }
}

private final class Count: Sendable {
    private let state = Mutex((now: 0, limit: 0))
    var limit: Int { state.withLock { $0.limit } }

    func up() {
        state.withLock { state in
            state.now += 1
            state.limit = max(state.limit, state.now)
        }
    }

    func down() { state.withLock { $0.now -= 1 } }
}
