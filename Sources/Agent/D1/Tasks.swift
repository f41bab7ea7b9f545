import Synchronization

/// The tasks that run the app's calls, the only tasks that this library starts.
///
/// A completion handler is called outside of the app's tasks, so a task has to be started for it. ``cancelAll()`` waits
/// for each of them, so that none is left behind.
final class Tasks: Sendable {
    private struct Running {
        /// Whether ``cancelAll()`` waits for the task without cancelling it.
        let isShielded: Bool
        let cancel: @Sendable () -> Void
        let finish: @Sendable () async -> Void
    }

    private struct State {
        var last = 0
        private(set) var running: [Int: Running] = [:]
        /// The tasks that ended before they were added to `running`.
        private var over: Set<Int> = []

        mutating func remember(_ one: Running, as id: Int) {
            if over.remove(id) == nil { running[id] = one }
        }

        mutating func forget(_ id: Int) {
            if running.removeValue(forKey: id) == nil { over.insert(id) }
        }
    }

    private let state = Mutex(State())

    /// Starts work.
    ///
    /// - Parameter isShielded: runs the work to its end, even if its caller is cancelled or the `D1Task` closes. A
    ///   decision in progress needs this.
    @discardableResult
    func start<Value: Sendable>(
        isShielded: Bool = false, _ work: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        let task = Task { [self] in
            let value = await work()
            state.withLock { $0.forget(id) }
            return value
        }
        let running = Running(isShielded: isShielded, cancel: { task.cancel() }, finish: { _ = await task.value })
        state.withLock { $0.remember(running, as: id) }
        return task
    }

    /// Runs work, and passes the caller's cancellation on to it.
    func perform<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        let task = start(work)
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Runs work to its end, even if the caller is cancelled.
    func shield<Success: Sendable>(_ work: @escaping @Sendable () async throws -> Success) async throws -> Success {
        let task = start(isShielded: true) { () async -> Result<Success, any Error> in
            do { return .success(try await work()) } catch { return .failure(error) }
        }
        return try await task.value.get()
    }

    func cancel() {
        let running = state.withLock { Array($0.running.values) }
        for one in running where !one.isShielded { one.cancel() }
    }

    /// Cancels all tasks that are not shielded, and waits for all tasks.
    func cancelAll() async {
        cancel()
        for one in state.withLock({ Array($0.running.values) }) { await one.finish() }
    }
}
