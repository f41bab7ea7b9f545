import Dispatch
import Records
import Synchronization
import Testing

@testable import Custody

/// Threads of their own for what takes long.
struct SlowWorkTests {
    private struct Failure: Error {}

    /// Work that begins and does not end until it is told to.
    private final class Gate: Sendable {
        private let reached = AsyncStream.makeStream(of: Void.self)
        private let opened = DispatchSemaphore(value: 0)
        private let counts = Mutex((running: 0, limit: 0))
        private let refusals = Mutex(0)

        var limit: Int { counts.withLock { $0.limit } }

        /// Counts a call that was not let in, and says how many that are now.
        func refuse() -> Int {
            refusals.withLock { refusals in
                refusals += 1
                return refusals
            }
        }

        func pass() {
            counts.withLock { $0 = ($0.running + 1, max($0.limit, $0.running + 1)) }
            reached.continuation.yield()
            opened.wait()
            counts.withLock { $0.running -= 1 }
        }

        /// Waits until two stand before it.
        func awaitTwo() async {
            var calls = reached.stream.makeAsyncIterator()
            for _ in 0..<2 { await calls.next() }
        }

        /// Lets so many pass.
        func open(for count: Int) { for _ in 0..<count { opened.signal() } }
    }

    @Test func `two go on at a time, all come to their end, and one past the bound is refused`() async throws {
        let (work, gate) = (SlowWork(), Gate())
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<SlowWork.limit + 5 {
                group.addTask {
                    do {
                        try await work.call { gate.pass() }
                        return number
                    } catch is SlowWorkError {
                        // All others wait at the gate, which opens for so many as were let in.
                        if gate.refuse() == 5 {
                            await gate.awaitTwo()
                            gate.open(for: SlowWork.limit)
                        }
                        return -1
                    }
                }
            }
            let numbers = try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            #expect(numbers.count == SlowWork.limit + 1 && numbers.contains(-1))
        }
        #expect(gate.refuse() == 6 && gate.limit == SlowWork.threads)
        #expect(try await work.call { 1 } == 1)
    }

    @Test func `what a call throws comes back`() async {
        await #expect(throws: Failure.self) { try await SlowWork().call { throw Failure() } }
    }

    @Test func `a call goes on to its end though its caller was cancelled`() async throws {
        let (work, gate) = (SlowWork(), Gate())
        let result = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 7...8 {
                group.addTask {
                    try await work.call { gate.pass() }
                    return number
                }
            }
            // Only what has begun goes on to its end.
            await gate.awaitTwo()
            group.cancelAll()
            gate.open(for: 2)
            return try await group.reduce(0, +)
        }
        #expect(result == 15)
    }

    @Test func `a call that waits for a thread is not made once its caller is gone, who leaves at once`() async throws {
        let (work, gate) = (SlowWork(), Gate())
        try await withThrowingTaskGroup(of: Void.self) { busy in
            for _ in 0..<SlowWork.threads { busy.addTask { try await work.call { gate.pass() } } }
            await gate.awaitTwo()
            await withTaskGroup(of: Bool.self) { waiting in
                for _ in 0..<4 {
                    waiting.addTask {
                        do {
                            try await work.call { _ = gate.refuse() }
                            return false
                        } catch { return error is NotWantedError }
                    }
                }
                waiting.cancelAll()
                // Both threads are held: without leaving at once this would not end.
                for await hasGivenUp in waiting { #expect(hasGivenUp) }
            }
            gate.open(for: 2)
            try await busy.waitForAll()
        }
        #expect(try await work.call { 1 } == 1)
        #expect(gate.refuse() == 1, "none was made")
    }

    @Test func `calls that were given up while they waited take no place`() async throws {
        let work = SlowWork()
        for _ in 0..<2 {
            let gate = Gate()
            try await withThrowingTaskGroup(of: Void.self) { busy in
                for _ in 0..<SlowWork.threads { busy.addTask { try await work.call { gate.pass() } } }
                await gate.awaitTwo()
                await withTaskGroup(of: Bool.self) { waiting in
                    for _ in 0..<(SlowWork.limit - SlowWork.threads) {
                        waiting.addTask {
                            do {
                                try await work.call {}
                                return false
                            } catch { return error is NotWantedError }
                        }
                    }
                    waiting.cancelAll()
                    for await hasGivenUp in waiting { #expect(hasGivenUp) }
                }
                gate.open(for: SlowWork.threads)
                try await busy.waitForAll()
            }
            // Behind those that were given up, on either thread.
            async let one = work.call { 1 }
            async let other = work.call { 1 }
            #expect(try await one + other == 2)
        }
    }
}
