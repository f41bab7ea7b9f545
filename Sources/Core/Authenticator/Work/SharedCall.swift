import IssuerProtocol
import Records
import Synchronization

/// Makes one call of several that ask for the same at the same time; all get its answer.
///
/// Whoever is cancelled leaves at once. If that is the one who makes the call, the next one makes it anew, so that
/// nobody fails because another does not wait any longer.
final class SharedCall<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Answer = Result<Value, IssuerError>

    /// What one who waits is told.
    private enum Word {
        case answer(Answer)
        /// Whoever made the call is gone: it is yours.
        case yours
    }

    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Word, Never>
    }

    private struct State {
        /// Those that wait for the call that is under way; no entry if none is.
        var waiting: [Key: [Waiter]] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    /// How many wait for the answer that another gets.
    func waiterCount(for key: Key) -> Int { state.withLock { $0.waiting[key]?.count ?? 0 } }

    /// The answer of `call`, or of the one for the same key that is under way.
    ///
    /// Fails as a call that brought nothing if the task is cancelled.
    func value(
        for key: Key, _ call: @Sendable () async throws(IssuerError) -> Value
    ) async throws(IssuerError) -> Value {
        if begin(key) { return try await make(key, call) }
        switch await word(key) {
        case .answer(let answer): return try answer.get()
        case .yours: return try await make(key, call)
        }
    }

    /// True if the caller is to make the call.
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
        // A call that was cut off says nothing about the issuer.
        if case .failure = answer, Task.isCancelled, handOver(key) { return try answer.get() }
        let others = state.withLock { $0.waiting.removeValue(forKey: key) } ?? []
        for other in others { other.continuation.resume(returning: .answer(answer)) }
        return try answer.get()
    }

    /// Lets the one who has waited longest make the call; false if nobody waits.
    private func handOver(_ key: Key) -> Bool {
        let next: Waiter? = state.withLock { state in
            guard state.waiting[key]?.isEmpty == false else { return nil }
            return state.waiting[key]?.removeFirst()
        }
        next?.continuation.resume(returning: .yours)
        return next != nil
    }

    /// Waits for what becomes of the call that is under way.
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
            // The call has ended since: this is the next one's.
            state.waiting[key] = []
            return .yours
        }
        if let word { waiter.continuation.resume(returning: word) }
    }
}

extension IssuerError {
    /// Nobody waited for the answer.
    fileprivate static let cancelled = IssuerError.transient(reason: "the call was cancelled", retryAfter: nil)
}
