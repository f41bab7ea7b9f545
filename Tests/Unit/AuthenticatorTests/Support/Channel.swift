import Synchronization

/// Values that one side sends and another waits for, in order.
final class Channel<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value] = []
        var next = 0
        var waiting: [(id: Int, continuation: CheckedContinuation<Value, any Error>)] = []
    }

    private let state = Mutex(State())

    func send(_ value: Value) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard !state.waiting.isEmpty else {
                state.values.append(value)
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        waiter?.resume(returning: value)
    }

    /// The next value; throws `CancellationError` if the task is cancelled first.
    func next() async throws -> Value {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in wait(id, continuation) }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    private func wait(_ id: Int, _ continuation: CheckedContinuation<Value, any Error>) {
        let now = state.withLock { state -> Result<Value, any Error>? in
            if Task.isCancelled { return .failure(CancellationError()) }
            guard state.values.isEmpty else { return .success(state.values.removeFirst()) }
            state.waiting.append((id, continuation))
            return nil
        }
        if let now { continuation.resume(with: now) }
    }
}
