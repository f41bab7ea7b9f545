import ServiceLifecycle
import Synchronization

/// Wakes long polls when there is news on their topic, so that they need not loop.
///
/// The number of waiters is bounded. A wait ends at its time limit, and at once when the process is asked to stop.
package final class ChangeNotifier: Sendable {
    /// The subject of the news.
    package enum Topic: Hashable, Sendable {
        case authenticator(String)
        case purchase(String)
        case pushes
        /// Any subject.
        case anything
    }

    /// The error of a wait beyond the limit of waiters.
    struct TooManyWaitersError: Error {}

    private struct State {
        var nextID: UInt64 = 0
        var count = 0
        var waiters: [Topic: [UInt64: AsyncStream<Void>.Continuation]] = [:]
    }

    private let state = Mutex(State())
    private let maxWaiters: Int
    private let sleep: @Sendable (Duration) async throws -> Void

    package init(maxWaiters: Int, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.maxWaiters = maxWaiters
        self.sleep = sleep
    }

    /// The number of waiters; a waiter for several topics counts once for each.
    package var waiting: Int { state.withLock { $0.count } }

    func notify(_ topic: Topic) {
        let woken = state.withLock { state in
            [topic, .anything].flatMap { state.waiters[$0].map { Array($0.values) } ?? [] }
        }
        for continuation in woken { continuation.yield() }
    }

    /// Makes every waiter look again.
    func ringAll() {
        let woken = state.withLock { $0.waiters.values.flatMap { Array($0.values) } }
        for continuation in woken { continuation.yield() }
    }

    /// Ends all waits without a value, because their clients go away.
    package func endAll() {
        let waiting = state.withLock { $0.waiters.values.flatMap { Array($0.values) } }
        for continuation in waiting { continuation.finish() }
    }

    /// Calls `look` now and after every ring until it returns a value; returns `nil` after `seconds`.
    ///
    /// The waiter is registered before the first look, so that no ring is missed in between.
    func firstValue<Value: Sendable>(
        about topics: [Topic], within seconds: Int64, look: @Sendable () async throws -> Value?
    ) async throws -> Value? {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = try enter(continuation, topics)
        defer { leave(id, topics) }
        return try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [sleep] in
                    try? await sleep(.seconds(seconds))
                    continuation.finish()
                }
                defer { group.cancelAll() }
                if let value = try await look() { return value }
                for await _ in stream {
                    if let value = try await look() { return value }
                }
                return nil
            }
        } onGracefulShutdown: {
            continuation.finish()
        }
    }

    private func enter(
        _ continuation: AsyncStream<Void>.Continuation, _ topics: [Topic]
    ) throws(TooManyWaitersError) -> UInt64 {
        let id: UInt64? = state.withLock { state in
            guard state.count + topics.count <= maxWaiters else { return nil }
            state.nextID += 1
            state.count += topics.count
            for topic in topics { state.waiters[topic, default: [:]][state.nextID] = continuation }
            return state.nextID
        }
        guard let id else { throw TooManyWaitersError() }
        return id
    }

    private func leave(_ id: UInt64, _ topics: [Topic]) {
        state.withLock { state in
            state.count -= topics.count
            for topic in topics {
                state.waiters[topic]?[id] = nil
                if state.waiters[topic]?.isEmpty == true { state.waiters[topic] = nil }
            }
        }
    }
}
