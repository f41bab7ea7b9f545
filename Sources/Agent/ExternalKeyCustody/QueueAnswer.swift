import Synchronization

/// The answer to a call on a queue; the caller may stop waiting for it.
final class QueueAnswer<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case settled(Result<Value, any Error>)
    }

    private let state = Mutex(State.open)

    /// Whether the caller still waits, without an answer yet.
    var isWanted: Bool {
        state.withLock { state in
            if case .settled = state { false } else { true }
        }
    }

    /// The answer, which may be awaited once.
    ///
    /// Throws `CancellationError` if the caller's task is cancelled first.
    var value: Value {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { hand(over: $0) }
            } onCancel: {
                settle(.failure(CancellationError()))
            }
        }
    }

    /// Settles the answer, if an earlier call has not settled it.
    func settle(_ result: Result<Value, any Error>) {
        let continuation: CheckedContinuation<Value, any Error>? = state.withLock { state in
            switch state {
            case .settled: return nil
            case .open:
                state = .settled(result)
                return nil
            case .awaited(let continuation):
                state = .settled(result)
                return continuation
            }
        }
        continuation?.resume(with: result)
    }

    private func hand(over continuation: CheckedContinuation<Value, any Error>) {
        let result: Result<Value, any Error>? = state.withLock { state in
            if case .settled(let result) = state { return result }
            state = .awaited(continuation)
            return nil
        }
        if let result { continuation.resume(with: result) }
    }
}
