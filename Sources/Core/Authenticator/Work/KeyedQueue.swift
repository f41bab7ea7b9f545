import Records
import Synchronization

/// Lets one thing with a key go on at a time, in the order in which they came; other keys are not held up.
final class KeyedQueue<Key: Hashable & Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// Those that wait behind the one that goes on; no entry if none goes on.
        var waiting: [Key: [Waiter]] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    init() {}

    /// Does something once its turn has come.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that, and what `body` throws.
    func run<T: Sendable>(_ key: Key, _ body: @Sendable () async throws -> T) async throws -> T {
        try await enter(key)
        defer { leave(key) }
        return try await body()
    }

    /// How many wait for their turn.
    func waiterCount(for key: Key) -> Int { state.withLock { $0.waiting[key]?.count ?? 0 } }

    /// Takes the turn if nobody has it; whoever got it calls ``leave(_:)``.
    func tryEnter(_ key: Key) -> Bool {
        state.withLock { state in
            guard state.waiting[key] == nil else { return false }
            state.waiting[key] = []
            return true
        }
    }

    /// Waits for its turn; whoever got it calls ``leave(_:)``.
    ///
    /// - Throws: `CancellationError`; then it has no turn.
    func enter(_ key: Key) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { queue(Waiter(id: id, continuation: $0), key) }
        } onCancel: {
            let waiter: Waiter? = state.withLock { state in
                guard let index = state.waiting[key]?.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiting[key]?.remove(at: index)
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    private func queue(_ waiter: Waiter, _ key: Key) {
        let turn: Result<Void, any Error>? = state.withLock { state in
            if Task.isCancelled { return .failure(CancellationError()) }
            guard state.waiting[key] != nil else {
                state.waiting[key] = []
                return .success(())
            }
            state.waiting[key]?.append(waiter)
            return nil
        }
        if let turn { waiter.continuation.resume(with: turn) }
    }

    func leave(_ key: Key) {
        let next: Waiter? = state.withLock { state in
            guard var queue = state.waiting[key], !queue.isEmpty else {
                state.waiting[key] = nil
                return nil
            }
            let first = queue.removeFirst()
            state.waiting[key] = queue
            return first
        }
        next?.continuation.resume()
    }
}

/// One approval of an enrollment at a time, so that signCounts are committed in the order they were given.
///
/// Other enrollments, and the database, are not held up by a slow key.
typealias SignatureQueues = KeyedQueue<EnrollmentID>
