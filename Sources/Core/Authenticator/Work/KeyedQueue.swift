import Records
import Synchronization

/// Queue per key: one task per key runs at a time, in the order of arrival.
///
/// Other keys do not wait.
final class KeyedQueue<Key: Hashable & Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// The waiters behind the running task of each key.
        ///
        /// A key without a running task has no entry.
        var waiting: [Key: [Waiter]] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    init() {}

    /// Runs `body` once its turn has come.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before its turn, or the error of `body`.
    func inTurn<T: Sendable>(_ key: Key, _ body: @Sendable () async throws -> T) async throws -> T {
        try await enter(key)
        defer { leave(key) }
        return try await body()
    }

    /// The number of tasks that wait for their turn.
    func waiterCount(for key: Key) -> Int { state.withLock { $0.waiting[key]?.count ?? 0 } }

    /// Takes the turn if it is free, and returns whether it did.
    ///
    /// The caller must then call ``leave(_:)``.
    func tryEnter(_ key: Key) -> Bool {
        state.withLock { state in
            guard state.waiting[key] == nil else { return false }
            state.waiting[key] = []
            return true
        }
    }

    /// Waits for the turn.
    ///
    /// The caller must then call ``leave(_:)``.
    ///
    /// - Throws: `CancellationError`. The caller then has no turn.
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

/// A queue per enrollment.
///
/// Approvals run one at a time, so signCounts commit in the order they were assigned. A slow key delays neither other
/// enrollments nor the database.
typealias SignatureQueues = KeyedQueue<EnrollmentID>
