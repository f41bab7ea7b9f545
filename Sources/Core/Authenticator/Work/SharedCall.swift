import IssuerProtocol
import Records
import Synchronization

/// Call shared by concurrent callers with the same key; all get its answer.
///
/// A cancelled caller returns at once. If it was making the call, the next caller makes it again, so that no caller
/// fails because another one was cancelled.
final class SharedCall<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Answer = Result<Value, IssuerError>

    /// The end of a caller's wait.
    private enum Word {
        case answer(Answer)
        /// The caller that made the call was cancelled: this caller must make it.
        case yours
    }

    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Word, Never>
    }

    private struct State {
        /// The callers that wait for the running call of each key.
        ///
        /// A key without a running call has no entry.
        var waiting: [Key: [Waiter]] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    /// The number of callers that wait for another caller's answer.
    func waiterCount(for key: Key) -> Int { state.withLock { $0.waiting[key]?.count ?? 0 } }

    /// Returns the answer of `call`, or of the running call for the same key.
    ///
    /// If the task is cancelled, it throws as a call that failed without an answer.
    func value(
        for key: Key, _ call: @Sendable () async throws(IssuerError) -> Value
    ) async throws(IssuerError) -> Value {
        if begin(key) { return try await make(key, call) }
        switch await word(key) {
        case .answer(let answer): return try answer.get()
        case .yours: return try await make(key, call)
        }
    }

    /// Returns true if this caller must make the call.
    private func begin(_ key: Key) -> Bool {
        state.withLock { state in
            guard state.waiting[key] == nil else { return false }
            state.waiting[key] = []
            return true
        }
    }

    private func make(
        _ key: Key, _ call: @Sendable () async throws(IssuerError) -> Value
    ) async throws(IssuerError) -> Value {
        let answer: Answer
        do throws(IssuerError) {
            answer = .success(try await call())
        } catch {
            answer = .failure(error)
        }
        // A cancelled call is not an answer of the issuer.
        if case .failure = answer, Task.isCancelled, handOver(key) { return try answer.get() }
        let others = state.withLock { $0.waiting.removeValue(forKey: key) } ?? []
        for other in others { other.continuation.resume(returning: .answer(answer)) }
        return try answer.get()
    }

    /// Passes the call to the caller that has waited longest.
    ///
    /// Returns false if no caller waits.
    private func handOver(_ key: Key) -> Bool {
        let next: Waiter? = state.withLock { state in
            guard state.waiting[key]?.isEmpty == false else { return nil }
            return state.waiting[key]?.removeFirst()
        }
        next?.continuation.resume(returning: .yours)
        return next != nil
    }

    /// Waits for the end of the running call.
    private func word(_ key: Key) async -> Word {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { wait(Waiter(id: id, continuation: $0), key) }
        } onCancel: {
            let waiter: Waiter? = state.withLock { state in
                guard let index = state.waiting[key]?.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiting[key]?.remove(at: index)
            }
            waiter?.continuation.resume(returning: .answer(.failure(.cancelled)))
        }
    }

    private func wait(_ waiter: Waiter, _ key: Key) {
        let word: Word? = state.withLock { state in
            if Task.isCancelled { return .answer(.failure(.cancelled)) }
            guard state.waiting[key] == nil else {
                state.waiting[key]?.append(waiter)
                return nil
            }
            // The call has ended since: this caller makes the next one.
            state.waiting[key] = []
            return .yours
        }
        if let word { waiter.continuation.resume(returning: word) }
    }
}

extension IssuerError {
    /// The failure of a caller that was cancelled.
    fileprivate static let cancelled = IssuerError.transient(reason: "the call was cancelled", retryAfter: nil)
}
