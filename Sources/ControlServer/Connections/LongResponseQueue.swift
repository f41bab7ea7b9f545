import LinuxProcess
import Synchronization

/// Lets one piece of long work go on at a time, on a thread behind all others; users take turns, and few wait.
///
/// Long is what reads the whole journal. Nothing that decides waits for it, and neither does the agent's word on how it
/// is.
final class LongResponseQueue: Sendable {
    /// The most calls of one user that wait or are under way.
    static let maxOfUser = 4
    /// The most calls that wait or are under way; one more is taken from root and from the agent's own user only.
    static let limit = 16
    /// When it is worth another try, in seconds.
    private static let pause = 5

    private struct Waiter {
        let id: Int
        let uid: UInt32
        let turn: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// Whose turn it is; nil: nobody's.
        var current: UInt32?
        var waiting: [Waiter] = []
        /// Those that were cancelled before they were in the queue.
        var gone: Set<Int> = []
        var nextID = 0

        /// Nil if one more call of this user may wait.
        func refusal(of uid: UInt32, _ isFavoured: Bool) -> TooManyCallsError? {
            let ofUser = waiting.count { $0.uid == uid } + (current == uid ? 1 : 0)
            let ofAll = waiting.count + (current == nil ? 0 : 1)
            guard ofUser >= maxOfUser || !isFavoured && ofAll >= limit else { return nil }
            return TooManyCallsError(
                "\(maxOfUser) such calls of this user, or \(limit) of all, wait or are under way: try again in \(pause) s",
                seconds: pause)
        }
    }

    private let state = Mutex(State())

    /// How many calls wait or are under way.
    var count: Int { state.withLock { $0.waiting.count + ($0.current == nil ? 0 : 1) } }

    /// Does `body` when its turn comes; a caller that is cancelled meanwhile waits no longer.
    ///
    /// - Parameter isFavoured: whether the caller is root or the agent's own user.
    /// - Throws: ``TooManyCallsError`` at once if too many wait, and what `body` throws.
    func run<Value: Sendable>(
        for uid: UInt32, isFavoured: Bool, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await enter(uid, isFavoured)
        defer { leave() }
        try Task.checkCancellation()
        return try await LowPriorityThread.run(body)
    }

    private func enter(_ uid: UInt32, _ isFavoured: Bool) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (turn: CheckedContinuation<Void, any Error>) in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.gone.remove(id) != nil { return .failure(CancellationError()) }
                    if let refusal = state.refusal(of: uid, isFavoured) { return .failure(refusal) }
                    guard state.current != nil else {
                        state.current = uid
                        return .success(())
                    }
                    state.waiting.append(Waiter(id: id, uid: uid, turn: turn))
                    return nil
                }
                if let outcome { turn.resume(with: outcome) }
            }
        } onCancel: {
            let waiter: Waiter? = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                    state.gone.insert(id)
                    return nil
                }
                return state.waiting.remove(at: index)
            }
            waiter?.turn.resume(throwing: CancellationError())
        }
        // One that was cancelled just as its turn came goes on, and sees that it was cancelled.
        _ = state.withLock { $0.gone.remove(id) }
    }

    /// The next is the first of another user, so that nobody is served twice while another waits.
    private func leave() {
        let next: Waiter? = state.withLock { state in
            let index = state.waiting.firstIndex { $0.uid != state.current } ?? state.waiting.indices.first
            let next = index.map { state.waiting.remove(at: $0) }
            state.current = next?.uid
            return next
        }
        next?.turn.resume()
    }
}
