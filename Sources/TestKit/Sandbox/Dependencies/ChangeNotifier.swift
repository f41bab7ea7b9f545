import ServiceLifecycle
import Synchronization

/// Wakes whoever waits for news about something, so that a long poll needs no loop.
///
/// Waiters are bounded, end at their time limit, and end at once when the process is asked to stop.
package final class ChangeNotifier: Sendable {
    /// What the news are about.
    package enum Topic: Hashable, Sendable {
        case authenticator(String)
        case purchase(String)
        case pushes
        /// Whatever the news are about.
        case anything
    }

    /// More wait already than the notifier takes on.
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

    /// How many wait now; one that waits for several topics counts for each.
    package var waiting: Int { state.withLock { $0.count } }

    func ring(_ topic: Topic) {
        let woken = state.withLock { state in
            [topic, .anything].flatMap { state.waiters[$0].map { Array($0.values) } ?? [] }
        }
        for continuation in woken { continuation.yield() }
    }

    /// Makes all who wait look again.
    func ringAll() {
        let woken = state.withLock { $0.waiters.values.flatMap { Array($0.values) } }
        for continuation in woken { continuation.yield() }
    }

    /// Ends all waits, which find nothing then: whoever they are for goes away.
    package func endAll() {
        let waiting = state.withLock { $0.waiters.values.flatMap { Array($0.values) } }
        for continuation in waiting { continuation.finish() }
    }

    /// Looks now and after every ring until there is a value, and gives nil when `seconds` are over.
    ///
    /// The waiter is on the list before the first look, so that no ring falls between the two.
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
